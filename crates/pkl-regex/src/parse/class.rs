//! Character classes: unions, ranges, intersections, negation.

use regex_syntax::hir::ClassUnicode;

use super::escape::Escape;
use super::{MAX_DEPTH, Parser, Result, Token};
use crate::set;

impl Parser<'_> {
    /// A class; its opening bracket is behind us.
    pub(super) fn class(&mut self, depth: usize) -> Result<ClassUnicode> {
        if depth >= MAX_DEPTH {
            let index = self.index();
            return Err(self.error_at("Classes are nested too deeply", index));
        }
        let negative = self.eat('^');
        let mut result: Option<ClassUnicode> = None;
        let mut part: Option<ClassUnicode> = None;
        let mut is_first = true;
        loop {
            let Some(token) = self.peek() else {
                return Err(self.error_at("Unclosed character class", self.end - 1));
            };
            match token.character {
                ']' if !token.is_quoted && !is_first => {
                    self.at += 1;
                    break;
                }
                '&' if !token.is_quoted && self.is_intersection() => {
                    self.at += 2;
                    result = intersected(result, part.take());
                    is_first = false;
                    continue;
                }
                _ => {}
            }
            is_first = false;
            let item = if token.character == '[' && !token.is_quoted {
                self.at += 1;
                self.class(depth + 1)?
            } else {
                self.range(token)?
            };
            part = Some(match part {
                Some(part) => set::union(part, &item),
                None => item,
            });
        }
        let class = intersected(result, part).unwrap_or_else(ClassUnicode::empty);
        Ok(if negative { set::negated(class) } else { class })
    }

    fn is_intersection(&self) -> bool {
        self.tokens.get(self.at + 1).is_some_and(|token| token.character == '&' && !token.is_quoted)
    }

    /// A character, a range of them, or an escape that stands for a set.
    fn range(&mut self, token: Token) -> Result<ClassUnicode> {
        let first = match self.class_item(token)? {
            Escape::Set(class) => return Ok(class),
            Escape::Surrogate => return Ok(ClassUnicode::empty()),
            Escape::Char(character) => character,
        };
        if self.peek_syntax() == Some('-') {
            let dash = self.at;
            self.at += 1;
            match self.peek() {
                // A hyphen at the end, or before a nested class, stands for itself.
                Some(next) if next.is_quoted || !matches!(next.character, ']' | '[') => {
                    let last = self.class_item(next)?;
                    let Escape::Char(last) = last else {
                        return Err(self.error_before("Illegal character range", self.raw_index()));
                    };
                    if last < first {
                        return Err(self.error_before("Illegal character range", self.raw_index()));
                    }
                    return Ok(self.cased(&set::of_ranges(&[(first, last)])));
                }
                _ => self.at = dash,
            }
        }
        Ok(self.cased(&set::of_char(first)))
    }

    fn cased(&self, class: &ClassUnicode) -> ClassUnicode {
        if self.flags.ignore_case { set::regardless_of_case(class) } else { class.clone() }
    }

    fn class_item(&mut self, token: Token) -> Result<Escape> {
        self.at += 1;
        if token.is_quoted || token.character != '\\' {
            return Ok(Escape::Char(token.character));
        }
        match self.raw() {
            None => Err(self.error_at("Unescaped trailing backslash", self.end)),
            Some(escaped) => self.common_escape(escaped),
        }
    }
}

/// What both sides of `&&` have in common; a side that is missing doesn't count.
fn intersected(left: Option<ClassUnicode>, right: Option<ClassUnicode>) -> Option<ClassUnicode> {
    match (left, right) {
        (Some(mut left), Some(right)) => {
            left.intersect(&right);
            Some(left)
        }
        (left, right) => left.or(right),
    }
}
