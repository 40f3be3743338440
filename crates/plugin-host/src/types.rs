//! A plugin's types as the rest of the program knows types: its schema's descriptors as [`Schema`]s.
//!
//! A descriptor says more than a [`Schema`] has room for: the hints of nested keys and of the members of mappings,
//! the identifier, whether a type is extracted or portable. Those stay in the descriptor, which is kept beside the
//! schema ([`PluginTypeRules::descriptor`]).

use formwork_forma::extract::{FieldHint as Described, ParentMapping, ResourceDescriptor};
use formwork_model::{
    Discovery, EdgeKind, FieldHint, IndexBy, Kind, ListParameter, Parent, Path, PropertySchema, Schema,
    Segment, TypeCapabilities, TypeName, TypeRules, UpdateMethod,
};
use std::sync::Arc;

/// The rules of one type that a plugin serves.
#[derive(Debug)]
pub struct PluginTypeRules {
    schema: Arc<Schema>,
    capabilities: TypeCapabilities,
    descriptor: Option<Arc<ResourceDescriptor>>,
    discovery: Option<Discovery>,
    unavailable: Option<String>,
}

impl PluginTypeRules {
    pub(crate) fn new(
        descriptor: Arc<ResourceDescriptor>,
        capabilities: TypeCapabilities,
        unavailable: Option<String>,
    ) -> Self {
        let schema = Arc::new(schema(&descriptor));
        let discovery = discovery(&descriptor);
        Self { schema, capabilities, descriptor: Some(descriptor), discovery, unavailable }
    }

    /// A type of which nothing is known but why.
    pub(crate) fn unknown(type_name: TypeName, why: String) -> Self {
        let schema = Schema { type_name, doc: "".into(), properties: indexmap::IndexMap::new() };
        Self {
            schema: Arc::new(schema),
            capabilities: TypeCapabilities::of_plugin(),
            descriptor: None,
            discovery: None,
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

    fn unavailable(&self) -> Option<&str> {
        self.unavailable.as_deref()
    }
}

/// The properties of a type: those that can be set and are not nested in another.
fn schema(descriptor: &ResourceDescriptor) -> Schema {
    let top = |key: &&String| descriptor.names.contains_key(*key);
    let property = |key: &String| {
        let doc = descriptor.descriptions.get(key).map_or("", String::as_str);
        let mut hint = descriptor.schema.hints.get(key).map(hint).unwrap_or_default();
        // A forma always has the value; a template that leaves it out leaves it to the provider.
        hint.required &= !descriptor.defaults.contains(key);
        // The Pkl type of a property is checked where the forma is evaluated; descriptors don't say it.
        (Arc::from(key.as_str()), PropertySchema { hint, ..PropertySchema::new(Kind::Any, doc) })
    };
    Schema {
        type_name: descriptor.type_name.as_str().into(),
        doc: descriptor.description.as_deref().unwrap_or_default().into(),
        properties: descriptor.schema.fields.iter().filter(top).map(property).collect(),
    }
}

fn discovery(descriptor: &ResourceDescriptor) -> Option<Discovery> {
    let schema = &descriptor.schema;
    let parent = || Parent {
        type_name: schema.parent.as_str().into(),
        list_parameters: schema.parent_mappings.iter().map(list_parameter).collect(),
    };
    schema.discoverable.then(|| Discovery { parent: (!schema.parent.is_empty()).then(parent) })
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

/// How a collection compares. An entity set without a field that tells its entities apart is a set of values.
fn update_method(described: &Described) -> UpdateMethod {
    match described.update_method.as_str() {
        "Set" => UpdateMethod::Set,
        "EntitySet" if described.index_field.is_empty() => UpdateMethod::Set,
        "EntitySet" => {
            let keys = described.index_field.split('.').map(|key| Segment::Key(key.into()));
            UpdateMethod::EntitySet(IndexBy(keys.collect::<Path>()))
        }
        "Atomic" => UpdateMethod::Atomic,
        _ => UpdateMethod::Array,
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
