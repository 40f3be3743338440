//! The standard library's declarations, as reflection shows them, are those of the official evaluator.
//!
//! `inventory/inventory.txt` is what the official evaluator prints for `inventory/dump.pkl`.

use pkl_core::reader::FileReader;
use pkl_core::{Evaluator, ModuleSource};
use std::path::Path;

#[test]
fn declarations_are_those_of_the_inventory() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/inventory");
    let module = ModuleSource::file(directory.join("dump.pkl")).expect("the path is absolute");
    let evaluator = Evaluator::builder().files(FileReader::new()).build();
    let ours = evaluator.output_text(&module).unwrap_or_else(|error| panic!("{error}"));
    let expected = std::fs::read_to_string(directory.join("inventory.txt")).expect("the inventory is text");
    let differing = diff(&expected, &ours);
    assert!(differing.is_empty(), "official (-) and ours (+):\n{}", differing.join("\n"));
}

/// The lines that differ, in order.
fn diff(expected: &str, ours: &str) -> Vec<String> {
    let (expected, ours): (Vec<&str>, Vec<&str>) = (expected.lines().collect(), ours.lines().collect());
    let mut differing = Vec::new();
    let (mut left, mut right) = (0, 0);
    while left < expected.len() || right < ours.len() {
        match (expected.get(left), ours.get(right)) {
            (Some(a), Some(b)) if a == b => {
                left += 1;
                right += 1;
            }
            (Some(a), b) if b.is_none() || !ours[right..].contains(a) => {
                differing.push(format!("-{a}"));
                left += 1;
            }
            (_, Some(b)) => {
                differing.push(format!("+{b}"));
                right += 1;
            }
            (_, None) => unreachable!("the case before takes what is left"),
        }
    }
    differing
}

#[test]
fn the_inventory_is_what_the_official_evaluator_says() {
    let Some(oracle) = pkl_corpus::named_oracle() else { return };
    let oracle = pkl_corpus::Oracle::at(&oracle).expect("it is of the version that is followed");
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/inventory");
    let ran = oracle.evaluate_file(&directory.join("dump.pkl")).expect("it runs");
    let expected = std::fs::read_to_string(directory.join("inventory.txt")).expect("the inventory is text");
    let differing = diff(&expected, &String::from_utf8_lossy(&ran.stdout));
    assert!(differing.is_empty(), "stored (-) and official (+):\n{}", differing.join("\n"));
}
