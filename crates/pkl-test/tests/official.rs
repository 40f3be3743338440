//! The same test modules under the official command: the same report, the same files.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use pkl_core::reader::FileReader;
use pkl_core::{Evaluator, ModuleSource};
use pkl_corpus::named_oracle;
use pkl_test::{Expected, junit, report};
use std::fs;
use std::path::Path;
use std::process::Command;

/// One state of a test module after another; before each the examples may be deleted.
struct Scenario {
    name: &'static str,
    states: &'static [&'static str],
}

const SCENARIOS: &[Scenario] = &[
    Scenario { name: "nothing", states: &[""] },
    Scenario { name: "empty", states: &["facts {}\nexamples {}"] },
    Scenario {
        name: "facts",
        states: &["facts { [\"f\"] { true; 1 + 1 == 2 } [\"g h\"] { \"a\" != \"b\" } }"],
    },
    Scenario {
        name: "failing",
        states: &[
            "facts {\n  [\"f\"] {\n    1 == 2\n    \"a\".length == 2 // no\n    true\n    let (x = 3)\n      x == 4\n  }\n  [\"g\"] { true }\n}",
        ],
    },
    Scenario {
        name: "generated",
        states: &[
            "facts { [\"a\"] { for (i in IntSeq(0, 3)) { i < 2 } } [\"b\"] { when (true) { false } } [\"c\"] { ...List(true, false) } }",
        ],
    },
    Scenario {
        name: "errors",
        states: &["facts { [\"f\"] { throw(\"x\"); false; throw(\"y\"); false } [\"g\"] { true } }"],
    },
    Scenario { name: "names", states: &["facts { [\"a <&>\\\"'\\n b\"] { false } [\"\\u{fc}\"] { true } }"] },
    Scenario {
        name: "examples",
        states: &[
            "examples { [\"a\"] { 1 } [\"m\"] { \"x\\ny\" } [\"o\"] { new { a = 1; b { c = 2 } }; 7 } }",
            "examples { [\"a\"] { 1 } [\"m\"] { \"x\\ny\" } [\"o\"] { new { a = 1; b { c = 2 } }; 7 } }",
            "examples {\n[\"a\"] { 2 }\n[\"m\"] { \"x\\nz\" }\n[\"o\"] { new { a = 1; b { c = 3 } }; 7 } }",
            "examples { [\"a\"] { 1; 2 } [\"m\"] { \"x\\ny\" } [\"n\"] { 1 } }",
            "examples { [\"a\"] { 1 } [\"m\"] { \"x\\ny\" } [\"o\"] { new { a = 1; b { c = 2 } }; 7 } }",
        ],
    },
    Scenario {
        name: "both",
        states: &[
            "facts { [\"f\"] { true } }\nexamples { [\"e\"] { 1 } }",
            "facts { [\"f\"] { false } }\nexamples { [\"e\"] { 1 } }",
        ],
    },
    Scenario { name: "broken", states: &["examples { [\"e\"] { 1; throw(\"x\"); 2 } [\"f\"] { 3 } }"] },
    Scenario {
        name: "values",
        states: &[
            "local class P { name: String = \"x\"; hidden h = 1 }\nexamples { [\"a\"] { new P {}; Map(\"k\", 1); new Mapping { [\"x\"] = new P {} }; List(1, \"a\"); 1.5; null; 5.min; Pair(1, 2); Regex(\"a\"); new Listing {}; new Dynamic {} } [\"q \\\"\\\\ \"] { \"\\\"\\\\\" } }",
        ],
    },
];

fn ours(directory: &Path, module: &Path) -> (String, String) {
    let evaluator = Evaluator::builder().files(FileReader::new()).build();
    let source = ModuleSource::file(module).unwrap();
    let beside = |ending: &str| format!("{}{ending}", module.display());
    let text = fs::read_to_string(beside("-expected.pcf")).ok();
    let uri = |ending: &str| format!("file://{}", beside(ending));
    let expected = Expected { uri: uri("-expected.pcf"), text, actual_uri: uri("-actual.pcf") };
    let tested = pkl_test::run(&evaluator, &source, &expected).unwrap();
    let _ = fs::remove_file(beside("-actual.pcf"));
    for (text, ending) in [(&tested.expected, "-expected.pcf"), (&tested.actual, "-actual.pcf")] {
        if let Some(text) = text {
            fs::write(beside(ending), text).unwrap();
        }
    }
    let xml = junit::report(&tested.results);
    let text = format!("{}\n{}\n", report::module(&tested.results), report::summary(&[tested.results]));
    (told(&text, directory), told(&xml, directory))
}

fn theirs(binary: &Path, directory: &Path, module: &Path) -> (String, String) {
    let mut command = Command::new(binary);
    command.args(["test", "--color", "never", "--no-project", "--junit-reports", "reports"]);
    let ran = command.arg(module).current_dir(directory).output().unwrap();
    let report = directory.join("reports").join(module.with_extension("xml").file_name().unwrap());
    let xml = fs::read_to_string(report).unwrap_or_default();
    (told(&String::from_utf8_lossy(&ran.stdout), directory), told(&xml, directory))
}

/// A text without the place of its files, and without what is drawn below an excerpt.
fn told(text: &str, directory: &Path) -> String {
    let text = text.replace(&directory.display().to_string(), "/case");
    let is_drawn = |line: &&str| !line.trim().is_empty() && line.trim().chars().all(|letter| letter == '^');
    let lines: Vec<&str> = text.split('\n').filter(|line| !is_drawn(line)).collect();
    lines.join("\n")
}

/// The files of examples, by name.
fn kept(directory: &Path) -> Vec<(String, String)> {
    let mut kept: Vec<(String, String)> = fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "pcf"))
        .map(|path| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            (name, fs::read_to_string(path).unwrap())
        })
        .collect();
    kept.sort();
    kept
}

#[test]
fn reports_and_files_are_those_of_the_official_command() {
    let Some(binary) = named_oracle() else { return };
    let mut wrong = Vec::new();
    for Scenario { name, states } in SCENARIOS {
        let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        for (step, state) in states.iter().enumerate() {
            let [first, second] = [&one, &other].map(|directory| {
                let module = directory.path().join(format!("{name}.pkl"));
                fs::write(&module, format!("amends \"pkl:test\"\n{state}\n")).unwrap();
                module
            });
            let (ours, our_xml) = ours(one.path(), &first);
            let (theirs, their_xml) = theirs(&binary, other.path(), &second);
            for (what, ours, theirs) in [
                ("report", ours, theirs),
                ("xml", our_xml, their_xml),
                ("files", format!("{:#?}", kept(one.path())), format!("{:#?}", kept(other.path()))),
            ] {
                if ours != theirs {
                    wrong.push(format!("{name} {step} {what}:\n{ours}\n--- official\n{theirs}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n=====\n"));
}
