//! Strings. What stands for itself is kept; the indentation of multi-line strings follows the code's.

use pkl_parser::TokenKind;
use pkl_parser::ast::{StringId, StringLiteral, StringPartKind};

use super::Builder;
use crate::layout::Piece;

impl<'s> Builder<'s> {
    /// A string; the gap before it is put out.
    pub(super) fn string(&mut self, string: StringId) {
        let literal = self.ast[string];
        let indentation = self.indentation(&literal);
        let mut interpolations = self.ast[literal.parts].iter().filter_map(|part| match part.kind {
            StringPartKind::Interpolation(expr) => Some(expr),
            StringPartKind::Text(_) => None,
        });
        let mut begins_line = false;
        self.text();
        loop {
            let token = self.token();
            match token.kind {
                TokenKind::StringNewline => {
                    self.push(Piece::HardLine);
                    self.advance();
                    begins_line = true;
                    continue;
                }
                TokenKind::StringText => {
                    let text = self.text_of(token);
                    let text =
                        if begins_line { text.strip_prefix(indentation).unwrap_or(text) } else { text };
                    self.push(Piece::Text(text));
                    self.advance();
                }
                TokenKind::InterpolationStart => {
                    self.text();
                    let Some(expr) = interpolations.next() else { return };
                    self.push(Piece::WidthOff);
                    self.touch();
                    self.expr(expr);
                    self.touch();
                    self.push(Piece::WidthOn);
                    self.text();
                }
                TokenKind::StringEnd => return self.text(),
                TokenKind::End => return,
                _ => self.text(),
            }
            begins_line = false;
        }
    }

    /// The white space before a multi-line string's closing quotes.
    fn indentation(&self, literal: &StringLiteral) -> &'s str {
        if !literal.delimiter.multiline {
            return "";
        }
        let content = literal.span.text(self.source).trim_end_matches('#').trim_end_matches('"');
        content.rfind(['\n', '\r']).map_or("", |newline| &content[newline + 1..])
    }
}
