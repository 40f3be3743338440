//! Results as text, in the form of the official command.

use std::fmt::Write as _;

use crate::results::{Count, Group, ModuleResults};

/// What came of one module.
pub fn module(results: &ModuleResults) -> String {
    let mut text = format!("module {}\n", results.module);
    if let Some(error) = &results.error {
        push_indented(&mut text, error, 2);
        text.push('\n');
    }
    for (title, groups) in [("facts", &results.facts), ("examples", &results.examples)] {
        if !groups.is_empty() {
            let _ = writeln!(text, "  {title}");
            for group in groups {
                push_group(&mut text, group);
            }
        }
    }
    text
}

fn push_group(text: &mut String, group: &Group) {
    let mark = match (group.has_passed(), &group.written) {
        (false, _) => "✘",
        (true, Some(_)) => "✍️",
        (true, None) => "✔",
    };
    let _ = writeln!(text, "    {mark} {}", group.name);
    for (position, failure) in group.failures.iter().enumerate() {
        if position > 0 {
            text.push('\n');
        }
        push_indented(text, &failure.text, 7);
    }
    // The official command puts no line end between failures and errors.
    for (position, error) in group.errors.iter().enumerate() {
        if position > 0 {
            text.push('\n');
        }
        push_indented(text, error.full.trim_end(), 7);
    }
    if !group.has_passed() {
        text.push('\n');
    }
}

fn push_indented(text: &mut String, lines: &str, indent: usize) {
    for (position, line) in lines.split('\n').enumerate() {
        if position > 0 {
            text.push('\n');
        }
        if !line.is_empty() {
            let _ = write!(text, "{:indent$}{line}", "");
        }
    }
}

/// The last line: what came of all modules.
pub fn summary(all: &[ModuleResults]) -> String {
    let failed = all.iter().any(ModuleResults::has_failed);
    let written: usize = all.iter().map(ModuleResults::written).sum();
    if !failed && written > 0 {
        return format!("{written} examples written");
    }
    let (mut tests, mut asserts) = (Count::default(), Count::default());
    for group in all.iter().flat_map(ModuleResults::groups) {
        let is_written = usize::from(group.written.is_some() && group.has_passed());
        tests.add(1, usize::from(!group.has_passed()) | is_written);
        asserts.add(group.asserts, group.failed_asserts() + is_written);
    }
    let told = |count: Count, what: &str| {
        let passed = count.total - count.failed;
        let thousandths = (passed * 1000).checked_div(count.total).unwrap_or(0);
        let share = format!("{}.{}% {what} pass", thousandths / 10, thousandths % 10);
        if failed {
            format!("{share} [{}/{} failed]", count.failed, count.total)
        } else {
            format!("{share} [{passed} passed]")
        }
    };
    format!("{}, {}", told(tests, "tests"), told(asserts, "asserts"))
}
