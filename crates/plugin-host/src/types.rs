//! A plugin's types as the rest of the program knows types: its schema's descriptors as [`Schema`]s.
//!
//! A descriptor says more than a [`Schema`] has room for: the identifier, whether a type is extracted or portable.
//! That stays in the descriptor, which is kept beside the schema ([`PluginTypeRules::descriptor`]).

use formwork_forma::extract::{FieldHint as Described, ParentMapping, ResourceDescriptor};
use formwork_model::{
    Discovery, EdgeKind, FieldHint, IndexBy, Kind, ListParameter, NestedHints, NestedKey, Parent, Path,
    PropertySchema, Schema, Segment, TypeCapabilities, TypeName, TypeRules, UpdateMethod,
};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The rules of one type that a plugin serves.
#[derive(Debug)]
pub struct PluginTypeRules {
    schema: Arc<Schema>,
    capabilities: TypeCapabilities,
    descriptor: Option<Arc<ResourceDescriptor>>,
    discovery: Option<Discovery>,
    parent: Option<Parent>,
    unavailable: Option<String>,
}

impl PluginTypeRules {
    pub(crate) fn new(
        descriptor: Arc<ResourceDescriptor>,
        capabilities: TypeCapabilities,
        unavailable: Option<String>,
    ) -> Self {
        let schema = Arc::new(schema(&descriptor));
        let parent = parent(&descriptor);
        let discovery = descriptor.schema.discoverable.then(|| Discovery { parent: parent.clone() });
        Self { schema, capabilities, descriptor: Some(descriptor), discovery, parent, unavailable }
    }

    /// A type of which nothing is known but why.
    pub(crate) fn unknown(type_name: TypeName, why: String) -> Self {
        let schema = Schema { type_name, doc: "".into(), properties: indexmap::IndexMap::new() };
        Self {
            schema: Arc::new(schema),
            capabilities: TypeCapabilities::of_plugin(),
            descriptor: None,
            discovery: None,
            parent: None,
            unavailable: Some(why),
        }
    }

    /// The same type, which can't be used.
    pub(crate) fn made_unavailable(&self, why: String) -> Self {
        Self {
            schema: Arc::clone(&self.schema),
            capabilities: self.capabilities.clone(),
            descriptor: self.descriptor.clone(),
            discovery: self.discovery.clone(),
            parent: self.parent.clone(),
            unavailable: Some(why),
        }
    }

    /// All that the plugin's schema says of the type; `None` if the schema can't be read.
    pub fn descriptor(&self) -> Option<&ResourceDescriptor> {
        self.descriptor.as_deref()
    }
}

impl TypeRules for PluginTypeRules {
    fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    fn capabilities(&self) -> &TypeCapabilities {
        &self.capabilities
    }

    /// Every type of a plugin lives at a target, as a forma's resources do.
    fn target_namespace(&self) -> Option<&str> {
        self.schema.type_name.as_str().split_once("::").map(|(namespace, _)| namespace)
    }

    fn discovery(&self) -> Option<&Discovery> {
        self.discovery.as_ref()
    }

    /// Known of types that are not discovered as well.
    fn parent(&self) -> Option<&Parent> {
        self.parent.as_ref()
    }

    fn unavailable(&self) -> Option<&str> {
        self.unavailable.as_deref()
    }
}

/// The properties of a type: those that can be set and are not nested in another.
fn schema(descriptor: &ResourceDescriptor) -> Schema {
    let top = |key: &&String| descriptor.names.contains_key(*key);
    let mut nested = nested(descriptor);
    let property = |key: &String| {
        let doc = descriptor.descriptions.get(key).map_or("", String::as_str);
        let plain = || NestedKey::plain().hint.clone();
        let mut hint = descriptor.schema.hints.get(key).map_or_else(plain, hint);
        // A forma always has the value; a template that leaves it out leaves it to the provider.
        hint.required &= !descriptor.defaults.contains(key);
        // The Pkl type of a property is checked where the forma is evaluated; descriptors don't say it.
        let within = Some(Box::new(nested.remove(key.as_str()).unwrap_or_default()));
        (Arc::from(key.as_str()), PropertySchema { hint, within, ..PropertySchema::new(Kind::Any, doc) })
    };
    Schema {
        type_name: descriptor.type_name.as_str().into(),
        doc: descriptor.description.as_deref().unwrap_or_default().into(),
        properties: descriptor.schema.fields.iter().filter(top).map(property).collect(),
    }
}

/// The hints of what is within each property.
fn nested(descriptor: &ResourceDescriptor) -> BTreeMap<&str, NestedHints> {
    let mut nested: BTreeMap<&str, NestedHints> = BTreeMap::default();
    for (key, described) in descriptor.schema.hints.iter().chain(&descriptor.member_hints) {
        if let Some((property, rest)) = key.split_once('.') {
            nested.entry(property).or_default().insert(rest.split('.'), hint(described));
        }
    }
    nested
}

fn parent(descriptor: &ResourceDescriptor) -> Option<Parent> {
    let schema = &descriptor.schema;
    (!schema.parent.is_empty()).then(|| Parent {
        type_name: schema.parent.as_str().into(),
        list_parameters: schema.parent_mappings.iter().map(list_parameter).collect(),
    })
}

fn list_parameter(mapping: &ParentMapping) -> ListParameter {
    ListParameter {
        parent_property: mapping.parent_property.as_str().into(),
        parameter: mapping.child_property.as_str().into(),
    }
}

fn hint(described: &Described) -> FieldHint {
    FieldHint {
        required: described.required,
        required_on_create: described.required_on_create,
        required_on_update: described.required_on_update,
        create_only: described.create_only,
        write_only: described.write_only,
        has_provider_default: described.has_provider_default,
        opaque: described.opaque,
        format: Some(described.format.as_str()).filter(|format| !format.is_empty()).map(Into::into),
        update_method: update_method(described),
        edge_kind: edge_kind(described),
    }
}

/// How a collection compares: unordered where nothing is said. An entity set without a field that tells its entities apart is a set of values.
fn update_method(described: &Described) -> UpdateMethod {
    match described.update_method.as_str() {
        "Array" => UpdateMethod::Array,
        "EntitySet" if described.index_field.is_empty() => UpdateMethod::Set,
        "EntitySet" => {
            let keys = described.index_field.split('.').map(|key| Segment::Key(key.into()));
            UpdateMethod::EntitySet(IndexBy(keys.collect::<Path>()))
        }
        "Atomic" => UpdateMethod::Atomic,
        _ => UpdateMethod::Set,
    }
}

fn edge_kind(described: &Described) -> EdgeKind {
    match described.edge_kind.as_str() {
        "attachesTo" => EdgeKind::AttachesTo,
        "runtimeDependency" => EdgeKind::RuntimeDependency,
        _ if described.attaches_to => EdgeKind::AttachesTo,
        _ => EdgeKind::Dependency,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    /// A descriptor with these fields and hints; each hint says only what differs.
    #[expect(clippy::needless_pass_by_value, reason = "callers write the values out")]
    fn descriptor(fields: Value, hints: Value, member_hints: Value) -> ResourceDescriptor {
        let names: Value = (fields.as_array().into_iter().flatten().filter_map(Value::as_str))
            .filter(|field| !field.contains('.'))
            .map(|field| (field.to_owned(), json!(field.to_lowercase())))
            .collect::<serde_json::Map<_, _>>()
            .into();
        let described = json!({
            "Type": "T::Test::Thing", "Module": "thing.pkl", "Class": "Thing",
            "Schema": {
                "Identifier": "Name", "Fields": fields, "Hints": filled(hints), "Discoverable": true,
                "Extractable": true, "Portable": false, "Parent": "", "ParentMappings": [],
            },
            "MemberHints": filled(member_hints), "Names": names, "Descriptions": {}, "Defaults": [],
        });
        serde_json::from_value(described).expect("the descriptor is sound")
    }

    fn filled(mut hints: Value) -> Value {
        for hint in hints.as_object_mut().into_iter().flat_map(|hints| hints.values_mut()) {
            let mut whole = json!({
                "CreateOnly": false, "WriteOnly": false, "Required": false, "RequiredOnCreate": false,
                "RequiredOnUpdate": false, "HasProviderDefault": false, "Opaque": false, "AttachesTo": false,
                "EdgeKind": "default", "IndexField": "", "UpdateMethod": "", "Format": "",
            });
            for (name, value) in hint.as_object().into_iter().flatten() {
                whole[name] = value.clone();
            }
            *hint = whole;
        }
        hints
    }

    #[test]
    fn a_collection_of_which_nothing_is_said_is_unordered() {
        let described = descriptor(
            json!(["Plain", "Ordered", "Set", "Keyed", "Unkeyed", "Whole"]),
            json!({
                "Plain": {},
                "Ordered": {"UpdateMethod": "Array"},
                "Set": {"UpdateMethod": "Set"},
                "Keyed": {"UpdateMethod": "EntitySet", "IndexField": "a.b"},
                "Unkeyed": {"UpdateMethod": "EntitySet"},
                "Whole": {"UpdateMethod": "Atomic"},
            }),
            json!({}),
        );
        let found = schema(&described);
        let method = |name: &str| &found.property(name).expect("it is a property").hint.update_method;
        assert_eq!(*method("Plain"), UpdateMethod::Set);
        assert_eq!(*method("Ordered"), UpdateMethod::Array);
        assert_eq!(*method("Set"), UpdateMethod::Set);
        assert_eq!(*method("Keyed"), UpdateMethod::EntitySet(IndexBy(Path::of(["a", "b"]))));
        assert_eq!(*method("Unkeyed"), UpdateMethod::Set);
        assert_eq!(*method("Whole"), UpdateMethod::Atomic);
    }

    #[test]
    fn nested_hints_are_found_by_their_names_and_those_of_mappings_under_any_key() {
        let described = descriptor(
            json!(["Rules", "Rules.Status", "Rules.Ports", "Zones"]),
            json!({
                "Rules": {}, "Rules.Status": {"CreateOnly": true}, "Rules.Ports": {"UpdateMethod": "Array"},
                "Zones": {},
            }),
            json!({"Zones.*": {"HasProviderDefault": true}, "Zones.*.Key": {"WriteOnly": true}}),
        );
        let found = schema(&described);
        let within = |name: &str| found.property(name).and_then(|property| property.within.as_deref());
        let rules = within("Rules").expect("it has hints within");
        assert!(rules.key("Status").hint.create_only);
        assert_eq!(rules.key("Ports").hint.update_method, UpdateMethod::Array);
        assert_eq!(rules.key("Other"), NestedKey::plain());
        let zone = within("Zones").expect("it has hints within").key("eu");
        assert!(zone.hint.has_provider_default && zone.within.key("Key").hint.write_only);
    }
}
