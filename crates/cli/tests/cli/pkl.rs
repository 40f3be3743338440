//! `formwork pkl`: evaluating, analysing and formatting, as people call them.

use crate::common::{Home, Ran};
use crate::golden;
use pkl_corpus::named_oracle as oracle;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};

const BIRD: &str = r#"name = "Dodo"
extinct = true
age = 2 * 21
diet = new Listing { "fruit"; "nuts" }
nest { height = 1.5; `two words` = null }
"#;

fn home() -> Home {
    let home = Home::new();
    home.write("bird.pkl", BIRD);
    home.write("aviary.pkl", "import \"bird.pkl\"\n\nkeeps = bird.name\n");
    home.write("message.pkl", "name = \"Dodo\"\nage = 3\n");
    home.write("wrong.pkl", "age = 3\nolder = age.plus(1)\n");
    home.write("cut.pkl", "a = \nb = (\n");
    home.write(
        "files.pkl",
        "output { files { [\"a/b.txt\"] { text = \"one\" } [\"c.json\"] { value = new Dynamic { d = 1 }\n\
         renderer = new JsonRenderer {} } } }\n",
    );
    home
}

fn pkl(home: &Home, arguments: &[&str]) -> Ran {
    home.run(&[&["pkl"], arguments].concat())
}

fn read(home: &Home, name: &str) -> String {
    fs::read_to_string(home.path().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// An error without its frames in the library, whose lines move.
fn of_user(error: &str) -> String {
    error.split("\n\n").filter(|part| !part.contains("(pkl:")).collect::<Vec<_>>().join("\n\n")
}

#[test]
fn each_format_is_rendered() {
    let home = home();
    for format in ["json", "jsonnet", "pcf", "plist", "xml", "yaml"] {
        let ran = pkl(&home, &["eval", "-f", format, "bird.pkl"]).ok();
        assert_eq!(ran.stderr, "", "{format}");
        golden!(format!("pkl eval {format}"), ran.stdout);
    }
    for format in ["properties", "textproto"] {
        golden!(format!("pkl eval {format}"), pkl(&home, &["eval", "-f", format, "message.pkl"]).ok().stdout);
    }
    golden!(
        "pkl eval unknown format",
        of_user(&pkl(&home, &["eval", "-f", "csv", "bird.pkl"]).exits(1).stderr)
    );
    assert!(!home.data().exists(), "no ledger is opened");
}

#[test]
fn an_expression_is_printed_as_text() {
    let home = home();
    for (expression, text) in [("age", "42"), ("name", "Dodo"), ("-1", "-1"), ("diet[0]", "fruit")] {
        assert_eq!(pkl(&home, &["eval", "-x", expression, "bird.pkl"]).ok().stdout, text);
    }
}

#[test]
fn outputs_of_several_modules_are_separated() {
    let home = home();
    home.write("empty.pkl", "output { text = \"\" }\n");
    let ran = pkl(&home, &["eval", "-x", "1 - 1", "bird.pkl", "aviary.pkl"]).ok();
    assert_eq!(ran.stdout, "0---\n0");
    let ran = pkl(&home, &["eval", "-f", "yaml", "message.pkl", "aviary.pkl"]).ok();
    assert_eq!(ran.stdout, "keeps: Dodo\n---\nname: Dodo\nage: 3\n", "in the order of their URIs");
    let ran = pkl(&home, &["eval", "empty.pkl", "aviary.pkl", "empty.pkl", "aviary.pkl"]).ok();
    assert_eq!(ran.stdout, "keeps = \"Dodo\"\n---\nkeeps = \"Dodo\"\n");
    let ran = pkl(&home, &["eval", "--module-output-separator", "%%", "aviary.pkl", "aviary.pkl"]).ok();
    assert_eq!(ran.stdout, "keeps = \"Dodo\"\n%%\nkeeps = \"Dodo\"\n");
}

#[test]
fn a_module_comes_from_standard_input_or_a_uri() {
    let home = home();
    assert_eq!(home.run_fed(&["pkl", "eval", "-"], b"x = 1 + 1").ok().stdout, "x = 2\n");
    let confined = |allowed| home.run_fed(&["pkl", "eval", "--allowed-modules", allowed, "-"], b"x = 1 + 1");
    assert_eq!(confined("repl:text$").ok().stdout, "x = 2\n");
    assert!(confined("file:").exits(1).stderr.contains("Refusing to load module `repl:text`"));
    let uri = format!("file://{}", home.path().join("aviary.pkl").display());
    assert_eq!(pkl(&home, &["eval", &uri]).ok().stdout, "keeps = \"Dodo\"\n");
    let ran = pkl(&home, &["eval", "--module-path", ".", "modulepath:/aviary.pkl"]).ok();
    assert_eq!(ran.stdout, "keeps = \"Dodo\"\n");
}

#[test]
fn errors_have_their_place() {
    let home = home();
    golden!("pkl eval error", of_user(&pkl(&home, &["eval", "wrong.pkl"]).exits(1).stderr));
    golden!("pkl eval syntax error", pkl(&home, &["eval", "cut.pkl"]).exits(1).stderr);
    golden!("pkl eval missing", pkl(&home, &["eval", "nowhere.pkl"]).exits(1).stderr);
    let ran = pkl(&home, &["eval", "aviary.pkl", "wrong.pkl"]).exits(1);
    assert_eq!(ran.stdout, "keeps = \"Dodo\"\n", "what came before it is printed");
}

#[test]
fn wrong_usage_ends_as_the_official_command_does() {
    let home = home();
    for line in
        ["eval", "eval --nonsense bird.pkl", "eval -m d -x 1 bird.pkl", "eval -t 1.5 bird.pkl", "brew"]
    {
        let arguments: Vec<_> = line.split(' ').collect();
        pkl(&home, &arguments).exits(1);
    }
    home.run(&["graph", "--nonsense"]).exits(2);
}

#[test]
fn what_is_not_supported_is_refused_by_name() {
    let home = home();
    for line in ["analyze imports -", "format --grammar-version 1 bird.pkl"] {
        let ran = pkl(&home, &line.split(' ').collect::<Vec<_>>()).exits(1);
        assert!(ran.stderr.contains("is not supported"), "{line}: {}", ran.stderr);
        assert_eq!(ran.stdout, "", "{line}");
    }
}

#[test]
fn variables_and_properties_are_those_given() {
    let mut home = home();
    home.set("COLOUR", "grey");
    let value = |arguments: &[&str]| pkl(&home, &[&["eval", "bird.pkl", "-x"], arguments].concat());
    assert_eq!(value(&["read(\"env:COLOUR\")"]).ok().stdout, "grey");
    assert_eq!(value(&["read(\"env:COLOUR\")", "-e", "COLOUR=red=hot"]).ok().stdout, "red=hot");
    value(&["read(\"env:COLOUR\")", "-e", "OTHER=1"]).exits(1);
    assert_eq!(value(&["read(\"prop:size\")", "-p", "size=1", "-p", "size=2"]).ok().stdout, "2");
    assert_eq!(value(&["read(\"prop:size\")", "-p", "size"]).ok().stdout, "true");
}

#[test]
fn reading_is_confined_to_what_is_allowed() {
    let home = home();
    fs::create_dir(home.path().join("cage")).expect("made");
    home.write("cage/in.pkl", "import \"../bird.pkl\"\n\nx = bird.name\n");
    home.write("cage/note.txt", "sings");
    for line in [
        "eval --root-dir cage bird.pkl",
        "eval --root-dir cage cage/in.pkl",
        "eval --allowed-modules pkl: bird.pkl",
        "eval --allowed-modules file:.*/cage/ bird.pkl",
        "eval --allowed-modules file:.*/cage/ cage/in.pkl",
        "eval --allowed-resources prop: -x read(\"env:HOME\") bird.pkl",
        "eval --allowed-resources env:(PATH|USER)$ -x read(\"env:HOME\") bird.pkl",
    ] {
        let ran = pkl(&home, &line.split(' ').collect::<Vec<_>>()).exits(1);
        assert!(ran.stderr.contains("Refusing to"), "{line}: {}", ran.stderr);
    }
    pkl(&home, &["eval", "--allowed-modules", "(file|pkl):", "bird.pkl"]).ok();
    let ran = pkl(&home, &["eval", "--allowed-modules", "file:[", "bird.pkl"]).exits(1);
    let (told, cause) = ran.stderr.split_once("\n  caused by: ").expect("an error and its cause");
    assert_eq!(told, "error: `--allowed-modules` has an invalid pattern");
    assert!(!cause.contains("caused by"), "{cause}");
    let ran = pkl(&home, &["eval", "--http-proxy", "ftp://proxy", "bird.pkl"]).exits(1);
    assert!(ran.stderr.starts_with("error: ") && !ran.stderr.contains("caused by"), "{}", ran.stderr);
    home.write("cage/song.pkl", "song = read(\"note.txt\").text\n");
    let ran = pkl(&home, &["eval", "-w", "cage", "--root-dir", ".", "-x", "song", "song.pkl"]).ok();
    assert_eq!(ran.stdout, "sings");
}

#[test]
fn a_program_that_does_not_end_is_stopped() {
    let endless = "IntSeq(0, 100000000000).fold(0, (a, b) -> b)";
    let ran = pkl(&home(), &["eval", "-t", "1", "-x", endless, "bird.pkl"]).exits(1);
    assert!(ran.stderr.contains("Evaluation timed out after 1 second(s)."), "{}", ran.stderr);
}

#[test]
fn trace_and_timings_are_on_stderr() {
    let home = home();
    let ran = pkl(&home, &["eval", "--timings", "-x", "trace(age)", "bird.pkl"]).ok();
    assert_eq!(ran.stdout, "42");
    assert!(ran.stderr.starts_with("pkl: TRACE: age = 42"), "{}", ran.stderr);
    assert!(
        ran.stderr.contains("timings: load ") && ran.stderr.contains("timings: total "),
        "{}",
        ran.stderr
    );
}

#[test]
fn an_output_path_is_filled_in() {
    let home = home();
    fs::create_dir(home.path().join("sub")).expect("made");
    home.write("sub/%{outputFormat}.pkl", "x = 1\n");
    let path = "out/%{moduleDir}/%{moduleName}.%{outputFormat}";
    let ran = pkl(&home, &["eval", "-f", "json", "-o", path, "bird.pkl", "sub/%{outputFormat}.pkl"]).ok();
    assert_eq!(ran.stdout, "");
    assert!(read(&home, "out/bird.json").contains("Dodo"));
    assert_eq!(read(&home, "out/sub/%{outputFormat}.json"), "{\n  \"x\": 1\n}\n");
    pkl(&home, &["eval", "-o", "all", "aviary.pkl", "aviary.pkl", "sub/%{outputFormat}.pkl"]).ok();
    assert_eq!(read(&home, "all"), "keeps = \"Dodo\"\n---\nx = 1\n");
    let ran = pkl(&home, &["eval", "-o", "sub", "bird.pkl"]).exits(1);
    golden!("pkl eval into a directory", ran.stderr);
    pkl(&home, &["eval", "-o", "%{moduleDir}/x", "pkl:math"]).exits(1);
}

#[test]
fn many_files_are_written_and_named() {
    let home = home();
    let ran = pkl(&home, &["eval", "-m", "out", "files.pkl"]).ok();
    assert_eq!(ran.stdout, "out/a/b.txt\nout/c.json\n");
    assert_eq!(read(&home, "out/a/b.txt"), "one");
    assert_eq!(read(&home, "out/c.json"), "{\n  \"d\": 1\n}\n");
    assert_eq!(pkl(&home, &["eval", "-m", "out", "bird.pkl"]).ok().stdout, "");
}

#[test]
fn no_file_is_written_outside_of_the_directory() {
    let home = home();
    let outside = tempfile::tempdir().expect("a directory");
    let escape = outside.path().join("x.txt");
    fs::create_dir_all(home.path().join("out/there")).expect("made");
    symlink(outside.path(), home.path().join("out/linked")).expect("linked");
    symlink(outside.path().join("x.txt"), home.path().join("out/dangling")).expect("linked");
    let absolute = escape.display().to_string();
    for entry in
        ["../x.txt", "a/../../x.txt", "linked/x.txt", "linked/new/x.txt", "dangling", &absolute, "there", "."]
    {
        let source = format!(
            "output {{ files {{ [\"0.txt\"] {{ text = \"\" }} [\"{entry}\"] {{ text = \"out\" }} }} }}\n"
        );
        home.write("escape.pkl", source);
        let ran = pkl(&home, &["eval", "-m", "out", "escape.pkl"]).exits(1);
        assert!(ran.stderr.contains("`output.files` entry"), "{entry}: {}", ran.stderr);
        assert!(!home.path().join("out/0.txt").exists(), "{entry}: all are checked before one is written");
    }
    assert!(
        !home.path().join("x.txt").exists() && fs::read_dir(outside.path()).expect("there").next().is_none()
    );
}

#[test]
fn two_modules_do_not_write_one_file() {
    let home = home();
    home.write("more.pkl", "output { files { [\"c.json\"] { text = \"two\" } } }\n");
    let ran = pkl(&home, &["eval", "-m", "out", "files.pkl", "more.pkl"]).exits(1);
    golden!("pkl files written twice", ran.stderr);
    pkl(&home, &["eval", "-m", "out", "files.pkl", "files.pkl"]).ok();
}

#[test]
fn imports_are_drawn_as_a_graph() {
    let home = home();
    golden!("pkl analyze imports", pkl(&home, &["analyze", "imports", "aviary.pkl"]).ok().stdout);
    let arguments = ["analyze", "imports", "-f", "json", "-o", "graph.json", "aviary.pkl", "bird.pkl"];
    assert_eq!(pkl(&home, &arguments).ok().stdout, "");
    golden!("pkl analyze imports json", read(&home, "graph.json"));
    pkl(&home, &["analyze", "imports", "nowhere.pkl"]).exits(1);
    pkl(&home, &["analyze", "imports", "cut.pkl"]).exits(1);
}

#[test]
fn formatting_tells_what_differs() {
    let home = home();
    fs::create_dir_all(home.path().join("src/deep")).expect("made");
    home.write("src/good.pkl", "a = 1\n");
    home.write("src/bad.pkl", "a=1\n");
    home.write("src/deep/PklProject", "amends  \"pkl:Project\"\n");
    home.write("src/deep/other.txt", "a=1\n");
    pkl(&home, &["format"]).ok();
    assert_eq!(pkl(&home, &["format", "src/good.pkl"]).ok().stdout, "a = 1\n");
    assert_eq!(pkl(&home, &["format", "src/bad.pkl"]).exits(11).stdout, "a = 1\n");
    let ran = pkl(&home, &["format", "--diff-name-only", "src"]).exits(11);
    assert_eq!(ran.stdout, "src/bad.pkl\nsrc/deep/PklProject\n");
    assert_eq!(pkl(&home, &["format", "-s", "src"]).exits(11).stdout, "");
    assert_eq!(home.run_fed(&["pkl", "format", "-"], b"a  = 1").exits(11).stdout, "a = 1\n");
    home.run_fed(&["pkl", "format", "-w", "-"], b"a  = 1").exits(1);
    assert_eq!(pkl(&home, &["format", "-w", "src"]).ok().stdout, "src/bad.pkl\nsrc/deep/PklProject\n");
    assert_eq!(read(&home, "src/bad.pkl"), "a = 1\n");
    assert_eq!(pkl(&home, &["format", "-w", "src"]).ok().stdout, "", "the second time nothing differs");
    assert_eq!(read(&home, "src/deep/other.txt"), "a=1\n");
}

#[test]
fn what_cannot_be_formatted_is_told_and_the_rest_is_done() {
    let home = home();
    fs::create_dir(home.path().join("src")).expect("made");
    home.write("src/a.pkl", "a = (\n");
    home.write("src/b.pkl", "b=1\n");
    let ran = pkl(&home, &["format", "-w", "src", "nowhere.pkl"]).exits(1);
    golden!("pkl format errors", ran.shown());
    assert_eq!((read(&home, "src/a.pkl"), read(&home, "src/b.pkl")), ("a = (\n".into(), "b = 1\n".into()));
}

/// What both commands answer to the same line, in the same directory: exit code and stdout.
#[test]
fn lines_answer_as_the_official_command_does() {
    let Some(oracle) = oracle() else { return };
    let home = home();
    home.write("empty.pkl", "output { text = \"\" }\n");
    home.write("bad.pkl", "a=1\n");
    home.write("good.pkl", "a = 1\n");
    for line in [
        "eval bird.pkl",
        "eval -f json bird.pkl aviary.pkl",
        "eval -f jsonnet bird.pkl",
        "eval -f pcf bird.pkl",
        "eval -f properties bird.pkl",
        "eval -f plist bird.pkl",
        "eval -f textproto bird.pkl",
        "eval -f xml bird.pkl",
        "eval -f yaml bird.pkl empty.pkl aviary.pkl",
        "eval -f csv bird.pkl",
        "eval -f csv -x age bird.pkl",
        "eval -x nest bird.pkl bird.pkl",
        "eval -x -age bird.pkl",
        "eval -x read(\"prop:a\") -p a -p b=c bird.pkl",
        "eval -x read(\"env:HOME\") -e A=b bird.pkl",
        "eval --module-output-separator=== aviary.pkl aviary.pkl",
        "eval aviary.pkl wrong.pkl bird.pkl",
        "eval cut.pkl",
        "eval nowhere.pkl",
        "eval foo:bar",
        "eval",
        "eval --nonsense",
        "eval --root-dir /etc bird.pkl",
        "eval --allowed-modules file: aviary.pkl",
        "eval --allowed-modules pkl: aviary.pkl",
        "eval -m written files.pkl",
        "eval -m written bird.pkl",
        "eval -m written -o x files.pkl",
        "eval -o written/%{moduleDir}/%{moduleName}.%{outputFormat} -f yaml bird.pkl",
        "eval -w / bird.pkl",
        "analyze imports aviary.pkl",
        "analyze imports -f json aviary.pkl bird.pkl",
        "analyze imports -f yaml pkl:json",
        "analyze imports -f properties aviary.pkl",
        "analyze imports cut.pkl",
        "format",
        "format good.pkl bad.pkl",
        "format --diff-name-only good.pkl bad.pkl",
        "format --diff-name-only good.pkl",
        "format cut.pkl",
        "format nowhere.pkl",
    ] {
        let arguments: Vec<_> = line.split(' ').collect();
        let ours = pkl(&home, &arguments);
        let (code, stdout) = official(&oracle, &home, &arguments);
        assert_eq!((ours.code, &ours.stdout), (code, &stdout), "{line}\n{}", ours.stderr);
    }
}

fn official(oracle: &Path, home: &Home, arguments: &[&str]) -> (Option<i32>, String) {
    let mut command = Command::new(oracle);
    command
        .args(arguments)
        .current_dir(home.path())
        .env_clear()
        .env("HOME", home.path())
        .stdin(Stdio::null());
    let output = command.output().expect("the oracle runs");
    (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
}
