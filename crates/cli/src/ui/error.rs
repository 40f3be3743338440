//! Errors, as people read them: what, where, what would help.

use crate::commands::CommandError;
use crate::commands::error::SourceText;
use crate::commands::pkl::PklError;
use crate::ui::style::Styles;
use crate::ui::{json, say, text};
use formwork_api::ApiError;
use formwork_formation::{Color, drawable, render_human};
use formwork_model::{
    Diagnostic, DiagnosticCode, Diagnostics, Path, Place, Segment, Severity, SourceFile, SourceMap,
};
use formwork_platform::Platform;
use owo_colors::OwoColorize as _;
use serde_json::Value;
use std::error::Error;

/// Prints an error and its causes on stderr. An answer of the server is printed as the reference
/// does, as JSON (`formations-behaviour.md` §1.5), after its places in the template.
pub(crate) fn print(error: &CommandError) {
    match error {
        CommandError::Api { error, source_text } => print_answer(error, source_text.as_ref()),
        CommandError::Refused { error, map } => print_refusal(error, map),
        CommandError::Forma { diagnostics, map } | CommandError::Encoding { diagnostics, map } => {
            diagnostics.iter().for_each(|diagnostic| print_diagnostic(diagnostic, map));
        }
        CommandError::Pkl(PklError::Evaluation(error)) => print_evaluation(error),
        error => print_causes(error),
    }
    print_hint(error.hint().as_deref());
}

fn print_hint(hint: Option<&str>) {
    if let Some(hint) = hint {
        say(format_args!("{}: {}", "hint".style(Styles::new().active), text::lines(hint)));
    }
}

/// Prints why a `pkl` command could not do one thing of several.
pub(crate) fn print_pkl(error: &PklError) {
    match error {
        PklError::Evaluation(error) => print_evaluation(error),
        error => print_causes(error),
    }
    print_hint(error.hint());
}

/// Prints why a module can't be evaluated, in the form that Pkl's users know.
fn print_evaluation(error: &pkl_core::Error) {
    let heading = "–– Pkl Error ––".style(Styles::new().error);
    say(format_args!("{heading}\n{}", text::lines(error.to_string().trim_end())));
}

/// Prints all syntax errors of a Pkl file, each with its line.
pub(crate) fn print_syntax(name: &str, source: &str, diagnostics: &[pkl_parser::Diagnostic]) {
    for diagnostic in diagnostics {
        let before = source.get(..diagnostic.span.start as usize).unwrap_or(source);
        let line = before.matches('\n').count() + 1;
        let lead = before.rsplit('\n').next().unwrap_or_default();
        let shown = source.lines().nth(line - 1).unwrap_or_default();
        let meant = diagnostic.span.text(source).lines().next().unwrap_or_default();
        // Not by a width of the format: those end at 65,535, and lines need not.
        let margin = " ".repeat(text::columns(lead) + line.to_string().len() + 3);
        let caret = "^".repeat(text::columns(meant).max(1));
        let heading = "error".style(Styles::new().error);
        let column = lead.chars().count() + 1;
        say(format_args!(
            "{heading}: {}\n  --> {}:{line}:{column}\n{line} | {}\n{margin}{caret}",
            text::lines(&diagnostic.message),
            text::lines(name),
            text::lines(shown),
        ));
        print_hint(diagnostic.hint.as_deref());
    }
}

fn print_answer(error: &ApiError, source: Option<&SourceText>) {
    let details = error.body.meta.as_ref().map_or(&Value::Null, |meta| &meta["details"]);
    let drawn = print_details(details, "error", source);
    let mut body = serde_json::json!({ "status": error.status, "error": error.body });
    if drawn > 0
        && let Some(meta) = body["error"]["meta"].as_object_mut()
    {
        // They stand above, with their lines.
        meta.shift_remove("details");
    }
    say(format_args!("{}", json::pretty(&body)));
}

/// Prints a refusal with its places in several files, for people alone: no JSON.
fn print_refusal(error: &ApiError, map: &SourceMap) {
    let details = error.body.meta.as_ref().map_or(&Value::Null, |meta| &meta["details"]);
    if print_details_in(details, "error", map) == 0 {
        let heading = "error".style(Styles::new().error);
        say(format_args!(
            "{heading}: {}: {}",
            text::lines(&error.body.code),
            text::lines(&error.body.message)
        ));
    }
    for dependent in error.body.meta.iter().filter_map(|meta| meta["dependents"].as_array()).flatten() {
        let field = |key: &str| text::lines(dependent[key].as_str().unwrap_or_default());
        say(format_args!(
            "  depends on it: {} {} in the stack {}",
            field("type"),
            field("label"),
            field("stack")
        ));
    }
}

/// Draws the details of an answer in the files that they name. Answers how many there were.
pub(crate) fn print_details_in(details: &Value, severity: &str, map: &SourceMap) -> usize {
    let Some(details) = details.as_array() else { return 0 };
    let severity = if severity == "warning" { Severity::Warning } else { Severity::Error };
    for detail in details {
        print_diagnostic(&diagnostic(detail, severity, None), map);
    }
    details.len()
}

fn print_causes(error: &(dyn Error + 'static)) {
    say(format_args!("{}: {}", "error".style(Styles::new().error), text::lines(&error.to_string())));
    let mut cause = error.source();
    while let Some(error) = cause {
        say(format_args!("  caused by: {}", text::lines(&error.to_string())));
        cause = error.source();
    }
}

/// Draws the details of an answer in the template they speak of. Answers how many there were.
pub(crate) fn print_details(details: &Value, severity: &str, source: Option<&SourceText>) -> usize {
    let Some(details) = details.as_array() else { return 0 };
    let drawn = |source: &SourceText| drawable(&source.text, &*Platform::catalog()).into_owned();
    let files = source.map(|source| SourceFile::new(source.name.as_str(), drawn(source)));
    let map = SourceMap { files: files.into_iter().collect(), ..SourceMap::default() };
    let severity = if severity == "warning" { Severity::Warning } else { Severity::Error };
    for detail in details {
        print_diagnostic(&diagnostic(detail, severity, source), &map);
    }
    details.len()
}

/// Says how many details an answer does not tell.
pub(crate) fn print_left_out(facts: &Value) {
    if let Some(count) = facts["left_out"].as_u64() {
        say(format_args!("and {count} more"));
    }
}

/// Prints diagnostics with their places.
pub(crate) fn print_diagnostics(found: &Diagnostics, map: &SourceMap) {
    found.iter().for_each(|diagnostic| print_diagnostic(diagnostic, map));
}

fn print_diagnostic(diagnostic: &Diagnostic, source: &SourceMap) {
    let color = if crate::ui::style::stderr_is_coloured() { Color::Always } else { Color::Never };
    say(format_args!("{}\n", render_human(diagnostic, source, color).trim_end_matches('\n')));
}

fn diagnostic(detail: &Value, severity: Severity, source: Option<&SourceText>) -> Diagnostic {
    let text = |key: &str| detail[key].as_str().unwrap_or_default().to_owned();
    let code = DiagnosticCode::parse(&text("code")).unwrap_or(DiagnosticCode::InvalidTemplate);
    let path: Path = std::iter::once(text("path"))
        .filter(|path| !path.is_empty())
        .map(|path| Segment::Key(path.into()))
        .collect();
    let mut diagnostic = match severity {
        Severity::Error => Diagnostic::error(code, path, text("message")),
        Severity::Warning => Diagnostic::warning(code, path, text("message")),
    };
    diagnostic.place = place(detail, source);
    diagnostic.hint = detail["hint"].as_str().map(str::to_owned);
    let notes = detail["notes"].as_array().into_iter().flatten();
    diagnostic.notes = notes.filter_map(|note| note.as_str().map(str::to_owned)).collect();
    for related in detail["related"].as_array().into_iter().flatten() {
        let message = related["message"].as_str().unwrap_or_default();
        diagnostic = diagnostic.related(message, place(related, source));
    }
    diagnostic
}

/// The place of a detail, in the template that was sent.
pub(crate) fn place(detail: &Value, source: Option<&SourceText>) -> Option<Place> {
    let number = |key: &str| detail[key].as_u64().and_then(|number| u32::try_from(number).ok());
    let (line, column) = (number("line")?, number("column")?);
    let file = detail["file"].as_str().or(source.map(|source| source.name.as_str()))?;
    Some(Place {
        file: file.into(),
        line,
        column,
        end_line: number("end_line").unwrap_or(line),
        end_column: number("end_column").unwrap_or(column + 1),
    })
}
