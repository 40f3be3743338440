//! Looking for programs that two evaluators don't agree on.

use crate::answer::{Answer, Subject, difference};
use crate::choices::Choices;
use crate::generate::{Program, program};
use crate::shrink::shrink;
use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// How many programs one process of the official binary gets.
const BATCH: u64 = 100;

/// What to look through.
#[derive(Debug, Clone)]
pub struct Search {
    /// The first seed.
    pub first: u64,
    /// How many programs.
    pub programs: u64,
    /// After how many findings to stop.
    pub findings: usize,
    /// Whether to make the programs that were found simpler.
    pub shrinks: bool,
    /// Differences that have one of these texts are known already.
    pub known: Vec<String>,
}

/// A program that two subjects don't agree on.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    /// The seed that it was found with.
    pub seed: u64,
    /// The program, as simple as it got.
    pub program: Program,
    /// What differs.
    pub difference: String,
}

/// What a search came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The programs that are answered differently, sorted by seed.
    pub findings: Vec<Finding>,
    /// How many programs the official evaluator had no answer to.
    pub silent: u64,
}

/// Looks for programs that `ours` answers otherwise than `official`, on all cores.
///
/// Of those that differ by the same error message only one is kept. Each is told as soon as it is there.
pub fn search(
    search: &Search,
    official: &dyn Subject,
    ours: &dyn Subject,
    tell: &(dyn Fn(&Finding) + Sync),
) -> Found {
    let (next, silent) = (AtomicU64::new(search.first), AtomicU64::new(0));
    let end = search.first + search.programs;
    let found = Mutex::new(BTreeSet::new());
    let seen: Mutex<BTreeSet<Vec<String>>> = Mutex::default();
    let is_new = |difference: &str| {
        if search.known.iter().any(|known| difference.contains(known)) {
            return false;
        }
        let kind = kind_of(difference);
        let known = || seen.lock().unwrap_or_else(std::sync::PoisonError::into_inner).insert(kind.clone());
        kind.iter().all(String::is_empty) || known()
    };
    let locked = || found.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                loop {
                    let first = next.fetch_add(BATCH, Ordering::Relaxed);
                    if first >= end || locked().len() >= search.findings {
                        return;
                    }
                    for (seed, difference) in
                        differing(first..(first + BATCH).min(end), official, ours, &silent)
                    {
                        if locked().len() < search.findings && is_new(&difference) {
                            let finding = examine(seed, search.shrinks, official, ours);
                            finding.iter().for_each(tell);
                            locked().extend(finding);
                        }
                    }
                }
            });
        }
    });
    let findings = found.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    Found { findings: findings.into_iter().collect(), silent: silent.into_inner() }
}

/// The seeds of a range whose programs are answered differently, with what differs; counts those without an answer.
fn differing(
    seeds: std::ops::Range<u64>,
    official: &dyn Subject,
    ours: &dyn Subject,
    silent: &AtomicU64,
) -> Vec<(u64, String)> {
    let programs: Vec<Program> = seeds.clone().map(|seed| program(&mut Choices::random(seed))).collect();
    let wanted = official.answers(&programs);
    let without = wanted.iter().filter(|answer| matches!(answer, Answer::NoVerdict(_))).count();
    silent.fetch_add(without as u64, Ordering::Relaxed);
    let answers = wanted.into_iter().zip(ours.answers(&programs));
    seeds
        .zip(answers)
        .filter_map(|(seed, (official, ours))| Some((seed, difference(&official, &ours)?)))
        .collect()
}

fn examine(seed: u64, shrinks: bool, official: &dyn Subject, ours: &dyn Subject) -> Option<Finding> {
    let told = |program: &Program| {
        let programs = [program.clone()];
        difference(official.answers(&programs).first()?, ours.answers(&programs).first()?)
    };
    let mut choices = Choices::random(seed);
    let mut text = program(&mut choices);
    let mut difference = told(&text)?;
    if shrinks {
        // The same kind of difference: a value stays a value, an error stays an error.
        let kind = kind_of(&difference);
        let spans = |candidate: &[u32]| {
            let mut choices = Choices::recorded(candidate.to_vec());
            program(&mut choices);
            choices.spans().to_vec()
        };
        let shrunk = shrink(choices.into_made(), spans, |candidate| {
            let text = program(&mut Choices::recorded(candidate.to_vec()));
            told(&text).is_some_and(|difference| kind_of(&difference) == kind)
        });
        text = program(&mut Choices::recorded(shrunk));
        difference = told(&text)?;
    }
    Some(Finding { seed, program: text, difference })
}

/// Which side failed, roughly with what message.
fn kind_of(difference: &str) -> Vec<String> {
    let failure = |side: &str| {
        let line = difference.lines().find(|line| line.starts_with(side)).unwrap_or_default();
        let text = line[side.len().min(line.len())..].trim_start();
        if text.starts_with("!!") {
            text.chars().filter(|c| c.is_alphabetic()).take(24).collect()
        } else {
            String::new()
        }
    };
    vec![failure("official:"), failure("ours:")]
}
