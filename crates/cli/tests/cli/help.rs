//! What the commands say of themselves.

use crate::common::Home;
use crate::golden;

#[test]
fn each_family_and_its_main_commands_have_help() {
    let home = Home::new();
    for line in [
        "--help",
        "-h",
        "create-formation --help",
        "update-formation -h",
        "plan-formation -h",
        "validate-formation -h",
        "delete-formation -h",
        "drift -h",
        "diff-formation-revisions -h",
        "list-formations -h",
        "get-formation -h",
        "watch-operation -h",
        "cancel-operation -h",
        "create-agent -h",
        "list-agents -h",
        "get-agent -h",
        "update-agent -h",
        "delete-agent -h",
        "admin -h",
        "agent -h",
        "agent start -h",
        "configure -h",
        "graph -h",
        "explain -h",
        "pkl -h",
        "pkl eval -h",
        "pkl analyze imports -h",
        "pkl format -h",
        "pkl test -h",
        "pkl project package -h",
        "pkl project resolve -h",
        "pkl download-package -h",
    ] {
        let arguments: Vec<_> = line.split(' ').collect();
        let ran = home.run(&arguments).ok();
        assert_eq!(ran.stderr, "", "{line}");
        golden!(format!("help {}", line.replace('-', "_")), ran.stdout);
    }
    assert!(!home.data().exists(), "help creates nothing");
}

#[test]
fn called_as_soat_it_answers_to_that_family_alone() {
    let home = Home::called("soat");
    golden!("help of soat", home.run(&["-h"]).ok().stdout);
}

#[test]
fn every_command_is_listed() {
    golden!("list commands", Home::new().run(&["list-commands"]).ok().stdout);
}

#[test]
fn every_shell_has_completions() {
    let home = Home::new();
    for (shell, mark) in
        [("bash", "complete -F"), ("zsh", "#compdef formwork"), ("fish", "complete -c formwork")]
    {
        let script = home.run(&["completions", shell]).ok().stdout;
        assert!(script.contains(mark), "{shell}");
        for command in ["create-formation", "list-memory-entries", "--template-file"] {
            let plain = command.trim_start_matches('-');
            assert!(script.contains(plain), "{shell} does not know {command}");
        }
    }
}

#[test]
fn the_version_is_told() {
    let expected = format!("formwork {}\n", env!("CARGO_PKG_VERSION"));
    assert_eq!(Home::new().run(&["--version"]).ok().stdout, expected);
}
