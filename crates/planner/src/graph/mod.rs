//! The dependency graph: an order in which dependencies come first, or one clear error for each
//! thing that prevents it.

mod csr;
mod cycle;

pub(crate) use csr::{Csr, Stuck, kahn};
pub(crate) use cycle::shortest_cycle;

use formwork_model::{Diagnostic, DiagnosticCode, Diagnostics, EdgeKind, Label, Path, SourceMap, Suggest};
use rustc_hash::FxHashMap;
use std::fmt::Write as _;

/// A resource in the graph.
#[derive(Clone, Debug)]
pub struct GraphNode<'a> {
    /// Its label, unique in the graph.
    pub label: &'a Label,
    /// Where it is declared.
    pub path: Path,
    /// What it depends on.
    pub edges: Vec<GraphEdge<'a>>,
}

/// A dependency of one resource on another, by name.
#[derive(Clone, Debug)]
pub struct GraphEdge<'a> {
    /// On what.
    pub to: &'a Label,
    /// Where it is declared.
    pub path: Path,
    /// What it means for order. All kinds order creation alike.
    pub kind: EdgeKind,
}

/// An order in which dependencies come first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Order {
    /// Indices into the nodes that were ordered.
    pub order: Vec<usize>,
}

/// Orders resources by Kahn's algorithm, with a first-in-first-out queue seeded in the order of
/// declaration (seed 4, "Topological Ordering"): independent resources keep the order in which they
/// were written.
///
/// # Errors
/// One `unknown-reference` per edge to nothing, one `self-reference` per edge to oneself, and one
/// `dependency-cycle` that names a shortest cycle. An unknown name never makes a false cycle.
pub fn order(nodes: &[GraphNode<'_>], source: &SourceMap) -> Result<Order, Diagnostics> {
    let index: FxHashMap<&Label, u32> =
        nodes.iter().enumerate().map(|(at, node)| (node.label, narrow(at))).collect();
    let mut found = Diagnostics::default();
    let mut edges = Vec::new();
    for (at, node) in nodes.iter().enumerate() {
        for edge in &node.edges {
            match index.get(edge.to) {
                Some(&to) if to as usize == at => found.push(self_reference(node.label, &edge.path, source)),
                Some(&to) => edges.push((narrow(at), to)),
                None => {
                    let suggest = found.error_count() < MOST_SUGGESTIONS;
                    let labels = nodes.iter().map(|node| node.label.as_str()).filter(|_| suggest);
                    found.push(unknown_reference(edge.to.as_str(), labels, &edge.path, source));
                }
            }
        }
    }
    let dependencies = Csr::new(nodes.len(), &edges);
    match kahn(&dependencies) {
        Ok(order) if !found.has_errors() => {
            Ok(Order { order: order.into_iter().map(|node| node as usize).collect() })
        }
        Ok(_) => Err(found),
        Err(stuck) => {
            let cycle = shortest_cycle(&dependencies, &stuck);
            let label = |node: u32| nodes[node as usize].label;
            let place_of = |from: u32, to: u32| {
                let edges = nodes[from as usize].edges.iter();
                edges.into_iter().find(|edge| edge.to == label(to)).map(|edge| edge.path.clone())
            };
            found.push(dependency_cycle(&cycle, label, place_of, source));
            Err(found)
        }
    }
}

/// Past this many errors no names are suggested: each suggestion looks at every label.
pub(crate) const MOST_SUGGESTIONS: usize = 20;

/// The error for a reference to nothing.
pub(crate) fn unknown_reference<'a>(
    to: &str,
    labels: impl Iterator<Item = &'a str>,
    path: &Path,
    source: &SourceMap,
) -> Diagnostic {
    let explicit = path
        .segments()
        .iter()
        .any(|segment| matches!(segment, formwork_model::Segment::Key(key) if &**key == "depends_on"));
    let message = if explicit {
        format!("depends_on references unknown resource '{to}'")
    } else {
        format!("Referenced resource '{to}' does not exist in template")
    };
    let error = Diagnostic::error(DiagnosticCode::UnknownReference, path.clone(), message);
    let error = error.at(source.place(path));
    match Suggest::default().hint(to, labels) {
        Some(hint) => error.hint(hint),
        None => error,
    }
}

/// The error for a resource that refers to itself.
pub(crate) fn self_reference(label: &Label, path: &Path, source: &SourceMap) -> Diagnostic {
    let message = format!("Resource '{label}' refers to itself");
    Diagnostic::error(DiagnosticCode::SelfReference, path.clone(), message)
        .at(source.place(path))
        .hint("remove the reference: a resource has no id before it exists")
}

/// How many resources of a cycle are told, and how many edges with their places.
const MOST_OF_A_CYCLE: usize = 12;

/// The error for resources that wait for each other, with one related place per edge that is told.
pub(crate) fn dependency_cycle<'a>(
    cycle: &[u32],
    label: impl Fn(u32) -> &'a Label,
    path_of: impl Fn(u32, u32) -> Option<Path>,
    source: &SourceMap,
) -> Diagnostic {
    let edges = cycle.iter().copied().zip(cycle.iter().copied().cycle().skip(1)).take(MOST_OF_A_CYCLE);
    let mut message = String::from("Circular dependency detected in resources: ");
    for node in cycle.iter().take(MOST_OF_A_CYCLE) {
        message.push_str(label(*node).as_str());
        message.push_str(" → ");
    }
    if let Some(more) = cycle.len().checked_sub(MOST_OF_A_CYCLE).filter(|more| *more > 0) {
        let _ = write!(message, "… {more} more → ");
    }
    message.push_str(cycle.first().map_or("", |first| label(*first).as_str()));
    let mut error = Diagnostic::error(DiagnosticCode::DependencyCycle, Path::of(["resources"]), message);
    for (from, to) in edges {
        let place = path_of(from, to).and_then(|path| source.place(&path));
        if error.place.is_none() {
            error.place.clone_from(&place);
        }
        error = error.related(format!("`{}` depends on `{}`", label(from), label(to)), place);
    }
    error
}

/// An index as it is kept in a graph. Graphs of more than 2³² nodes do not fit in memory.
pub(crate) fn narrow(index: usize) -> u32 {
    u32::try_from(index).expect("a graph in memory has fewer than 2^32 nodes and edges")
}
