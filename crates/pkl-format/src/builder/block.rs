//! What stands between the members of a block: line ends, blank lines, comments.

use pkl_parser::TokenKind;

use super::{Builder, is_comment};
use crate::layout::Piece;

/// Where in a block a gap is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Spot {
    /// Before the first member.
    First,
    /// Between two members.
    Between,
    /// After the last member.
    Last,
    /// In a block without members.
    Only,
}

/// What kind of block it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Block {
    /// All of a module: nothing separates its first member from anything.
    Module,
    /// The body of a class, in which members that stood on one line are set apart by a blank line.
    Class,
    /// The body of an object, which may stay on one line.
    Object,
}

/// What was put out last in a gap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Last {
    /// Nothing: a text begins.
    Nothing,
    /// A token, perhaps with comments behind it.
    Token,
    /// A comment that began a line.
    OwnLine,
}

impl Builder<'_> {
    /// The gap between two members, or between one and the block's brace, the closing brace's own line end
    /// left out. At most one blank line is kept, none at the beginning and the end.
    pub(super) fn block_gap(&mut self, block: Block, spot: Spot) {
        let end = self.next_significant();
        let begins = matches!(spot, Spot::First | Spot::Only);
        let mut last = if begins && block == Block::Module { Last::Nothing } else { Last::Token };
        let mut may_be_blank = !begins;
        let mut newlines = 0;
        while self.at < end {
            let token = self.token();
            self.at += 1;
            if token.kind == TokenKind::Newline {
                newlines += 1;
            }
            if !is_comment(token.kind) {
                continue;
            }
            if newlines == 0 && last != Last::Nothing {
                self.push(Piece::Space);
                self.comment(token);
            } else {
                if last != Last::Nothing {
                    self.push(line(block, may_be_blank && newlines > 1));
                }
                self.own_line_comment(token);
                last = Last::OwnLine;
                may_be_blank = true;
            }
            newlines = 0;
        }
        if matches!(spot, Spot::First | Spot::Between) {
            self.before_member(block, spot, last, may_be_blank, newlines);
        }
    }

    fn before_member(&mut self, block: Block, spot: Spot, last: Last, may_be_blank: bool, newlines: u32) {
        match (last, newlines) {
            (Last::Nothing, _) => {}
            (Last::OwnLine, 0) => self.push(Piece::Space),
            (Last::Token, 0) if spot == Spot::Between => self.same_line(block),
            _ => self.push(line(block, may_be_blank && newlines > 1)),
        }
    }

    /// What separates members that stood on one line.
    fn same_line(&mut self, block: Block) {
        match block {
            Block::Module => self.push(Piece::HardLine),
            Block::Class => self.push(Piece::BlankLine),
            Block::Object => {
                self.push(Piece::IfFlat(";"));
                self.push(Piece::Line);
            }
        }
    }
}

/// The line end before a comment or member.
fn line(block: Block, is_blank: bool) -> Piece<'static> {
    match block {
        _ if is_blank => Piece::BlankLine,
        Block::Object => Piece::Line,
        Block::Module | Block::Class => Piece::HardLine,
    }
}
