//! The edges of an orchestration: what they name, and that they lead nowhere in circles. Only a
//! loop node may close a circle.

use super::INVALID;
use crate::{Findings, Node, types::check_known_as};
use formwork_model::{DiagnosticCode, Path};
use std::collections::BTreeMap;

/// How many nodes a graph may have: far more than people draw, and few enough that every question
/// about reachability is cheap.
const MOST_NODES: usize = 1000;
/// What an edge may hold.
const EDGE: &[&str] = &["from", "to", "condition", "activation_group", "activation_condition"];

/// A graph whose nodes and edges are all known.
pub(super) struct Graph<'a> {
    pub(super) nodes: Vec<GraphNode<'a>>,
    index: BTreeMap<&'a str, usize>,
}

pub(super) struct GraphNode<'a> {
    pub(super) id: &'a str,
    pub(super) node: Node<'a>,
    /// Where it is declared.
    pub(super) at: Path,
    from: Vec<usize>,
    to: Vec<usize>,
}

/// Checks ids and edges. Answers the graph if all of it is known and right: as long as an
/// expression stands for a node, an id or an end of an edge, nothing certain can be said of ways.
pub(super) fn check<'a>(nodes: Node<'a>, edges: Node<'a>, findings: &mut Findings) -> Option<Graph<'a>> {
    let declared = nodes.items();
    if declared.len() > MOST_NODES {
        let message = format!("An orchestration can have {MOST_NODES} nodes at most.");
        findings.coded(INVALID, DiagnosticCode::InputTooLarge, Path::of(["nodes"]), message);
        return None;
    }
    let mut graph = Graph { nodes: Vec::new(), index: BTreeMap::new() };
    let mut is_whole = true;
    for (index, node) in declared.into_iter().enumerate() {
        let at = Path::of(["nodes"]).index(index);
        let Some(id) = node.member("id").and_then(Node::text).filter(|id| !id.is_empty()) else {
            is_whole = false;
            continue;
        };
        if graph.index.insert(id, graph.nodes.len()).is_some() {
            let message = format!("Duplicate node id '{id}'.");
            findings.coded(INVALID, DiagnosticCode::DuplicateKey, at.key("id"), message);
            is_whole = false;
        }
        graph.nodes.push(GraphNode { id, node, at, from: Vec::new(), to: Vec::new() });
    }
    let knows_all_ids = is_whole;
    for (index, edge) in edges.items().into_iter().enumerate() {
        is_whole &= graph.add(edge, &Path::of(["edges"]).index(index), knows_all_ids, findings);
    }
    if !is_whole {
        return None;
    }
    if graph.has_cycle() {
        let message = "Cycle detected in orchestration graph.";
        findings.coded(INVALID, DiagnosticCode::DependencyCycle, Path::of(["edges"]), message);
        return None;
    }
    Some(graph)
}

impl<'a> Graph<'a> {
    /// Adds an edge; answers whether both of its ends are known.
    fn add(&mut self, edge: Node<'a>, at: &Path, knows_all_ids: bool, findings: &mut Findings) -> bool {
        if edge.is_expression() {
            return false;
        }
        if !edge.is_object() {
            let message = format!("`{at}` must be an object.");
            findings.coded(INVALID, DiagnosticCode::WrongType, at.clone(), message);
            return false;
        }
        check_known_as(INVALID, edge, EDGE, at, findings);
        let activation = edge.member("activation_condition");
        let is_known = |value: Node<'_>| value.is_expression() || matches!(value.text(), Some("all" | "any"));
        if activation.is_some_and(|value| !is_known(value)) {
            let path = at.key("activation_condition");
            let message = format!("`{path}` must be one of: all, any.");
            findings.coded(INVALID, DiagnosticCode::InvalidValue, path, message);
        }
        let from = self.end(edge, "from", at, knows_all_ids, findings);
        let to = self.end(edge, "to", at, knows_all_ids, findings);
        let Some((from, to)) = from.zip(to) else { return false };
        self.nodes[from].to.push(to);
        self.nodes[to].from.push(from);
        true
    }

    fn end(
        &self,
        edge: Node<'_>,
        name: &str,
        at: &Path,
        knows_all_ids: bool,
        findings: &mut Findings,
    ) -> Option<usize> {
        let path = at.key(name);
        let end = edge.member(name);
        if end.is_some_and(Node::is_expression) {
            return None;
        }
        let Some(id) = end.and_then(Node::text).filter(|id| !id.is_empty()) else {
            let message = format!("`{name}` is required.");
            findings.coded(INVALID, DiagnosticCode::MissingProperty, path, message);
            return None;
        };
        let found = self.index.get(id).copied();
        if found.is_none() && knows_all_ids {
            let message = format!("Edge references unknown node '{id}'.");
            findings.coded(INVALID, DiagnosticCode::UnknownReference, path, message);
        }
        found
    }

    pub(super) fn find(&self, id: &str) -> Option<usize> {
        self.index.get(id).copied()
    }

    fn is_loop(&self, index: usize) -> bool {
        self.nodes[index].node.member("type").and_then(Node::text) == Some("loop")
    }

    /// Takes away nodes without predecessors until none is left; loop nodes go first of all.
    fn has_cycle(&self) -> bool {
        let stays = |index: &&usize| !self.is_loop(**index);
        let mut waits: Vec<usize> =
            self.nodes.iter().map(|node| node.from.iter().filter(stays).count()).collect();
        let is_plain = |index: &usize| !self.is_loop(*index);
        let plain = (0..self.nodes.len()).filter(is_plain);
        let mut left = plain.clone().count();
        let mut ready: Vec<usize> = plain.filter(|index| waits[*index] == 0).collect();
        while let Some(index) = ready.pop() {
            left -= 1;
            for next in self.nodes[index].to.iter().copied().filter(is_plain) {
                waits[next] -= 1;
                if waits[next] == 0 {
                    ready.push(next);
                }
            }
        }
        left > 0
    }

    /// For each node, whether it comes before this one on some way.
    pub(super) fn upstream(&self, index: usize) -> Vec<bool> {
        let mut before = vec![false; self.nodes.len()];
        let mut pending = self.nodes[index].from.clone();
        while let Some(next) = pending.pop() {
            if !std::mem::replace(&mut before[next], true) {
                pending.extend(&self.nodes[next].from);
            }
        }
        before
    }
}
