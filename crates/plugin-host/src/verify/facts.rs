//! What a schema declares, module by module: facts that can't be found out are mistakes, and leave the others.

use super::{Mistake, Root};
use crate::installed::SCHEMA;
use crate::pkl;
use formwork_forma::extract::FieldHint;
use pkl_core::{Evaluator, Handle, ModuleSource, Session, from_tree};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::collections::{BTreeMap, BTreeSet};

/// The program that finds out about one module.
const PROGRAM: &str = include_str!("facts.pkl");

/// What a schema declares.
#[derive(Default)]
pub(super) struct Facts {
    pub(super) classes: Vec<ClassFacts>,
    /// By type: what references to it may name.
    pub(super) references: BTreeMap<String, BTreeSet<String>>,
}

/// What is known of a class; nothing is said twice of what could not be found out.
pub(super) struct ClassFacts {
    pub(super) name: String,
    pub(super) spot: Spot,
    pub(super) is_resource: bool,
    pub(super) is_annotated: bool,
    /// The version of the provider's API whose tree it is in.
    pub(super) version: Option<String>,
    pub(super) type_name: Option<String>,
    pub(super) identifier: Option<String>,
    pub(super) parent: Option<String>,
    /// The parent's property and the child's.
    pub(super) parent_refs: Vec<(String, String)>,
    /// The parent's property of the older form.
    pub(super) list_params: Vec<String>,
    /// The names of all that its objects have.
    pub(super) members: BTreeSet<String>,
    pub(super) fields: Vec<FieldFacts>,
    /// Whether its fields could be found out.
    pub(super) knows_fields: bool,
}

pub(super) struct FieldFacts {
    pub(super) key: String,
    pub(super) spot: Spot,
    /// The keys of the objects in it.
    pub(super) elements: Vec<String>,
    pub(super) hint: Option<FieldHint>,
}

/// A place in a file of the plugin.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Spot {
    pub(super) file: String,
    pub(super) place: (u32, u32),
}

impl Spot {
    pub(super) fn mistake(&self, message: String) -> Mistake {
        Mistake { file: self.file.clone(), place: Some(self.place), message }
    }
}

impl Facts {
    /// The types, sorted.
    pub(super) fn types(&self) -> Vec<String> {
        let types: BTreeSet<&String> = self.classes.iter().filter_map(|it| it.type_name.as_ref()).collect();
        types.into_iter().cloned().collect()
    }
}

#[derive(Deserialize)]
struct Location {
    line: u32,
    column: u32,
    uri: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Head {
    name: String,
    location: Location,
    is_resource: bool,
    is_annotated: bool,
}

#[derive(Deserialize)]
struct FieldHead {
    key: String,
    location: Location,
    elements: Vec<String>,
}

/// Looks at each module of a schema.
pub(super) fn gather(root: &Root, modules: &[String], mistakes: &mut BTreeSet<Mistake>) -> Facts {
    let schema = root.directory.join(SCHEMA);
    let evaluator: Evaluator = pkl::evaluator(&schema);
    let mut facts = Facts::default();
    for module in modules {
        let file = format!("{SCHEMA}/{module}");
        let program = ModuleSource::Text {
            uri: format!("{}formwork-facts.pkl", pkl::directory_uri(&schema)),
            text: PROGRAM.replace("\"formwork:subject\"", &quoted(module)),
        };
        let looked = evaluator.session(&program, |session| {
            Gathering { root, file: &file, session, mistakes: &mut *mistakes }.gather(module, &mut facts);
            Ok(())
        });
        if let Err(error) = looked {
            mistakes.insert(root.mistake(&file, &error));
        }
    }
    facts
}

/// A module's path as an import of Pkl.
fn quoted(module: &str) -> String {
    format!("\"{}\"", module.replace('\\', "\\\\").replace('"', "\\\""))
}

struct Gathering<'a, 's, 'v, 'e> {
    root: &'a Root,
    file: &'a str,
    session: &'s mut Session<'v, 'e>,
    mistakes: &'a mut BTreeSet<Mistake>,
}

impl Gathering<'_, '_, '_, '_> {
    fn gather(mut self, module: &str, facts: &mut Facts) {
        let count: usize = self.evaluated("classes.length").unwrap_or_default();
        for index in 0..count {
            let Some(class) = self.handle(&format!("classes[{index}]")) else { continue };
            facts.classes.extend(self.class(module, index, class));
        }
        let references: Vec<(String, Vec<String>)> = self.evaluated("references").unwrap_or_default();
        for (type_name, names) in references {
            facts.references.entry(type_name).or_default().extend(names);
        }
    }

    fn class(&mut self, module: &str, index: usize, class: Handle) -> Option<ClassFacts> {
        let head: Head = self.of(class, "head")?;
        let members: Option<Vec<String>> = self.of(class, "members");
        let mut facts = ClassFacts {
            name: head.name,
            spot: self.spot(&head.location),
            is_resource: head.is_resource,
            is_annotated: head.is_annotated,
            version: version_of(module),
            type_name: self.of(class, "type").flatten(),
            identifier: self.of(class, "identifier").flatten(),
            parent: self.of(class, "parent").flatten(),
            parent_refs: self.of(class, "parentRefs").unwrap_or_default(),
            list_params: self.of(class, "listParams").unwrap_or_default(),
            members: members.unwrap_or_default().into_iter().collect(),
            fields: Vec::new(),
            knows_fields: false,
        };
        // A resource class without a hint of its own has no plan to be asked for.
        if facts.is_annotated || !facts.is_resource {
            let count: Option<usize> = self.evaluated(&format!("classes[{index}].fields.length"));
            facts.knows_fields = count.is_some();
            for field in 0..count.unwrap_or_default() {
                let field = self.handle(&format!("classes[{index}].fields[{field}]"));
                let field = field.and_then(|field| self.field(field));
                facts.knows_fields &= field.is_some();
                facts.fields.extend(field);
            }
        }
        Some(facts)
    }

    fn field(&mut self, field: Handle) -> Option<FieldFacts> {
        let head: FieldHead = self.of(field, "head")?;
        let spot = self.spot(&head.location);
        Some(FieldFacts { key: head.key, spot, elements: head.elements, hint: self.of(field, "hint") })
    }

    fn spot(&self, location: &Location) -> Spot {
        let uri = location.uri.rsplit_once(", line ").map_or(location.uri.as_str(), |(uri, _)| uri);
        let file = self.root.file(uri).unwrap_or_else(|| self.file.to_owned());
        Spot { file, place: (location.line, location.column) }
    }

    fn of<T: DeserializeOwned>(&mut self, value: Handle, name: &str) -> Option<T> {
        let value = self.session.property(value, name);
        self.read(value)
    }

    fn evaluated<T: DeserializeOwned>(&mut self, expression: &str) -> Option<T> {
        let value = self.session.evaluate(expression);
        self.read(value)
    }

    fn handle(&mut self, expression: &str) -> Option<Handle> {
        let value = self.session.evaluate(expression);
        self.taken(value)
    }

    fn read<T: DeserializeOwned>(&mut self, value: Result<Handle, pkl_core::Error>) -> Option<T> {
        let value = self.taken(value)?;
        let tree = self.session.export(value);
        let tree = self.taken(tree)?;
        match from_tree(&tree) {
            Ok(value) => Some(value),
            Err(error) => {
                self.mistakes.insert(Mistake::of_file(self.file, error.to_string()));
                None
            }
        }
    }

    fn taken<T>(&mut self, value: Result<T, pkl_core::Error>) -> Option<T> {
        value.map_err(|error| self.mistakes.insert(self.root.mistake(self.file, &error))).ok()
    }
}

/// The directory of a module's path that names a version, as the extractor finds it.
fn version_of(module: &str) -> Option<String> {
    let is_version = |part: &&str| {
        let numbers = part.strip_prefix('v').unwrap_or_default();
        numbers.starts_with(|letter: char| letter.is_ascii_digit())
            && numbers.split('.').next().is_some_and(|first| first.bytes().all(|byte| byte.is_ascii_digit()))
    };
    module.split('/').find(is_version).map(str::to_owned)
}
