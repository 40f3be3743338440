//! From the parser's character positions to bytes.

use formwork_model::Span;
use saphyr_parser::{Marker, ScalarStyle};

/// How many characters apart two known positions are.
const STRIDE: usize = 64;

/// Finds bytes by character.
pub(super) struct Positions<'t> {
    text: &'t str,
    /// The byte of every [`STRIDE`]th character; empty where each character is one byte.
    known: Vec<usize>,
}

impl<'t> Positions<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        let known = if text.is_ascii() {
            Vec::new()
        } else {
            text.char_indices().step_by(STRIDE).map(|(byte, _)| byte).collect()
        };
        Self { text, known }
    }

    fn byte(&self, character: usize) -> usize {
        if self.known.is_empty() {
            return character.min(self.text.len());
        }
        let Some(start) = self.known.get(character / STRIDE) else { return self.text.len() };
        let mut rest = self.text[*start..].char_indices();
        rest.nth(character % STRIDE).map_or(self.text.len(), |(byte, _)| start + byte)
    }

    pub(super) fn span(&self, span: saphyr_parser::Span) -> Span {
        to_span(self.byte(span.start.index()), self.byte(span.end.index()))
    }

    /// The one character at a marker.
    pub(super) fn character(&self, marker: &Marker) -> Span {
        let start = self.byte(marker.index());
        let width = self.text[start..].chars().next().map_or(0, char::len_utf8);
        to_span(start, start + width)
    }

    /// Where a value begins after its anchor and tag.
    pub(super) fn after_properties(&self, span: Span) -> Span {
        let start = self.skip_properties(span.start as usize);
        Span { start: to_u32(start), end: span.end.max(to_u32(start)), ..span }
    }

    /// The text of a scalar and nothing around it: the parser's span begins with its anchor and
    /// tag, and may go on into white space and a comment.
    pub(super) fn scalar(&self, span: Span, style: ScalarStyle) -> Span {
        let end = span.end as usize;
        let start = Some(self.skip_properties(span.start as usize)).filter(|start| *start <= end);
        let start = start.unwrap_or(span.start as usize);
        let text = &self.text[start..end];
        let length = match style {
            ScalarStyle::SingleQuoted => single_quoted(text),
            ScalarStyle::DoubleQuoted => double_quoted(text),
            _ => None,
        };
        to_span(start, start + length.unwrap_or(text.trim_end().len()))
    }

    fn skip_properties(&self, start: usize) -> usize {
        let mut rest = &self.text[start..];
        while rest.starts_with(['&', '!']) {
            let end = rest.find([' ', '\t', '\r', '\n']).unwrap_or(rest.len());
            rest = rest[end..].trim_start();
        }
        if rest.is_empty() { start } else { self.text.len() - rest.len() }
    }

    /// Whether an opening bracket stands here: in a block, this is never where a mapping starts.
    pub(super) fn is_bracket(&self, span: Span) -> bool {
        self.text[span.start as usize..].starts_with(['{', '['])
    }
}

/// How long a string in single quotes is; a doubled quote does not end it.
fn single_quoted(text: &str) -> Option<usize> {
    let mut bytes = text.bytes().enumerate().skip(1).peekable();
    while let Some((at, byte)) = bytes.next() {
        if byte == b'\'' && bytes.next_if(|(_, next)| *next == b'\'').is_none() {
            return Some(at + 1);
        }
    }
    None
}

/// How long a string in double quotes is; an escaped quote does not end it.
fn double_quoted(text: &str) -> Option<usize> {
    let mut bytes = text.bytes().enumerate().skip(1);
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'\\' => drop(bytes.next()),
            b'"' => return Some(at + 1),
            _ => {}
        }
    }
    None
}

fn to_span(start: usize, end: usize) -> Span {
    Span { file: 0, start: to_u32(start), end: to_u32(end) }
}

/// Positions fit, since [`crate::parse`] refuses a text of 4 GiB.
fn to_u32(position: usize) -> u32 {
    u32::try_from(position).unwrap_or(u32::MAX)
}
