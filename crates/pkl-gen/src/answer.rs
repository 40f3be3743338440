//! What evaluators make of programs.

use crate::generate::Program;
use std::fmt::Write as _;

/// Separates the parts of a program's output.
const SEPARATOR: &str = "\n--\n";
/// Begins what failed.
pub(crate) const FAILED: &str = "!! ";
/// Messages that say nothing about the language: the official binary's own limits and faults.
const NO_VERDICT: [&str; 5] =
    ["A stack overflow occurred", "long overflow", "/ by zero", "An unexpected error", "Cmd+Double-click"];

/// What an evaluator makes of one program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// Its output; an error's message after [`FAILED`].
    Text(String),
    /// Nothing that could be compared.
    NoVerdict(String),
}

/// Something that evaluates programs.
pub trait Subject: Sync {
    /// The answers to several programs, in their order.
    fn answers(&self, programs: &[Program]) -> Vec<Answer>;
}

/// The parts of two outputs that differ, for a person; nothing if none does.
pub fn difference(official: &Answer, ours: &Answer) -> Option<String> {
    let (Answer::Text(official), Answer::Text(ours)) = (official, ours) else {
        return match (official, ours) {
            (Answer::Text(_), Answer::NoVerdict(reason)) => Some(format!("ours gave nothing: {reason}\n")),
            _ => None,
        };
    };
    let (official, ours): (Vec<&str>, Vec<&str>) =
        (official.split(SEPARATOR).collect(), ours.split(SEPARATOR).collect());
    let mut told = String::new();
    if official.len() != ours.len() && !is_no_verdict(official[0]) {
        let _ = write!(told, "official: {}\nours: {}\n", official.join(SEPARATOR), ours.join(SEPARATOR));
        return Some(told);
    }
    for (part, (official, ours)) in official.iter().zip(&ours).enumerate() {
        if official.trim_end() != ours.trim_end() && !is_no_verdict(official) {
            let _ = write!(told, "part {part}\nofficial: {official}\nours:     {ours}\n");
        }
    }
    (!told.is_empty()).then_some(told)
}

fn is_no_verdict(part: &str) -> bool {
    part.trim_start()
        .strip_prefix(FAILED)
        .is_some_and(|message| NO_VERDICT.iter().any(|sign| message.contains(sign)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Answer {
        Answer::Text(text.to_owned())
    }

    #[test]
    fn parts_are_compared_one_by_one() {
        assert_eq!(difference(&text("1\n--\n2"), &text("1\n--\n2\n")), None);
        let told = difference(&text("1\n--\n2"), &text("1\n--\n3")).unwrap();
        assert!(told.contains("part 1") && !told.contains("part 0"), "{told}");
        assert!(difference(&text("1"), &text("1\n--\n2")).is_some());
    }

    #[test]
    fn the_official_binarys_own_faults_are_no_difference() {
        assert_eq!(difference(&text("1\n--\n!! long overflow"), &text("1\n--\n!! Integer overflow.")), None);
        assert_eq!(difference(&Answer::NoVerdict(String::new()), &text("1")), None);
        assert!(difference(&text("1"), &Answer::NoVerdict(String::new())).is_some());
    }
}
