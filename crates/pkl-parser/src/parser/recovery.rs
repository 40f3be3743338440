//! Where to go on after an error.

use super::Parser;
use crate::TokenKind;

impl Parser<'_> {
    /// After an error in a body, moves to its closing brace or to a line that may begin a member, over
    /// brackets as a whole. Stays panicking at a line that ends all bodies, or at the end.
    pub(super) fn recover_in_body(&mut self, from: usize) {
        self.skip_until(from, |parser, depth| {
            depth == 0 && (parser.at(TokenKind::RightBrace) || parser.token().before.has_newline())
        });
        self.panicking = self.at(TokenKind::End) || self.at_module_member_only();
    }

    /// After an error in a module, moves to a line that may begin a member.
    pub(super) fn recover_in_module(&mut self, from: usize) {
        self.skip_until(from, |parser, depth| {
            depth == 0 && parser.token().before.has_newline() && parser.may_begin_module_member()
        });
        self.panicking = self.at(TokenKind::End);
    }

    /// After an error in an interpolation, moves to its end.
    pub(super) fn recover_in_interpolation(&mut self) {
        let nowhere = usize::MAX;
        self.skip_until(nowhere, |parser, depth| depth == 0 && parser.at(TokenKind::InterpolationEnd));
        self.panicking = !self.at(TokenKind::InterpolationEnd);
    }

    /// Skips tokens until `stop` holds, which also gets the number of brackets opened on the way, or a
    /// line begins a class or type alias. Skips at least one if nothing was consumed since `from`.
    fn skip_until(&mut self, from: usize, stop: impl Fn(&Self, u32) -> bool) {
        let mut depth = 0_u32;
        let mut must_move = self.index == from;
        while !self.at(TokenKind::End) && !self.at_module_member_only() {
            if !must_move && stop(self, depth) {
                return;
            }
            must_move = false;
            depth = match self.bump().kind {
                TokenKind::LeftBrackets => depth + 2,
                TokenKind::LeftBrace
                | TokenKind::LeftParen
                | TokenKind::LeftBracket
                | TokenKind::InterpolationStart => depth + 1,
                TokenKind::RightBrace
                | TokenKind::RightParen
                | TokenKind::RightBracket
                | TokenKind::InterpolationEnd => depth.saturating_sub(1),
                _ => depth,
            };
        }
    }

    /// Whether a line begins here with what only a module can hold.
    pub(super) fn at_module_member_only(&self) -> bool {
        let is_first = |parser: &Self, index: usize| parser.tokens[index].before.has_newline();
        let mut first = self.index;
        while first > 0 && is_modifier(self.tokens[first - 1].kind) && !is_first(self, first) {
            first -= 1;
        }
        let mut index = first;
        while is_modifier(self.tokens[index].kind) {
            index += 1;
        }
        is_first(self, first) && matches!(self.tokens[index].kind, TokenKind::Class | TokenKind::TypeAlias)
    }

    fn may_begin_module_member(&self) -> bool {
        match self.kind() {
            TokenKind::Identifier => {
                matches!(self.kind_at(1), TokenKind::Assign | TokenKind::Colon | TokenKind::LeftBrace)
            }
            TokenKind::Function | TokenKind::At | TokenKind::DocComment => true,
            TokenKind::Import | TokenKind::ImportGlob => self.kind_at(1) == TokenKind::StringStart,
            kind => is_modifier(kind),
        }
    }
}

pub(super) fn is_modifier(kind: TokenKind) -> bool {
    super::member::modifier_kind(kind).is_some()
}
