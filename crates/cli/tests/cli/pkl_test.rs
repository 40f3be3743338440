//! `formwork pkl test`.

use crate::common::{Home, Ran};
use std::fs;

fn test(home: &Home, arguments: &[&str]) -> Ran {
    home.run(&[&["pkl", "test"], arguments].concat())
}

#[test]
fn exit_codes_tell_what_came_of_the_tests() {
    let home = Home::new();
    home.write("good.pkl", "amends \"pkl:test\"\nfacts { [\"f\"] { true } }\n");
    home.write("bad.pkl", "amends \"pkl:test\"\nfacts { [\"f\"] { 1 == 2 } }\n");
    home.write("cut.pkl", "amends \"pkl:test\"\nfacts {\n");
    home.write("shown.pkl", "amends \"pkl:test\"\nexamples { [\"e\"] { 1; \"two\" } }\n");
    let summary = "100.0% tests pass [1 passed], 100.0% asserts pass [1 passed]\n";
    let ran = test(&home, &["good.pkl"]).ok();
    assert_eq!(ran.stdout, format!("module good\n  facts\n    ✔ f\n\n{summary}"));
    let ran = test(&home, &["good.pkl", "bad.pkl"]).exits(1);
    assert!(ran.stdout.contains("\n    ✘ f\n       1 == 2 (file://"), "{}", ran.stdout);
    assert!(ran.stdout.ends_with("50.0% tests pass [1/2 failed], 50.0% asserts pass [1/2 failed]\n"));
    let ran = test(&home, &["good.pkl", "cut.pkl"]).exits(10);
    assert!(ran.stderr.starts_with("Error evaluating module ") && ran.stdout.ends_with(summary));
    let ran = test(&home, &["shown.pkl"]).exits(10);
    assert!(ran.stdout.ends_with("1 examples written\n"), "{}", ran.stdout);
    test(&home, &["shown.pkl"]).ok();
    let kept = fs::read_to_string(home.path().join("shown.pkl-expected.pcf")).expect("written");
    assert_eq!(kept, "examples {\n  [\"e\"] {\n    1\n    \"two\"\n  }\n}\n");
    home.write("shown.pkl", "amends \"pkl:test\"\nexamples { [\"e\"] { 1; \"three\" } }\n");
    test(&home, &["shown.pkl"]).exits(1);
    assert!(home.path().join("shown.pkl-actual.pcf").is_file());
    test(&home, &["shown.pkl", "--overwrite"]).exits(10);
    assert!(!home.path().join("shown.pkl-actual.pcf").exists());
    test(&home, &["shown.pkl"]).ok();
    test(&home, &[]).exits(1);
}

#[test]
fn the_tests_of_a_project_run_by_themselves() {
    let home = Home::new();
    home.write("PklProject", "amends \"pkl:Project\"\ntests { ...import*(\"**.test.pkl\").keys }\n");
    home.write("a.test.pkl", "amends \"pkl:test\"\nfacts { [\"f\"] { true } }\n");
    let ran = test(&home, &["--junit-reports", "reports"]).ok();
    assert!(ran.stdout.starts_with("module a.test\n"), "{}", ran.stdout);
    let report = fs::read_to_string(home.path().join("reports/a.test.xml")).expect("written");
    assert!(report.contains("<testsuite name=\"a.test\" tests=\"1\" failures=\"0\">"), "{report}");
    let all =
        ["--junit-reports", "all", "--junit-aggregate-reports", "--junit-aggregate-suite-name", "birds"];
    test(&home, &all).ok();
    let report = fs::read_to_string(home.path().join("all/birds.xml")).expect("written");
    assert!(report.contains("<testsuites name=\"birds\" tests=\"1\" failures=\"0\">"), "{report}");
}

#[test]
fn examples_of_a_module_are_written_however_its_file_is_named() {
    let home = Home::new();
    home.write("two eggs.pkl", "amends \"pkl:test\"\nexamples { [\"e\"] { 1 } }\n");
    let kept = home.path().join("two eggs.pkl-expected.pcf");
    let path = home.path().join("two eggs.pkl").display().to_string().replace(' ', "%20");
    for start in ["file:", "file://", "file://localhost"] {
        test(&home, &[&format!("{start}{path}")]).exits(10);
        assert!(kept.is_file(), "{start}");
        fs::remove_file(&kept).expect("removed");
    }
}

#[test]
fn two_modules_do_not_write_one_report() {
    let home = Home::new();
    for (file, name) in [("1.pkl", "`a/b`"), ("2.pkl", "a_b")] {
        let text = format!("module {name}\namends \"pkl:test\"\nfacts {{ [\"f\"] {{ true }} }}\n");
        home.write(file, text);
    }
    let ran = test(&home, &["--junit-reports", "reports", "1.pkl", "2.pkl"]).exits(10);
    assert!(ran.stderr.contains("A report with the same name was already generated."), "{}", ran.stderr);
    let report = fs::read_to_string(home.path().join("reports/a_b.xml")).expect("written");
    assert!(report.contains("<testsuite name=\"a/b\""), "{report}");
}
