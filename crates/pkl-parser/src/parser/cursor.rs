//! The tokens that mean something, with what stands between them folded into flags.

use crate::lexer::Lexer;
use crate::{Diagnostic, Span, TokenKind};

/// A token other than white space and comments.
#[derive(Debug, Clone, Copy)]
pub(super) struct Significant {
    pub(super) span: Span,
    pub(super) kind: TokenKind,
    pub(super) before: Gap,
}

/// What stands between a token and the one before.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Gap(u8);

impl Gap {
    const ANYTHING: u8 = 1;
    const NEWLINE: u8 = 2;
    const BLANK_LINE: u8 = 4;
    const UNKNOWN: u8 = 8;

    /// Whether the tokens touch.
    pub(super) const fn is_none(self) -> bool {
        self.0 == 0
    }

    /// Whether there is a line end outside of block comments, or a semicolon.
    pub(super) const fn has_newline(self) -> bool {
        self.0 & Self::NEWLINE != 0
    }

    pub(super) const fn has_blank_line(self) -> bool {
        self.0 & Self::BLANK_LINE != 0
    }

    /// Whether there are characters that the lexer reported.
    pub(super) const fn has_unknown(self) -> bool {
        self.0 & Self::UNKNOWN != 0
    }

    /// Adds what comes next; `newlines` counts line ends since the last comment.
    fn add(&mut self, trivia: TokenKind, newlines: &mut u32) {
        self.0 |= Self::ANYTHING;
        match trivia {
            TokenKind::Newline => {
                *newlines += 1;
                self.0 |= if *newlines > 1 { Self::NEWLINE | Self::BLANK_LINE } else { Self::NEWLINE };
            }
            TokenKind::Semicolon => self.0 |= Self::NEWLINE,
            TokenKind::Unknown => self.0 |= Self::UNKNOWN,
            TokenKind::Whitespace => {}
            _ => *newlines = 0,
        }
    }
}

/// Reads all tokens that mean something; the last is [`TokenKind::End`]. What begins nothing was
/// reported and is left out.
pub(super) fn significant_tokens(source: &str) -> (Vec<Significant>, Vec<Diagnostic>) {
    let mut lexer = Lexer::new(source);
    let mut tokens = Vec::with_capacity(source.len() / 6 + 1);
    let mut before = Gap::default();
    let mut newlines = 0;
    loop {
        let token = lexer.next_token();
        if token.kind.is_trivia() || token.kind == TokenKind::Unknown {
            before.add(token.kind, &mut newlines);
            continue;
        }
        tokens.push(Significant { span: token.span, kind: token.kind, before });
        before = Gap::default();
        newlines = 0;
        if token.kind == TokenKind::End {
            return (tokens, lexer.diagnostics);
        }
    }
}
