//! Order, cycles and wrong names, without any plan.

use formwork_model::{DiagnosticCode, Diagnostics, EdgeKind, Label, Path, SourceMap};
use formwork_planner::{GraphEdge, GraphNode, order};
use proptest::prelude::*;

fn labels(count: usize) -> Vec<Label> {
    (0..count).map(|at| Label::new(format!("n{at}"))).collect()
}

fn nodes<'a>(labels: &'a [Label], edges: &[(usize, usize)]) -> Vec<GraphNode<'a>> {
    let mut nodes: Vec<GraphNode<'a>> = labels
        .iter()
        .map(|label| GraphNode { label, path: Path::of(["resources", label.as_str()]), edges: Vec::new() })
        .collect();
    for (from, to) in edges {
        let path = nodes[*from].path.key("properties");
        nodes[*from].edges.push(GraphEdge { to: &labels[*to], path, kind: EdgeKind::Dependency });
    }
    nodes
}

fn ordered(count: usize, edges: &[(usize, usize)]) -> Result<Vec<usize>, Diagnostics> {
    let labels = labels(count);
    order(&nodes(&labels, edges), &SourceMap::default()).map(|order| order.order)
}

fn cycle_of(found: &Diagnostics) -> Vec<usize> {
    let error = found.errors().find(|error| error.code == DiagnosticCode::DependencyCycle);
    let message = &error.expect("a cycle is reported").message;
    let (_, path) = message.split_once(": ").expect("the message names the cycle");
    path.split(" → ").map(|label| label[1..].parse().expect("a label of this test")).collect()
}

#[test]
fn independent_resources_keep_the_order_of_their_declaration() {
    assert_eq!(ordered(4, &[]).expect("no cycle"), [0, 1, 2, 3]);
}

#[test]
fn the_queue_is_first_in_first_out() {
    // 0 waits for 2; 3 is ready from the start and comes before it.
    assert_eq!(ordered(4, &[(0, 2)]).expect("no cycle"), [1, 2, 3, 0]);
}

#[test]
fn one_dependency_twice_is_one_dependency() {
    assert_eq!(ordered(2, &[(0, 1), (0, 1)]).expect("no cycle"), [1, 0]);
}

#[test]
fn a_chain_of_a_hundred_thousand_is_ordered() {
    let edges: Vec<_> = (1..100_000).map(|at| (at - 1, at)).collect();
    let found = ordered(100_000, &edges).expect("no cycle");
    assert_eq!((found[0], found[99_999]), (99_999, 0));
}

#[test]
fn a_ring_of_a_hundred_thousand_is_one_error() {
    let edges: Vec<_> = (0..100_000).map(|at| (at, (at + 1) % 100_000)).collect();
    let found = ordered(100_000, &edges).expect_err("a ring");
    assert_eq!(found.error_count(), 1);
    let error = found.errors().next().expect("an error");
    assert!(error.message.contains(" → … 99988 more → "), "{}", error.message);
    assert!(error.message.len() < 500 && error.related.len() < 50, "it is short");
}

#[test]
fn a_fan_out_is_ordered() {
    let edges: Vec<_> = (1..50_000).map(|at| (at, 0)).collect();
    assert_eq!(ordered(50_000, &edges).expect("no cycle")[0], 0);
}

#[test]
fn the_shortest_of_several_cycles_is_named() {
    let edges = [(0, 1), (1, 2), (2, 3), (3, 0), (5, 4), (4, 5), (6, 0)];
    let found = ordered(7, &edges).expect_err("two cycles");
    assert_eq!(cycle_of(&found), [4, 5, 4]);
}

#[test]
fn an_unknown_name_is_one_error_and_no_cycle() {
    let labels = labels(3);
    let wrong = Label::new("n11");
    let mut nodes = nodes(&labels, &[(0, 1)]);
    nodes[1].edges.push(GraphEdge { to: &wrong, path: Path::of(["here"]), kind: EdgeKind::Dependency });
    let found = order(&nodes, &SourceMap::default()).expect_err("an unknown name");
    let codes: Vec<_> = found.iter().map(|error| error.code).collect();
    assert_eq!(codes, [DiagnosticCode::UnknownReference]);
    let hint = found.iter().next().and_then(|error| error.hint.as_deref());
    assert_eq!(hint, Some("did you mean `n1`?"));
}

#[test]
fn a_self_reference_is_its_own_error() {
    let found = ordered(2, &[(1, 1), (0, 1)]).expect_err("a self-reference");
    let codes: Vec<_> = found.iter().map(|error| error.code).collect();
    assert_eq!(codes, [DiagnosticCode::SelfReference]);
}

/// The length of a shortest cycle, the slow way.
fn girth(count: usize, edges: &[(usize, usize)]) -> Option<usize> {
    let mut best: Option<usize> = None;
    for start in 0..count {
        let mut distance = vec![usize::MAX; count];
        distance[start] = 0;
        for _ in 0..count {
            for (from, to) in edges {
                if distance[*from] != usize::MAX && *to != start {
                    distance[*to] = distance[*to].min(distance[*from] + 1);
                }
            }
        }
        let back = edges.iter().filter(|(from, to)| *to == start && distance[*from] != usize::MAX);
        let shortest = back.map(|(from, _)| distance[*from] + 1).min();
        best = best.into_iter().chain(shortest).min();
    }
    best
}

proptest! {
    #[test]
    fn an_order_puts_dependencies_first_and_a_cycle_is_real_and_shortest(
        edges in proptest::collection::vec((0_usize..9, 0_usize..9), 0..20)
    ) {
        let edges: Vec<_> = edges.into_iter().filter(|(from, to)| from != to).collect();
        match ordered(9, &edges) {
            Ok(order) => {
                let mut at = [0; 9];
                order.iter().enumerate().for_each(|(place, node)| at[*node] = place);
                prop_assert!(edges.iter().all(|(from, to)| at[*to] < at[*from]));
                prop_assert_eq!(girth(9, &edges), None);
            }
            Err(found) => {
                let cycle = cycle_of(&found);
                prop_assert_eq!(Some(cycle.len() - 1), girth(9, &edges));
                for edge in cycle.windows(2) {
                    prop_assert!(edges.contains(&(edge[0], edge[1])));
                }
                prop_assert_eq!(cycle.first(), cycle.last());
            }
        }
    }
}
