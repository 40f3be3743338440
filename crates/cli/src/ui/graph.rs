//! Dependency graphs: Mermaid, Graphviz, JSON.

use crate::args::GraphFormat;
use formwork_api::Graph;
use formwork_formation::clean;
use std::fmt::Write as _;

/// The graph as text.
pub(crate) fn render(graph: &Graph, format: GraphFormat) -> String {
    match format {
        GraphFormat::Mermaid => mermaid(graph),
        GraphFormat::Dot => dot(graph),
        GraphFormat::Json => format!("{}\n", super::json::pretty(&serde_json::json!(graph))),
    }
}

fn number(graph: &Graph, label: &str) -> usize {
    graph.nodes.iter().position(|node| node.logical_id == label).unwrap_or_default()
}

fn mermaid(graph: &Graph) -> String {
    let mut text = String::from("flowchart LR\n");
    for (index, node) in graph.nodes.iter().enumerate() {
        let label = escaped(&node.logical_id);
        let kind = escaped(&node.resource_type);
        let _ = writeln!(text, "  n{index}[\"{label}<br/><small>{kind}</small>\"]");
    }
    for edge in &graph.edges {
        let _ = writeln!(text, "  n{} --> n{}", number(graph, &edge.from), number(graph, &edge.to));
    }
    text
}

/// What would end a label, or begin markup in it, as Mermaid's entities.
fn escaped(label: &str) -> String {
    clean(label).replace('#', "#35;").replace('"', "#quot;").replace('<', "#lt;").replace('>', "#gt;")
}

fn dot(graph: &Graph) -> String {
    let escaped = |text: &str| clean(text).replace('\\', "\\\\").replace('"', "\\\"");
    let quoted = |text: &str| format!("\"{}\"", escaped(text));
    let mut text = String::from("digraph formation {\n  rankdir=LR;\n  node [shape=box];\n");
    for node in &graph.nodes {
        let label = format!("{}\\n{}", escaped(&node.logical_id), escaped(&node.resource_type));
        let _ = writeln!(text, "  {} [label=\"{label}\"];", quoted(&node.logical_id));
    }
    for edge in &graph.edges {
        let _ = writeln!(text, "  {} -> {};", quoted(&edge.from), quoted(&edge.to));
    }
    text.push_str("}\n");
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use formwork_api::{GraphEdge, GraphNode};

    fn graph() -> Graph {
        let node = |label: &str, resource_type: &str| GraphNode {
            logical_id: label.to_owned(),
            resource_type: resource_type.to_owned(),
        };
        Graph {
            nodes: vec![node("Key", "secret"), node("A \"b\"", "agent")],
            edges: vec![GraphEdge { from: "A \"b\"".to_owned(), to: "Key".to_owned() }],
        }
    }

    #[test]
    fn mermaid_names_every_node_and_edge() {
        let expected = "flowchart LR\n  n0[\"Key<br/><small>secret</small>\"]\n  n1[\"A #quot;b#quot;<br/><small>agent</small>\"]\n  n1 --> n0\n";
        assert_eq!(render(&graph(), GraphFormat::Mermaid), expected);
    }

    #[test]
    fn dot_escapes_what_it_must() {
        let text = render(&graph(), GraphFormat::Dot);
        assert!(text.contains(r#""A \"b\"" -> "Key";"#), "{text}");
    }
}
