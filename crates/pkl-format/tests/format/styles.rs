//! Formatted texts as recorded in `tests/styles`. All but those in `ours.txt` are formatted as the official
//! formatter does; in `ours.txt` are comments that it would take from their place, and results of it that
//! are no programs any more.
//!
//! A case is a text, a line `-----` and the formatted text; `=====` stands between two cases.

use std::fs;
use std::path::PathBuf;

use crate::same::format_checked;

/// A text and how it is to look.
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) source: String,
    pub(crate) expected: String,
}

#[test]
fn texts_are_formatted_as_recorded() {
    let cases = cases();
    assert!(cases.len() > 400, "only {} cases were found", cases.len());
    for case in cases {
        let formatted = format_checked(&case.name, &case.source);
        assert_eq!(formatted.as_deref(), Some(&*case.expected), "{}:\n{}", case.name, case.source);
    }
}

pub(crate) fn cases() -> Vec<Case> {
    let directory = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/styles");
    let entries = fs::read_dir(directory).expect("the styles are there").flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    let mut cases = Vec::new();
    for path in paths {
        let list = path.file_stem().expect("a list has a name").to_string_lossy().into_owned();
        let text = fs::read_to_string(&path).expect("a list can be read");
        for (index, case) in text.split("=====\n").enumerate() {
            let (source, expected) = case.split_once("-----\n").expect("a case has two parts");
            cases.push(Case {
                name: format!("{list} {index}"),
                source: source.to_owned(),
                expected: expected.to_owned(),
            });
        }
    }
    cases
}
