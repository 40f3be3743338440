//! The shortest cycle of a graph that has one: the smallest thing a person must look at.

use super::{Csr, Stuck, narrow};
use std::collections::VecDeque;

/// How many edges the search may look at. Past it the shortest cycle found so far is the answer;
/// only graphs of more than thousands of entangled resources get there.
const MOST_VISITS: usize = 20_000_000;

/// A shortest cycle, as the nodes along it: each points to the next, the last to the first. The one
/// that starts at the lowest index among equally short ones; deterministic.
///
/// Breadth first from each node in turn. A node that was searched from is taken out, and with it
/// all that can then no longer be on a cycle, so a plain ring is searched once.
pub(crate) fn shortest_cycle(dependencies: &Csr, stuck: &Stuck) -> Vec<u32> {
    let mut search = Search::new(dependencies, &stuck.0);
    let mut best: Vec<u32> = Vec::new();
    for start in 0..dependencies.len() {
        if !search.alive[start] {
            continue;
        }
        let limit = if best.is_empty() { usize::MAX } else { best.len() };
        if let Some(cycle) = search.from(start, limit) {
            best = cycle;
        }
        if best.len() == 2 || (search.visits > MOST_VISITS && !best.is_empty()) {
            break;
        }
        search.remove(start);
    }
    best
}

struct Search<'a> {
    forward: &'a Csr,
    backward: Csr,
    alive: Vec<bool>,
    /// Live nodes that each live node points to.
    outgoing: Vec<u32>,
    /// Live nodes that point to each live node.
    incoming: Vec<u32>,
    /// The search that last reached a node (its start, plus one), and from where.
    reached: Vec<(u32, u32)>,
    visits: usize,
}

impl<'a> Search<'a> {
    fn new(forward: &'a Csr, stuck: &[bool]) -> Self {
        let backward = forward.reversed();
        let live = |targets: &[u32]| narrow(targets.iter().filter(|node| stuck[**node as usize]).count());
        let outgoing = (0..forward.len()).map(|node| live(forward.of(node))).collect();
        let incoming = (0..forward.len()).map(|node| live(backward.of(node))).collect();
        let mut search = Self {
            forward,
            backward,
            alive: stuck.to_vec(),
            outgoing,
            incoming,
            reached: vec![(0, 0); forward.len()],
            visits: 0,
        };
        let dead: Vec<usize> = (0..forward.len()).filter(|node| search.is_spent(*node)).collect();
        for node in dead {
            search.remove(node);
        }
        search
    }

    /// Whether a live node cannot be on a cycle.
    fn is_spent(&self, node: usize) -> bool {
        self.alive[node] && (self.outgoing[node] == 0 || self.incoming[node] == 0)
    }

    /// A shortest cycle through `start` of fewer than `limit` nodes.
    fn from(&mut self, start: usize, limit: usize) -> Option<Vec<u32>> {
        let mark = narrow(start) + 1;
        let mut queue = VecDeque::from([(start, 1_usize)]);
        while let Some((node, length)) = queue.pop_front() {
            if length >= limit {
                return None;
            }
            for next in self.forward.of(node) {
                self.visits += 1;
                let next = *next as usize;
                if next == start {
                    return Some(self.path(start, node));
                }
                if self.alive[next] && self.reached[next].0 != mark {
                    self.reached[next] = (mark, narrow(node));
                    queue.push_back((next, length + 1));
                }
            }
        }
        None
    }

    /// The way from `start` to `end` that the current search took.
    fn path(&self, start: usize, end: usize) -> Vec<u32> {
        let mut path = vec![narrow(end)];
        let mut node = end;
        while node != start {
            node = self.reached[node].1 as usize;
            path.push(narrow(node));
        }
        path.reverse();
        path
    }

    /// Takes a node out, and all that cannot be on a cycle without it.
    fn remove(&mut self, node: usize) {
        let mut doomed = vec![node];
        while let Some(node) = doomed.pop() {
            if !std::mem::take(&mut self.alive[node]) {
                continue;
            }
            for next in self.forward.of(node) {
                self.incoming[*next as usize] = self.incoming[*next as usize].saturating_sub(1);
                if self.is_spent(*next as usize) {
                    doomed.push(*next as usize);
                }
            }
            for previous in self.backward.of(node) {
                self.outgoing[*previous as usize] = self.outgoing[*previous as usize].saturating_sub(1);
                if self.is_spent(*previous as usize) {
                    doomed.push(*previous as usize);
                }
            }
        }
    }
}
