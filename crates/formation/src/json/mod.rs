//! A JSON reader that knows where everything stands and goes on after a mistake where it can.

mod scalar;
mod write;

pub(crate) use write::write;

use crate::Limits;
use crate::builder::{Builder, Built, Closed, Problem, TooLarge};
use crate::report::Report;
use formwork_model::{Diagnostic, DiagnosticCode, Path, Span};

/// The text is beyond repair; why has been reported.
pub(crate) struct Stop;

/// Reads one JSON value. Whether the text was right is in the report.
pub(crate) fn read(text: &str, limits: &Limits, report: &mut Report<'_>) -> Option<Built> {
    let mut reader = Reader { text, bytes: text.as_bytes(), at: 0, builder: Builder::new(*limits), report };
    let built = reader.document().ok()?;
    reader.skip_space();
    if reader.at < reader.bytes.len() {
        reader.syntax(reader.here(), "The text goes on after the end of the template");
    }
    Some(built)
}

struct Reader<'t, 'r, 's> {
    text: &'t str,
    bytes: &'t [u8],
    at: usize,
    builder: Builder,
    report: &'r mut Report<'s>,
}

/// How a value began.
enum Begun {
    /// An array or object with at least one member, the first of which comes next.
    Opened,
    /// It is already complete.
    Complete(Built),
}

/// What follows a member.
enum Next {
    /// Another member.
    Member,
    /// The end of the array or object.
    End(Built),
}

impl Reader<'_, '_, '_> {
    fn document(&mut self) -> Result<Built, Stop> {
        loop {
            self.skip_space();
            let mut built = match self.begin_value()? {
                Begun::Opened => continue,
                Begun::Complete(built) => built,
            };
            loop {
                if self.builder.is_root() {
                    return Ok(built);
                }
                self.builder.attach(built);
                match self.after_member()? {
                    Next::Member => break,
                    Next::End(closed) => built = closed,
                }
            }
        }
    }

    fn begin_value(&mut self) -> Result<Begun, Stop> {
        let Some(byte) = self.peek() else { return Err(self.unclosed()) };
        match byte {
            b'{' => self.begin_object(),
            b'[' => self.begin_array(),
            _ => {
                let counted = self.builder.count(1);
                self.within(counted)?;
                self.scalar(byte).map(Begun::Complete)
            }
        }
    }

    fn begin_object(&mut self) -> Result<Begun, Stop> {
        let opened = self.builder.open_object(self.here());
        self.within(opened)?;
        self.at += 1;
        self.skip_space();
        if self.peek() == Some(b'}') {
            return self.close().map(Begun::Complete);
        }
        self.key()?;
        Ok(Begun::Opened)
    }

    fn begin_array(&mut self) -> Result<Begun, Stop> {
        let opened = self.builder.open_array(self.here());
        self.within(opened)?;
        self.at += 1;
        self.skip_space();
        if self.peek() == Some(b']') {
            return self.close().map(Begun::Complete);
        }
        Ok(Begun::Opened)
    }

    /// Closes the innermost array or object at its closing bracket, which comes next.
    fn close(&mut self) -> Result<Built, Stop> {
        let end = self.here();
        self.at += 1;
        let Closed { built, problems } = self.builder.close(Some(end)).ok_or(Stop)?;
        for problem in problems {
            if let Problem::Duplicate { key, first, second } = problem {
                self.report.duplicate_key(&self.builder.path(), &key, first, second);
            }
        }
        Ok(built)
    }

    fn after_member(&mut self) -> Result<Next, Stop> {
        self.skip_space();
        let in_object = self.builder.in_object() == Some(true);
        let closer = if in_object { b'}' } else { b']' };
        match self.peek() {
            None => Err(self.unclosed()),
            Some(byte) if byte == closer => self.close().map(Next::End),
            Some(b',') => {
                let comma = self.here();
                self.at += 1;
                self.skip_space();
                if self.peek() == Some(closer) {
                    self.syntax(comma, "JSON has no comma after the last member");
                    return self.close().map(Next::End);
                }
                self.next_member(in_object)
            }
            Some(byte) if (in_object && byte == b'"') || (!in_object && starts_value(byte)) => {
                self.syntax(self.here(), "A `,` is missing before this");
                self.next_member(in_object)
            }
            Some(_) => {
                let wanted = if in_object { "expected `,` or `}`" } else { "expected `,` or `]`" };
                Err(self.fatal(&format!("{wanted}, found {}", self.found_here())))
            }
        }
    }

    fn next_member(&mut self, in_object: bool) -> Result<Next, Stop> {
        if in_object {
            self.key()?;
        }
        Ok(Next::Member)
    }

    /// Reads a key and its colon.
    fn key(&mut self) -> Result<(), Stop> {
        let start = self.at;
        let key = match self.peek() {
            None => return Err(self.unclosed()),
            Some(b'"') => self.string()?,
            Some(b'\'') => self.single_quoted()?,
            Some(byte) if is_word(byte) => {
                let word = self.word();
                self.push_syntax(
                    self.span(start),
                    "A key stands in double quotes",
                    Some(format!("write \"{word}\"")),
                );
                word.into()
            }
            Some(_) => return Err(self.fatal(&format!("expected a key, found {}", self.found_here()))),
        };
        let span = self.span(start);
        self.skip_space();
        match self.peek() {
            None => return Err(self.unclosed()),
            Some(b':') => self.at += 1,
            Some(byte) if starts_value(byte) => self.syntax(span, "A `:` is missing after this key"),
            Some(_) => return Err(self.fatal(&format!("expected `:`, found {}", self.found_here()))),
        }
        self.builder.key(&key, span, false);
        Ok(())
    }

    /// Skips white space, and comments with a complaint.
    fn skip_space(&mut self) {
        loop {
            while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
                self.at += 1;
            }
            if self.peek() != Some(b'/') {
                return;
            }
            let start = self.at;
            let rest = &self.text[start..];
            let length = if rest.starts_with("//") {
                rest.find('\n').unwrap_or(rest.len())
            } else if rest.starts_with("/*") {
                rest.find("*/").map_or(rest.len(), |end| end + 2)
            } else {
                return;
            };
            self.at += length;
            self.syntax(Span { end: to_u32(start + 2), ..self.span(start) }, "JSON has no comments");
        }
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    /// The letters, digits and the like that come next.
    fn word(&mut self) -> String {
        let start = self.at;
        while self.peek().is_some_and(|byte| is_word(byte) || matches!(byte, b'-' | b'.' | b'+')) {
            self.at += 1;
        }
        self.text[start..self.at].to_owned()
    }

    fn here(&self) -> Span {
        let width = self.text[self.at..].chars().next().map_or(0, char::len_utf8);
        Span { file: 0, start: to_u32(self.at), end: to_u32(self.at + width) }
    }

    fn span(&self, start: usize) -> Span {
        Span { file: 0, start: to_u32(start), end: to_u32(self.at) }
    }

    fn found_here(&self) -> String {
        match self.text[self.at..].chars().next() {
            None => "the end of the text".to_owned(),
            Some(character) => format!("`{character}`"),
        }
    }

    fn syntax(&mut self, span: Span, message: &str) {
        self.push_syntax(span, message, None);
    }

    fn push_syntax(&mut self, span: Span, message: &str, hint: Option<String>) {
        let mut diagnostic = Diagnostic::error(DiagnosticCode::SyntaxError, Path::root(), message);
        diagnostic.hint = hint;
        self.report.push(span, diagnostic);
    }

    fn fatal(&mut self, message: &str) -> Stop {
        let message = format!("This is not JSON: {message}");
        self.syntax(self.here(), &message);
        Stop
    }

    fn unclosed(&mut self) -> Stop {
        let message = match self.builder.in_object() {
            None => "The text is empty",
            Some(true) => "The text ends before its `{` is closed",
            Some(false) => "The text ends before its `[` is closed",
        };
        let opened = if self.builder.is_root() { None } else { self.report.place(self.builder.open_span()) };
        let diagnostic = Diagnostic::error(DiagnosticCode::SyntaxError, Path::root(), message);
        self.report.push(self.here(), diagnostic.related("opened here", opened));
        Stop
    }

    fn within(&mut self, outcome: Result<(), TooLarge>) -> Result<(), Stop> {
        outcome.map_err(|over| {
            let span = self.here();
            self.report
                .push(span, Diagnostic::error(DiagnosticCode::InputTooLarge, Path::root(), over.message()));
            Stop
        })
    }
}

/// Whether a value, right or wrong, can begin with this byte.
fn starts_value(byte: u8) -> bool {
    is_word(byte) || matches!(byte, b'"' | b'\'' | b'{' | b'[' | b'-')
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$'
}

/// Positions fit, since [`crate::parse`] refuses a text of 4 GiB.
fn to_u32(position: usize) -> u32 {
    u32::try_from(position).unwrap_or(u32::MAX)
}
