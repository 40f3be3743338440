//! Whether the programs find deliberate bugs of the evaluator.

use crate::answer::{Answer, Subject, difference};
use crate::choices::Choices;
use crate::generate::{Program, program};
use pkl_core::mutants::{Mutant, activate};

/// How many programs are answered at a time.
const BATCH: u64 = 100;

/// A deliberate bug, and the first seed whose program finds it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hunted {
    /// The bug.
    pub mutant: Mutant,
    /// The seed; none if no program found it.
    pub seed: Option<u64>,
}

/// Looks for each bug with up to so many programs, from seed 0 on; each is told when it is found.
///
/// A program on which `ours` doesn't agree with `official` even without a bug shows nothing.
pub fn hunt(programs: u64, official: &dyn Subject, ours: &dyn Subject, tell: &dyn Fn(Hunted)) -> Vec<Hunted> {
    let mut hunted: Vec<Hunted> =
        Mutant::ALL.iter().map(|mutant| Hunted { mutant: *mutant, seed: None }).collect();
    let mut first = 0;
    while first < programs && hunted.iter().any(|hunted| hunted.seed.is_none()) {
        let seeds: Vec<u64> = (first..(first + BATCH).min(programs)).collect();
        let batch: Vec<Program> = seeds.iter().map(|seed| program(&mut Choices::random(*seed))).collect();
        activate(None);
        let wanted: Vec<Answer> = official.answers(&batch);
        let plain = ours.answers(&batch);
        let agreed: Vec<usize> =
            (0..batch.len()).filter(|index| difference(&wanted[*index], &plain[*index]).is_none()).collect();
        for hunted in hunted.iter_mut().filter(|hunted| hunted.seed.is_none()) {
            activate(Some(hunted.mutant));
            hunted.seed = agreed.iter().copied().find_map(|index| {
                let answers = ours.answers(std::slice::from_ref(&batch[index]));
                difference(&wanted[index], answers.first()?).map(|_| seeds[index])
            });
            if hunted.seed.is_some() {
                tell(*hunted);
            }
        }
        first += BATCH;
    }
    activate(None);
    hunted
}
