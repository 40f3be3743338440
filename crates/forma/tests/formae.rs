//! The `@formae` package as `tests/formae` describes it, under our evaluator and under the official one.
//!
//! A case is a `.pkl` file with an `.expected` file, in the form of the corpus
//! (`crates/pkl-core/tests/corpus/README.md`). With `FORMAE_CASES=bless`, expectations are written where both
//! evaluators agree; with `FORMAE_CASES=<part of a name>` only those cases run.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod engine;

use pkl_corpus::{Case, Engine, Oracle};
use std::path::Path;

fn cases() -> Vec<Case> {
    pkl_corpus::discover(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/formae")).unwrap()
}

fn command() -> String {
    std::env::var("FORMAE_CASES").unwrap_or_default()
}

fn chosen() -> Vec<Case> {
    let command = command();
    let all = command.is_empty() || command == "bless";
    cases().into_iter().filter(|case| all || case.name.contains(&command)).collect()
}

fn verify(engine: &dyn Engine) {
    let wrong: Vec<String> = chosen()
        .iter()
        .filter_map(|case| {
            pkl_corpus::verify(case, engine).err().map(|told| format!("{}: {told}", case.name))
        })
        .collect();
    assert!(wrong.is_empty(), "{} cases differ\n{}", wrong.len(), wrong.join("\n"));
}

/// Writes the expectation of each case on which both evaluators agree, and gives the names of the others.
fn bless(oracle: &Oracle) -> Vec<String> {
    let mut disagreeing = Vec::new();
    for case in cases() {
        let path = case.expected_path();
        let before = std::fs::read(&path).ok();
        match pkl_corpus::evaluate(oracle, &case) {
            Ok(expectation) => std::fs::write(&path, expectation.to_string()).unwrap(),
            Err(no_verdict) => {
                disagreeing.push(format!("{}: {no_verdict}", case.name));
                continue;
            }
        }
        if let Err(told) = pkl_corpus::verify(&case, &engine::Ours) {
            match before {
                Some(before) => std::fs::write(&path, before).unwrap(),
                None => std::fs::remove_file(&path).unwrap(),
            }
            disagreeing.push(format!("{}: {told}", case.name));
        }
    }
    disagreeing
}

#[test]
fn our_evaluator_meets_every_case() {
    if command() == "bless" {
        let oracle = Oracle::at(&pkl_corpus::named_oracle().expect("blessing needs `PKL_ORACLE`")).unwrap();
        let disagreeing = bless(&oracle);
        assert!(disagreeing.is_empty(), "{} cases\n{}", disagreeing.len(), disagreeing.join("\n"));
        return;
    }
    verify(&engine::Ours);
}

#[test]
fn the_official_evaluator_meets_every_case() {
    if command() == "bless" {
        return;
    }
    let Some(binary) = pkl_corpus::named_oracle() else {
        println!("skipped: `PKL_ORACLE` names no official binary");
        return;
    };
    verify(&Oracle::at(&binary).unwrap());
}
