//! Imports in order: addresses with a scheme, then of dependencies, then relative ones; globs after all
//! others. Comments stay with their import, those before the first one at the top.

use std::cmp::Ordering;
use std::ops::Range;

use pkl_parser::TokenKind;
use pkl_parser::ast::{Import, List};

use super::block::{Block, Spot};
use super::{Builder, is_comment};
use crate::layout::Piece;

/// An import with its comments, as positions of tokens.
struct Statement<'s> {
    import: Import,
    uri: &'s str,
    /// The comments on lines before it.
    comments: Vec<usize>,
    tokens: Range<usize>,
    /// The comments behind it, on its line.
    trailing: Vec<usize>,
}

impl<'s> Builder<'s> {
    pub(super) fn imports(&mut self, imports: List<Import>, spot: Spot) {
        let mut statements = self.statements(imports, spot);
        statements.sort_by(|left, right| {
            let groups = left.group().cmp(&right.group());
            groups.then_with(|| natural(left.uri, right.uri))
        });
        let after = self.at;
        let mut previous: Option<(bool, u8)> = None;
        for statement in &statements {
            match previous {
                Some(group) if group != statement.group() => self.push(Piece::BlankLine),
                Some(_) => self.push(Piece::HardLine),
                None => {}
            }
            previous = Some(statement.group());
            self.statement(statement);
        }
        self.at = after;
    }

    /// The imports with their comments. The gap before the first is put out, with the comments in it.
    fn statements(&mut self, imports: List<Import>, spot: Spot) -> Vec<Statement<'s>> {
        let mut statements = Vec::new();
        self.block_gap(Block::Module, spot);
        for import in &self.ast[imports] {
            let comments = self.comments_before();
            let start = self.at;
            let end = self.tokens[start..].iter().position(|token| token.span.start >= import.span.end);
            self.at = end.map_or(self.tokens.len() - 1, |length| start + length);
            let tokens = start..self.at;
            let trailing = self.comments_on_line();
            let uri = self.ast.constant(import.uri).unwrap_or_default();
            statements.push(Statement { import: *import, uri, comments, tokens, trailing });
        }
        statements
    }

    fn comments_before(&mut self) -> Vec<usize> {
        let start = self.at;
        self.at = self.next_significant();
        (start..self.at).filter(|index| is_comment(self.tokens[*index].kind)).collect()
    }

    /// The comments up to the line end, which are passed.
    fn comments_on_line(&mut self) -> Vec<usize> {
        let mut comments = Vec::new();
        for index in self.at..self.next_significant() {
            match self.tokens[index].kind {
                TokenKind::Newline => break,
                kind if is_comment(kind) => {
                    comments.push(index);
                    self.at = index + 1;
                }
                _ => {}
            }
        }
        comments
    }

    fn statement(&mut self, statement: &Statement<'s>) {
        for &comment in &statement.comments {
            self.comment(self.tokens[comment]);
            self.push(Piece::LineBeforeText);
        }
        self.at = statement.tokens.start;
        self.open();
        self.text();
        self.indent();
        self.gap(Piece::Line);
        self.string(statement.import.uri);
        if statement.import.alias.is_some() {
            self.then(Piece::Line);
            self.then(Piece::Space);
        }
        self.dedent();
        self.close();
        for &comment in &statement.trailing {
            self.push(Piece::Space);
            self.comment(self.tokens[comment]);
        }
    }
}

impl Statement<'_> {
    fn group(&self) -> (bool, u8) {
        let kind = match self.uri.split_once(':') {
            Some((scheme, _)) if !scheme.is_empty() && scheme.chars().all(char::is_alphanumeric) => 0,
            _ if self.uri.starts_with('@') => 1,
            _ => 2,
        };
        (self.import.glob, kind)
    }
}

/// Compares texts without regard to case, runs of digits by their value.
fn natural(left: &str, right: &str) -> Ordering {
    let (mut left, mut right) = (left, right);
    loop {
        let (left_run, left_rest) = run(left);
        let (right_run, right_rest) = run(right);
        if left_run.is_empty() || right_run.is_empty() {
            return left_run.len().cmp(&right_run.len());
        }
        let both_digits = is_digits(left_run) && is_digits(right_run);
        let order = if both_digits { by_value(left_run, right_run) } else { by_letter(left_run, right_run) };
        if order != Ordering::Equal {
            return order;
        }
        (left, right) = (left_rest, right_rest);
    }
}

/// All digits that a text begins with, or its first character.
fn run(text: &str) -> (&str, &str) {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let length = if digits > 0 { digits } else { text.chars().next().map_or(0, char::len_utf8) };
    text.split_at(length)
}

fn is_digits(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

fn by_value(left: &str, right: &str) -> Ordering {
    let (left, right) = (left.trim_start_matches('0'), right.trim_start_matches('0'));
    left.len().cmp(&right.len()).then_with(|| left.cmp(right))
}

fn by_letter(left: &str, right: &str) -> Ordering {
    left.chars().flat_map(char::to_lowercase).cmp(right.chars().flat_map(char::to_lowercase))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_ordered_naturally() {
        let mut uris = ["B", "a10", "a2", "a", "_x", "./x", "../x", "...x", ".../y", "-x", "a02"];
        uris.sort_by(|left, right| natural(left, right));
        assert_eq!(uris, ["-x", ".../y", "...x", "../x", "./x", "_x", "a", "a2", "a02", "a10", "B"]);
    }
}
