//! What a plan is made from, and what is made.

use formwork_model::{
    Catalog, Certainty, Desired, Diagnostics, InstanceKey, NativeId, Object, Observation, OperationKind,
    Plan, ResourceDesired, Row, RowId, SecretSlots, StackId, StackKey, Stored, TargetName, TargetRev,
    Timestamp, TypeName,
};
use std::collections::BTreeMap;

/// What a plan is made from.
#[derive(Clone, Copy)]
pub struct PlanRequest<'a> {
    /// What the operation is for.
    pub kind: OperationKind,
    /// What should exist.
    pub desired: &'a Desired,
    /// All rows of the desired stacks, tombstones included, in position order; and of the stacks in
    /// `known` at least those that are referred to.
    pub rows: &'a [Row],
    /// Stacks that are only referred to: nothing of them changes.
    pub known: &'a KnownStacks,
    /// What was seen of them.
    pub observations: &'a BTreeMap<RowId, Observation>,
    /// What was found of the objects that declarations import.
    pub imports: &'a Imports,
    /// The types that exist.
    pub catalog: &'a dyn Catalog,
    /// What secrets are compared under.
    pub key: &'a InstanceKey,
    /// Whether values may still be missing, because the plan is only looked at: what has none is
    /// left out then, instead of refused.
    pub incomplete: bool,
}

/// Stacks that a request only refers to, by name.
pub type KnownStacks = BTreeMap<StackKey, StackId>;

/// What was found of each object that a declaration imports, by its type and id.
pub type Imports = BTreeMap<(TypeName, NativeId), Import>;

/// What was found of an object that a declaration imports.
#[derive(Clone, Debug)]
pub enum Import {
    /// It is there and nobody's: the row as it will stand once it has it.
    Free(Box<Row>),
    /// It cannot be taken over, and why: a sentence's end, after its logical id.
    Refused(String),
}

impl Import {
    /// An object that is there with these properties, for a declaration and the row of its label,
    /// if there is one already.
    pub fn free(
        resource: &ResourceDesired,
        native_id: &NativeId,
        row: Option<&Row>,
        (properties, at): (Stored, Timestamp),
    ) -> Self {
        let new = || Row::new("".into(), "".into(), resource.label.clone(), resource.type_name.clone(), 0);
        let name = resource.target.clone().unwrap_or_else(|| TargetName::from(""));
        let object = Object {
            native_id: native_id.clone(),
            type_name: resource.type_name.clone(),
            target: TargetRev { name, revision: 0 },
            deletion_policy: resource.deletion_policy,
            sent: properties.clone(),
            echo: properties.clone(),
            observed: Some((properties, at)),
            certainty: Certainty::Certain,
        };
        let row = row.cloned().unwrap_or_else(new);
        Self::Free(Box::new(Row { current: Some(object), deposed: Vec::new(), intent: None, ..row }))
    }
}

/// A plan, and what belongs to it but may not be written into it.
#[derive(Debug)]
pub struct Planning {
    /// The plan.
    pub plan: Plan,
    /// The plaintexts its inputs name.
    pub secrets: SecretSlots,
    /// What a person should know, though nothing is refused.
    pub warnings: Diagnostics,
}

/// Makes the plan: deterministic, complete, and the same whoever asks.
///
/// A plan can be made for every state of the ledger. A property that cannot be changed, of a type
/// that refuses that, is a warning here and fails when the plan runs, since the provider has the
/// last word (seed 4, "A Failed Deploy Still Answers 2xx").
///
/// # Errors
/// What stands in the way, warnings among it: references to nothing or in a circle, types that do
/// not exist, protected resources that would have to go, kept secrets that nobody holds.
pub fn plan(request: &PlanRequest<'_>) -> Result<Planning, Diagnostics> {
    let planning = crate::planning::make(request)?;
    debug_assert_eq!(crate::check(&planning.plan), Ok(()), "a plan keeps its own promises");
    Ok(planning)
}
