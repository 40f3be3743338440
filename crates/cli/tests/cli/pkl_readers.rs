//! `formwork pkl` with external readers, and as one.

use crate::common::{Home, PATIENCE, Ran};
use pkl_corpus::named_oracle as oracle;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

/// A program for readers that misbehave: a shell script, by what it does.
fn script(home: &Home, name: &str, body: &str) -> String {
    home.write(name, format!("#!/bin/sh\n{body}\n"));
    let path = home.path().join(name).display().to_string();
    format!("sh {path}")
}

/// The binary as a reader.
fn reader() -> String {
    format!("{} pkl reader", env!("CARGO_BIN_EXE_formwork"))
}

fn eval(home: &Home, flags: &[&str]) -> Ran {
    home.run(&[&["pkl", "eval", "a.pkl"], flags].concat())
}

/// The package's `ext/` modules and what they import.
fn library(home: &Home) {
    let package = Path::new(env!("CARGO_MANIFEST_DIR")).join("../forma/pkl");
    for directory in ["ext", "internal"] {
        fs::create_dir(home.path().join(directory)).expect("made");
        for entry in fs::read_dir(package.join(directory)).expect("listed") {
            let path = entry.expect("an entry").path();
            fs::copy(&path, home.path().join(directory).join(path.file_name().expect("a name")))
                .expect("copied");
        }
    }
}

const CALLS: &str = "import \"ext/random.pkl\"\nimport \"ext/bcrypt.pkl\"\nimport \"ext/crypto.pkl\"\n\
    number = random.id(5).toString().length\npassword = random.password(20, true).length\n\
    hash = bcrypt.hashPassword(\"secret\").take(4)\n";

#[test]
fn the_official_evaluator_calls_functions_of_the_binary() {
    let Some(official) = oracle() else { return };
    let home = Home::new();
    library(&home);
    home.write("a.pkl", CALLS);
    let ours = eval(&home, &[]).ok().stdout;
    assert_eq!(ours, "number = 5\npassword = 20\nhash = \"$2b$\"\n");
    let flag = format!("libext={}", reader());
    let ran = Command::new(official)
        .args(["eval", "a.pkl", "--external-resource-reader", &flag])
        .current_dir(home.path())
        .output()
        .expect("it runs");
    assert_eq!(String::from_utf8_lossy(&ran.stdout), ours, "{}", String::from_utf8_lossy(&ran.stderr));
}

#[test]
fn the_official_evaluator_reads_variables_of_terraform() {
    let Some(official) = oracle() else { return };
    let home = Home::new();
    library(&home);
    fs::create_dir(home.path().join("env")).expect("made");
    home.write("env/prod.tfvars", "region = \"eu\"\nsizes = [1, 2.5]\nnested = { \"a b\" = null }\n");
    home.write("a.pkl", "import \"ext/terraform.pkl\"\nall = terraform.readTFVars(\"env/prod.tfvars\")\n");
    let ours = eval(&home, &[]).ok().stdout;
    let flag = format!("tfvars={}", reader());
    let ran = Command::new(official)
        .args(["eval", "a.pkl", "--external-resource-reader", &flag])
        .current_dir(home.path())
        .output()
        .expect("it runs");
    assert_eq!(String::from_utf8_lossy(&ran.stdout), ours, "{}", String::from_utf8_lossy(&ran.stderr));
    home.write("a.pkl", "import \"ext/terraform.pkl\"\nall = terraform.readTFVars(\"../secret.tfvars\")\n");
    assert!(eval(&home, &[]).exits(1).stderr.contains("must not lead out of it"));
    home.write("env/prod.tfvars", "region = var.other\n");
    home.write("a.pkl", "import \"ext/terraform.pkl\"\nall = terraform.readTFVars(\"env/prod.tfvars\")\n");
    let told = eval(&home, &[]).exits(1).stderr;
    assert!(told.contains("`env/prod.tfvars`: `region` has a reference, not a literal."), "{told}");
}

#[test]
fn the_official_evaluator_imports_modules_of_the_binary() {
    let Some(official) = oracle() else { return };
    let home = Home::new();
    home.write(
        "a.pkl",
        "import \"formae:/ext/random.pkl\"\npassword = random.password(20, true).length\n\
         names = import*(\"formae:/ext/*.pkl\").keys\n",
    );
    let ours = eval(&home, &[]).ok().stdout;
    let command = reader();
    let ran = Command::new(official)
        .args(["eval", "a.pkl", "--allowed-modules", "file:,formae:,pkl:"])
        .args(["--external-resource-reader", &format!("libext={command}")])
        .args(["--external-module-reader", &format!("formae={command}")])
        .current_dir(home.path())
        .output()
        .expect("it runs");
    assert_eq!(String::from_utf8_lossy(&ran.stdout), ours, "{}", String::from_utf8_lossy(&ran.stderr));
}

#[test]
fn one_evaluator_of_ours_reads_by_another() {
    let home = Home::new();
    home.write(
        "a.pkl",
        "import \"formae:/ext/random.pkl\"\npassword = random.password(20, true).length\n\
         names = import*(\"formae:/ext/*.pkl\").keys\n",
    );
    let alone = eval(&home, &[]).ok().stdout;
    let (modules, resources) = (format!("formae={}", reader()), format!("libext={}", reader()));
    let flags = ["--external-module-reader", &modules, "--external-resource-reader", &resources];
    assert_eq!(eval(&home, &flags).ok().stdout, alone);
    home.write("a.pkl", "x = read(\"libext:random\")\n");
    let told = eval(&home, &flags).exits(1).stderr;
    assert!(
        told.contains("I/O error reading resource `libext:random`.\nIOException: Expected `libext:///"),
        "what the reader says is passed on: {told}"
    );
}

#[test]
fn readers_of_a_project_are_used() {
    let home = Home::new();
    let binary = env!("CARGO_BIN_EXE_formwork");
    home.write(
        "PklProject",
        format!(
            "amends \"pkl:Project\"\nevaluatorSettings {{ externalResourceReaders {{ [\"other\"] {{ executable = \"{binary}\"; \
             arguments {{ \"pkl\"; \"reader\" }} }} }} }}\n"
        ),
    );
    home.write("a.pkl", "x = read(\"other:y\")\n");
    let told = eval(&home, &[]).exits(1).stderr;
    assert!(told.contains("External resource reader does not support scheme `other`."), "{told}");
    let told = eval(&home, &["--omit-project-settings"]).exits(1).stderr;
    assert!(told.contains("Refusing to read resource `other:y`"), "{told}");
}

#[test]
fn a_reader_that_fails_is_one_clear_error() {
    let home = Home::new();
    home.write("a.pkl", "x = read(\"birds:dodo\")\ny = read(\"birds:emu\")\n");
    let told = |command: &str, more: &[&str]| {
        let flag = format!("birds={command}");
        let flags = [&["--external-resource-reader", flag.as_str()], more].concat();
        let start = Instant::now();
        let told = eval(&home, &flags).exits(1).stderr;
        assert!(start.elapsed() < PATIENCE, "it ends");
        told
    };
    let error = told("no-such-program", &[]);
    assert!(error.contains("The external reader `no-such-program` cannot be started"), "{error}");
    let error = told(&script(&home, "dies", "exit 3"), &[]);
    assert!(error.contains("ended without an answer (exit status: 3)"), "{error}");
    let error = told(&script(&home, "talks", "echo hello; cat > /dev/null"), &[]);
    assert!(error.contains("does not keep to the protocol: what was sent is no message"), "{error}");
    let error = told(&script(&home, "sleeps", "exec sleep 1000"), &["-t", "1"]);
    assert!(error.contains("did not answer within 1 s"), "{error}");
    let error = told(&script(&home, "floods", "exec cat /dev/zero"), &[]);
    assert!(error.contains("does not keep to the protocol"), "{error}");
}

#[test]
fn a_reader_gets_no_more_of_the_environment_than_it_needs() {
    let mut home = Home::new();
    home.set("TOKEN", "hunter2");
    home.write("a.pkl", "x = read(\"birds:dodo\")\n");
    let flag = format!("birds={}", script(&home, "tells", "env > env.txt; exit 3"));
    let seen = |more: &[&str]| {
        eval(&home, &[&["--external-resource-reader", flag.as_str()], more].concat()).exits(1);
        fs::read_to_string(home.path().join("env.txt")).expect("written")
    };
    let all = seen(&[]);
    assert!(all.contains("PATH=") && !all.contains("TOKEN"), "{all}");
    assert!(seen(&["-e", "TOKEN=mine"]).contains("TOKEN=mine"));
}

#[test]
fn a_flag_that_is_no_reader_is_wrong_usage() {
    let home = Home::new();
    home.write("a.pkl", "x = 1\n");
    for flag in ["birds", "birds=", "=cat", "1=cat", "birds='cat"] {
        eval(&home, &["--external-resource-reader", flag]).exits(1);
    }
}

#[test]
fn a_reader_that_is_not_needed_is_not_started() {
    let home = Home::new();
    home.write("a.pkl", "x = 1\n");
    let flags =
        ["--external-module-reader", "birds=no-such-program", "--external-resource-reader", "fish=none"];
    assert_eq!(eval(&home, &flags).ok().stdout, "x = 1\n");
}

#[test]
fn what_is_no_request_ends_the_reader() {
    let home = Home::new();
    assert_eq!(home.run_fed(&["pkl", "reader"], b"").ok().stdout, "");
    let ran = home.run_fed(&["pkl", "reader"], b"hello").exits(1);
    assert!(ran.stderr.contains("the evaluator does not keep to the protocol"), "{}", ran.stderr);
    assert_eq!(ran.stdout, "");
}
