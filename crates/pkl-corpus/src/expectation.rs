//! The content of an `.expected` file: outcomes as text, and back.

use crate::escape::{self, Form};
use crate::outcome::{Failure, Outcome, Place, Produced};
use std::fmt;

const HEADING: &str = "=== ";
const HINT: &str = "--- hint";
const AT: &str = "--- at ";

/// What a case must come to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expectation {
    /// An outcome for each way of rendering, by its name.
    pub runs: Vec<(String, Outcome)>,
}

/// Why a text is no expectation.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {reason}")]
pub struct ExpectationError {
    /// Line, from 1.
    pub line: usize,
    /// What is wrong.
    pub reason: &'static str,
}

impl Expectation {
    /// Forgets the places of errors that `wanted` has no place for: telling more is no difference.
    pub(crate) fn forget_places_unknown_to(&mut self, wanted: &Self) {
        for ((_, actual), (_, wanted)) in self.runs.iter_mut().zip(&wanted.runs) {
            if let (Err(actual), Err(Failure { place: None, .. })) = (&mut actual.result, &wanted.result) {
                actual.place = None;
            }
        }
    }
}

impl fmt::Display for Expectation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, outcome) in &self.runs {
            for message in &outcome.log {
                section(f, &format!("{name}: log"), format!("{message}\n").as_bytes())?;
            }
            match &outcome.result {
                Ok(Produced::Text(text)) => section(f, name, text)?,
                Ok(Produced::Files(files)) if files.is_empty() => writeln!(f, "{HEADING}{name}: none")?,
                Ok(Produced::Files(files)) => {
                    for (path, content) in files {
                        section(f, &format!("{name}: file {path}"), content)?;
                    }
                }
                Err(failure) => write_failure(f, name, failure)?,
            }
        }
        Ok(())
    }
}

fn section(f: &mut fmt::Formatter<'_>, heading: &str, content: &[u8]) -> fmt::Result {
    let mut lines = String::new();
    let form = escape::write(content, &mut lines);
    write!(f, "{HEADING}{heading}{}\n{lines}", form.suffix())
}

fn write_failure(f: &mut fmt::Formatter<'_>, name: &str, failure: &Failure) -> fmt::Result {
    section(f, &format!("{name}: error"), format!("{}\n", failure.message).as_bytes())?;
    for hint in &failure.hints {
        let mut lines = String::new();
        escape::write(format!("{hint}\n").as_bytes(), &mut lines);
        write!(f, "{HINT}\n{lines}")?;
    }
    match &failure.place {
        Some(Place { file, line }) => writeln!(f, "{AT}{file}:{line}"),
        None => Ok(()),
    }
}

impl std::str::FromStr for Expectation {
    type Err = ExpectationError;

    fn from_str(text: &str) -> Result<Self, ExpectationError> {
        let lines: Vec<&str> = text.lines().collect();
        let mut reader = Reader { runs: Vec::new(), log: Vec::new() };
        let mut start = 0;
        while start < lines.len() {
            let fail = |reason| ExpectationError { line: start + 1, reason };
            let heading = lines[start].strip_prefix(HEADING).ok_or(fail("expected a heading"))?;
            let rest = &lines[start + 1..];
            let length = rest.iter().position(|line| line.starts_with(HEADING)).unwrap_or(rest.len());
            reader.section(heading, &rest[..length]).map_err(fail)?;
            start += 1 + length;
        }
        if reader.log.is_empty() {
            Ok(Self { runs: reader.runs })
        } else {
            Err(ExpectationError { line: lines.len(), reason: "a log without a result" })
        }
    }
}

struct Reader {
    runs: Vec<(String, Outcome)>,
    /// Of the run whose result comes next.
    log: Vec<String>,
}

impl Reader {
    fn section(&mut self, heading: &str, lines: &[&str]) -> Result<(), &'static str> {
        let (heading, form) = form_of(heading);
        let content = |lines: &[&str]| escape::read(lines, form).ok_or("expected hexadecimal digits");
        let (name, what) = split_heading(heading);
        let result = match what.split_once(' ').unwrap_or((what, "")) {
            ("log", _) => {
                self.log.push(text(lines)?);
                return Ok(());
            }
            ("file", path) => {
                let file = (path.to_owned(), content(lines)?);
                match self.runs.last_mut() {
                    Some((last, Outcome { result: Ok(Produced::Files(files)), .. })) if last == name => {
                        files.push(file);
                        return Ok(());
                    }
                    _ => Ok(Produced::Files(vec![file])),
                }
            }
            ("none", _) => Ok(Produced::Files(Vec::new())),
            ("error", _) => Err(read_failure(lines)?),
            _ => Ok(Produced::Text(content(lines)?)),
        };
        self.runs.push((name.to_owned(), Outcome { log: std::mem::take(&mut self.log), result }));
        Ok(())
    }
}

fn form_of(heading: &str) -> (&str, Form) {
    let special = [Form::Unended, Form::Hex];
    special
        .into_iter()
        .find_map(|form| Some((heading.strip_suffix(form.suffix())?, form)))
        .unwrap_or((heading, Form::Lines))
}

/// Splits at the last colon that a known word comes after: an expression may have colons of its own.
fn split_heading(heading: &str) -> (&str, &str) {
    for (end, _) in heading.rmatch_indices(": ") {
        let what = &heading[end + 2..];
        if ["log", "none", "error"].contains(&what) || what.starts_with("file ") {
            return (&heading[..end], what);
        }
    }
    (heading, "")
}

fn text(lines: &[&str]) -> Result<String, &'static str> {
    let bytes = escape::read(lines, Form::Unended).ok_or("expected text")?;
    String::from_utf8(bytes).map_err(|_| "expected text")
}

fn read_failure(lines: &[&str]) -> Result<Failure, &'static str> {
    let mut failure = Failure::default();
    let mut parts = lines.split_inclusive(|line| *line == HINT || line.starts_with(AT)).peekable();
    let mut is_hint = false;
    while let Some(part) = parts.next() {
        let separated = part.last().is_some_and(|line| *line == HINT || line.starts_with(AT));
        let content = text(if separated { &part[..part.len() - 1] } else { part })?;
        if is_hint {
            failure.hints.push(content);
        } else {
            failure.message = content;
        }
        is_hint = true;
        if let Some(place) = part.last().and_then(|line| line.strip_prefix(AT)) {
            failure.place = Some(read_place(place).ok_or("expected `--- at file:line`")?);
            return if parts.peek().is_none() { Ok(failure) } else { Err("a place is the last line") };
        }
    }
    Ok(failure)
}

fn read_place(text: &str) -> Option<Place> {
    let (file, line) = text.rsplit_once(':')?;
    Some(Place { file: file.to_owned(), line: line.parse().ok()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(line: u32) -> Place {
        Place { file: "a b/c.pkl".to_owned(), line }
    }

    fn outcome(log: &[&str], result: Result<Produced, Failure>) -> Outcome {
        Outcome { log: log.iter().map(|line| (*line).to_owned()).collect(), result }
    }

    #[test]
    fn an_expectation_survives_its_text() {
        let failure = |hints: &[&str], place| Failure {
            message: "m\n\n--- hint\nValue: \"=== x\"".to_owned(),
            hints: hints.iter().map(|hint| (*hint).to_owned()).collect(),
            place,
        };
        let expectation = Expectation {
            runs: vec![
                ("pcf".to_owned(), outcome(&["a\nc", "b"], Ok(Produced::Text(b"x = 1".to_vec())))),
                ("json".to_owned(), outcome(&[], Err(failure(&["h\ni", "j"], Some(place(3)))))),
                ("yaml".to_owned(), outcome(&["l"], Err(failure(&[], Some(place(4)))))),
                ("xml".to_owned(), outcome(&[], Err(failure(&["h"], None)))),
                ("plist".to_owned(), outcome(&[], Err(failure(&[], None)))),
                ("expression a ?? b: c".to_owned(), outcome(&[], Ok(Produced::Text(b"\n".to_vec())))),
                (
                    "files".to_owned(),
                    outcome(
                        &[],
                        Ok(Produced::Files(vec![
                            ("a/b.txt".to_owned(), vec![255, 13]),
                            ("c".to_owned(), b"=== c".to_vec()),
                        ])),
                    ),
                ),
                ("files".to_owned(), outcome(&[], Ok(Produced::Files(Vec::new())))),
            ],
        };
        let text = expectation.to_string();
        assert_eq!(text.parse(), Ok(expectation), "{text}");
    }

    #[test]
    fn a_text_that_is_none_is_refused() {
        assert_eq!("x".parse::<Expectation>().unwrap_err().line, 1);
        assert_eq!("=== pcf: log\nx\n".parse::<Expectation>().unwrap_err().reason, "a log without a result");
        assert_eq!("=== pcf (hex)\nzz\n".parse::<Expectation>().unwrap_err().line, 1);
    }
}
