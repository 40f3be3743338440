//! Diagnostics as people read them: what, where, the line itself, and what would fix it.

mod drawable;
mod line;

pub use drawable::drawable;
use formwork_model::{Diagnostic, DiagnosticCode, Place, Severity, SourceMap};
use line::Excerpt;
pub use line::{clean, width};
use std::fmt::Write as _;

/// Whether colours are written. They add to the text and never carry its meaning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Color {
    /// Plain text.
    #[default]
    Never,
    /// ANSI colours.
    Always,
}

/// A note that the hint makes less important is cut to this many characters.
const NOTE_WIDTH: usize = 100;

/// Renders a diagnostic, its last line ended. The line of the source is shown where `source` knows
/// the file; control characters in it are made visible and long lines are cut around the place.
pub fn render_human(diagnostic: &Diagnostic, source: &SourceMap, color: Color) -> String {
    let mut out = Out { text: String::new(), color, width: gutter_width(diagnostic) };
    let style = match diagnostic.severity {
        Severity::Error => Style::Error,
        Severity::Warning => Style::Warning,
    };
    let severity = match diagnostic.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    };
    out.paint(style, &format!("{severity}[{}]", diagnostic.code));
    out.paint(Style::Strong, &format!(": {}", clean(&headline(diagnostic))));
    out.text.push('\n');
    let hint = diagnostic.hint.as_deref().map(clean);
    let mut shown = false;
    if let Some(place) = &diagnostic.place {
        shown = out.place("-->", place, source, style, '^', hint.as_deref());
    } else if !diagnostic.path.is_root() {
        out.note(&format!("at: {}", clean(&diagnostic.path.to_string())));
    }
    for related in &diagnostic.related {
        let message = clean(&related.message);
        if !out.place(":::", &related.place, source, Style::Gutter, '-', Some(&message)) {
            out.note(&message);
        }
    }
    if let Some(hint) = hint.filter(|_| !shown) {
        out.note(&format!("hint: {hint}"));
    }
    for note in &diagnostic.notes {
        let note = clean(note);
        out.note(if diagnostic.hint.is_some() { cut(&note) } else { note }.as_str());
    }
    out.note(&format!("explain: formwork explain {}", diagnostic.code));
    out.text
}

/// The message, less the list that a note repeats: on the wire one sentence has to say all of it.
fn headline(diagnostic: &Diagnostic) -> String {
    let message = diagnostic.message.as_str();
    let listed = diagnostic.notes.iter().find_map(|note| {
        let (word, list) = note.split_once(": ")?;
        let word = match word {
            "allowed" => "Allowed",
            "supported" => "Supported",
            _ => return None,
        };
        message.strip_suffix(&format!(". {word}: {list}"))
    });
    let Some(short) = listed else { return message.to_owned() };
    let property = short.strip_prefix("Unknown ").and_then(|rest| rest.split_once(" field '"));
    match (diagnostic.code, property) {
        (DiagnosticCode::UnknownProperty, Some((title, name))) => {
            format!("`{title}` has no property `{}`", name.strip_suffix('\'').unwrap_or(name))
        }
        _ => short.to_owned(),
    }
}

/// A long list, cut after one of its members.
fn cut(note: &str) -> String {
    if note.chars().count() <= NOTE_WIDTH {
        return note.to_owned();
    }
    let kept: String = note.chars().take(NOTE_WIDTH).collect();
    match kept.rfind(", ") {
        Some(end) => format!("{}, …", &kept[..end]),
        None => format!("{kept}…"),
    }
}

/// The width of the largest line number that is shown.
fn gutter_width(diagnostic: &Diagnostic) -> usize {
    let places = diagnostic.place.iter().chain(diagnostic.related.iter().map(|related| &related.place));
    places.map(|place| place.line).max().map_or(1, |line| line.to_string().len())
}

#[derive(Clone, Copy)]
enum Style {
    Error,
    Warning,
    Strong,
    Gutter,
}

struct Out {
    text: String,
    color: Color,
    width: usize,
}

impl Out {
    fn paint(&mut self, style: Style, text: &str) {
        if self.color == Color::Never {
            self.text.push_str(text);
            return;
        }
        let code = match style {
            Style::Error => "1;31",
            Style::Warning => "1;33",
            Style::Strong => "1",
            Style::Gutter => "1;34",
        };
        // Writing to a string can't fail.
        let _ = write!(self.text, "\u{1b}[{code}m{text}\u{1b}[0m");
    }

    /// Writes a place with its line and a mark under it; returns whether the line was there.
    fn place(
        &mut self,
        arrow: &str,
        place: &Place,
        source: &SourceMap,
        style: Style,
        mark: char,
        label: Option<&str>,
    ) -> bool {
        let pad = " ".repeat(self.width);
        self.text.push_str(&pad);
        self.paint(Style::Gutter, arrow);
        let _ = writeln!(self.text, " {}:{}:{}", clean(&place.file), place.line, place.column);
        let Some(file) = source.file(place) else { return false };
        let excerpt = Excerpt::of(file.line(place.line), place);
        self.paint(Style::Gutter, &format!("{pad} |"));
        self.text.push('\n');
        self.paint(Style::Gutter, &format!("{:>width$} |", place.line, width = self.width));
        if !excerpt.text.is_empty() {
            let _ = write!(self.text, " {}", excerpt.text);
        }
        self.text.push('\n');
        self.paint(Style::Gutter, &format!("{pad} |"));
        let _ = write!(self.text, " {}", " ".repeat(excerpt.before));
        let marks: String = std::iter::repeat_n(mark, excerpt.marked).collect();
        self.paint(style, &marks);
        if let Some(label) = label {
            self.text.push(' ');
            self.paint(style, label);
        }
        self.text.push('\n');
        true
    }

    fn note(&mut self, note: &str) {
        let pad = " ".repeat(self.width);
        self.paint(Style::Gutter, &format!("{pad} ="));
        let _ = writeln!(self.text, " {note}");
    }
}
