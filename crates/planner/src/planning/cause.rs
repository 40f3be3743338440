//! Why a step is in a plan, in words: from the effect back to the change that started it.

use super::declare::Case;
use super::draft::Draft;
use super::world::{Found, World};
use crate::change::{hint, is_always_sent};
use formwork_model::{
    Cause, CauseLink, Certainty, PatchOp, Path, Place, Planned, PlannedLeaf, Ref, ResourceDesired,
};

/// How many links of another step's cause a cause repeats: causes stay readable, and a long chain of
/// resources does not make plans grow with its square.
const MOST_INHERITED: usize = 4;

/// One link.
pub(crate) fn link(text: impl Into<String>, place: Option<Place>) -> CauseLink {
    CauseLink { text: text.into(), place }
}

/// Where a resource is declared.
pub(crate) fn declaration_place(world: &World<'_>, resource: &ResourceDesired) -> Option<Place> {
    world.request.desired.source_map.key_place(&resource.path)
}

/// Where a property of a resource is declared.
pub(crate) fn property_place(world: &World<'_>, resource: &ResourceDesired, path: &Path) -> Option<Place> {
    world.request.desired.source_map.place(&resource.properties_path.join(path))
}

/// A cause of one link at the declaration.
pub(crate) fn about(world: &World<'_>, resource: &ResourceDesired, what: &str) -> Cause {
    Cause::of(format!("`{}` {what}", resource.label), declaration_place(world, resource))
}

impl Draft<'_, '_> {
    /// The links for the changes of a resource, each with its place.
    pub(crate) fn change_links(&self, case: &Case<'_, '_>, patch: &[PatchOp]) -> Vec<CauseLink> {
        let label = &case.resource().label;
        let mut links = Vec::with_capacity(patch.len());
        if case.certainty() == Certainty::Uncertain {
            links.push(link(format!("the outcome of the last update of `{label}` is not known"), None));
        }
        let mut inherited = Vec::new();
        for operation in patch {
            let name = operation.path.to_string();
            let waits = unknown_refs(operation);
            let text = if operation.after.is_none() {
                format!("`{label}.{name}` is no longer declared")
            } else if is_always_sent(hint(case.schema, &name), case.capabilities) {
                format!("`{label}.{name}` must always be sent")
            } else if let Some(first) = waits.first() {
                if inherited.is_empty() {
                    inherited = self.inherited(case, first);
                }
                format!("`{label}.{name}` follows `{first}`")
            } else if operation.drift && case.certainty() == Certainty::Certain {
                format!("`{label}.{name}` changed outside")
            } else if operation.drift {
                continue;
            } else if operation.before.is_none() {
                format!("`{label}.{name}` is new")
            } else {
                format!("`{label}.{name}` changed")
            };
            links.push(link(text, operation.place.clone()));
        }
        links.extend(inherited);
        links
    }

    /// The cause of the step that a reference waits for, cut short: its first links and its root.
    fn inherited(&self, case: &Case<'_, '_>, reference: &Ref) -> Vec<CauseLink> {
        let Found::Node(node) = self.world.find(case.node.stack, &reference.to) else { return Vec::new() };
        let Some(fate) = self.fates[node as usize] else { return Vec::new() };
        let links = &self.steps[fate.step.index()].cause.0;
        let Some((root, rest)) = links.split_last() else { return Vec::new() };
        let shown = rest.iter().take(MOST_INHERITED - 1);
        shown.chain(std::iter::once(root)).cloned().collect()
    }

    /// Fills in where each change was declared.
    pub(crate) fn locate(&self, resource: &ResourceDesired, patch: &mut [PatchOp]) {
        for operation in patch {
            if operation.after.is_some() {
                operation.place = property_place(self.world, resource, &operation.path);
            }
        }
    }
}

/// The references that the new value of a change waits for.
pub(crate) fn unknown_refs(operation: &PatchOp) -> Vec<&Ref> {
    let mut found = Vec::new();
    if let Some(after) = &operation.after {
        collect_unknown(after, &mut found);
    }
    found
}

fn collect_unknown<'v>(value: &'v Planned, found: &mut Vec<&'v Ref>) {
    match value {
        Planned::Leaf(PlannedLeaf::Unknown { from, .. }) => found.extend(from),
        Planned::Plain(_) | Planned::Leaf(_) => {}
        Planned::Array(items) => items.iter().for_each(|item| collect_unknown(item, found)),
        Planned::Object(members) => members.values().for_each(|member| collect_unknown(member, found)),
    }
}
