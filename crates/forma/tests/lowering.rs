//! The two ways from a module to what it declares: its values, and the JSON that it puts out. They must agree.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod schemas;

use formwork_forma::{Forma, FormaError, FormaRequest, evaluate, wire};
use formwork_model::{Expr, ExprLeaf, Json, Part, ProjectId, Ref};
use pkl_core::reader::FileReader;
use pkl_core::{Evaluator, ModuleSource};
use pkl_corpus::Case;
use serde_json::json;
use std::path::Path;

fn evaluator(properties: Vec<(String, String)>) -> Evaluator {
    let builder = Evaluator::builder().files(FileReader::new()).properties(properties);
    formwork_forma::library::add_to(builder).build()
}

fn lowered(evaluator: &Evaluator, module: &ModuleSource) -> Result<Forma, FormaError> {
    let project = ProjectId::from("p");
    evaluate(evaluator, &FormaRequest { module, base: None, project: &project, drawn: None })
        .map(|(forma, _)| forma)
}

/// A value in which nothing is left to be told apart by its type.
fn shown(value: &Expr) -> Json {
    match value {
        Expr::Plain(plain) => plain.clone(),
        Expr::Leaf(ExprLeaf::Ref(reference)) => json!({ "<ref>": reference_shown(reference) }),
        Expr::Leaf(ExprLeaf::Secret(secret)) => json!({ "<secret>": secret.expose() }),
        Expr::Leaf(ExprLeaf::KeepPrevious) => json!({ "<kept>": true }),
        Expr::Leaf(ExprLeaf::Once(inner)) => json!({ "<once>": shown(inner) }),
        Expr::Leaf(ExprLeaf::Template(parts)) => {
            let parts = parts.iter().map(|part| match part {
                Part::Text(text) => json!(text),
                Part::Ref(reference) => json!({ "<ref>": reference_shown(reference) }),
                Part::Secret(secret) => json!({ "<secret>": secret.expose() }),
            });
            json!({ "<text>": parts.collect::<Vec<_>>() })
        }
        Expr::Array(items) => items.iter().map(shown).collect(),
        Expr::Object(members) => {
            Json::Object(members.iter().map(|(key, member)| (key.to_string(), shown(member))).collect())
        }
    }
}

fn reference_shown(reference: &Ref) -> Json {
    serde_json::to_value(reference).unwrap()
}

/// All of a forma but its places.
fn told(forma: &Forma) -> Json {
    let stacks = forma.stacks.iter().map(|it| json!([it.label, it.description, it.policies]));
    let targets = forma.targets.iter().map(|it| {
        let hints = it.config_schema.as_ref().map(|schema| serde_json::to_value(schema).unwrap());
        json!([it.label.as_str(), it.namespace, shown(&it.config), hints, it.discoverable, it.reaping])
    });
    let policies = forma.policies.iter().map(|it| json!([it.label, it.config]));
    let resources = forma.resources.iter().map(|it| {
        json!({
            "label": it.label.as_str(),
            "type": it.type_name.as_str(),
            "stack": it.stack,
            "target": it.target.as_str(),
            "group": it.group,
            "alias": it.alias.as_ref().map(formwork_model::Label::as_str),
            "properties": shown(&it.properties),
            "schema": serde_json::to_value(&it.schema.schema).unwrap(),
        })
    });
    json!({
        "description": forma.description.as_ref().map(|it| json!([it.text, it.confirm])),
        "properties": forma.properties,
        "stacks": stacks.collect::<Vec<_>>(),
        "targets": targets.collect::<Vec<_>>(),
        "policies": policies.collect::<Vec<_>>(),
        "resources": resources.collect::<Vec<_>>(),
    })
}

/// What the two ways say of a module; `None` if it is no forma, else how they differ.
fn compared(evaluator: &Evaluator, module: &ModuleSource) -> Option<Result<(), String>> {
    let lowered = match lowered(evaluator, module) {
        Err(FormaError::NotAForma) => return None,
        lowered => lowered,
    };
    Some(match (lowered, evaluator.output_bytes(module)) {
        (Ok(lowered), Ok(bytes)) => match wire::read(&bytes, &ProjectId::from("p")) {
            Ok(read) => same(&told(&lowered), &told(&read)).and_then(|()| sent(&lowered)),
            Err(error) => Err(format!("what is put out can't be read: {error:?}")),
        },
        (Err(_), Err(_)) => Ok(()),
        (Ok(_), Err(error)) => Err(format!("it can be lowered but not put out: {error}")),
        (Err(FormaError::Invalid(invalid)), Ok(_)) => {
            Err(format!("it can be put out but not lowered: {:#?}", invalid.found))
        }
        (Err(error), Ok(_)) => Err(format!("it can be put out but not lowered: {error:?}")),
    })
}

/// What is sent of a forma is what it is.
fn sent(lowered: &Forma) -> Result<(), String> {
    let read = wire::from_json(wire::write(lowered), &ProjectId::from("p"));
    let read = read.map_err(|error| format!("what is sent can't be read: {error:?}"))?;
    same(&told(lowered), &told(&read))
}

fn same(by_value: &Json, by_output: &Json) -> Result<(), String> {
    if by_value == by_output {
        return Ok(());
    }
    Err(format!("by value:  {by_value:#}\nby output: {by_output:#}"))
}

fn case_evaluator(case: &Case) -> Evaluator {
    let mut properties = case.options.properties.clone();
    properties.push(("pkl.outputFormat".to_owned(), "json".to_owned()));
    evaluator(properties)
}

/// A module that only puts out its properties is compared by those.
fn compared_case(case: &Case) -> Option<Result<(), String>> {
    let module = ModuleSource::file(&case.path).unwrap();
    let evaluator = case_evaluator(case);
    if !case.options.properties.contains(&("$mode".to_owned(), "properties".to_owned())) {
        return compared(&evaluator, &module);
    }
    let bytes = evaluator.output_bytes(&module).unwrap();
    let output: Json = serde_json::from_slice(&bytes).unwrap();
    let read = formwork_forma::properties(&evaluator, &module).unwrap();
    Some(same(&json!(read), &output["Properties"]))
}

#[test]
fn each_case_of_the_package_is_lowered_to_what_it_puts_out() {
    let cases = pkl_corpus::discover(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/formae")).unwrap();
    let compared = cases.iter().filter_map(|case| Some((&case.name, compared_case(case)?)));
    let compared: Vec<_> = compared.collect();
    let wrong: Vec<String> = compared
        .iter()
        .filter_map(|(name, result)| Some(format!("{name}: {}", result.as_ref().err()?)))
        .collect();
    assert!(wrong.is_empty(), "{} differ\n{}", wrong.len(), wrong.join("\n"));
    assert!(compared.len() >= 25, "only {} cases are formae", compared.len());
}

#[test]
fn formae_of_whole_packages_are_lowered_to_what_they_put_out() {
    for package in schemas::all() {
        let module = ModuleSource::file(package.forma()).unwrap();
        let properties = vec![("pkl.outputFormat".to_owned(), "json".to_owned())];
        let compared = compared(&evaluator(properties), &module).expect("it is a forma");
        assert!(compared.is_ok(), "{}: {}", package.name, compared.unwrap_err());
    }
}
