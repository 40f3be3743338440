//! A graph as two arrays of integers, and Kahn's algorithm on it. Nothing here recurses: a chain of
//! a hundred thousand resources is an ordinary input.

use super::narrow;

/// For each node, the nodes it points to: compressed sparse rows.
#[derive(Clone, Debug)]
pub(crate) struct Csr {
    starts: Vec<u32>,
    targets: Vec<u32>,
}

/// The nodes that no order reaches: those on a cycle, and those that depend on one.
#[derive(Clone, Debug)]
pub(crate) struct Stuck(pub(crate) Vec<bool>);

impl Csr {
    /// The graph of some edges. The targets of a node keep the order of its edges.
    pub(crate) fn new(nodes: usize, edges: &[(u32, u32)]) -> Self {
        let mut starts = vec![0_u32; nodes + 1];
        for (from, _) in edges {
            starts[*from as usize + 1] += 1;
        }
        for node in 0..nodes {
            starts[node + 1] += starts[node];
        }
        let mut next = starts.clone();
        let mut targets = vec![0_u32; edges.len()];
        for (from, to) in edges {
            let slot = &mut next[*from as usize];
            targets[*slot as usize] = *to;
            *slot += 1;
        }
        Self { starts, targets }
    }

    /// How many nodes there are.
    pub(crate) fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// The nodes that a node points to.
    pub(crate) fn of(&self, node: usize) -> &[u32] {
        &self.targets[self.starts[node] as usize..self.starts[node + 1] as usize]
    }

    /// The graph with every edge turned round; sources are in rising order.
    pub(crate) fn reversed(&self) -> Self {
        let edges: Vec<(u32, u32)> = (0..self.len())
            .flat_map(|from| self.of(from).iter().map(move |to| (*to, narrow(from))))
            .collect();
        Self::new(self.len(), &edges)
    }
}

/// An order in which what a node points to comes first: first in, first out, seeded by index.
pub(crate) fn kahn(dependencies: &Csr) -> Result<Vec<u32>, Stuck> {
    let nodes = dependencies.len();
    let dependents = dependencies.reversed();
    let mut waiting: Vec<u32> = (0..nodes).map(|node| narrow(dependencies.of(node).len())).collect();
    let mut order: Vec<u32> = (0..nodes).filter(|node| waiting[*node] == 0).map(narrow).collect();
    order.reserve(nodes - order.len());
    let mut head = 0;
    while let Some(&node) = order.get(head) {
        head += 1;
        for dependent in dependents.of(node as usize) {
            let left = &mut waiting[*dependent as usize];
            *left -= 1;
            if *left == 0 {
                order.push(*dependent);
            }
        }
    }
    if order.len() == nodes {
        return Ok(order);
    }
    Err(Stuck(waiting.iter().map(|left| *left > 0).collect()))
}
