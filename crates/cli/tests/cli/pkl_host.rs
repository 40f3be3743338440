//! What `formwork pkl` is told of how a person works: settings, the form of traces, archives of modules.

use crate::common::{Home, Ran};
use pkl_corpus::named_oracle as oracle;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

const TRACES: &str = r#"class Bird { name: String = "Wren"; tags: Listing<String> = new { "a"; "b" } }
a = trace(new Bird {}).name
b = trace(1 + 2)
c = trace(new Dynamic {
  x = List(1, new Dynamic { y = 2 })
}).x.length
d = trace("""
  one
  two
  """)
e = trace(new Mapping { ["k"] = new Listing { 1 } }).length
"#;

fn pkl(home: &Home, arguments: &[&str]) -> Ran {
    home.run(&[&["pkl"], arguments].concat())
}

/// What the official command says on stderr.
fn official(home: &Home, arguments: &[&str]) -> Option<String> {
    let ran = Command::new(oracle()?).args(arguments).current_dir(home.path()).output().expect("it runs");
    Some(String::from_utf8_lossy(&ran.stderr).into_owned())
}

#[test]
fn traces_are_shown_on_one_line_or_with_a_line_for_each_member() {
    let home = Home::new();
    home.write("traces.pkl", TRACES);
    for mode in ["compact", "pretty"] {
        let line = ["eval", "--trace-mode", mode, "traces.pkl"];
        let ours = pkl(&home, &line).ok().stderr;
        assert_eq!(ours.contains("=\n  new Bird {\n    name = \"Wren\"\n"), mode == "pretty", "{ours}");
        if let Some(theirs) = official(&home, &line) {
            assert_eq!(ours, theirs, "{mode}");
        }
    }
    home.write("PklProject", "amends \"pkl:Project\"\nevaluatorSettings { traceMode = \"pretty\" }\n");
    assert!(pkl(&home, &["eval", "traces.pkl"]).ok().stderr.contains("    name = \"Wren\"\n"));
    let line = ["eval", "--trace-mode", "compact", "traces.pkl"];
    assert!(!pkl(&home, &line).ok().stderr.contains("    name = \"Wren\"\n"), "the flag counts");
}

#[test]
fn modules_are_found_in_archives() {
    let home = Home::new();
    let files = [("birds/wren.pkl", &b"name = \"Wren\"\nother = import(\"owl.pkl\").name\n"[..])];
    let more = [("birds/owl.pkl", &b"name = \"Owl\"\n"[..]), ("note.txt", b"sings")];
    let archive = pkl_project::archive::pack(files.into_iter().chain(more)).expect("packed");
    fs::write(home.path().join("birds.zip"), archive).expect("written");
    fs::create_dir_all(home.path().join("lib/birds")).expect("made");
    home.write("lib/birds/owl.pkl", "name = \"of the directory\"\n");
    home.write(
        "main.pkl",
        "wren = import(\"modulepath:/birds/wren.pkl\")\nnote = read(\"modulepath:/note.txt\").text\n",
    );
    for (path, owl) in [("birds.zip:lib", "Owl"), ("lib:birds.zip", "of the directory")] {
        let line = ["eval", "--module-path", path, "main.pkl"];
        let expected = format!("wren {{\n  name = \"Wren\"\n  other = \"{owl}\"\n}}\nnote = \"sings\"\n");
        assert_eq!(pkl(&home, &line).ok().stdout, expected);
        if let Some(binary) = oracle() {
            let ran = Command::new(binary).args(line).current_dir(home.path()).output().expect("it runs");
            assert_eq!(String::from_utf8_lossy(&ran.stdout), expected);
        }
    }
    home.write("none.zip", "PK");
    let ran = pkl(&home, &["eval", "--module-path", "none.zip", "main.pkl"]).exits(1);
    assert!(
        ran.stderr.contains("Cannot use the archive `") && ran.stderr.contains("none.zip"),
        "{}",
        ran.stderr
    );
}

/// The places in what was said: what stands in brackets after a member's name.
fn places(stderr: &str) -> Vec<&str> {
    stderr
        .lines()
        .filter_map(|line| line.strip_prefix("at ")?.split_once('(')?.1.strip_suffix(')'))
        .filter(|place| !place.starts_with("http"))
        .collect()
}

#[test]
fn places_are_links_of_the_editor() {
    let home = Home::new();
    home.write(
        "settings.pkl",
        "amends \"pkl:settings\"\neditor { urlScheme = \"ed://%{path}:%{line}:%{column}-%{endLine}:%{endColumn} %{url}\" }\n",
    );
    home.write("wrong.pkl", "a {\n  b = 1.nope(\n    2)\n}\n");
    let line = ["eval", "--settings", "settings.pkl", "wrong.pkl"];
    let ours = pkl(&home, &line).exits(1).stderr;
    let at = home.path().join("wrong.pkl").display().to_string();
    assert!(ours.contains(&format!(" (ed://{at}:2:7-3:6 file://{at})")), "{ours}");
    if let Some(theirs) = official(&home, &line) {
        assert_eq!(places(&ours).first(), places(&theirs).first());
    }
    assert!(pkl(&home, &["eval", "wrong.pkl"]).exits(1).stderr.contains(&format!("(file://{at}, line 2)")));
    let shared = home.path().join(".pkl");
    fs::create_dir_all(&shared).expect("made");
    fs::rename(home.path().join("settings.pkl"), shared.join("settings.pkl")).expect("moved");
    assert!(pkl(&home, &["eval", "wrong.pkl"]).exits(1).stderr.contains("(ed://"), "those at home count");
    let ran = pkl(&home, &["eval", "--settings", "pkl:settings", "wrong.pkl"]).exits(1);
    assert!(!ran.stderr.contains("(ed://"), "{}", ran.stderr);
}

#[test]
fn requests_go_where_the_settings_say() {
    let home = Home::new();
    home.write(
        "settings.pkl",
        "amends \"pkl:settings\"\nhttp { rewrites { [\"https://example.com/\"] = \"http://127.0.0.1:1/\" } }\n",
    );
    home.write("main.pkl", "a = import(\"package://example.com/birds@1.0.0#/bird.pkl\")\n");
    let ran = pkl(&home, &["eval", "--no-cache", "--settings", "settings.pkl", "main.pkl"]).exits(1);
    assert!(ran.stderr.contains("Error connecting to host `127.0.0.1`."), "{}", ran.stderr);
    home.write("other.pkl", "a = 1\n");
    let ran = pkl(&home, &["eval", "--settings", "other.pkl", "other.pkl"]).exits(1);
    assert!(ran.stderr.contains("to be of type `pkl.settings`, but got type `other`."), "{}", ran.stderr);
    assert!(ran.stderr.contains("amends \"pkl:settings\""), "{}", ran.stderr);
}

/// Modules that together are worth keeping, and one that has something of each.
fn many_modules(home: &Home) {
    fs::create_dir_all(home.path().join("birds")).expect("made");
    for number in 0..40 {
        let members: Vec<String> = (0..30)
            .map(|member| format!("/// Member {member}.\nm{member}: Int = {number} * {member}\n"))
            .collect();
        home.write(&format!("birds/b{number}.pkl"), members.concat());
    }
    home.write(
        "main.pkl",
        "sum = import*(\"birds/*.pkl\").toMap().values.fold(0, (sum, it) -> sum + it.m7)\n",
    );
}

/// The files of kept trees.
fn kept(home: &Home) -> Vec<PathBuf> {
    let listed = fs::read_dir(home.path().join(".cache/formwork/pkl-trees"));
    listed.into_iter().flatten().map(|entry| entry.expect("an entry").path()).collect()
}

#[test]
fn trees_of_large_programs_are_kept_and_never_trusted_over_the_source() {
    let home = Home::new();
    many_modules(&home);
    let value = || pkl(&home, &["eval", "main.pkl", "-x", "sum"]).ok().stdout;
    assert_eq!(pkl(&home, &["eval", "--no-cache", "main.pkl", "-x", "sum"]).ok().stdout, "5460");
    assert!(kept(&home).is_empty());
    assert_eq!(value(), "5460");
    let [file] = <[PathBuf; 1]>::try_from(kept(&home)).expect("one file for the directory");
    let written = fs::read(&file).expect("read");
    assert_eq!(value(), "5460");
    assert_eq!(fs::read(&file).expect("read"), written, "nothing was parsed anew");
    home.write("birds/b0.pkl", "m7 = 1000\n");
    assert_eq!(value(), "6460", "a source that changed");
    for damaged in [&b""[..], b"nonsense", &written[..written.len() / 2], &[0xff; 5000]] {
        fs::write(&file, damaged).expect("written");
        assert_eq!(value(), "6460");
    }
    fs::remove_file(&file).expect("removed");
    fs::create_dir(&file).expect("made");
    assert_eq!(value(), "6460", "what can't be read is as good as none");
}

#[test]
fn trees_are_not_kept_of_what_is_not_well_formed() {
    let home = Home::new();
    many_modules(&home);
    home.write("birds/b1.pkl", format!("m7 = \n// {}\n", "x".repeat(40_000)));
    for _ in 0..2 {
        let ran = pkl(&home, &["eval", "main.pkl"]).exits(1);
        assert!(ran.stderr.contains("b1.pkl, line"), "{}", ran.stderr);
    }
}
