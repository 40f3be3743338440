//! The programs themselves, without any evaluator.

use pkl_gen::{Choices, program};

#[test]
fn recorded_choices_make_the_program_of_their_seed_again() {
    for seed in 0..200 {
        let mut random = Choices::random(seed);
        let first = program(&mut random);
        let again = program(&mut Choices::recorded(random.into_made()));
        assert_eq!(first, again, "seed {seed}");
    }
}

#[test]
fn the_simplest_choices_make_a_program_too() {
    let simplest = program(&mut Choices::recorded(Vec::new()));
    assert!(simplest.base.is_none());
    assert!(simplest.main.contains("output {"));
}

#[test]
fn programs_differ() {
    let programs: std::collections::BTreeSet<_> =
        (0..200).map(|seed| program(&mut Choices::random(seed)).to_string()).collect();
    assert!(programs.len() > 190, "{}", programs.len());
}

#[test]
fn every_part_is_made_of_choices_that_were_made() {
    let mut random = Choices::random(3);
    program(&mut random);
    let spans = random.spans().to_vec();
    let made = random.into_made().len();
    assert!(!spans.is_empty());
    assert!(spans.iter().all(|span| span.start <= span.end && span.end <= made));
}
