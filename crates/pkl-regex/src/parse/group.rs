//! Groups: `(…)` and everything that begins with `(?`.

use super::{MAX_DEPTH, Parser, Result, Token};
use crate::ast::Node;

impl Parser<'_> {
    /// A group, or `None` for flags that hold from here on.
    pub(super) fn group(&mut self, open: Token, depth: usize) -> Result<Option<Node>> {
        if depth >= MAX_DEPTH {
            return Err(self.error_at("Groups are nested too deeply", open.index));
        }
        let flags = self.flags;
        self.at += 1;
        let node = if self.eat('?') { self.special_group(depth)? } else { Some(self.capture(None, depth)?) };
        if node.is_some() {
            self.flags = flags;
        }
        Ok(node)
    }

    fn capture(&mut self, name: Option<String>, depth: usize) -> Result<Node> {
        self.groups += 1;
        let number = self.groups;
        if let Some(name) = name {
            self.names.push((name, number));
        }
        let inner = self.closed(depth)?.0;
        Ok(Node::Capture(number, Box::new(inner)))
    }

    /// What stands before the closing parenthesis, and where that is.
    fn closed(&mut self, depth: usize) -> Result<(Node, usize)> {
        let node = self.alternatives(depth + 1)?;
        let close = self.index();
        if !self.eat(')') {
            return Err(self.error_at("Unclosed group", self.end));
        }
        Ok((node, close))
    }

    fn special_group(&mut self, depth: usize) -> Result<Option<Node>> {
        let Some(token) = self.peek() else {
            return Err(self.error_at("Unknown inline modifier", self.end));
        };
        let node = match token.character {
            ':' => {
                self.at += 1;
                self.closed(depth)?.0
            }
            '>' => {
                self.at += 1;
                Node::Atomic(Box::new(self.closed(depth)?.0))
            }
            '=' | '!' => {
                self.at += 1;
                let node = Box::new(self.closed(depth)?.0);
                Node::Look { behind: None, negative: token.character == '!', node }
            }
            '<' => {
                self.at += 1;
                self.angled(depth)?
            }
            _ => return self.inline_flags(depth),
        };
        Ok(Some(node))
    }

    /// `(?<=`, `(?<!`, `(?<name>`.
    fn angled(&mut self, depth: usize) -> Result<Node> {
        if let Some(sign @ ('=' | '!')) = self.raw().map(|token| token.character) {
            self.at += 1;
            let (node, close) = self.closed(depth)?;
            let behind = Some(self.behind(&node, close)?);
            return Ok(Node::Look { behind, negative: sign == '!', node: Box::new(node) });
        }
        let name = self.group_name()?;
        if self.names.iter().any(|(other, _)| *other == name) {
            let description = format!("Named capturing group <{name}> is already defined");
            return Err(self.error_before(description, self.raw_index()));
        }
        self.capture(Some(name), depth)
    }

    /// A name and the `>` after it.
    pub(super) fn group_name(&mut self) -> Result<String> {
        let mut name = String::new();
        if !self.raw().is_some_and(|token| token.character.is_ascii_alphabetic()) {
            let description = "capturing group name does not start with a Latin letter";
            return Err(self.error_at(description, self.raw_index()));
        }
        while let Some(token) = self.raw().filter(|token| token.character.is_ascii_alphanumeric()) {
            name.push(token.character);
            self.at += 1;
        }
        if self.raw().is_none_or(|token| token.character != '>') {
            return Err(self.error_at("named capturing group is missing trailing '>'", self.raw_index()));
        }
        self.at += 1;
        Ok(name)
    }

    /// `(?im-s)` and `(?im-s:…)`.
    fn inline_flags(&mut self, depth: usize) -> Result<Option<Node>> {
        let mut on = true;
        loop {
            let Some(token) = self.raw() else {
                return Err(self.error_at("Unknown inline modifier", self.end));
            };
            let flag = match token.character {
                'i' => Some(&mut self.flags.ignore_case),
                'm' => Some(&mut self.flags.multi_line),
                's' => Some(&mut self.flags.dot_all),
                'x' => Some(&mut self.flags.comments),
                'd' => Some(&mut self.flags.unix_lines),
                // Unicode case and classes are always on; canonical equivalence there is none.
                'u' | 'U' | 'c' => None,
                '-' if on => {
                    on = false;
                    None
                }
                ')' => {
                    self.at += 1;
                    return Ok(None);
                }
                ':' => {
                    self.at += 1;
                    return Ok(Some(self.closed(depth)?.0));
                }
                _ => return Err(self.error_at("Unknown inline modifier", token.index)),
            };
            if let Some(flag) = flag {
                *flag = on;
            }
            self.at += 1;
        }
    }
}
