//! What kinds of references mean for order, beyond that what is referred to comes first (seed 1, "EdgeKind").

use super::links::for_each_ref;
use super::world::{Found, World};
use crate::graph::narrow;
use formwork_model::{
    EdgeKind, Expr, ExprLeaf, Json, ListParameter, Parent, Path, Row, Segment, Stored, StoredLeaf, TypeName,
    same,
};
use rustc_hash::{FxHashMap, FxHashSet};

/// The declared resources that are part of others, by the type of those.
pub(crate) struct Children<'w, 'a> {
    world: &'w World<'a>,
    of_type: FxHashMap<TypeName, Vec<u32>>,
}

impl<'w, 'a> Children<'w, 'a> {
    /// All of them, if any declared resource cares.
    pub(crate) fn new(world: &'w World<'a>) -> Self {
        let mut of_type: FxHashMap<TypeName, Vec<u32>> = FxHashMap::default();
        if world.nodes.iter().any(|node| world.kind(node.kind).runs_with) {
            for at in 0..narrow(world.nodes.len()) {
                if let Some(parent) = parent_of(world, at) {
                    of_type.entry(parent.type_name.clone()).or_default().push(at);
                }
            }
        }
        Self { world, of_type }
    }

    /// The declared resources that are part of what a resource uses while it runs.
    pub(crate) fn used_by(&self, node: u32) -> Vec<u32> {
        let world = self.world;
        let user = world.node(node);
        let entry = world.kind(user.kind);
        let Some(schema) = entry.schema().filter(|_| entry.runs_with && !self.of_type.is_empty()) else {
            return Vec::new();
        };
        let mut used = Vec::new();
        user.resource.properties.for_each_leaf(&mut |path, leaf| {
            if schema.edge_kind(path) == EdgeKind::RuntimeDependency {
                for_each_ref(&Expr::Leaf(leaf.clone()), &mut |reference| {
                    if let Found::Node(to) = world.find(user.stack, &reference.to) {
                        used.extend(self.of(to).filter(|child| *child != node));
                    }
                });
            }
        });
        used
    }

    /// The declared resources that are part of a resource.
    fn of(&self, parent: u32) -> impl Iterator<Item = u32> {
        let children = self.of_type.get(&self.world.node(parent).resource.type_name);
        let children = children.into_iter().flatten().copied();
        children.filter(move |child| is_part_of(self.world, *child, parent))
    }
}

/// The type that a declared resource's type is part of.
fn parent_of<'w>(world: &'w World<'_>, node: u32) -> Option<&'w Parent> {
    world.kind(world.node(node).kind).rules.as_deref()?.parent()
}

/// Whether a declared resource carries all that tells its parent apart, of this very resource.
fn is_part_of(world: &World<'_>, child: u32, parent: u32) -> bool {
    let Some(declared) = parent_of(world, child) else { return false };
    let carries = |mapping: &ListParameter| carries(world, child, parent, mapping);
    !declared.list_parameters.is_empty() && declared.list_parameters.iter().all(carries)
}

fn carries(world: &World<'_>, child: u32, parent: u32, mapping: &ListParameter) -> bool {
    let path = |name: &str| name.split('.').map(|name| Segment::Key(name.into())).collect::<Path>();
    let (part, whole) = (world.node(child), world.node(parent));
    let there = whole.resource.properties.at(&path(&mapping.parent_property));
    match part.resource.properties.at(&path(&mapping.parameter)) {
        Some(Expr::Leaf(ExprLeaf::Ref(reference))) => match world.find(part.stack, &reference.to) {
            Found::Node(to) if to == parent => true,
            Found::Node(to) if world.node(to).resource.type_name == whole.resource.type_name => false,
            // Both are part of the same third one.
            found => matches!(there, Some(Expr::Leaf(ExprLeaf::Ref(other)))
                if other.path == reference.path && world.find(whole.stack, &other.to) == found),
        },
        Some(Expr::Plain(value)) => match there {
            Some(Expr::Plain(other)) => same(&value, &other),
            _ => world.object_of(parent).is_some_and(|(object, answered)| {
                let shown = answered.at(&path(&mapping.parent_property)).as_ref().map(Stored::comparable);
                shown.is_some_and(|shown| same(&shown, &value)) || value == object.native_id.as_str()
            }),
        },
        _ => false,
    }
}

/// The rows that a row refers to only in order to be reached through them: they go first.
pub(crate) fn reached_through(world: &World<'_>, row: usize) -> FxHashSet<usize> {
    let mut through = FxHashSet::default();
    let Some(object) = &world.request.rows[row].current else { return through };
    let entry = world.kind_of(&object.type_name).map(|kind| world.kind(kind));
    let Some(schema) = entry.filter(|entry| entry.attaches).and_then(|entry| entry.schema()) else {
        return through;
    };
    let Some(stack) = world.row_stacks[row] else { return through };
    let references = &world.request.rows[row].references;
    let referred: Vec<usize> = references.iter().filter_map(|id| world.row_index.get(id)).copied().collect();
    let mut others = FxHashSet::default();
    object.sent.for_each_leaf(&mut |path: &Path, leaf: &StoredLeaf| {
        let StoredLeaf::Resolved { reference, sent } = leaf else { return };
        // A row that has another label since is still known by its object.
        let named = || referred.iter().copied().find(|row| is_of(&world.request.rows[*row], sent));
        let Some(to) = world.find_row(stack, &reference.to).or_else(named) else { return };
        let set = if schema.edge_kind(path) == EdgeKind::AttachesTo { &mut through } else { &mut others };
        set.insert(to);
    });
    through.retain(|to| !others.contains(to));
    through
}

/// Whether a value is the id of a row's object.
fn is_of(row: &Row, value: &Json) -> bool {
    row.current.as_ref().is_some_and(|object| Some(object.native_id.as_str()) == value.as_str())
}
