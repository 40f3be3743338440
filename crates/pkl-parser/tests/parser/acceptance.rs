//! What is a program and what is not, against the official evaluator's recorded answers.

use pkl_parser::{Interner, Origin, check_module, parse_module};

use crate::lists;

/// The first paragraph of the first error, or `ok`.
fn verdict(source: &str) -> String {
    let interner = Interner::new();
    let parsed = parse_module(source, &interner);
    let mut diagnostics = parsed.diagnostics.clone();
    if diagnostics.is_empty() {
        diagnostics = check_module(source, &parsed, &interner, Origin::User);
    }
    diagnostics.first().map_or_else(|| "ok".to_owned(), |first| first.message.clone())
}

#[test]
fn programs_and_first_errors_are_those_of_the_official_evaluator() {
    let mut wrong = Vec::new();
    let cases = lists::all();
    for case in &cases {
        let ours = verdict(&case.source);
        if !case.agrees(&ours) {
            wrong.push(format!(
                "{}: {}\n  theirs: {}\n  ours:   {ours}",
                case.list, case.written, case.verdict
            ));
        }
    }
    assert!(cases.len() > 1400, "only {} cases were found", cases.len());
    assert!(wrong.is_empty(), "{} of {} differ:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}
