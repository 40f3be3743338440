//! The lists under `tests/acceptance`: a program on a line, with `\n`, `\r`, `\t` and `\\` as escapes, and
//! under it, indented, what the official evaluator says: `ok`, the first paragraph of its error, or
//!
//! - `later: …`: an error about what a name means, which is no matter of syntax;
//! - `crash`: no verdict;
//! - `ours: …`: an error of ours where the official evaluator has none or crashes, or, with `ours: ok`,
//!   the other way round.

use std::fs;
use std::path::PathBuf;

/// A program and what the official evaluator says about it.
pub(crate) struct Case {
    pub(crate) list: String,
    pub(crate) written: String,
    pub(crate) source: String,
    pub(crate) verdict: String,
}

impl Case {
    /// `later`, `ours`, `crash`, or anything else for a verdict.
    pub(crate) fn kind(&self) -> &str {
        self.verdict.split(": ").next().unwrap_or_default()
    }

    pub(crate) fn agrees(&self, ours: &str) -> bool {
        match self.verdict.split_once(": ") {
            Some(("later", _)) => ours == "ok",
            Some(("ours", expected)) => ours == expected,
            _ if self.verdict == "crash" => true,
            _ => one_line(ours) == self.verdict,
        }
    }
}

/// All cases of all lists.
pub(crate) fn all() -> Vec<Case> {
    let directory = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/acceptance");
    let mut paths: Vec<_> =
        fs::read_dir(directory).expect("the lists are there").flatten().map(|entry| entry.path()).collect();
    paths.sort();
    let mut cases = Vec::new();
    for path in paths {
        let list = path.file_stem().expect("a list has a name").to_string_lossy().into_owned();
        let text = fs::read_to_string(&path).expect("a list can be read");
        let lines: Vec<&str> = text.split('\n').collect();
        for pair in lines.chunks_exact(2) {
            let verdict = pair[1].strip_prefix("    ").unwrap_or_else(|| panic!("{list}: {}", pair[1]));
            cases.push(Case {
                list: list.clone(),
                written: pair[0].to_owned(),
                source: unescape(pair[0]),
                verdict: verdict.to_owned(),
            });
        }
    }
    cases
}

fn one_line(message: &str) -> String {
    message.replace('\\', "\\\\").replace(['\n', '\r'], " ")
}

fn unescape(written: &str) -> String {
    let mut text = String::new();
    let mut chars = written.chars();
    while let Some(c) = chars.next() {
        match (c, if c == '\\' { chars.next() } else { None }) {
            ('\\', Some('n')) => text.push('\n'),
            ('\\', Some('r')) => text.push('\r'),
            ('\\', Some('t')) => text.push('\t'),
            ('\\', Some('\\')) => text.push('\\'),
            ('\\', Some(other)) => text.extend(['\\', other]),
            (c, _) => text.push(c),
        }
    }
    text
}
