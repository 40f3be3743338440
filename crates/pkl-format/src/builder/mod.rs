//! From tree and tokens to a layout.
//!
//! The builder walks the tree and, with it, the tokens: each token is put out once, in order, so that
//! nothing can be lost. The tree only says what stands between two tokens. Comments stand between tokens
//! too: [`Builder::gap`] puts them out with whatever separates the tokens around them.

mod block;
mod chain;
mod exprs;
mod imports;
mod map;
mod members;
mod module;
mod object;
mod string;
mod types;

use pkl_parser::ast::{Ast, Module};
use pkl_parser::{Diagnostic, DiagnosticCode, Parsed, Span, Token, TokenKind};

use crate::layout::Piece;

/// How deep the builder follows a tree. The parser bounds what nests to the right; this bounds chains of
/// changing operators, too.
const MAX_DEPTH: u32 = 1500;

/// The layout of a module without syntax errors.
pub(crate) fn build<'s>(
    source: &'s str,
    parsed: &'s Parsed<Module>,
    tokens: &'s [Token],
) -> Result<Vec<Piece<'s>>, Box<Diagnostic>> {
    let ast = &parsed.ast;
    let mut builder = Builder { source, ast, tokens, at: 0, pieces: Vec::new(), depth: 0, failure: None };
    builder.module(&parsed.root);
    match builder.failure {
        Some(failure) => Err(failure),
        None => Ok(builder.pieces),
    }
}

struct Builder<'s> {
    source: &'s str,
    ast: &'s Ast,
    tokens: &'s [Token],
    /// The position of the next token.
    at: usize,
    pieces: Vec<Piece<'s>>,
    depth: u32,
    failure: Option<Box<Diagnostic>>,
}

impl<'s> Builder<'s> {
    // Looking at tokens.

    fn token(&self) -> Token {
        // The last token, the end, is never passed.
        self.tokens[self.at.min(self.tokens.len() - 1)]
    }

    fn text_of(&self, token: Token) -> &'s str {
        token.span.text(self.source)
    }

    /// The next token that is neither white space nor comment.
    fn peek(&self) -> TokenKind {
        self.tokens[self.next_significant()].kind
    }

    fn next_significant(&self) -> usize {
        let rest = &self.tokens[self.at..];
        self.at + rest.iter().position(|token| !token.kind.is_trivia()).unwrap_or_default()
    }

    /// Whether comments come before the next token that means something.
    fn comments_follow(&self) -> bool {
        self.tokens[self.at..self.next_significant()].iter().any(|token| is_comment(token.kind))
    }

    /// Whether there is a line end between two places, not in a comment or string.
    fn newline_between(&self, start: u32, end: u32) -> bool {
        let first = self.tokens.partition_point(|token| token.span.start < start);
        let between = self.tokens[first..].iter().take_while(|token| token.span.start < end);
        between.into_iter().any(|token| token.kind == TokenKind::Newline)
    }

    fn is_on_lines(&self, span: Span) -> bool {
        self.newline_between(span.start, span.end)
    }

    // Putting out pieces.

    fn push(&mut self, piece: Piece<'s>) {
        self.pieces.push(piece);
    }

    fn open(&mut self) {
        self.push(Piece::Open);
    }

    fn close(&mut self) {
        self.push(Piece::Close);
    }

    fn indent(&mut self) {
        self.push(Piece::Indent);
    }

    fn dedent(&mut self) {
        self.push(Piece::Dedent);
    }

    /// Puts out the next token, which the caller knows to follow.
    fn text(&mut self) {
        debug_assert!(!self.token().kind.is_trivia(), "a gap is put out before a token");
        let token = self.token();
        self.push(Piece::Text(self.text_of(token)));
        self.advance();
    }

    fn advance(&mut self) {
        self.at += usize::from(self.token().kind != TokenKind::End);
    }

    /// A separator, then the next token.
    fn then(&mut self, separator: Piece<'s>) {
        self.gap(separator);
        self.text();
    }

    /// The next token right behind the last.
    fn adjacent(&mut self) {
        self.touch();
        self.text();
    }

    /// Nothing but comments before the next token.
    fn touch(&mut self) {
        self.gap(Piece::Nothing);
    }

    /// Skips a token of this kind if it comes next; the comments before it stay.
    fn skip(&mut self, kind: TokenKind) {
        if self.peek() != kind {
            return;
        }
        let end = self.next_significant();
        for token in &self.tokens[self.at..end] {
            if is_comment(token.kind) {
                self.push(Piece::Space);
                self.comment(*token);
            }
        }
        self.at = end;
        self.advance();
    }

    /// What separates the last token from the next, with the comments between them: those on the last
    /// token's line before the separator, those on their own lines after it.
    fn gap(&mut self, separator: Piece<'s>) {
        let end = self.next_significant();
        let mut gap = Gap::default();
        while self.at < end {
            let token = self.token();
            self.at += 1;
            if token.kind == TokenKind::Newline {
                gap.on_new_line = true;
            } else if is_comment(token.kind) {
                self.comment_in_gap(token, separator, &mut gap);
            }
        }
        if gap.separated {
            self.push(if gap.on_new_line { Piece::LineBeforeText } else { Piece::Space });
        } else {
            self.separate(separator, gap.after_block_comment);
        }
    }

    fn comment_in_gap(&mut self, token: Token, separator: Piece<'s>, gap: &mut Gap) {
        if gap.on_new_line {
            self.push(if gap.separated { Piece::LineBeforeText } else { own_line(separator) });
            gap.separated = true;
            self.own_line_comment(token);
        } else {
            self.space_before_comment();
            self.comment(token);
        }
        gap.on_new_line = false;
        gap.after_block_comment = token.kind == TokenKind::BlockComment;
    }

    /// The separator before the next token; after a comment at least a space, but not before what closes.
    fn separate(&mut self, separator: Piece<'s>, after_block_comment: bool) {
        use TokenKind as K;
        let closes = matches!(
            self.token().kind,
            K::RightParen | K::RightBracket | K::Greater | K::Comma | K::InterpolationEnd
        );
        if after_block_comment && !closes {
            match separator {
                Piece::Nothing => return self.push(Piece::Space),
                Piece::SoftLine => self.push(Piece::IfFlat(" ")),
                _ => {}
            }
        }
        self.push(separator);
    }

    /// A space before a comment that follows a token, but none after an opening bracket.
    fn space_before_comment(&mut self) {
        let after_bracket =
            matches!(self.pieces.last(), Some(Piece::Text(text)) if text.ends_with(['(', '[', '<']));
        let is_block = self.tokens[self.at - 1].kind == TokenKind::BlockComment;
        if !(after_bracket && is_block) {
            self.push(Piece::Space);
        }
    }

    /// A comment; after one that goes on to the end of its line a line begins.
    fn comment(&mut self, token: Token) {
        let text = self.text_of(token);
        self.push(Piece::Text(text));
        if token.kind != TokenKind::BlockComment {
            self.push(Piece::LineBeforeText);
        }
    }

    /// A comment that begins a line.
    fn own_line_comment(&mut self, token: Token) {
        self.comment(token);
        self.push(Piece::Break);
    }

    // Nesting.

    /// Builds something that nests, as long as it doesn't nest too deeply.
    fn nested(&mut self, span: Span, build: impl FnOnce(&mut Self)) {
        if self.failure.is_some() {
            return;
        }
        if self.depth == MAX_DEPTH {
            self.failure = Some(Box::new(Diagnostic {
                code: DiagnosticCode::TooDeep,
                message: format!("Nested too deeply to be formatted: more than {MAX_DEPTH} levels."),
                span,
                hint: None,
            }));
            return;
        }
        self.depth += 1;
        build(self);
        self.depth -= 1;
    }
}

/// What a gap has held so far.
#[derive(Debug, Default)]
struct Gap {
    /// Whether the separator was put out.
    separated: bool,
    /// Whether a line ended since the last token or comment.
    on_new_line: bool,
    after_block_comment: bool,
}

/// How a separator looks before a comment on its own line.
fn own_line(separator: Piece<'_>) -> Piece<'_> {
    match separator {
        Piece::Nothing | Piece::Space => Piece::HardLine,
        other => other,
    }
}

fn is_comment(kind: TokenKind) -> bool {
    matches!(kind, TokenKind::LineComment | TokenKind::BlockComment | TokenKind::Shebang)
}
