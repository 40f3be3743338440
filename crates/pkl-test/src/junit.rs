//! Results in the XML format of JUnit.

use std::fmt::Write as _;

use crate::results::{FailureKind, Group, ModuleResults};

const HEAD: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";

/// A report on one module.
pub fn report(results: &ModuleResults) -> String {
    let mut xml = HEAD.to_owned();
    push_suite(&mut xml, results, "");
    xml
}

/// A report on many modules under one name.
pub fn aggregate(name: &str, all: &[ModuleResults]) -> String {
    let (tests, failures) =
        all.iter().map(counted).fold((0, 0), |sum, next| (sum.0 + next.0, sum.1 + next.1));
    let name = escape(name);
    let mut xml = format!("{HEAD}<testsuites name=\"{name}\" tests=\"{tests}\" failures=\"{failures}\">\n");
    for results in all {
        push_suite(&mut xml, results, "    ");
    }
    xml.push_str("</testsuites>\n");
    xml
}

/// How many tests there are, and how many didn't pass; one that was only written didn't.
fn counted(results: &ModuleResults) -> (usize, usize) {
    let failed = results.groups().filter(|group| !group.has_passed() || group.written.is_some()).count();
    (results.groups().count(), failed)
}

fn push_suite(xml: &mut String, results: &ModuleResults, indent: &str) {
    let (tests, failures) = counted(results);
    let name = escape(&results.module);
    let _ = write!(xml, "{indent}<testsuite name=\"{name}\" tests=\"{tests}\" failures=\"{failures}\">");
    if tests == 0 {
        xml.push_str("</testsuite>\n");
        return;
    }
    xml.push('\n');
    for (section, groups) in [("facts", &results.facts), ("examples", &results.examples)] {
        for group in groups {
            let _ = write!(
                xml,
                "{indent}    <testcase classname=\"{name}.{section}\" name=\"{}\">",
                escape(&group.name)
            );
            let inside = details(group, indent);
            if !inside.is_empty() {
                let _ = write!(xml, "\n{inside}{indent}    ");
            }
            xml.push_str("</testcase>\n");
        }
    }
    let _ = writeln!(xml, "{indent}</testsuite>");
}

fn details(group: &Group, indent: &str) -> String {
    let mut xml = String::new();
    for failure in &group.failures {
        let message = match failure.kind {
            FailureKind::Fact => "Fact Failure",
            FailureKind::Example => "Example Failure",
            FailureKind::Length => "Output Mismatch (Length)",
            FailureKind::Group => "Output Mismatch",
        };
        let text = escape(&failure.text);
        let _ = writeln!(xml, "{indent}        <failure message=\"{message}\">{text}</failure>");
    }
    for error in &group.errors {
        let (message, full) = (escape(&error.message), escape(&error.full));
        let _ = writeln!(xml, "{indent}        <error message=\"{message}\">{full}</error>");
    }
    if let (Some(place), true) = (&group.written, group.has_passed()) {
        let place = escape(place);
        let _ = writeln!(
            xml,
            "{indent}        <failure message=\"Example Output Written\">{place}\nWrote expected output for test {}</failure>",
            escape(&group.name)
        );
    }
    xml
}

fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&apos;"),
            // What no XML document may hold.
            letter if letter.is_control() && !matches!(letter, '\n' | '\r' | '\t') => {
                escaped.push('\u{fffd}');
            }
            letter => escaped.push(letter),
        }
    }
    escaped
}
