//! Whether the recorded answers of `tests/acceptance` are the official evaluator's.
//!
//! `PKL_ORACLE` names its binary. Without it the test says so and passes, unless
//! `FORMWORK_TEST_REQUIRE_ALL=1`.

use pkl_corpus::named_oracle as oracle;
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::lists::{self, Case};

#[test]
fn recorded_answers_are_the_official_evaluators() {
    let Some(oracle) = oracle() else { return };
    let directory = tempfile::tempdir().expect("a directory can be made");
    let cases: Vec<Case> =
        lists::all().into_iter().filter(|case| !["crash", "ours"].contains(&case.kind())).collect();
    let answers = ask(&oracle, directory.path(), &cases);
    let mut wrong = Vec::new();
    assert_eq!(answers.len(), cases.len());
    for (case, answer) in cases.iter().zip(answers) {
        let recorded = case.verdict.strip_prefix("later: ").unwrap_or(&case.verdict);
        // The answer has spaces for line ends; two are the end of a paragraph.
        let first_paragraph = answer.split("  ").next().unwrap_or_default().trim();
        if first_paragraph.replace('\\', "\\\\") != recorded && case.kind() != "later" {
            wrong.push(format!("{}: {}\n  recorded: {recorded}\n  now: {answer}", case.list, case.written));
        }
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}

/// One line for each case: `ok`, or the error of importing it.
fn ask(oracle: &Path, directory: &Path, cases: &[Case]) -> Vec<String> {
    let mut main = String::from("import \"pkl:test\"\nlocal answers = new Listing {\n");
    for (index, case) in cases.iter().enumerate() {
        fs::write(directory.join(format!("case{index}.pkl")), &case.source).expect("a case can be written");
        writeln!(main, "  test.catchOrNull(() -> import(\"case{index}.pkl\"))")
            .expect("a string can be written");
    }
    main.push_str(
        "}\noutput { text = answers.toList().map((it) -> (it ?? \"ok\").replaceAll(\"\\n\", \" \")).join(\"\\n\") }\n",
    );
    let path = directory.join("main.pkl");
    fs::write(&path, main).expect("a module can be written");
    let output = Command::new(oracle).arg("eval").arg(&path).output().expect("the oracle runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect()
}
