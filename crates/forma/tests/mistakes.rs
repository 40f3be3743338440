//! What people are shown of their mistakes: each case is a forma with one, and what is said of it.
//!
//! `MISTAKES=bless` writes what is said.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use formwork_forma::library::Drawn;
use formwork_forma::package::PackageReader;
use formwork_forma::{FormaError, FormaRequest, evaluate};
use formwork_formation::{Color, render_human};
use formwork_model::ProjectId;
use pkl_core::reader::FileReader;
use pkl_core::{Evaluator, ModuleSource};
use std::fs;
use std::path::{Path, PathBuf};

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mistakes")
}

fn cases() -> Vec<PathBuf> {
    let entries = fs::read_dir(directory()).unwrap().map(|entry| entry.unwrap().path());
    let mut cases: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|extension| extension == "pkl")).collect();
    cases.sort();
    cases
}

/// All that is said of a forma.
fn told(case: &Path) -> String {
    let builder = Evaluator::builder().files(FileReader::new()).module_reader(PackageReader);
    let drawn = Drawn::default();
    let evaluator = formwork_forma::library::add_noting(builder, &drawn).build();
    let (directory, project) = (directory(), ProjectId::from("p"));
    let module = ModuleSource::file(case).unwrap();
    let request =
        FormaRequest { module: &module, base: Some(&directory), project: &project, drawn: Some(&drawn) };
    let blocks: Vec<String> = match evaluate(&evaluator, &request) {
        Ok((forma, warnings)) => {
            warnings.iter().map(|found| render_human(found, &forma.source_map, Color::Never)).collect()
        }
        Err(FormaError::Invalid(invalid)) => {
            let map = &invalid.source_map;
            invalid.found.iter().map(|found| render_human(found, map, Color::Never)).collect()
        }
        Err(error) => vec![format!("{error}\n")],
    };
    let package = format!("file://{}", Path::new(env!("CARGO_MANIFEST_DIR")).display());
    blocks
        .join("\n")
        .replace(&package, "file:///package")
        .replace(package.trim_start_matches("file://"), "/package")
}

#[test]
fn each_mistake_is_shown_where_it_is() {
    let bless = std::env::var("MISTAKES").is_ok_and(|command| command == "bless");
    let mut wrong = Vec::new();
    let cases = cases();
    for case in &cases {
        let (told, expected) = (told(case), case.with_extension("expected"));
        if bless {
            fs::write(&expected, &told).unwrap();
        }
        let expected = fs::read_to_string(expected).unwrap_or_default();
        if told != expected || told.trim().is_empty() {
            wrong.push(format!("{}\n{told}", case.display()));
        }
    }
    assert!(wrong.is_empty(), "{} cases\n{}", wrong.len(), wrong.join("\n"));
    assert!(cases.len() >= 60, "there are {} kinds of mistake", cases.len());
}
