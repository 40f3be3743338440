//! Making a program that shows something as simple as can be.

/// How many simpler programs are tried.
const TRIES: usize = 1500;

/// The simplest choices found that `shows` still holds for; it holds for the given ones.
///
/// Chunks are left out, long ones first, then set to the simplest choice, then single choices are
/// lowered; again and again, until nothing helps or enough was tried.
pub fn shrink(choices: Vec<u32>, mut shows: impl FnMut(&[u32]) -> bool) -> Vec<u32> {
    let mut best = choices;
    let mut left = TRIES;
    let mut attempt = |best: &mut Vec<u32>, candidate: Vec<u32>| {
        let simpler = (candidate.len(), &candidate) < (best.len(), best);
        if !simpler || left == 0 {
            return false;
        }
        left -= 1;
        let holds = shows(&candidate);
        if holds {
            *best = candidate;
        }
        holds
    };
    loop {
        let before = best.clone();
        let mut size = best.len().next_power_of_two() / 2;
        while size > 0 {
            let mut start = best.len().saturating_sub(size);
            loop {
                let end = (start + size).min(best.len());
                let without = [&best[..start], &best[end..]].concat();
                if !attempt(&mut best, without)
                    && best[start..end.min(best.len())].iter().any(|choice| *choice > 0)
                {
                    let mut lowered = best.clone();
                    lowered[start..end].fill(0);
                    attempt(&mut best, lowered);
                }
                if start == 0 {
                    break;
                }
                start = start.saturating_sub(size).min(best.len().saturating_sub(1));
            }
            size /= 2;
        }
        for position in 0..best.len() {
            while position < best.len() && best[position] > 0 {
                let mut lowered = best.clone();
                lowered[position] /= 2;
                if !attempt(&mut best, lowered) {
                    break;
                }
            }
        }
        if best == before {
            return best;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_matter_is_left_out() {
        let choices = vec![9, 3, 0, 77, 5, 6, 8, 40, 2];
        let shrunk = shrink(choices, |choices| choices.iter().any(|choice| *choice >= 40));
        assert_eq!(shrunk.len(), 1);
        assert!(shrunk[0] >= 40, "{shrunk:?}");
    }

    #[test]
    fn it_ends_when_everything_shows_it() {
        assert!(shrink((0..300).collect(), |_| true).is_empty());
    }
}
