//! What the official binary writes to stderr: log messages, then perhaps one error with its trace.

use crate::outcome::{Failure, NoVerdict, Place};
use std::path::Path;

/// The line before an error.
const ERROR: &str = "–– Pkl Error ––";
/// What begins a log message.
const LOG: &str = "pkl: ";
/// Signs of an answer that says nothing about the language.
const NO_VERDICT: [&str; 5] = [
    "An unexpected error has occurred.",
    "A stack overflow occurred.",
    "Evaluation timed out",
    "\n\tat org.pkl.",
    "\n\tat java.",
];

/// The parts of a report.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Report {
    pub(crate) log: Vec<String>,
    pub(crate) failure: Option<Failure>,
}

/// Takes a report apart; places are told below `directory`, those outside of it are not told.
pub(crate) fn parse(text: &str, directory: &Path) -> Result<Report, NoVerdict> {
    if let Some(sign) = NO_VERDICT.into_iter().find(|sign| text.contains(sign)) {
        return Err(NoVerdict { reason: sign.trim().to_owned() });
    }
    let mut report = Report::default();
    let mut lines = text.lines();
    for line in lines.by_ref() {
        if line == ERROR {
            report.failure = Some(failure(&lines.collect::<Vec<_>>(), directory));
            break;
        }
        match (line.strip_prefix(LOG), report.log.last_mut()) {
            (Some(message), _) => report.log.push(message.to_owned()),
            (None, Some(message)) => {
                message.push('\n');
                message.push_str(line);
            }
            (None, None) => return Err(NoVerdict { reason: line.to_owned() }),
        }
    }
    Ok(report)
}

fn failure(lines: &[&str], directory: &Path) -> Failure {
    let mut failure = Failure::default();
    let mut rest = lines;
    let mut paragraphs: Vec<String> = Vec::new();
    let mut message_ended = false;
    let mut paragraph: Vec<&str> = Vec::new();
    while !rest.is_empty() {
        let frame = frame_length(rest);
        if frame > 0 || (message_ended && rest[0].is_empty()) {
            end_paragraph(&mut paragraph, &mut paragraphs);
        }
        if frame > 0 {
            if failure.place.is_none() {
                failure.place = rest[..frame].iter().find_map(|line| place(line, directory));
            }
            if !message_ended {
                message_ended = true;
                failure.message = paragraphs.drain(..).collect();
            }
        } else {
            paragraph.push(rest[0]);
        }
        rest = &rest[frame.max(1)..];
    }
    end_paragraph(&mut paragraph, &mut paragraphs);
    if message_ended {
        failure.hints = paragraphs;
    } else {
        failure.message = paragraphs.concat();
    }
    failure
}

fn end_paragraph(lines: &mut Vec<&str>, into: &mut Vec<String>) {
    let text = lines.join("\n");
    let text = text.trim_matches('\n');
    if !text.is_empty() {
        into.push(text.to_owned());
    }
    lines.clear();
}

/// How many of the first lines are a frame (or a part of repeated frames); 0 if they are text.
fn frame_length(lines: &[&str]) -> usize {
    let line = lines[0].trim_start_matches(['│', ' ']);
    let next = |index: usize| lines.get(index).map_or("", |line| line.trim_start_matches(['│', ' ']));
    if lines[0].starts_with(['┌', '└']) {
        1
    } else if is_excerpt(line) && is_caret(next(1)) && next(2).starts_with("at ") {
        3
    } else {
        usize::from(line.starts_with("at ") && place_or_library(line))
    }
}

fn is_excerpt(line: &str) -> bool {
    line.split_once(" | ")
        .or(line.split_once(" |"))
        .is_some_and(|(number, _)| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
}

fn is_caret(line: &str) -> bool {
    !line.is_empty() && line.bytes().all(|byte| byte == b'^')
}

fn place_or_library(line: &str) -> bool {
    line.ends_with(')')
        && (line.contains(" (file://") || line.contains(" (https://") || line.contains(" (pkl:"))
}

/// The place of a frame's last line, if it is below the directory.
fn place(line: &str, directory: &Path) -> Option<Place> {
    let (_, place) = line.trim_start_matches(['│', ' ']).strip_prefix("at ")?.rsplit_once(" (file://")?;
    let (file, line) = place.strip_prefix(directory.to_str()?)?.strip_prefix('/')?.rsplit_once(", line ")?;
    Some(Place { file: file.to_owned(), line: line.strip_suffix(')')?.parse().ok()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse_any(text: &str) -> Result<Report, NoVerdict> {
        parse(text, Path::new("/case"))
    }

    #[test]
    fn a_log_before_an_error() {
        let text = "pkl: TRACE: a\nb (file:///case/x.pkl, line 1)\npkl: WARN: c\n–– Pkl Error ––\nNo.\n";
        let report = parse_any(text).unwrap();
        assert_eq!(report.log, ["TRACE: a\nb (file:///case/x.pkl, line 1)", "WARN: c"]);
        assert_eq!(report.failure, Some(Failure { message: "No.".to_owned(), ..Failure::default() }));
    }

    #[test]
    fn the_innermost_place_in_the_case_and_the_hints_after_it() {
        let text = "–– Pkl Error ––\nMissing.\n\nValue: 1\n\n12 | lib()\n     ^^^\nat pkl.base#f (https://host/base.pkl#L12)\n\n\
            3 | y = x.nam\n        ^^^^^\nat a#y (file:///case/sub/a.pkl, line 3)\n\nDid you mean?\nname\n\nOr that.\n\n\
            9 | z\n    ^\nat a#z (file:///case/a.pkl, line 9)\n";
        let failure = parse_any(text).unwrap().failure.unwrap();
        assert_eq!(failure.message, "Missing.\n\nValue: 1");
        assert_eq!(failure.hints, ["Did you mean?\nname", "Or that."]);
        assert_eq!(failure.place, Some(Place { file: "sub/a.pkl".to_owned(), line: 3 }));
    }

    #[test]
    fn repeated_frames_are_frames() {
        let text = "–– Pkl Error ––\nNo.\n\n┌─ 2 repetitions of:\n│ 1 | f()\n│     ^^^\n│ at a#f (file:///case/a.pkl, line 1)\n└─\n";
        let failure = parse_any(text).unwrap().failure.unwrap();
        assert_eq!((failure.message.as_str(), failure.hints.len()), ("No.", 0));
        assert_eq!(failure.place.map(|place| place.line), Some(1));
    }

    #[test]
    fn a_crash_is_no_verdict() {
        assert!(parse_any("–– Pkl Error ––\nA stack overflow occurred.\n").is_err());
        assert!(parse_any("boom\n\tat org.pkl.core.X(X.java:1)\n").is_err());
        assert!(parse_any("Segmentation fault").is_err());
    }
}
