//! Trees and errors of whole files: adding a test is adding a file under `tests/trees` or `tests/errors`.

use std::fmt::Write;
use std::fs;
use std::path::PathBuf;

use pkl_parser::{Interner, Origin, check_module, dump_module, parse_module};

#[test]
fn trees_are_as_recorded() {
    for (name, source) in files("trees") {
        let interner = Interner::new();
        let parsed = parse_module(&source, &interner);
        assert_eq!(parsed.diagnostics, [], "{name}");
        insta::assert_snapshot!(format!("tree_{name}"), dump_module(&source, &parsed, &interner));
    }
}

#[test]
fn errors_are_as_recorded() {
    for (name, source) in files("errors") {
        let interner = Interner::new();
        let parsed = parse_module(&source, &interner);
        let checked = check_module(&source, &parsed, &interner, Origin::User);
        let mut text = String::new();
        for diagnostic in parsed.diagnostics.iter().chain(&checked) {
            let (line, column) = place(&source, diagnostic.span.start);
            let excerpt = diagnostic.span.text(&source).lines().next().unwrap_or_default();
            writeln!(text, "{line}:{column} {:?} at `{excerpt}`", diagnostic.code)
                .expect("a string can be written");
            writeln!(text, "  {}", diagnostic.to_string().replace('\n', "\n  "))
                .expect("a string can be written");
        }
        insta::assert_snapshot!(format!("errors_{name}"), text);
    }
}

fn files(directory: &str) -> Vec<(String, String)> {
    let directory = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests").join(directory);
    let entries = fs::read_dir(directory).expect("the files are there").flatten();
    let mut files: Vec<_> = entries
        .map(|entry| {
            let path = entry.path();
            let name = path.file_stem().expect("a file has a name").to_string_lossy().into_owned();
            (name, fs::read_to_string(&path).expect("a file can be read"))
        })
        .collect();
    files.sort();
    files
}

fn place(source: &str, offset: u32) -> (usize, usize) {
    let before = &source[..offset as usize];
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
}
