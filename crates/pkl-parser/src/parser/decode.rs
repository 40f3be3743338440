//! The text that the pieces of a string stand for.

use crate::Span;
use crate::lexer::code_point;

/// Text being put together, with the place of what it comes from.
#[derive(Debug, Default)]
pub(super) struct Decoded {
    text: String,
    span: Option<Span>,
    /// The first half of a surrogate pair, which waits for the second.
    high_surrogate: Option<u32>,
}

impl Decoded {
    /// Adds characters that stand for themselves.
    pub(super) fn push_text(&mut self, span: Span, text: &str) {
        self.add(span);
        self.text.push_str(text);
    }

    pub(super) fn push_newline(&mut self, span: Span) {
        self.push_text(span, "\n");
    }

    /// Adds an escape of one character. One that doesn't exist, which was reported, adds nothing.
    pub(super) fn push_escape(&mut self, span: Span, written: &str) {
        self.add(span);
        match written.as_bytes().last() {
            Some(b'n') => self.text.push('\n'),
            Some(b'r') => self.text.push('\r'),
            Some(b't') => self.text.push('\t'),
            Some(b'"') => self.text.push('"'),
            Some(b'\\') => self.text.push('\\'),
            _ => {}
        }
    }

    /// Adds `\u{…}`. Two halves of a surrogate pair make one character, a half by itself is replaced. One
    /// that names nothing, which was reported, adds nothing.
    pub(super) fn push_unicode_escape(&mut self, span: Span, written: &str) {
        let digits = written.split_once('{').and_then(|(_, rest)| rest.strip_suffix('}'));
        let Some(value) = digits.and_then(code_point) else {
            return self.add(span);
        };
        match (self.high_surrogate.take(), value) {
            (Some(high), 0xDC00..=0xDFFF) => {
                self.add(span);
                let pair = 0x1_0000 + ((high - 0xD800) << 10) + (value - 0xDC00);
                self.text.extend(char::from_u32(pair));
            }
            (high, _) => {
                self.high_surrogate = high;
                self.add(span);
                match value {
                    0xD800..=0xDBFF => self.high_surrogate = Some(value),
                    _ => self.text.push(char::from_u32(value).unwrap_or(char::REPLACEMENT_CHARACTER)),
                }
            }
        }
    }

    /// The text so far with its place, if there is any; then begins anew.
    pub(super) fn take(&mut self) -> Option<(Span, String)> {
        self.settle();
        let span = self.span.take()?;
        let text = std::mem::take(&mut self.text);
        (!text.is_empty()).then_some((span, text))
    }

    fn add(&mut self, span: Span) {
        self.settle();
        self.span = Some(self.span.map_or(span, |before| before.to(span)));
    }

    /// Gives up waiting for the second half of a surrogate pair.
    fn settle(&mut self) {
        if self.high_surrogate.take().is_some() {
            self.text.push(char::REPLACEMENT_CHARACTER);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unicode(escapes: &[&str]) -> String {
        let mut decoded = Decoded::default();
        for escape in escapes {
            decoded.push_unicode_escape(Span::empty(0), escape);
        }
        decoded.take().map(|(_, text)| text).unwrap_or_default()
    }

    #[test]
    fn halves_of_a_surrogate_pair_make_one_character() {
        assert_eq!(unicode(&["\\u{D83D}", "\\u{DE00}"]), "😀");
        assert_eq!(unicode(&["\\u{D83D}"]), "\u{FFFD}");
        assert_eq!(unicode(&["\\u{DE00}"]), "\u{FFFD}");
        assert_eq!(unicode(&["\\u{D83D}", "\\u{41}"]), "\u{FFFD}A");
        assert_eq!(unicode(&["\\u{D83D}", "\\u{D83D}", "\\u{DE00}"]), "\u{FFFD}😀");
    }
}
