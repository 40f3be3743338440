//! Escapes, inside of classes and outside.

use regex_syntax::hir::ClassUnicode;

use super::{Parser, Result, Token};
use crate::ast::{Assertion, Node};
use crate::set;
use crate::unicode;

/// An escape that stands for a character or a set, in a class as outside.
pub(super) enum Escape {
    Char(char),
    /// A surrogate, which no text has.
    Surrogate,
    Set(ClassUnicode),
}

const ILLEGAL: &str = "Illegal/unsupported escape sequence";

impl Parser<'_> {
    /// An escape outside of a class; `backslash` is the next token.
    pub(super) fn escape(&mut self, backslash: Token) -> Result<Node> {
        self.at += 1;
        let Some(token) = self.raw() else {
            return Err(self.error_at("Unescaped trailing backslash", backslash.index + 1));
        };
        let assertion = match token.character {
            'A' => Assertion::TextStart,
            'z' => Assertion::TextEnd,
            'Z' => Assertion::TextEndOrLastLine(self.line_ends()),
            'G' => Assertion::LastMatch,
            'B' => Assertion::NotWordBoundary,
            'b' => {
                self.at += 1;
                return self.boundary();
            }
            'R' => {
                self.at += 1;
                let line_end = Node::Set(Box::new(unicode::vertical_space()));
                let pair = Node::Concat(vec![Node::Char('\r'), Node::Char('\n')]);
                return Ok(Node::Alternate(vec![pair, line_end]));
            }
            'X' => {
                self.at += 1;
                return Ok(Node::Grapheme);
            }
            'k' => {
                self.at += 1;
                return self.named_reference();
            }
            '1'..='9' => return Ok(self.numbered_reference()),
            _ => {
                return Ok(match self.common_escape(token)? {
                    Escape::Char(character) => self.literal(character),
                    Escape::Surrogate => Node::Never,
                    Escape::Set(class) => Node::Set(Box::new(class)),
                });
            }
        };
        self.at += 1;
        Ok(Node::Assert(assertion))
    }

    /// `\b`, and `\b{g}` for grapheme clusters.
    fn boundary(&mut self) -> Result<Node> {
        let mut rest = self.tokens[self.at..].iter().map(|token| token.character);
        if rest.next() != Some('{') || rest.next() != Some('g') {
            return Ok(Node::Assert(Assertion::WordBoundary));
        }
        if rest.next() != Some('}') {
            return Err(self.error_at(ILLEGAL, self.end.min(self.raw_index() + 2)));
        }
        self.at += 3;
        Ok(Node::Assert(Assertion::GraphemeBoundary))
    }

    fn named_reference(&mut self) -> Result<Node> {
        if self.raw().is_none_or(|token| token.character != '<') {
            let description = "\\k is not followed by '<' for named capturing group";
            return Err(self.error_at(description, self.raw_index()));
        }
        self.at += 1;
        let name = self.group_name()?;
        let group = self.names.iter().find(|(known, _)| *known == name).map(|&(_, group)| group);
        let Some(group) = group else {
            let description = format!("named capturing group <{name}> does not exist");
            return Err(self.error_before(description, self.raw_index()));
        };
        Ok(Node::Backreference { group, ignore_case: self.flags.ignore_case })
    }

    /// `\1`: as many digits as name a group that there is up to here.
    fn numbered_reference(&mut self) -> Node {
        let mut group = 0;
        while let Some(digit) = self.raw().and_then(|token| token.character.to_digit(10)) {
            let longer = group * 10 + digit as usize;
            if group > 0 && longer > self.groups {
                break;
            }
            group = longer;
            self.at += 1;
        }
        if group > self.groups {
            return Node::Never;
        }
        Node::Backreference { group, ignore_case: self.flags.ignore_case }
    }

    /// An escape of a character or a set; `token` follows the backslash and is the next one.
    pub(super) fn common_escape(&mut self, token: Token) -> Result<Escape> {
        self.at += 1;
        let negated = |class| Escape::Set(set::negated(class));
        Ok(match token.character {
            'd' => Escape::Set(unicode::digit()),
            'D' => negated(unicode::digit()),
            'w' => Escape::Set(unicode::word()),
            'W' => negated(unicode::word()),
            's' => Escape::Set(unicode::space()),
            'S' => negated(unicode::space()),
            'h' => Escape::Set(unicode::horizontal_space()),
            'H' => negated(unicode::horizontal_space()),
            'v' => Escape::Set(unicode::vertical_space()),
            'V' => negated(unicode::vertical_space()),
            'p' => Escape::Set(self.property(token)?),
            'P' => negated(self.property(token)?),
            'n' => Escape::Char('\n'),
            't' => Escape::Char('\t'),
            'r' => Escape::Char('\r'),
            'f' => Escape::Char('\u{c}'),
            'a' => Escape::Char('\u{7}'),
            'e' => Escape::Char('\u{1b}'),
            'x' => self.hexadecimal()?,
            'u' => self.unicode_escape()?,
            '0' => self.octal()?,
            'c' => self.control()?,
            'N' => return Err(self.error_at("Illegal character name escape sequence", self.raw_index())),
            character if character.is_ascii_alphanumeric() => return Err(self.error_at(ILLEGAL, token.index)),
            character => Escape::Char(character),
        })
    }

    fn control(&mut self) -> Result<Escape> {
        let Some(token) = self.raw() else {
            return Err(self.error_at("Illegal control escape sequence", self.end - 1));
        };
        self.at += 1;
        Ok(char::from_u32(u32::from(token.character) ^ 64).map_or(Escape::Surrogate, Escape::Char))
    }

    fn octal(&mut self) -> Result<Escape> {
        let mut code = 0;
        let mut digits = 0;
        while let Some(digit) = self.raw().and_then(|token| token.character.to_digit(8)) {
            // Three digits only if the first is at most 3.
            if digits == 3 || (digits == 2 && code > 0o37) {
                break;
            }
            code = code * 8 + digit;
            digits += 1;
            self.at += 1;
        }
        if digits == 0 {
            return Err(self.error_at("Illegal octal escape sequence", self.raw_index()));
        }
        Ok(char::from_u32(code).map_or(Escape::Surrogate, Escape::Char))
    }

    fn hexadecimal(&mut self) -> Result<Escape> {
        const ILLEGAL: &str = "Illegal hexadecimal escape sequence";
        if self.raw().is_some_and(|token| token.character == '{') {
            let open = self.raw_index();
            self.at += 1;
            let mut code = 0_u32;
            let mut digits = 0;
            while let Some(token) = self.raw()
                && let Some(digit) = token.character.to_digit(16)
            {
                code = code * 16 + digit;
                digits += 1;
                if code > 0x10_FFFF {
                    return Err(self.error_at("Hexadecimal codepoint is too big", token.index));
                }
                self.at += 1;
            }
            if digits == 0 {
                return Err(self.error_at(ILLEGAL, open));
            }
            if self.raw().is_none_or(|token| token.character != '}') {
                return Err(self.error_at("Unclosed hexadecimal escape sequence", self.raw_index()));
            }
            self.at += 1;
            return Ok(char::from_u32(code).map_or(Escape::Surrogate, Escape::Char));
        }
        let code = self.hex_digits(2, ILLEGAL)?;
        Ok(char::from_u32(code).map_or(Escape::Surrogate, Escape::Char))
    }

    fn hex_digits(&mut self, count: usize, description: &str) -> Result<u32> {
        let mut code = 0;
        for _ in 0..count {
            let Some(digit) = self.raw().and_then(|token| token.character.to_digit(16)) else {
                return Err(self.error_at(description, self.raw_index()));
            };
            code = code * 16 + digit;
            self.at += 1;
        }
        Ok(code)
    }

    /// `\uXXXX`, or two of them for a character beyond the basic plane.
    fn unicode_escape(&mut self) -> Result<Escape> {
        const ILLEGAL: &str = "Illegal Unicode escape sequence";
        let high = self.hex_digits(4, ILLEGAL)?;
        if (0xD800..0xDC00).contains(&high) {
            let before = self.at;
            let is_next =
                |at: usize, wanted: char| self.tokens.get(at).is_some_and(|token| token.character == wanted);
            if is_next(before, '\\') && is_next(before + 1, 'u') {
                self.at += 2;
                let low = self.hex_digits(4, ILLEGAL)?;
                if (0xDC00..0xE000).contains(&low) {
                    let code = 0x1_0000 + ((high - 0xD800) << 10) + (low - 0xDC00);
                    return Ok(char::from_u32(code).map_or(Escape::Surrogate, Escape::Char));
                }
                self.at = before;
            }
        }
        Ok(char::from_u32(high).map_or(Escape::Surrogate, Escape::Char))
    }

    /// The name after `\p`.
    fn property(&mut self, letter: Token) -> Result<ClassUnicode> {
        let ignore_case = self.flags.ignore_case;
        let Some(token) = self.raw() else {
            return Err(self.error_at("Unknown character property name {\0}", letter.index + 1));
        };
        self.at += 1;
        if token.character != '{' {
            let name = token.character.to_string();
            let class = unicode::property(&name, ignore_case);
            return class.ok_or_else(|| {
                self.error_at(format!("Unknown character property name {{{name}}}"), token.index)
            });
        }
        let start = self.at;
        let Some(length) = self.tokens[start..].iter().position(|token| token.character == '}') else {
            return Err(self.error_at("Unclosed character family", self.end));
        };
        let name: String = self.tokens[start..start + length].iter().map(|token| token.character).collect();
        let close = self.tokens[start + length].index;
        if name.is_empty() {
            return Err(self.error_at("Empty character family", close));
        }
        self.at = start + length + 1;
        unicode::property(&name, ignore_case).ok_or_else(|| match name.split_once('=') {
            Some((key, value)) => {
                let key = key.to_ascii_lowercase();
                self.error_at(format!("Unknown Unicode property {{name=<{key}>, value=<{value}>}}"), close)
            }
            None => self.error_at(format!("Unknown character property name {{{name}}}"), close),
        })
    }
}
