//! Strings, piece by piece.

use super::{Lexer, OpenString};
use crate::{DiagnosticCode, TokenKind};

impl Lexer<'_> {
    /// The opening delimiter of a string.
    pub(super) fn string_start(&mut self) -> TokenKind {
        let start = self.position;
        self.skip_while(|byte| byte == b'#');
        let pounds = self.position - start;
        self.position += 1;
        let multiline = self.peek() == Some(b'"') && self.peek_at(1) == Some(b'"');
        if multiline {
            self.position += 2;
        }
        self.strings.push(OpenString { pounds, multiline, open_parens: 0 });
        self.in_string = true;
        TokenKind::StringStart
    }

    /// The next piece of the innermost string.
    pub(super) fn string_piece(&mut self) -> TokenKind {
        let Some(&OpenString { pounds, multiline, .. }) = self.strings.last() else {
            unreachable!("the lexer is in a string only while one is open")
        };
        let start = self.position;
        loop {
            self.skip_while(|byte| !matches!(byte, b'"' | b'\\' | b'\n' | b'\r'));
            let kind = match self.peek() {
                None => TokenKind::End,
                Some(b'"') if self.closes(pounds, multiline) => TokenKind::StringEnd,
                Some(b'\\') if self.follow(1, pounds) => TokenKind::StringEscape,
                Some(b'\n' | b'\r') => TokenKind::StringNewline,
                Some(_) => {
                    self.position += 1;
                    continue;
                }
            };
            if self.position > start {
                return TokenKind::StringText;
            }
            return match kind {
                TokenKind::StringEnd => self.string_end(pounds, multiline),
                TokenKind::StringEscape => self.escape(pounds),
                TokenKind::StringNewline if multiline => {
                    self.position += if self.bytes[self.position..].starts_with(b"\r\n") { 2 } else { 1 };
                    kind
                }
                _ => self.unterminated_string(),
            };
        }
    }

    fn closes(&self, pounds: usize, multiline: bool) -> bool {
        if multiline {
            self.bytes[self.position..].starts_with(b"\"\"\"") && self.follow(3, pounds)
        } else {
            self.follow(1, pounds)
        }
    }

    /// Whether `pounds` signs `#` stand at a distance from here.
    fn follow(&self, distance: usize, pounds: usize) -> bool {
        (0..pounds).all(|index| self.peek_at(distance + index) == Some(b'#'))
    }

    fn string_end(&mut self, pounds: usize, multiline: bool) -> TokenKind {
        self.position += pounds + if multiline { 3 } else { 1 };
        self.leave_string();
        TokenKind::StringEnd
    }

    fn leave_string(&mut self) {
        self.strings.pop();
        self.in_string = false;
    }

    /// Gives the string up where its line or the text ends.
    fn unterminated_string(&mut self) -> TokenKind {
        if let Some(string) = self.strings.last() {
            let quotes = if string.multiline { "\"\"\"" } else { "\"" };
            let message = format!("Missing `{quotes}{}` delimiter.", "#".repeat(string.pounds.min(64)));
            let end = self.position;
            self.report(DiagnosticCode::UnterminatedString, end, &message);
        }
        self.leave_string();
        self.code()
    }

    fn escape(&mut self, pounds: usize) -> TokenKind {
        let start = self.position;
        self.position += 1 + pounds;
        match self.peek() {
            Some(b'n' | b'r' | b't' | b'"' | b'\\') => {
                self.position += 1;
                TokenKind::StringEscape
            }
            Some(b'(') => {
                self.position += 1;
                self.in_string = false;
                if let Some(string) = self.strings.last_mut() {
                    string.open_parens = 0;
                }
                TokenKind::InterpolationStart
            }
            Some(b'u') => {
                self.position += 1;
                self.unicode_escape(start, pounds)
            }
            Some(_) => self.invalid_escape(start, pounds),
            None => {
                let end = self.position;
                self.report(DiagnosticCode::UnexpectedEnd, end, "Unexpected end of file.");
                self.leave_string();
                TokenKind::StringEscape
            }
        }
    }

    fn invalid_escape(&mut self, start: usize, pounds: usize) -> TokenKind {
        let found = self.peek_char();
        let at_line_end = matches!(found, Some('\n' | '\r'));
        self.position += found.filter(|_| !at_line_end).map_or(0, char::len_utf8);
        let shown = if at_line_end { " ".to_owned() } else { found.map(String::from).unwrap_or_default() };
        let escape = |name: &str| format!("\\{}{name}", "#".repeat(pounds.min(64)));
        let valid = ["n", "r", "t", "\"", "\\"].map(|name| format!("  {}", escape(name))).concat();
        let message = format!(
            "Invalid character escape sequence `\\{shown}`.\n\nValid character escape sequences are:{valid}"
        );
        self.report(DiagnosticCode::InvalidEscape, start, &message);
        TokenKind::StringEscape
    }

    /// `{digits}`, after `\u`.
    fn unicode_escape(&mut self, start: usize, pounds: usize) -> TokenKind {
        if !self.eat(b'{') {
            self.report_next_character(DiagnosticCode::InvalidUnicodeEscape, "{");
            return TokenKind::UnicodeEscape;
        }
        let digits_start = self.position;
        self.skip_while(|byte| byte.is_ascii_alphanumeric());
        let digits_end = self.position;
        let closed = self.eat(b'}');
        let written = &self.source[start..self.position];
        if !closed {
            let message = format!(
                "Unterminated Unicode escape sequence `{written}`.\n\nUnicode escape sequences must end with `}}`."
            );
            self.report(DiagnosticCode::InvalidUnicodeEscape, start, &message);
        } else if code_point(&self.source[digits_start..digits_end]).is_none() {
            let u = format!("\\{}u", "#".repeat(pounds.min(64)));
            let message = format!(
                "Invalid Unicode escape sequence `{written}`.\n\nValid Unicode escape sequences are {u}{{0}} to \
                 {u}{{10FFFF}} (1-6 hexadecimal characters)."
            );
            self.report(DiagnosticCode::InvalidUnicodeEscape, start, &message);
        }
        TokenKind::UnicodeEscape
    }
}

/// The code point that hexadecimal digits name, perhaps one half of a surrogate pair.
pub(crate) fn code_point(digits: &str) -> Option<u32> {
    let value = u32::from_str_radix(digits, 16).ok()?;
    (value <= u32::from(char::MAX)).then_some(value)
}
