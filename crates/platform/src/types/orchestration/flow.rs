//! What the nodes of an orchestration read: the input, the results of nodes before them, and the
//! state that nodes write.

use super::{INVALID, graph::Graph};
use crate::{Findings, Node, json_logic::variables};
use formwork_model::{DiagnosticCode, Path};
use std::collections::BTreeSet;

/// Fields whose variables are read from the state.
const READS: &[&str] = &["input_mapping", "expression", "collection"];

/// Checks what each node reads. A result that cannot be there yet is an error; a name in the state
/// that nobody writes is a warning, since a run may be started with more than its schema says.
pub(super) fn check(graph: &Graph<'_>, state_schema: Option<Node<'_>>, findings: &mut Findings) {
    let written = written(graph, state_schema);
    for (index, entry) in graph.nodes.iter().enumerate() {
        let mut upstream = None;
        for (at, variable) in reads(entry.node, &entry.at) {
            let (root, rest) = variable.split_once('.').unwrap_or((variable, ""));
            match root {
                "nodes" => {
                    let source = rest.split('.').next().unwrap_or_default();
                    let before = upstream.get_or_insert_with(|| graph.upstream(index));
                    let Some(problem) = unreachable(graph, before, source) else { continue };
                    let message = format!("Node '{}' reads '{variable}', {problem}.", entry.id);
                    findings.coded(INVALID, DiagnosticCode::UnknownReference, at, message);
                }
                "input" | "output" | "state" | "" => {}
                root if written.as_ref().is_some_and(|written| !written.contains(root)) => {
                    let message =
                        format!("Node '{}' reads '{variable}', which no node writes to the state.", entry.id);
                    findings.warning(DiagnosticCode::UnknownReference, at, message);
                }
                _ => {}
            }
        }
    }
}

/// Why the result of a node cannot be read, if it cannot.
fn unreachable(graph: &Graph<'_>, before: &[bool], source: &str) -> Option<String> {
    if source.is_empty() {
        return None;
    }
    match graph.find(source) {
        None => Some(format!("but there is no node '{source}'")),
        Some(index) if !before[index] => Some(format!("but node '{source}' does not come before it")),
        Some(_) => None,
    }
}

fn reads<'a>(node: Node<'a>, at: &Path) -> Vec<(Path, &'a str)> {
    let found = |name: &'static str| {
        let path = at.key(name);
        let variables = node.member(name).map(variables).unwrap_or_default();
        variables.into_iter().map(move |variable| (path.clone(), variable)).collect::<Vec<_>>()
    };
    READS.iter().copied().flat_map(found).collect()
}

/// The names at the top of the state; `None` if not all of them are known.
fn written<'a>(graph: &Graph<'a>, state_schema: Option<Node<'a>>) -> Option<BTreeSet<&'a str>> {
    let mut names = BTreeSet::new();
    if let Some(schema) = state_schema {
        if schema.is_expression() {
            return None;
        }
        let declared = schema.member("properties").map(Node::members).unwrap_or_default();
        names.extend(declared.into_iter().map(|(name, _)| name));
    }
    for entry in &graph.nodes {
        let Some(mapping) = entry.node.member("state_mapping") else { continue };
        if mapping.is_expression() {
            return None;
        }
        let keys = mapping.members().into_iter().filter_map(|(key, _)| key.strip_prefix("state."));
        names.extend(keys.map(|key| key.split('.').next().unwrap_or(key)));
    }
    Some(names)
}
