//! `Map(…)`, whose keys stay with their values.

use pkl_parser::TokenKind;
use pkl_parser::ast::{ExprId, List, Name};

use super::Builder;
use crate::layout::Piece;

impl Builder<'_> {
    /// Whether a call is one of `Map`, with arguments.
    pub(super) fn is_map(&self, name: Name, args: List<ExprId>) -> bool {
        name.span.text(self.source) == "Map" && !args.is_empty()
    }

    /// `(key, value, …)`: each pair on its own line if they don't fit on one. A single pair is indented
    /// once more.
    pub(super) fn map_args(&mut self, args: List<ExprId>) {
        let args = &self.ast[args];
        let last = args[args.len() - 1];
        let init = &args[..args.len() - 1];
        let last_on_line = self.stays_on_line(last) && !init.iter().any(|arg| self.stays_on_line(*arg));
        let is_single = args.len() == 2;
        self.open();
        if !last_on_line && self.are_on_lines(args) {
            self.push(Piece::Break);
        }
        self.text();
        self.indent();
        if is_single {
            self.indent();
        }
        for (index, pair) in args.chunks(2).enumerate() {
            if index > 0 {
                self.adjacent();
            }
            self.gap(match index {
                0 if last_on_line => Piece::Nothing,
                0 => Piece::SoftLine,
                _ => Piece::Line,
            });
            self.pair(pair, !is_single || last_on_line);
        }
        self.skip(TokenKind::Comma);
        if !last_on_line
            && !self.comments_follow()
            && !matches!(self.pieces.last(), Some(Piece::LineBeforeText))
        {
            self.push(Piece::IfBroken(","));
        }
        self.gap(if last_on_line && self.ends_with_body(last) { Piece::Nothing } else { Piece::SoftLine });
        if is_single {
            self.dedent();
        }
        self.dedent();
        if last_on_line {
            self.close();
            return self.text();
        }
        self.text();
        self.close();
    }

    fn pair(&mut self, pair: &[ExprId], is_group: bool) {
        if is_group {
            self.open();
        }
        for (index, expr) in pair.iter().enumerate() {
            if index > 0 {
                self.adjacent();
                self.gap(Piece::Line);
            }
            self.expr(*expr);
        }
        if is_group {
            self.close();
        }
    }
}
