//! Golden plans: for each `golden/*.json`, the plan beside it as text. `UPDATE_GOLDEN=1` rewrites
//! the texts; a new case is a new file.

mod common;

use common::notation::Written;
use common::render::outcome;
use std::fs;
use std::path::{Path, PathBuf};

fn cases() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let entries = fs::read_dir(folder).expect("the folder is in the repository");
    let paths = entries.map(|entry| entry.expect("it can be listed").path());
    let mut cases: Vec<_> = paths.filter(|path| path.extension().is_some_and(|ext| ext == "json")).collect();
    cases.sort();
    cases
}

#[test]
fn every_golden_request_gives_its_golden_plan() {
    let cases = cases();
    assert!(cases.len() > 20, "the golden files are found");
    let mut wrong = Vec::new();
    for case in cases {
        let text = fs::read_to_string(&case).expect("a golden request can be read");
        let written: Written = match serde_json::from_str(&text) {
            Ok(written) => written,
            Err(error) => panic!("{}: {error}", case.display()),
        };
        let found = format!("# {}\n\n{}", written.about, outcome(&written.request().plan()));
        let beside = case.with_extension("txt");
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            fs::write(&beside, &found).expect("the golden plan can be written");
        }
        let expected = fs::read_to_string(&beside).unwrap_or_default();
        if expected != found {
            wrong.push(format!("{}\n--- expected\n{expected}\n--- found\n{found}", case.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
