//! Scenarios as files: `name.yaml`, with `name-update.yaml` and `name-replace.yaml` beside it.
//!
//! Parameters are given once for all, since a scenario stands for one deployment: every expression that
//! names one is its value before anything is deployed.

use formwork_formation::{Color, Limits, parse, render_human, text_only};
use formwork_model::Json;
use formwork_plugin_conformance::lifecycle::Scenario;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Why there are no scenarios to run.
#[derive(Debug, thiserror::Error)]
pub enum ScenarioError {
    /// The directory or one of its files can't be read.
    #[error("`{}` can't be read", path.display())]
    Unreadable {
        /// Which.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// A file is no template.
    #[error("{0}")]
    NoTemplate(String),
    /// There is no scenario in the directory.
    #[error("`{}` has no scenario: a template `NAME.yaml` or `NAME.json`", .0.display())]
    Empty(PathBuf),
    /// A variant stands alone.
    #[error("`{variant}` is a variant of `{of}`, which is not there")]
    Orphan {
        /// The variant.
        variant: String,
        /// Of what.
        of: String,
    },
    /// A parameter has no value.
    #[error("the parameter `{parameter}` of `{scenario}` has no value: give it, or a default")]
    Missing {
        /// Which.
        parameter: String,
        /// Of which file.
        scenario: String,
    },
    /// What a resource says of how its type is tried can't be read.
    #[error("`metadata.contracts` of `{resource}` in `{scenario}` can't be read: {source}")]
    Contracts {
        /// The template.
        scenario: String,
        /// The resource.
        resource: String,
        /// Why.
        source: serde_json::Error,
    },
}

const VARIANTS: [&str; 2] = ["-update", "-replace"];

/// The scenarios of a directory, by name. `values` are for parameters that templates declare; the
/// others are passed over.
///
/// # Errors
/// [`ScenarioError`]: nothing is run where anything is wrong.
pub fn scenarios(
    directory: &Path,
    values: &BTreeMap<String, String>,
) -> Result<Vec<Scenario>, ScenarioError> {
    let mut templates = BTreeMap::new();
    let unreadable = |path: &Path| {
        let path = path.to_owned();
        move |source| ScenarioError::Unreadable { path, source }
    };
    for entry in std::fs::read_dir(directory).map_err(unreadable(directory))? {
        let path = entry.map_err(unreadable(directory))?.path();
        let is_template = path.extension().is_some_and(|end| end == "yaml" || end == "yml" || end == "json");
        if let (true, Some(name)) = (is_template, path.file_stem().and_then(|name| name.to_str())) {
            templates.insert(name.to_owned(), template(&path, name, values)?);
        }
    }
    let variant_of = |name: &str| VARIANTS.iter().find_map(|end| name.strip_suffix(end).map(str::to_owned));
    for name in templates.keys() {
        if let Some(of) = variant_of(name).filter(|of| !templates.contains_key(of)) {
            return Err(ScenarioError::Orphan { variant: name.clone(), of });
        }
    }
    let names: BTreeSet<&String> = templates.keys().filter(|name| variant_of(name).is_none()).collect();
    if names.is_empty() {
        return Err(ScenarioError::Empty(directory.to_owned()));
    }
    let scenario = |name: &String| Scenario {
        name: name.clone(),
        create: templates[name].clone(),
        update: templates.get(&format!("{name}-update")).cloned(),
        replace: templates.get(&format!("{name}-replace")).cloned(),
    };
    Ok(names.into_iter().map(scenario).collect())
}

fn template(path: &Path, name: &str, values: &BTreeMap<String, String>) -> Result<Json, ScenarioError> {
    let bytes =
        std::fs::read(path).map_err(|source| ScenarioError::Unreadable { path: path.to_owned(), source })?;
    let shown = path.display().to_string();
    let document = parse(&shown, &bytes, &Limits::default()).map_err(|found| {
        let source = text_only(&shown, &bytes);
        let told: Vec<String> = found.iter().map(|one| render_human(one, &source, Color::Never)).collect();
        ScenarioError::NoTemplate(told.join("\n"))
    })?;
    let mut template = document.value;
    let parameters = declared(&template, values);
    put_in(&mut template, &parameters)
        .map_err(|parameter| ScenarioError::Missing { parameter, scenario: name.to_owned() })?;
    if let Some(members) = template.as_object_mut() {
        members.shift_remove("parameters");
    }
    Ok(template)
}

/// The declared parameters with what they stand for, if anything.
fn declared(template: &Json, values: &BTreeMap<String, String>) -> BTreeMap<String, Option<String>> {
    let parameters = template.get("parameters").and_then(Json::as_object).into_iter().flatten();
    let value = |(name, declaration): (&String, &Json)| {
        let default = declaration.get("default").and_then(Json::as_str).map(str::to_owned);
        (name.clone(), values.get(name).cloned().or(default))
    };
    parameters.map(value).collect()
}

/// Puts values in the place of parameters.
///
/// # Errors
/// The name of a parameter that is used and has no value.
fn put_in(value: &mut Json, parameters: &BTreeMap<String, Option<String>>) -> Result<(), String> {
    let of = |name: &str| match parameters.get(name) {
        Some(None) => Err(name.to_owned()),
        Some(Some(value)) => Ok(Some(value.clone())),
        None => Ok(None),
    };
    match value {
        Json::Array(items) => items.iter_mut().try_for_each(|item| put_in(item, parameters)),
        Json::Object(members) => {
            if members.len() == 1
                && let Some(name) = members.get("param").and_then(Json::as_str)
                && let Some(given) = of(name)?
            {
                *value = Json::String(given);
                return Ok(());
            }
            if let (1, Some(Json::String(text))) = (members.len(), members.get_mut("sub")) {
                for name in parameters.keys() {
                    let place = format!("${{{name}}}");
                    if text.contains(&place)
                        && let Some(given) = of(name)?
                    {
                        *text = text.replace(&place, &given);
                    }
                }
                return Ok(());
            }
            members.values_mut().try_for_each(|member| put_in(member, parameters))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn directory(files: &[(&str, &str)]) -> tempfile::TempDir {
        let directory = tempfile::tempdir().expect("a temporary directory");
        for (name, text) in files {
            std::fs::write(directory.path().join(name), text).expect("it can be written");
        }
        directory
    }

    const PLAIN: &str = "resources: {}\n";

    #[test]
    fn a_template_and_its_variants_are_one_scenario() {
        let files = [
            ("b.yaml", PLAIN),
            ("a.json", "{\"resources\": {}}"),
            ("b-update.yaml", PLAIN),
            ("notes.md", ""),
        ];
        let found = scenarios(directory(&files).path(), &BTreeMap::new()).expect("they are right");
        let seen: Vec<_> = found
            .iter()
            .map(|one| (one.name.as_str(), one.update.is_some(), one.replace.is_some()))
            .collect();
        assert_eq!(seen, [("a", false, false), ("b", true, false)]);
    }

    #[test]
    fn parameters_are_their_values() {
        let text = "parameters: { a: { type: string }, b: { type: string, default: two } }\n\
                    resources: { R: { properties: { x: { param: a }, y: { sub: '${a}-${b}-${R}' }, z: { ref: R } } } }\n";
        let values =
            BTreeMap::from([("a".to_owned(), "one".to_owned()), ("c".to_owned(), "other".to_owned())]);
        let found = scenarios(directory(&[("s.yaml", text)]).path(), &values).expect("they are right");
        let properties = json!({ "x": "one", "y": { "sub": "one-two-${R}" }, "z": { "ref": "R" } });
        assert_eq!(found[0].create, json!({ "resources": { "R": { "properties": properties } } }));
    }

    #[test]
    fn what_is_wrong_is_told() {
        let told = |files: &[(&str, &str)]| {
            scenarios(directory(files).path(), &BTreeMap::new()).expect_err("it is refused").to_string()
        };
        assert!(told(&[]).ends_with("has no scenario: a template `NAME.yaml` or `NAME.json`"));
        assert_eq!(told(&[("a-update.yaml", PLAIN)]), "`a-update` is a variant of `a`, which is not there");
        assert!(told(&[("a.yaml", "resources: {\n")]).contains("a.yaml:"));
        let lacking = "parameters: { p: { type: string } }\nresources: { R: { param: p } }\n";
        assert_eq!(
            told(&[("a.yaml", lacking)]),
            "the parameter `p` of `a` has no value: give it, or a default"
        );
    }
}
