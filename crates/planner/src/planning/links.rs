//! The dependencies between the resources of a request, by reference and by name.

use super::edges::Children;
use super::world::{Found, World};
use crate::graph::{
    Csr, MOST_SUGGESTIONS, dependency_cycle, kahn, narrow, self_reference, shortest_cycle, unknown_reference,
};
use formwork_model::{Diagnostic, DiagnosticCode, Diagnostics, Expr, ExprLeaf, Part, Path, Ref, RefTarget};

/// The dependencies of each declared resource.
pub(crate) struct Links {
    /// On other declared resources, once each.
    pub(crate) nodes: Csr,
    /// On rows that stay undeclared, once each.
    pub(crate) rows: Csr,
    /// An order in which dependencies come first.
    pub(crate) order: Vec<u32>,
}

/// Visits every reference in a declared value, depth first, in order.
pub(crate) fn for_each_ref<'a>(expr: &'a Expr, visit: &mut impl FnMut(&'a Ref)) {
    match expr {
        Expr::Plain(_) | Expr::Leaf(ExprLeaf::Secret(_) | ExprLeaf::KeepPrevious) => {}
        Expr::Array(items) => items.iter().for_each(|item| for_each_ref(item, visit)),
        Expr::Object(members) => members.values().for_each(|member| for_each_ref(member, visit)),
        Expr::Leaf(ExprLeaf::Ref(reference)) => visit(reference),
        Expr::Leaf(ExprLeaf::Template(parts)) => {
            for part in parts {
                if let Part::Ref(reference) = part {
                    visit(reference);
                }
            }
        }
        Expr::Leaf(ExprLeaf::Once(value)) => for_each_ref(value, visit),
    }
}

/// The path of the first reference in a declared value that `wanted` is true of.
fn path_of_ref(expr: &Expr, wanted: &dyn Fn(&Ref) -> bool) -> Option<Path> {
    let mut path = None;
    expr.for_each_leaf(&mut |at, leaf| {
        let mut here = false;
        for_each_ref(&Expr::Leaf(leaf.clone()), &mut |reference| here |= wanted(reference));
        if here && path.is_none() {
            path = Some(at.clone());
        }
    });
    path
}

impl Links {
    /// The dependencies of a request, or what is wrong with them.
    pub(crate) fn new(world: &World<'_>, found: &mut Diagnostics) -> Option<Self> {
        let mut linker = Linker {
            world,
            found,
            nodes: Vec::new(),
            rows: Vec::new(),
            node_stamp: vec![0; world.nodes.len()],
            row_stamp: vec![0; world.request.rows.len()],
        };
        let children = Children::new(world);
        for node in 0..narrow(world.nodes.len()) {
            linker.node(node);
            for used in children.used_by(node) {
                linker.link(node, Found::Node(used));
            }
        }
        let nodes = Csr::new(world.nodes.len(), &linker.nodes);
        let rows = Csr::new(world.nodes.len(), &linker.rows);
        match kahn(&nodes) {
            Ok(order) => Some(Self { nodes, rows, order }),
            Err(stuck) => {
                let cycle = shortest_cycle(&nodes, &stuck);
                let label = |node: u32| &world.node(node).resource.label;
                let path_of = |from, to| dependency_path(world, from, to);
                found.push(dependency_cycle(&cycle, label, path_of, &world.request.desired.source_map));
                None
            }
        }
    }
}

/// Where a dependency between two declared resources is declared.
fn dependency_path(world: &World<'_>, from: u32, to: u32) -> Option<Path> {
    let node = world.node(from);
    let is_it = |reference: &Ref| world.find(node.stack, &reference.to) == Found::Node(to);
    if let Some(path) = path_of_ref(&node.resource.properties, &is_it) {
        return Some(node.resource.properties_path.join(&path));
    }
    let label = &world.node(to).resource.label;
    if node.resource.target.as_ref().is_some_and(|target| target.as_str() == label.as_str()) {
        return Some(node.resource.path.key("target"));
    }
    node.resource.depends_on.iter().find(|on| on.on == *label).map(|on| on.path.clone())
}

struct Linker<'w, 'a> {
    world: &'w World<'a>,
    found: &'w mut Diagnostics,
    nodes: Vec<(u32, u32)>,
    rows: Vec<(u32, u32)>,
    /// The last resource that depends on each, plus one: an edge is kept once.
    node_stamp: Vec<u32>,
    row_stamp: Vec<u32>,
}

impl Linker<'_, '_> {
    fn node(&mut self, from: u32) {
        let world = self.world;
        let node = world.node(from);
        for_each_ref(&node.resource.properties, &mut |reference| {
            let found = world.find(node.stack, &reference.to);
            if !self.link(from, found) {
                self.report_reference(from, reference, found);
            }
        });
        if let Some(target) = &node.resource.target {
            let found = world.find_target(node.stack, target);
            if !self.link(from, found) {
                self.report(from, target.as_str(), &node.resource.path.key("target"), found);
            }
        }
        for dependency in &node.resource.depends_on {
            let found = world.find_label(node.stack, &dependency.on, None);
            if !self.link(from, found) {
                self.report(from, dependency.on.as_str(), &dependency.path, found);
            }
        }
    }

    /// Adds an edge; false if there is nothing to add it to.
    fn link(&mut self, from: u32, found: Found) -> bool {
        match found {
            Found::Node(to) if to == from => false,
            Found::Node(to) => {
                if std::mem::replace(&mut self.node_stamp[to as usize], from + 1) != from + 1 {
                    self.nodes.push((from, to));
                }
                true
            }
            Found::Row(row) => {
                if std::mem::replace(&mut self.row_stamp[row], from + 1) != from + 1 {
                    self.rows.push((from, narrow(row)));
                }
                true
            }
            Found::Nothing | Found::Several => false,
        }
    }

    fn report_reference(&mut self, from: u32, reference: &Ref, found: Found) {
        let resource = self.world.node(from).resource;
        let below = path_of_ref(&resource.properties, &|other| other == reference).unwrap_or_default();
        let path = resource.properties_path.join(&below);
        self.report(from, &target_text(&reference.to), &path, found);
    }

    fn report(&mut self, from: u32, to: &str, path: &Path, found: Found) {
        let node = self.world.node(from);
        let source = &self.world.request.desired.source_map;
        self.found.push(match found {
            Found::Node(_) => self_reference(&node.resource.label, path, source),
            Found::Several => several(to, path).at(source.place(path)),
            Found::Nothing | Found::Row(_) => {
                let suggest = self.found.error_count() < MOST_SUGGESTIONS;
                let nodes = self.world.nodes.iter().filter(|other| suggest && other.stack == node.stack);
                let labels = nodes.map(|other| other.resource.label.as_str());
                unknown_reference(to, labels, path, source)
            }
        });
    }
}

/// The error for a label that several resources have.
pub(crate) fn several(to: &str, path: &Path) -> Diagnostic {
    let message = format!("'{to}' is the label of more than one resource");
    Diagnostic::error(DiagnosticCode::AmbiguousName, path.clone(), message).hint("name the type as well")
}

/// What a reference points to, as the author wrote it.
pub(crate) fn target_text(target: &RefTarget) -> String {
    match target {
        RefTarget::Resource { stack: None, label, .. } => label.to_string(),
        RefTarget::Resource { stack: Some(stack), label, .. } => format!("{}/{label}", stack.name),
        RefTarget::Stack(stack) => format!("stack {}", stack.name),
        RefTarget::Target(target) => format!("target {target}"),
        RefTarget::Policy(policy) => format!("policy {policy}"),
    }
}
