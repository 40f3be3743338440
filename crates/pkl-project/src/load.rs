//! A project's definition, evaluated.

use indexmap::IndexMap;
use pkl_core::{Error, ErrorCode, Evaluator, Handle, ModuleSource, Session, from_tree};
use pkl_data::tree::{ClassName, Member, Tree};
use serde::de::DeserializeOwned;

use pkl_data::units::Unit as _;

use crate::project::{Declared, Project};
use crate::uri::{PackageUri, Sha256};

/// How deep projects may depend on each other.
const DEEPEST: usize = 100;

const NAMES: &str = "(it) -> it.dependencies.toMap().keys.toList()";
const DEPENDENCY: &str = "(it, name) -> it.dependencies[name]";
const ANNOTATIONS: &str = "(it) -> let (reflect = import(\"pkl:reflect\")) it.annotations.map((it) -> Pair(reflect.Class(it.getClass()).enclosingDeclaration.uri, it))";

/// Why a project can't be loaded.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// Its definition can't be evaluated.
    #[error("{0}")]
    Evaluation(#[from] Box<Error>),
    /// Projects depend on each other.
    #[error("Local project dependencies cannot be circular.\n\nCycle:\n{}", drawn(.0))]
    Cycle(Vec<String>),
    /// Projects depend on each other too deeply.
    #[error("Local project dependencies are nested too deeply.")]
    TooDeep,
}

impl From<Error> for LoadError {
    fn from(error: Error) -> Self {
        Self::Evaluation(Box::new(error))
    }
}

/// A module that isn't one of `pkl:Project`.
fn no_project(uri: &str, name: &str) -> Error {
    let message = format!(
        "Expected `output.value` of module `{uri}` to be of type `pkl.Project`, but got type `{name}`."
    );
    let hint = Some("Try adding `amends \"pkl:Project\"` to the module header.".to_owned());
    Error { code: ErrorCode::TypeMismatch, message, hint, trace: Vec::new() }
}

/// A circle of projects, as a person sees it.
pub(crate) fn drawn(cycle: &[String]) -> String {
    let steps: Vec<String> = cycle.iter().map(|uri| format!("│  {uri}\n")).collect();
    format!("┌─>\n{}└─", steps.join("│\n"))
}

/// Evaluates the project that is defined by a module.
///
/// # Errors
/// It can't be evaluated, or isn't a project's definition.
pub fn load(evaluator: &Evaluator, module: &ModuleSource) -> Result<Project, LoadError> {
    let loaded = evaluator.session(module, |session| {
        let project = session.module();
        Ok(Walk::new(session).and_then(|mut walk| walk.project(session, project)))
    });
    loaded?
}

/// The way to a project through those that depend on it.
struct Walk {
    names: Handle,
    dependency: Handle,
    annotations: Handle,
    path: Vec<String>,
}

impl Walk {
    fn new(session: &mut Session<'_, '_>) -> Result<Self, LoadError> {
        Ok(Self {
            names: session.evaluate(NAMES)?,
            dependency: session.evaluate(DEPENDENCY)?,
            annotations: session.evaluate(ANNOTATIONS)?,
            path: Vec::new(),
        })
    }

    fn project(&mut self, session: &mut Session<'_, '_>, project: Handle) -> Result<Project, LoadError> {
        let class = session.class_of(project)?;
        let uri = session.find_property(project, "projectFileUri")?;
        let Some(uri) = uri.filter(|_| &*class.module == "pkl.Project") else {
            return Err(no_project(session.uri(), &class.module).into());
        };
        let file_uri: String = exported(session, uri)?;
        if let Some(start) = self.path.iter().position(|seen| *seen == file_uri) {
            return Err(LoadError::Cycle(self.path[start..].to_vec()));
        }
        if self.path.len() == DEEPEST {
            return Err(LoadError::TooDeep);
        }
        self.path.push(file_uri.clone());
        let package = property(session, project, "package")?;
        let tests = property(session, project, "tests")?;
        let settings = property(session, project, "evaluatorSettings")?;
        let annotations = session.call(self.annotations, &[project])?;
        let annotations = annotations_of(&session.export(annotations)?);
        let dependencies = self.dependencies(session, project)?;
        self.path.pop();
        Ok(Project { file_uri, package, tests, settings, dependencies, annotations })
    }

    fn dependencies(
        &mut self,
        session: &mut Session<'_, '_>,
        project: Handle,
    ) -> Result<IndexMap<String, Declared>, LoadError> {
        let names = session.call(self.names, &[project])?;
        let names: Vec<String> = exported(session, names)?;
        let mut dependencies = IndexMap::with_capacity(names.len());
        for name in names {
            let key = session.string(&name);
            let dependency = session.call(self.dependency, &[project, key])?;
            let class = session.class_of(dependency)?;
            let declared = if class.is("pkl.Project", "RemoteDependency") {
                Declared::Remote(remote(session, dependency)?)
            } else {
                Declared::Local(Box::new(self.project(session, dependency)?))
            };
            dependencies.insert(name, declared);
        }
        Ok(dependencies)
    }
}

fn remote(session: &mut Session<'_, '_>, dependency: Handle) -> Result<PackageUri, LoadError> {
    let uri: String = property(session, dependency, "uri")?;
    let mut uri = PackageUri::parse(&uri).map_err(|error| invalid(&error))?;
    let checksums: Option<crate::metadata::Checksums> = property(session, dependency, "checksums")?;
    if let Some(checksums) = checksums {
        uri.checksum = Some(Sha256::written(checksums.sha256.as_str()));
    }
    Ok(uri)
}

fn property<T: DeserializeOwned>(
    session: &mut Session<'_, '_>,
    of: Handle,
    name: &str,
) -> Result<T, LoadError> {
    let value = session.property(of, name)?;
    exported(session, value)
}

fn exported<T: DeserializeOwned>(session: &mut Session<'_, '_>, value: Handle) -> Result<T, LoadError> {
    let tree = session.export(value)?;
    from_tree(&tree).map_err(|error| invalid(&error))
}

fn invalid(error: &dyn std::fmt::Display) -> LoadError {
    let (code, message) = (ErrorCode::InvalidUri, error.to_string());
    Error { code, message, hint: None, trace: Vec::new() }.into()
}

/// Annotations as published metadata has them.
fn annotations_of(pairs: &Tree) -> Vec<serde_json::Value> {
    let Tree::List(pairs) = pairs else { return Vec::new() };
    let annotation = |pair: &Tree| match pair {
        Tree::Pair(pair) => match (&pair.0, &pair.1) {
            (Tree::String(uri), value) => Some(published(value, uri)),
            _ => None,
        },
        _ => None,
    };
    pairs.iter().filter_map(annotation).collect()
}

/// A value as published metadata has it. `module_uri` is where the value's class is declared.
fn published(tree: &Tree, module_uri: &str) -> serde_json::Value {
    use serde_json::{Value, json};
    let nested = |tree: &Tree| published(tree, module_uri);
    let list = |items: &[Tree]| Value::Array(items.iter().map(nested).collect());
    let map = |entries: &[(Tree, Tree)]| {
        let entry = |(key, value): &(Tree, Tree)| json!({ "key": nested(key), "value": nested(value) });
        json!({ "type": "Map", "value": entries.iter().map(entry).collect::<Vec<_>>() })
    };
    match tree {
        Tree::Bool(value) => json!(value),
        Tree::Int(value) => json!(value),
        Tree::Float(value) => json!(value),
        Tree::String(value) => json!(&**value),
        Tree::Listing(items) | Tree::List(items) => list(items),
        Tree::Set(items) => json!({ "type": "Set", "value": list(items) }),
        Tree::Map(entries) | Tree::Mapping(entries) => map(entries),
        Tree::Pair(pair) => json!({ "type": "Pair", "first": nested(&pair.0), "second": nested(&pair.1) }),
        Tree::Duration(it) => json!({ "type": "Duration", "unit": it.unit.as_str(), "value": it.value }),
        Tree::DataSize(it) => json!({ "type": "DataSize", "unit": it.unit.as_str(), "value": it.value }),
        Tree::Dynamic(members) => {
            let class = ClassName::new("pkl.base", "Dynamic");
            let mut elements = 0..;
            let named = |member: &Member| match member {
                Member::Property(name, value) => (name.to_string(), nested(value)),
                Member::Entry(Tree::String(key), value) => (key.to_string(), nested(value)),
                Member::Entry(key, value) => (format!("{key:?}"), nested(value)),
                Member::Element(value) => {
                    (elements.next().map_or_else(String::new, |at: usize| at.to_string()), nested(value))
                }
            };
            object(&class, module_uri, &members.iter().map(named).collect())
        }
        Tree::Typed(typed) => {
            let named = |(name, value): &(std::sync::Arc<str>, Tree)| (name.to_string(), nested(value));
            object(&typed.class, module_uri, &typed.properties.iter().map(named).collect())
        }
        Tree::Null
        | Tree::Bytes(_)
        | Tree::IntSeq(_)
        | Tree::Regex(_)
        | Tree::Class(_)
        | Tree::TypeAlias(_)
        | Tree::Function { .. }
        | Tree::Error(_) => Value::Null,
    }
}

fn object(
    class: &ClassName,
    module_uri: &str,
    properties: &serde_json::Map<String, serde_json::Value>,
) -> serde_json::Value {
    let library = class.module.strip_prefix("pkl.").map(|name| format!("pkl:{name}"));
    let uri = library.unwrap_or_else(|| module_uri.to_owned());
    let info = serde_json::json!({ "moduleName": &*class.module, "class": &*class.name, "moduleUri": uri });
    serde_json::json!({ "type": "PObject", "classInfo": info, "properties": properties })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use pkl_core::reader::FileReader;
    use std::fs;
    use std::path::Path;

    /// Writes a project that can be depended on, and that depends on these.
    fn write(root: &Path, name: &str, needs: &[&str]) {
        let need = |other: &&str| format!("  [\"{other}\"] = import(\"../{other}/PklProject\")");
        let needs = needs.iter().map(need).collect::<Vec<_>>().join("\n");
        let package = format!(
            "package {{ name = \"{name}\"; version = \"1.0.0\"; baseUri = \"package://a.b/{name}\"; packageZipUrl = \"https://a.b/{name}.zip\" }}\n"
        );
        let text = format!("amends \"pkl:Project\"\n{package}dependencies {{\n{needs}\n}}\n");
        fs::create_dir(root.join(name)).unwrap();
        fs::write(root.join(name).join("PklProject"), text).unwrap();
    }

    /// Loads the first of these projects.
    fn loaded(projects: &[(&str, &[&str])]) -> Result<Project, LoadError> {
        let root = tempfile::tempdir().unwrap();
        for (name, needs) in projects {
            write(root.path(), name, needs);
        }
        let evaluator = Evaluator::builder().files(FileReader::new()).build();
        load(&evaluator, &ModuleSource::file(root.path().join(projects[0].0).join("PklProject")).unwrap())
    }

    fn cycle(projects: &[(&str, &[&str])]) -> Vec<String> {
        let Err(LoadError::Cycle(uris)) = loaded(projects) else { panic!("no cycle in {projects:?}") };
        uris.iter().map(|uri| uri.rsplit('/').nth(1).unwrap().to_owned()).collect()
    }

    #[test]
    fn projects_in_a_circle_are_refused_with_the_way_around() {
        assert_eq!(cycle(&[("a", &["a"])]), ["a"]);
        assert_eq!(cycle(&[("a", &["b"]), ("b", &["c"]), ("c", &["a"])]), ["a", "b", "c"]);
        assert_eq!(cycle(&[("a", &["b"]), ("b", &["c"]), ("c", &["b"])]), ["b", "c"], "not the way to it");
    }

    #[test]
    fn a_project_that_two_depend_on_is_no_circle() {
        let project = loaded(&[("a", &["b", "c"]), ("b", &["d"]), ("c", &["d"]), ("d", &[])]).unwrap();
        assert_eq!(project.dependencies.keys().collect::<Vec<_>>(), ["b", "c"]);
    }

    #[test]
    fn projects_nested_too_deeply_are_refused() {
        let names: Vec<String> = (0..=DEEPEST).map(|number| format!("p{number}")).collect();
        let needs: Vec<Vec<&str>> = names.iter().skip(1).map(|next| vec![next.as_str()]).collect();
        let last: &[&str] = &[];
        let needs = needs.iter().map(Vec::as_slice).chain([last]);
        let projects: Vec<_> = names.iter().map(String::as_str).zip(needs).collect();
        assert!(matches!(loaded(&projects), Err(LoadError::TooDeep)));
    }
}
