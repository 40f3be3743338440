//! Making a program that shows something as simple as can be.

use std::ops::Range;

/// How many simpler programs are tried.
const TRIES: usize = 400;

/// The simplest choices found that `shows` still holds for; it holds for the given ones. `spans` gives the
/// choices that each part of a program is made of.
///
/// Parts are left out or made as simple as can be, large ones first; then single choices are lowered; again
/// and again, until nothing helps or enough was tried.
pub fn shrink(
    choices: Vec<u32>,
    spans: impl Fn(&[u32]) -> Vec<Range<usize>>,
    shows: impl FnMut(&[u32]) -> bool,
) -> Vec<u32> {
    let mut shrinking = Shrinking { best: choices, left: TRIES, shows };
    loop {
        let before = shrinking.best.clone();
        shrinking.simplify_parts(&spans);
        shrinking.lower_choices();
        if shrinking.best == before || shrinking.left == 0 {
            return shrinking.best;
        }
    }
}

struct Shrinking<F> {
    best: Vec<u32>,
    left: usize,
    shows: F,
}

impl<F: FnMut(&[u32]) -> bool> Shrinking<F> {
    /// Takes a candidate over if it is simpler and still shows it.
    fn attempt(&mut self, candidate: Vec<u32>) -> bool {
        let simpler = (candidate.len(), &candidate) < (self.best.len(), &self.best);
        if !simpler || self.left == 0 {
            return false;
        }
        self.left -= 1;
        let holds = (self.shows)(&candidate);
        if holds {
            self.best = candidate;
        }
        holds
    }

    fn simplify_parts(&mut self, spans: &impl Fn(&[u32]) -> Vec<Range<usize>>) {
        let mut done = 0;
        loop {
            let mut parts = spans(&self.best);
            parts.retain(|part| !part.is_empty() && part.end <= self.best.len());
            parts.sort_by_key(|part| (usize::MAX - part.len(), part.start));
            parts.dedup();
            let Some(part) = parts.get(done) else { return };
            let (head, tail) = (self.best[..part.start].to_vec(), self.best[part.end..].to_vec());
            let helped = (0..=2).any(|zeros| self.attempt([&head[..], &vec![0; zeros], &tail].concat()));
            if !helped {
                done += 1;
            }
        }
    }

    fn lower_choices(&mut self) {
        for position in 0..self.best.len() {
            while self.best.get(position).is_some_and(|choice| *choice > 0) {
                let mut zero = self.best.clone();
                zero[position] = 0;
                if self.attempt(zero) {
                    break;
                }
                let mut lowered = self.best.clone();
                lowered[position] /= 2;
                if lowered[position] == 0 || !self.attempt(lowered) {
                    break;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn thirds(choices: &[u32]) -> Vec<Range<usize>> {
        (0..choices.len()).step_by(3).map(|start| start..(start + 3).min(choices.len())).collect()
    }

    #[test]
    fn what_does_not_matter_is_left_out() {
        let choices = vec![9, 3, 0, 77, 5, 6, 8, 40, 2];
        let shrunk = shrink(choices, thirds, |choices| choices.iter().any(|choice| *choice >= 40));
        assert_eq!(shrunk.len(), 3);
        assert!(shrunk.contains(&40), "{shrunk:?}");
    }

    #[test]
    fn it_ends_when_everything_shows_it() {
        assert!(shrink((0..300).collect(), thirds, |_| true).is_empty());
    }
}
