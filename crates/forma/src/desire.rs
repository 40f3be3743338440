//! From what a forma declares to what should exist.

use crate::forma::{Forma, Resource, Target};
use formwork_model::{
    Catalog, DeletionPolicy, Desired, Expr, ExprLeaf, Json, Matching, Mode, OnFailure, Ownership, Path,
    ProjectId, ResourceDesired, Secret, StackDesired, StackId, StackKey, TARGET_STACK, TARGET_TYPE,
    sha256_hex, target_stack,
};
use indexmap::IndexMap;
use std::fmt;
use std::sync::Arc;

/// How a forma is applied.
#[derive(Clone, Copy)]
pub struct DesireRequest<'a> {
    /// To which project.
    pub project: &'a ProjectId,
    /// Whether it is all that its stacks have.
    pub mode: Mode,
    /// What a failed step means for the rest.
    pub on_failure: OnFailure,
    /// The types that exist.
    pub catalog: &'a dyn Catalog,
    /// Whether its targets are to be made as it says, or only referred to.
    pub targets: bool,
}

impl fmt::Debug for DesireRequest<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DesireRequest")
            .field("project", &self.project)
            .field("mode", &self.mode)
            .field("on_failure", &self.on_failure)
            .field("targets", &self.targets)
            .finish_non_exhaustive()
    }
}

/// The id of a project's stack of some name. It follows from the name, so that a plan for a stack that does not exist
/// yet has it already.
pub fn stack_id(project: &ProjectId, label: &str) -> StackId {
    StackId::new(format!("stk_{}", &sha256_hex(format!("{project}\n{label}").as_bytes())[..24]))
}

/// What should exist once a forma is applied: a stack for each that has resources in it, in the order in which they are
/// first named, and the project's targets.
pub fn desired(forma: &Forma, request: &DesireRequest<'_>) -> Desired {
    let mut stacks: IndexMap<&str, Vec<ResourceDesired>> = IndexMap::new();
    for resource in &forma.resources {
        stacks.entry(&*resource.stack).or_default().push(resource_desired(resource, request.catalog));
    }
    let reconciles = request.mode == Mode::Reconcile;
    let stack = |(label, resources): (&str, Vec<ResourceDesired>)| StackDesired {
        id: stack_id(request.project, label),
        key: StackKey::new(request.project.clone(), label),
        mode: request.mode,
        ownership: if reconciles { Ownership::Full } else { Ownership::Additive },
        // A patch finds what it changes wherever it is; declared elsewhere, a resource is another one.
        matching: if reconciles { Matching::TypeLabelTarget } else { Matching::TypeLabel },
        on_failure: request.on_failure,
        resources,
        outputs: IndexMap::new(),
        metadata: None,
    };
    let mut stacks: Vec<StackDesired> = stacks.into_iter().map(stack).collect();
    if request.targets && !forma.targets.is_empty() {
        stacks.push(targets(forma, request));
    }
    Desired { project: request.project.clone(), stacks, source_map: Arc::clone(&forma.source_map) }
}

/// The targets, which belong to the project: what a forma does not declare stays.
fn targets(forma: &Forma, request: &DesireRequest<'_>) -> StackDesired {
    StackDesired {
        id: target_stack(request.project),
        key: StackKey::new(request.project.clone(), TARGET_STACK),
        mode: Mode::Patch,
        ownership: Ownership::DeclaredOnly,
        matching: Matching::TypeLabel,
        on_failure: request.on_failure,
        resources: forma.targets.iter().map(|target| target_desired(target, request.catalog)).collect(),
        outputs: IndexMap::new(),
        metadata: None,
    }
}

fn target_desired(target: &Target, catalog: &dyn Catalog) -> ResourceDesired {
    let properties = [
        ("namespace".into(), Expr::Plain(Json::String(target.namespace.to_string()))),
        ("config".into(), target.config.clone()),
    ];
    let type_name = TARGET_TYPE.into();
    ResourceDesired {
        label: target.label.as_str().into(),
        alias: None,
        properties: guarded(Expr::object(properties.into_iter().collect()), &type_name, catalog),
        type_name,
        target: None,
        import: None,
        depends_on: Vec::new(),
        deletion_policy: DeletionPolicy::Delete,
        metadata: None,
        path: target.path.clone(),
        properties_path: target.path.clone(),
    }
}

fn resource_desired(resource: &Resource, catalog: &dyn Catalog) -> ResourceDesired {
    ResourceDesired {
        label: resource.label.clone(),
        alias: resource.alias.clone(),
        type_name: resource.type_name.clone(),
        target: Some(resource.target.clone()),
        properties: guarded(resource.properties.clone(), &resource.type_name, catalog),
        import: None,
        depends_on: Vec::new(),
        deletion_policy: DeletionPolicy::Delete,
        metadata: resource.group.as_ref().map(|group| serde_json::json!({ "Group": group })),
        path: resource.path.clone(),
        properties_path: properties_path(&resource.path),
    }
}

/// Where a resource's properties stand in the source map.
pub(crate) fn properties_path(resource: &Path) -> Path {
    resource.key("Properties")
}

/// The properties with what is a credential by its place made a secret.
fn guarded(mut properties: Expr, type_name: &formwork_model::TypeName, catalog: &dyn Catalog) -> Expr {
    if let Some(rules) = catalog.get(type_name) {
        for place in rules.sensitive(&properties) {
            properties.replace_plain(&place, |value| ExprLeaf::Secret(Secret::new(value)));
        }
    }
    properties
}
