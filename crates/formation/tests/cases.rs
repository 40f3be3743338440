//! Each file in `tests/cases` is a template; the file with `.txt` added to its name is what a person is told about
//! it. To add a test, add a file; `UPDATE_CASES=1` writes what is missing or has changed.

mod common;

use common::catalog;
use formwork_formation::{Color, Limits, check, parse, render_human, text_only};
use std::fs;
use std::path::Path;

#[test]
fn every_case_is_told_as_expected() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let mut files: Vec<_> = fs::read_dir(folder)
        .expect("the folder is there")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    files.retain(|file| file.extension().is_some_and(|ending| ending == "yaml" || ending == "json"));
    files.sort();
    assert!(files.len() >= 10, "the cases are found");
    let mut changed = Vec::new();
    for file in files {
        let told = told(&file);
        let golden = file.with_added_extension("txt");
        if fs::read_to_string(&golden).ok().as_ref() == Some(&told) {
            continue;
        }
        if std::env::var_os("UPDATE_CASES").is_some() {
            fs::write(&golden, &told).expect("the golden can be written");
        }
        changed.push(format!("{}:\n{told}", file.display()));
    }
    assert!(changed.is_empty(), "these are told differently:\n{}", changed.join("\n"));
}

fn told(file: &Path) -> String {
    let bytes = fs::read(file).expect("the file can be read");
    let name = file.file_name().expect("it has a name").to_string_lossy();
    let (found, source) = match parse(&name, &bytes, &Limits::default()) {
        Err(found) => (found, std::sync::Arc::new(text_only(&name, &bytes))),
        Ok(document) => {
            let source = document.source.clone();
            (check(document, &catalog()).found, source)
        }
    };
    let blocks: Vec<String> = found.iter().map(|found| render_human(found, &source, Color::Never)).collect();
    if blocks.is_empty() { "nothing to say\n".to_owned() } else { blocks.join("\n") }
}

#[test]
fn colour_adds_to_the_text_and_changes_none_of_it() {
    let bytes = include_bytes!("cases/support-bot.yaml");
    let document = parse("support-bot.yaml", bytes, &Limits::default()).expect("it is YAML");
    let source = document.source.clone();
    for found in &check(document, &catalog()).found {
        let plain = render_human(found, &source, Color::Never);
        let painted = render_human(found, &source, Color::Always);
        assert!(painted.contains("\u{1b}[1;3"));
        let mut stripped = String::new();
        for (index, piece) in painted.split('\u{1b}').enumerate() {
            let after = if index == 0 { Some(piece) } else { piece.split_once('m').map(|(_, after)| after) };
            stripped.push_str(after.expect("an escape ends with `m`"));
        }
        assert_eq!(stripped, plain);
    }
}

#[test]
fn without_a_text_or_a_place_the_rest_is_told() {
    let template = common::template("{parameters: {Key: {}}, resources: {}, outputs: {o: {param: Key}}}");
    let supplied = common::supplied([("Kye", "x")]);
    let unknown = &formwork_formation::unknown_parameters(&template, &supplied)[0];
    let told = render_human(unknown, &text_only("other", b""), Color::Never);
    let expected =
        "warning[unknown-parameter]: The template declares no parameter 'Kye'; its value is ignored
  = at: parameters.Kye
  = hint: did you mean `Key`?
  = explain: formwork explain unknown-parameter
";
    assert_eq!(told, expected);
}
