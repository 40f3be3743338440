//! Terminals and pipes: what others wrote can't steer a terminal, and a reader may leave.

use crate::common::{Home, Ran, finish, many, text};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use std::fs::{self, File, OpenOptions};
use std::io::Read as _;
use std::process::{Command, Stdio};
use std::thread;

/// Clears a screen, sets a title, and begins a sequence with one letter of Latin-1.
const ATTACKS: [&str; 4] = ["\u{1b}", "\u{7}", "\u{9b}", "\u{202e}"];
const TEMPLATE: &str = r#"{"resources": {
  "P": {"type": "ai_provider", "properties": {"name": "p", "provider": "openai", "default_model": "m",
        "secret_id": "sec_\u001b[2J\u001b]0;x\u0007\u009b2J\u202e"}},
  "M": {"type": "memory", "properties": {"name": "\u001b[2J\u001b]0;x\u0007\u009b2J\u202e"}}
}}"#;
const BROKEN: &str = "resources:\n  M: { type: memory, properties: { \"\\e[2J\\x9b2J\": x, name: \"\\e[1m\" } }\n  \"\\e]0;x\\a\": { type: \"mem\\e[2J\" }\n";

#[test]
fn what_a_template_says_never_reaches_the_terminal_as_a_command() {
    let home = Home::new();
    home.write("a.json", TEMPLATE);
    home.write("b.yaml", BROKEN);
    let created =
        home.run(&["create-formation", "--name", "s", "--template-file", "a.json", "--progress", "plain"]);
    let created = created.exits(1);
    let id = text(&created.json(), "id").to_owned();
    let described = ["create-memory", "--name", "m", "--description", "\u{1b}[2J\u{9b}2J\u{202e}"];
    let memory = home.json(&described);
    let mut all = vec![created];
    for line in [
        &["get-formation", &id][..],
        &["list-formation-events", &id],
        &["plan-formation", "--template-file", "a.json"],
        &["plan-formation", "--formation-id", &id, "--template-file", "a.json"],
        &["update-formation", &id, "--template-file", "a.json", "--progress", "json"],
        &["validate-formation", "--template-file", "b.yaml"],
        &["create-formation", "--name", "\u{1b}[2J\u{9b}2J", "--template-file", "b.yaml"],
        &["graph", "--template-file", "a.json"],
        &["graph", "--format", "dot", "--template-file", "a.json"],
        &["list-memories"],
        &["get-memory", text(&memory, "id")],
        &["get-memory", "\u{1b}[2J\u{9b}2J"],
        &["validate-formation", "--template-file", "\u{1b}[2J\u{9b}2J"],
        &["explain", "\u{1b}[2J\u{9b}2J"],
    ] {
        all.push(home.run(line));
    }
    for Ran { stdout, stderr, .. } in all {
        for attack in ATTACKS {
            assert!(!stdout.contains(attack), "{attack:?} in {stdout:?}");
            assert!(!stderr.contains(attack), "{attack:?} in {stderr:?}");
        }
    }
    assert_eq!(memory["description"], "\u{1b}[2J\u{9b}2J\u{202e}", "the value itself is whole");
}

#[test]
fn colour_comes_only_from_us() {
    let home = Home::new();
    home.write("a.json", TEMPLATE);
    let create = ["create-formation", "--name", "s", "--template-file", "a.json", "--color", "always"];
    let ran = home.run(&create).exits(1);
    let plan = home.run(&["plan-formation", "--template-file", "a.json", "--color", "always"]).ok();
    for stderr in [ran.stderr, plan.stderr] {
        assert!(stderr.contains("\u{1b}["), "it is coloured: {stderr:?}");
        for (at, _) in stderr.match_indices('\u{1b}') {
            let sequence = &stderr[at + 1..];
            let end = sequence.find(|letter: char| letter.is_ascii_alphabetic()).expect("it ends");
            assert_eq!(&sequence[end..=end], "m", "not a colour: {sequence:?}");
        }
    }
    let plain = home.run_with(&["plan-formation", "--template-file", "a.json"], &[("NO_COLOR", "1")]).ok();
    assert!(!plain.stderr.contains('\u{1b}'));
}

fn shell(home: &Home, line: &str) -> Ran {
    let mut command = Command::new("sh");
    command
        .args(["-c", &line.replace("formwork", env!("CARGO_BIN_EXE_formwork"))])
        .current_dir(home.path())
        .env_clear()
        .env("HOME", home.path())
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    finish(command.spawn().expect("it starts"))
}

#[test]
fn a_reader_that_leaves_is_no_error_and_no_panic() {
    let home = Home::new();
    home.write("many.json", many(400));
    home.deploy("s", "many.json", &[]);
    let ran = shell(&home, "{ formwork list-formations; echo $? >code; } | head -n 1");
    assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("{\n", ""));
    assert_eq!(fs::read_to_string(home.path().join("code")).expect("written"), "0\n");
    for line in ["formwork completions bash", "formwork explain", "formwork --help", "formwork list-commands"]
    {
        let ran = shell(&home, &format!("{line} | true"));
        assert!(!ran.stderr.contains("panicked"), "{line}: {}", ran.stderr);
    }
    let ran = shell(
        &home,
        "{ formwork create-formation --name t --template-file many.json --progress plain 2>&3; echo $? >code; } 3>&1 >/dev/null | head -n 1",
    );
    assert_eq!(ran.stdout, "… create memory Memory0\n");
    assert_eq!(fs::read_to_string(home.path().join("code")).expect("written"), "0\n", "the deploy went on");
    assert_eq!(home.objects().len(), 800);
}

#[test]
fn closed_and_full_streams_are_no_panic() {
    let home = Home::new();
    home.write("a.yaml", "resources:\n  M: {type: memory, properties: {name: m}}\n");
    let closed = "formwork create-formation --name a --template-file a.yaml >&- 2>&- <&-; echo $?";
    assert_eq!(shell(&home, closed).stdout, "0\n");
    let full = shell(&home, "formwork list-formations >/dev/full; echo $?");
    assert_eq!(full.stdout, "1\n");
    assert!(full.stderr.starts_with("error: cannot write the answer\n  caused by: "), "{}", full.stderr);
    let full = shell(&home, "formwork plan-formation --template-file a.yaml 2>/dev/full >/dev/null; echo $?");
    assert_eq!(full.stdout, "0\n");
    let full = shell(&home, "formwork get-formation nope 2>/dev/full; echo $?");
    assert_eq!(full.stdout, "1\n");
}

/// Runs a command whose stderr is a terminal of this size. Answers with what it wrote there.
fn on_terminal(home: &Home, columns: u16, arguments: &[&str]) -> String {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
    grantpt(&master).expect("granted");
    unlockpt(&master).expect("unlocked");
    let name = ptsname(&master, Vec::new()).expect("it has a name").into_string().expect("text");
    let slave = OpenOptions::new().read(true).write(true).open(name).expect("it opens");
    tcsetwinsize(&slave, Winsize { ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 }).expect("sized");
    let mut reader = File::from(master);
    let seen = thread::spawn(move || {
        let mut bytes = Vec::new();
        let mut part = [0; 4096];
        // The terminal ends with an error when its last user is gone.
        while let Ok(count @ 1..) = reader.read(&mut part) {
            bytes.extend_from_slice(&part[..count]);
        }
        String::from_utf8(bytes).expect("text")
    });
    let mut command = home.command(arguments);
    command.env("TERM", "xterm").stderr(slave);
    let child = command.spawn().expect("it starts");
    drop(command);
    finish(child).ok();
    seen.join().expect("it was read")
}

#[test]
fn the_live_view_never_wraps_a_line_that_it_will_take_away() {
    let home = Home::new();
    let template = many(24).replace("Memory0", &format!("Memory{}", "0".repeat(90)));
    home.write("a.json", template);
    let seen = on_terminal(&home, 40, &["create-formation", "--name", "s", "--template-file", "a.json"]);
    assert!(seen.contains("\u{1b}[1A\u{1b}[J"), "lines are drawn and taken away: {seen:?}");
    let mut drawn = 0;
    for line in seen.split(['\n', '\r']) {
        let plain = line.replace("\u{1b}[36m", "").replace("\u{1b}[39m", "").replace("\u{1b}[0m", "");
        let plain = plain.rsplit("\u{1b}[J").next().unwrap_or_default();
        if plain.starts_with('…') {
            drawn += 1;
            assert!(plain.chars().count() < 40, "{plain:?}");
        }
    }
    assert!(drawn > 0, "{seen:?}");
    assert!(seen.contains("24 done"), "{seen:?}");
    let last = seen.rsplit("\u{1b}[J").next().expect("an end");
    assert!(!last.contains('…'), "nothing is left drawn: {last:?}");
}
