//! What should exist: where both front ends end and the planner begins.

use crate::{
    Expr, Json, Label, NativeId, Path, ProjectId, SourceMap, StackId, StackKey, TargetName, TypeName,
};
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// One graph over all the stacks of one request.
#[derive(Clone, Debug)]
pub struct Desired {
    /// The project they belong to.
    pub project: ProjectId,
    /// The stacks; an operation changes these and no others.
    pub stacks: Vec<StackDesired>,
    /// Where everything was declared.
    pub source_map: Arc<SourceMap>,
}

/// What one stack should be.
#[derive(Clone, Debug)]
pub struct StackDesired {
    /// The stack's id.
    pub id: StackId,
    /// Its name.
    pub key: StackKey,
    /// Whether undeclared resources go.
    pub mode: Mode,
    /// Which fields the declaration owns.
    pub ownership: Ownership,
    /// What makes a declaration and a row the same resource.
    pub matching: Matching,
    /// What a failed step means for the rest.
    pub on_failure: OnFailure,
    /// The resources in the order of their declaration; labels are unique per `matching`.
    pub resources: Vec<ResourceDesired>,
    /// Values to show once all is done.
    pub outputs: IndexMap<Arc<str>, Expr>,
    /// Metadata to resolve once all is done.
    pub metadata: Option<Expr>,
}

/// What one resource should be.
#[derive(Clone, Debug)]
pub struct ResourceDesired {
    /// The author's name for it.
    pub label: Label,
    /// The name that it had before: its row is taken over where there is none of this name yet.
    pub alias: Option<Label>,
    /// Its type.
    pub type_name: TypeName,
    /// Where it lives; `None` is the type's only place.
    pub target: Option<TargetName>,
    /// Its properties.
    pub properties: Expr,
    /// The object that it stands for, which exists already: it is adopted instead of created.
    pub import: Option<NativeId>,
    /// What must be there first, beside what its properties refer to.
    pub depends_on: Vec<Dependency>,
    /// What becomes of its object when it is no longer wanted.
    pub deletion_policy: DeletionPolicy,
    /// The declaration's own annotations, kept on the row.
    pub metadata: Option<Json>,
    /// Where the declaration stands in the source.
    pub path: Path,
    /// Where its properties stand in the source.
    pub properties_path: Path,
}

/// An explicit dependency.
#[derive(Clone, Debug)]
pub struct Dependency {
    /// On what.
    pub on: Label,
    /// What it means for order.
    pub kind: EdgeKind,
    /// Where it was declared.
    pub path: Path,
}

/// What an edge means for order (seed 1, "edge kinds").
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum EdgeKind {
    /// Created after, deleted before.
    #[default]
    Dependency,
    /// Created after, and deleted after too: the referrer is reached through what it refers to.
    AttachesTo,
    /// Created after what it refers to and all that is part of that, and deleted before all of it.
    RuntimeDependency,
}

/// Whether undeclared resources go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// The stack becomes what is declared; the rest is deleted.
    #[default]
    Reconcile,
    /// What is declared is added or changed; the rest stays.
    Patch,
}

/// Which fields a declaration owns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ownership {
    /// A field that is no longer declared is removed, unless the provider defaults it.
    Full,
    /// Only declared properties are ever compared (seed 4, "Plan Diff").
    #[default]
    DeclaredOnly,
    /// Like `DeclaredOnly`, and collections only grow.
    Additive,
}

/// What makes a declaration and a row the same resource.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Matching {
    /// The label.
    #[default]
    Label,
    /// Type and label.
    TypeLabel,
    /// Type, label and target.
    TypeLabelTarget,
}

/// What a failed step means for the rest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnFailure {
    /// Its dependents fail with the reason, everything else goes on.
    Continue,
    /// Dispatch stops and what was created is undone (seed 4, "Rollback on a Failed Deploy").
    #[default]
    RollBack,
}

/// What becomes of an object when it is no longer wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeletionPolicy {
    /// It is deleted.
    #[default]
    Delete,
    /// It stays; only the record goes.
    Retain,
    /// Deleting or replacing it is refused.
    Protect,
}
