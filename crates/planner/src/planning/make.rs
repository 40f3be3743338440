//! From a request to a plan.

use super::ahead::referrers_first;
use super::draft::{Draft, Slots};
use super::inputs::Binder;
use super::links::{Links, for_each_ref, several, target_text};
use super::world::{Found, World};
use crate::graph::unknown_reference;
use crate::{PlanRequest, Planning};
use formwork_model::{Diagnostics, Expr, Inputs, PLAN_FORMAT, Path, Plan, PlannedStack};
use indexmap::IndexMap;

/// Makes the plan.
pub(crate) fn make(request: &PlanRequest<'_>) -> Result<Planning, Diagnostics> {
    let mut found = Diagnostics::default();
    let world = World::new(request, &mut found);
    let links = Links::new(&world, &mut found);
    report_outputs(&world, &mut found);
    let Some(links) = links.filter(|_| !found.has_errors()) else { return Err(found) };
    let mut draft = Draft::new(&world, &links, &mut found);
    draft.add_resolves();
    draft.add_undeclared_leftovers();
    for node in &links.order {
        draft.declare(*node);
    }
    draft.add_leaving();
    let Draft { steps, mut bases, mut slots, types, .. } = draft;
    let steps = referrers_first(steps, &mut bases, request.rows);
    let stacks = planned_stacks(&world, &mut slots);
    if found.has_errors() {
        return Err(found);
    }
    let plan = Plan {
        format: PLAN_FORMAT,
        kind: request.kind,
        project: request.desired.project.clone(),
        stacks,
        steps,
        bases,
        types,
    };
    Ok(Planning { plan, secrets: slots.secrets, warnings: found })
}

/// The stacks in id order, with what is to be shown once all is done.
fn planned_stacks(world: &World<'_>, slots: &mut Slots) -> Vec<PlannedStack> {
    let mut stacks: Vec<PlannedStack> = Vec::with_capacity(world.request.desired.stacks.len());
    for (at, stack) in world.request.desired.stacks.iter().enumerate() {
        let mut bind = |expr: &Expr| -> Inputs {
            let mut binder = Binder { world, stack: at, slots, previous: None, schema: None };
            binder.bind(expr)
        };
        let outputs: IndexMap<_, _> =
            stack.outputs.iter().map(|(name, expr)| (name.clone(), bind(expr))).collect();
        stacks.push(PlannedStack {
            id: stack.id.clone(),
            key: stack.key.clone(),
            on_failure: stack.on_failure,
            ownership: stack.ownership,
            outputs,
            metadata: stack.metadata.as_ref().map(&mut bind),
        });
    }
    stacks.sort_by(|left, right| left.id.cmp(&right.id));
    stacks
}

/// Reports references in outputs and metadata to what does not exist.
fn report_outputs(world: &World<'_>, found: &mut Diagnostics) {
    let source = &world.request.desired.source_map;
    for (at, stack) in world.request.desired.stacks.iter().enumerate() {
        let outputs = stack.outputs.iter().map(|(name, expr)| (Path::of(["outputs", name]), expr));
        let metadata = stack.metadata.iter().map(|expr| (Path::of(["metadata"]), expr));
        for (path, expr) in outputs.chain(metadata) {
            for_each_ref(expr, &mut |reference| {
                let to = target_text(&reference.to);
                match world.find(at, &reference.to) {
                    Found::Node(_) | Found::Row(_) => {}
                    Found::Several => found.push(several(&to, &path).at(source.place(&path))),
                    Found::Nothing => {
                        let nodes = world.nodes.iter().filter(|node| node.stack == at);
                        let labels = nodes.map(|node| node.resource.label.as_str());
                        found.push(unknown_reference(&to, labels, &path, source));
                    }
                }
            });
        }
    }
}
