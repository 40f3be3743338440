//! String literals: their pieces decoded, the indentation of multi-line ones taken off.

use super::Parser;
use super::decode::Decoded;
use crate::ast::{ExprId, List, StringDelimiter, StringId, StringLiteral, StringPart, StringPartKind};
use crate::{DiagnosticCode, Span, TokenKind};

/// A piece of a string as written.
#[derive(Clone, Copy)]
struct Piece {
    span: Span,
    kind: PieceKind,
}

#[derive(Clone, Copy)]
enum PieceKind {
    Text,
    Newline,
    Escape,
    UnicodeEscape,
    Interpolation(ExprId),
}

impl Parser<'_> {
    /// A string; the caller has looked.
    pub(super) fn string(&mut self) -> StringId {
        let open = self.bump().span;
        let quotes = open.text(self.source).trim_start_matches('#');
        let delimiter = StringDelimiter {
            pounds: open.len() - if quotes.len() > 1 { 3 } else { 1 },
            multiline: quotes.len() > 1,
        };
        let pieces = self.pieces();
        let content_end = self.start();
        let is_closed = self.at(TokenKind::StringEnd);
        if is_closed {
            self.bump();
        }
        let span = self.span_from(open.start);
        // What was not closed was reported by the lexer.
        let parts = if delimiter.multiline && is_closed {
            self.multiline_parts(pieces, open, Span::new(open.end, content_end))
        } else {
            self.parts(&pieces)
        };
        self.ast.add(StringLiteral { span, delimiter, parts })
    }

    /// A string on one line without interpolations, or a report that one was expected.
    pub(super) fn string_constant(&mut self) -> StringId {
        if self.panicking || !self.at_single_line_string() {
            self.unexpected("`\"`");
            let span = Span::empty(self.start());
            let delimiter = StringDelimiter { pounds: 0, multiline: false };
            return self.ast.add(StringLiteral { span, delimiter, parts: List::EMPTY });
        }
        let string = self.string();
        let parts = &self.ast[self.ast[string].parts];
        let interpolation = parts.iter().find(|part| matches!(part.kind, StringPartKind::Interpolation(_)));
        if let Some(StringPart { span, .. }) = interpolation.copied() {
            self.report(
                DiagnosticCode::InterpolationNotAllowed,
                span,
                "String constant cannot have interpolated values.",
            );
        }
        string
    }

    /// Whether a string with quotes of one line comes next.
    pub(super) fn at_single_line_string(&self) -> bool {
        self.at(TokenKind::StringStart) && !self.shown().ends_with("\"\"\"")
    }

    fn pieces(&mut self) -> Vec<Piece> {
        let mut pieces = Vec::new();
        loop {
            let token = self.token();
            let kind = match token.kind {
                TokenKind::StringText => PieceKind::Text,
                TokenKind::StringNewline => PieceKind::Newline,
                TokenKind::StringEscape => PieceKind::Escape,
                TokenKind::UnicodeEscape => PieceKind::UnicodeEscape,
                TokenKind::InterpolationStart if !self.panicking => {
                    pieces.push(self.interpolation());
                    continue;
                }
                _ => return pieces,
            };
            self.bump();
            pieces.push(Piece { span: token.span, kind });
        }
    }

    fn interpolation(&mut self) -> Piece {
        let start = self.bump().span.start;
        let expr = self.expr(Some("`)`"));
        if !self.panicking && !self.at(TokenKind::InterpolationEnd) {
            self.unexpected("`)`");
        }
        if self.panicking {
            self.recover_in_interpolation();
        }
        self.eat(TokenKind::InterpolationEnd);
        Piece { span: self.span_from(start), kind: PieceKind::Interpolation(expr) }
    }

    /// Decodes pieces and joins neighbouring texts.
    fn parts(&mut self, pieces: &[Piece]) -> List<StringPart> {
        if let [Piece { span, kind: PieceKind::Text }] = *pieces {
            return self
                .text_part(span, span.text(self.source))
                .map_or(List::EMPTY, |part| self.ast.list([part]));
        }
        let mut parts = Vec::new();
        let mut decoded = Decoded::default();
        for &Piece { span, kind } in pieces {
            let written = span.text(self.source);
            match kind {
                PieceKind::Text => decoded.push_text(span, written),
                PieceKind::Newline => decoded.push_newline(span),
                PieceKind::Escape => decoded.push_escape(span, written),
                PieceKind::UnicodeEscape => decoded.push_unicode_escape(span, written),
                PieceKind::Interpolation(expr) => {
                    parts.extend(self.decoded_part(&mut decoded));
                    parts.push(StringPart { span, kind: StringPartKind::Interpolation(expr) });
                }
            }
        }
        parts.extend(self.decoded_part(&mut decoded));
        self.ast.list(parts)
    }

    fn decoded_part(&mut self, decoded: &mut Decoded) -> Option<StringPart> {
        let (span, text) = decoded.take()?;
        self.text_part(span, &text)
    }

    fn text_part(&mut self, span: Span, text: &str) -> Option<StringPart> {
        let part = || StringPart { span, kind: StringPartKind::Text(self.ast.add_text(text)) };
        (!text.is_empty()).then(part)
    }

    /// The parts of a multi-line string: without the first and the last line end, and without the
    /// indentation of the closing quotes before each line.
    fn multiline_parts(&mut self, mut pieces: Vec<Piece>, opening: Span, content: Span) -> List<StringPart> {
        if !pieces.first().is_some_and(Piece::is_newline) {
            let span = pieces.first().map_or(content, |piece| piece.span);
            self.report_multiline(span, "The content of a multi-line string must begin on a new line.");
            return self.parts(&pieces);
        }
        let Some(last) = pieces.iter().rposition(Piece::is_newline) else {
            return List::EMPTY;
        };
        let indentation = match pieces[last + 1..] {
            [] => "",
            [Piece { span, kind: PieceKind::Text }] if is_blank(span.text(self.source)) => {
                span.text(self.source)
            }
            _ => {
                let text = "The closing delimiter of a multi-line string must begin on a new line.";
                self.report_multiline(opening, text);
                return self.parts(&pieces[1..]);
            }
        };
        pieces.truncate(last);
        self.take_off(indentation, &mut pieces);
        self.parts(pieces.get(1..).unwrap_or_default())
    }

    /// Takes the indentation off each line; a line begins after each newline.
    fn take_off(&mut self, indentation: &str, pieces: &mut [Piece]) {
        let newlines: Vec<usize> = (0..pieces.len()).filter(|&index| pieces[index].is_newline()).collect();
        for newline in newlines {
            let Some(first) = pieces.get_mut(newline + 1) else { return };
            if first.is_newline() {
                continue;
            }
            let is_text = matches!(first.kind, PieceKind::Text);
            if is_text && first.span.text(self.source).starts_with(indentation) {
                first.span.start += indentation_length(indentation);
            } else if !indentation.is_empty() {
                let text = "Line must match or exceed indentation of the String's last line.";
                let span = first.span;
                self.report(DiagnosticCode::InvalidIndentation, span, text);
            }
        }
    }

    fn report_multiline(&mut self, span: Span, text: &str) {
        self.report(DiagnosticCode::InvalidMultilineString, span, text);
    }
}

impl Piece {
    fn is_newline(&self) -> bool {
        matches!(self.kind, PieceKind::Newline)
    }
}

fn is_blank(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b' ' | b'\t'))
}

fn indentation_length(indentation: &str) -> u32 {
    u32::try_from(indentation.len()).unwrap_or(u32::MAX)
}
