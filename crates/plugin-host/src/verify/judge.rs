//! What the facts of a schema must be.

use super::Mistake;
use super::facts::{ClassFacts, Facts, FieldFacts};
use crate::launch::is_of;
use formwork_model::Suggest;
use std::collections::{BTreeMap, BTreeSet};

/// Finds what is wrong with what a schema declares. Without a namespace, none is asked for.
pub(super) fn judge(facts: &Facts, namespace: Option<&str>, mistakes: &mut BTreeSet<Mistake>) {
    let known = Known::of(facts);
    for class in &facts.classes {
        let mut wrong = |message: String| {
            mistakes.insert(class.spot.mistake(message));
        };
        hints(class, &mut wrong);
        if let Some(type_name) = &class.type_name {
            named(type_name, namespace, &mut wrong);
            known.once(class, type_name, &mut wrong);
        }
        known.identified(class, &mut wrong);
        known.placed(class, &mut wrong);
        for field in &class.fields {
            mistakes.extend(entities(field));
        }
    }
}

/// Where hints must be and may not be.
fn hints(class: &ClassFacts, wrong: &mut dyn FnMut(String)) {
    let name = &class.name;
    match (class.is_resource, class.is_annotated) {
        (true, false) => wrong(format!(
            "the resource class `{name}` has no `ResourceHint`: give it one, or make it `abstract`"
        )),
        (false, true) => {
            wrong(format!("the class `{name}` has a `ResourceHint`, but does not extend `formae.Resource`"));
        }
        _ => {}
    }
}

/// Whether a type belongs to the plugin. Its shape is the vocabulary's to check.
fn named(type_name: &str, namespace: Option<&str>, wrong: &mut dyn FnMut(String)) {
    if let Some(namespace) = namespace
        && !is_of(type_name, namespace)
    {
        wrong(format!(
            "the type `{type_name}` is not one of the namespace `{namespace}`, which the manifest says"
        ));
    }
}

/// An entity set needs what tells its elements apart.
fn entities(field: &FieldFacts) -> Option<Mistake> {
    let hint = field.hint.as_ref()?;
    let key = &field.key;
    let (is_set, index) = (hint.update_method == "EntitySet", hint.index_field.as_str());
    let message = match (is_set, index) {
        (true, "") => {
            format!("`{key}` is an `EntitySet` without the `indexField` that tells its elements apart")
        }
        (false, "") => return None,
        (false, _) => format!("`{key}` has an `indexField`, which only an `EntitySet` has"),
        (true, _) => {
            let first = index.split('.').next().unwrap_or_default();
            // Of elements of no known class nothing can be said.
            if field.elements.is_empty() || field.elements.iter().any(|element| element == first) {
                return None;
            }
            let near = near(first, field.elements.iter().map(String::as_str));
            format!("the elements of `{key}` have no `{index}`, which its `indexField` names{near}")
        }
    };
    Some(field.spot.mistake(message))
}

/// The types of a schema, with what objects of each carry.
struct Known<'a> {
    by_type: BTreeMap<&'a str, Vec<&'a ClassFacts>>,
    facts: &'a Facts,
}

impl<'a> Known<'a> {
    fn of(facts: &'a Facts) -> Self {
        let mut by_type: BTreeMap<&str, Vec<&ClassFacts>> = BTreeMap::new();
        for class in &facts.classes {
            if let Some(type_name) = &class.type_name {
                by_type.entry(type_name).or_default().push(class);
            }
        }
        Self { by_type, facts }
    }

    /// A type is declared once in each version of the provider's API.
    fn once(&self, class: &ClassFacts, type_name: &str, wrong: &mut dyn FnMut(String)) {
        let claims = self.by_type.get(type_name).into_iter().flatten();
        let first = claims.filter(|other| other.version == class.version).min_by_key(|other| &other.spot);
        if let Some(first) = first.filter(|first| first.spot != class.spot) {
            let (file, line) = (&first.spot.file, first.spot.place.0);
            let other = &first.name;
            wrong(format!("the type `{type_name}` is declared twice: also by `{other}` at {file}:{line}"));
        }
    }

    /// What objects of a class have, by key or name, or by what references to them may name.
    fn carried<'c>(&self, class: &'c ClassFacts) -> BTreeSet<&'c str>
    where
        'a: 'c,
    {
        let keys = class.fields.iter().map(|field| field.key.as_str());
        let named = class.type_name.as_ref().and_then(|type_name| self.facts.references.get(type_name));
        keys.chain(class.members.iter().map(String::as_str))
            .chain(named.into_iter().flatten().map(String::as_str))
            .collect()
    }

    /// The identifier is a property of the object, by name or JSONPath.
    fn identified(&self, class: &ClassFacts, wrong: &mut dyn FnMut(String)) {
        let Some(identifier) = class.identifier.as_deref().filter(|_| class.knows_fields) else { return };
        let path = identifier.strip_prefix('$').unwrap_or(identifier);
        let path = path.strip_prefix('.').unwrap_or(path);
        let first = path.split(['.', '[']).next().unwrap_or_default();
        let carried = self.carried(class);
        // A path that begins with a selector is not looked into.
        if (path.starts_with('[') || carried.contains(first)) && !path.is_empty() {
            return;
        }
        let near = near(first, carried.into_iter());
        let name = &class.name;
        wrong(format!("`{name}` has no `{identifier}`, which its `identifier` names{near}"));
    }

    /// The parent is a type of the schema, and both ends of what refers to it are there.
    fn placed(&self, class: &ClassFacts, wrong: &mut dyn FnMut(String)) {
        let pairs =
            class.parent_refs.iter().map(|(parents, childs)| (parents.as_str(), Some(childs.as_str())));
        let older = class.list_params.iter().map(|parents| (parents.as_str(), None));
        let Some(parent) = &class.parent else {
            if !class.parent_refs.is_empty() || !class.list_params.is_empty() {
                let name = &class.name;
                wrong(format!("`{name}` says what it carries of its parent, but not what its `parent` is"));
            }
            return;
        };
        let Some(parents) = self.by_type.get(parent.as_str()) else {
            let near = near(parent, self.by_type.keys().copied());
            return wrong(format!("the parent `{parent}` is no type of this schema{near}"));
        };
        for (parents_property, childs_property) in pairs.chain(older) {
            let holds = |class: &ClassFacts, property: &str| {
                !class.knows_fields || self.carried(class).contains(property)
            };
            if !parents.iter().any(|class| holds(class, parents_property)) {
                wrong(format!("the parent `{parent}` has no property `{parents_property}`"));
            }
            if let Some(property) = childs_property.filter(|property| !holds(class, property)) {
                let name = &class.name;
                wrong(format!(
                    "`{name}` has no property `{property}`, which should carry that of its parent"
                ));
            }
        }
    }
}

fn near<'a>(wanted: &str, known: impl Iterator<Item = &'a str>) -> String {
    let near = Suggest::default().nearest(wanted, known);
    near.map(|near| format!(": did you mean `{near}`?")).unwrap_or_default()
}
