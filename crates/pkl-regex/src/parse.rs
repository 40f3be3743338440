//! Pattern to tree: recursive descent, bounded in depth, with Java's errors and the places it gives them.

use crate::ast::{Assertion, Greed, Length, LineEnds, Node};
use crate::error::SyntaxError;
use crate::fold;
use crate::set;
use crate::unicode;

mod class;
mod escape;
mod group;

/// How deep groups and classes may nest.
const MAX_DEPTH: usize = 200;

/// The longest pattern, in code points.
const MAX_LENGTH: usize = 1 << 16;

/// A pattern that was read.
pub(crate) struct Parsed {
    pub(crate) node: Node,
    /// How many groups keep what they took.
    pub(crate) groups: usize,
    pub(crate) names: Vec<(String, usize)>,
}

/// Reads a pattern.
pub(crate) fn parse(pattern: &str) -> Result<Parsed, SyntaxError> {
    let mut parser = Parser::new(pattern);
    if parser.tokens.len() > MAX_LENGTH {
        return Err(parser.error_at("Pattern too long", MAX_LENGTH));
    }
    let node = parser.alternatives(0)?;
    if let Some(token) = parser.peek() {
        // Only a closing parenthesis ends alternatives early.
        return Err(parser.error_before("Unmatched closing ')'", token.index));
    }
    Ok(Parsed { node, groups: parser.groups, names: parser.names })
}

/// What is switched on at a place of the pattern.
#[expect(clippy::struct_excessive_bools, reason = "flags of the syntax, each of its own")]
#[derive(Clone, Copy)]
struct Flags {
    ignore_case: bool,
    multi_line: bool,
    dot_all: bool,
    comments: bool,
    unix_lines: bool,
}

/// A character of the pattern; a quoted one (`\Q…\E`) is never syntax.
#[derive(Clone, Copy)]
struct Token {
    character: char,
    index: usize,
    is_quoted: bool,
}

struct Parser<'p> {
    pattern: &'p str,
    tokens: Vec<Token>,
    at: usize,
    /// How many code points the pattern has.
    end: usize,
    flags: Flags,
    groups: usize,
    names: Vec<(String, usize)>,
}

type Result<T, E = SyntaxError> = std::result::Result<T, E>;

impl<'p> Parser<'p> {
    fn new(pattern: &'p str) -> Self {
        let flags = Flags {
            ignore_case: false,
            multi_line: false,
            dot_all: false,
            comments: false,
            unix_lines: false,
        };
        let tokens = tokens(pattern);
        Self { pattern, tokens, at: 0, end: pattern.chars().count(), flags, groups: 0, names: Vec::new() }
    }

    fn error_at(&self, description: impl Into<String>, index: usize) -> SyntaxError {
        SyntaxError { description: description.into(), index: Some(index), pattern: self.pattern.to_owned() }
    }

    /// Java's errors often point one before the character they mean.
    fn error_before(&self, description: impl Into<String>, index: usize) -> SyntaxError {
        let index = index.checked_sub(1);
        SyntaxError { description: description.into(), index, pattern: self.pattern.to_owned() }
    }

    /// The next token, with white space and comments skipped if they count for nothing.
    fn peek(&mut self) -> Option<Token> {
        if self.flags.comments {
            self.skip_comments();
        }
        self.tokens.get(self.at).copied()
    }

    fn skip_comments(&mut self) {
        while let Some(token) = self.tokens.get(self.at).filter(|token| !token.is_quoted) {
            if token.character == '#' {
                while self.tokens.get(self.at).is_some_and(|token| !is_line_end(token.character)) {
                    self.at += 1;
                }
            } else if matches!(token.character, ' ' | '\t'..='\r') {
                self.at += 1;
            } else {
                break;
            }
        }
    }

    /// The next character if it may be syntax.
    fn peek_syntax(&mut self) -> Option<char> {
        self.peek().filter(|token| !token.is_quoted).map(|token| token.character)
    }

    fn eat(&mut self, character: char) -> bool {
        let found = self.peek_syntax() == Some(character);
        if found {
            self.at += 1;
        }
        found
    }

    /// The index of the next token, or the length of the pattern.
    fn index(&mut self) -> usize {
        self.peek().map_or(self.end, |token| token.index)
    }

    /// The next token as it is, white space included.
    fn raw(&self) -> Option<Token> {
        self.tokens.get(self.at).copied()
    }

    fn raw_index(&self) -> usize {
        self.raw().map_or(self.end, |token| token.index)
    }

    fn alternatives(&mut self, depth: usize) -> Result<Node> {
        let mut alternatives = vec![self.sequence(depth)?];
        while self.eat('|') {
            alternatives.push(self.sequence(depth)?);
        }
        Ok(match alternatives.len() {
            1 => alternatives.remove(0),
            _ => Node::Alternate(alternatives),
        })
    }

    fn sequence(&mut self, depth: usize) -> Result<Node> {
        let mut nodes = Vec::new();
        while let Some(token) = self.peek() {
            if !token.is_quoted && matches!(token.character, '|' | ')') {
                break;
            }
            match self.atom(token, depth)? {
                // Flags for what follows.
                None => {}
                Some(atom) => {
                    let node = self.quantified(atom)?;
                    nodes.push(node);
                }
            }
        }
        Ok(match nodes.len() {
            0 => Node::Empty,
            1 => nodes.remove(0),
            _ => Node::Concat(nodes),
        })
    }

    fn atom(&mut self, token: Token, depth: usize) -> Result<Option<Node>> {
        if token.is_quoted {
            self.at += 1;
            return Ok(Some(self.literal(token.character)));
        }
        let node = match token.character {
            '(' => return self.group(token, depth),
            '[' => {
                self.at += 1;
                let class = self.class(depth)?;
                Node::Set(Box::new(class))
            }
            '\\' => self.escape(token)?,
            '*' | '+' | '?' => {
                let description = format!("Dangling meta character '{}'", token.character);
                return Err(self.error_at(description, token.index));
            }
            // A repetition of nothing.
            '{' => Node::Empty,
            '.' => {
                self.at += 1;
                self.dot()
            }
            '^' => {
                self.at += 1;
                Node::Assert(if self.flags.multi_line {
                    Assertion::LineStart(self.line_ends())
                } else {
                    Assertion::TextStart
                })
            }
            '$' => {
                self.at += 1;
                Node::Assert(if self.flags.multi_line {
                    Assertion::LineEnd(self.line_ends())
                } else {
                    Assertion::TextEndOrLastLine(self.line_ends())
                })
            }
            character => {
                self.at += 1;
                self.literal(character)
            }
        };
        Ok(Some(node))
    }

    fn line_ends(&self) -> LineEnds {
        if self.flags.unix_lines { LineEnds::Unix } else { LineEnds::All }
    }

    fn dot(&self) -> Node {
        Node::Set(Box::new(match (self.flags.dot_all, self.flags.unix_lines) {
            (true, _) => set::all(),
            (false, true) => unicode::not_newline(),
            (false, false) => unicode::not_line_end(),
        }))
    }

    fn literal(&self, character: char) -> Node {
        if self.flags.ignore_case && fold::has_case(character) {
            Node::Set(Box::new(set::regardless_of_case(&set::of_char(fold::fold(character)))))
        } else {
            Node::Char(character)
        }
    }

    /// The atom with the quantifier that follows it, if one does.
    fn quantified(&mut self, atom: Node) -> Result<Node> {
        let (min, max) = match self.peek_syntax() {
            Some('*') => (0, None),
            Some('+') => (1, None),
            Some('?') => (0, Some(1)),
            Some('{') => return self.counted(atom),
            _ => return Ok(atom),
        };
        self.at += 1;
        Ok(self.repeat(atom, min, max))
    }

    fn repeat(&mut self, node: Node, min: u32, max: Option<u32>) -> Node {
        let greed = if self.eat('?') {
            Greed::Lazy
        } else if self.eat('+') {
            Greed::Possessive
        } else {
            Greed::Greedy
        };
        Node::Repeat { node: Box::new(node), min, max, greed }
    }

    /// `{n}`, `{n,}`, `{n,m}`.
    fn counted(&mut self, atom: Node) -> Result<Node> {
        self.at += 1;
        if !self.raw().is_some_and(|token| token.character.is_ascii_digit()) {
            return Err(self.error_at("Illegal repetition", self.raw_index()));
        }
        let min = self.count()?;
        let mut max = Some(min);
        if self.raw().is_some_and(|token| token.character == ',') {
            self.at += 1;
            let bounded = self.raw().is_some_and(|token| token.character != '}');
            max = if bounded { Some(self.count()?) } else { None };
        }
        match self.raw() {
            Some(token) if token.character == '}' => {}
            _ => return Err(self.error_at("Unclosed counted closure", self.raw_index())),
        }
        if max.is_some_and(|max| max < min) {
            return Err(self.error_at("Illegal repetition range", self.raw_index()));
        }
        self.at += 1;
        Ok(self.repeat(atom, min, max))
    }

    fn count(&mut self) -> Result<u32> {
        let mut count = 0_u32;
        while let Some(token) = self.raw()
            && let Some(digit) = token.character.to_digit(10)
        {
            count = count
                .checked_mul(10)
                .and_then(|count| count.checked_add(digit))
                .filter(|&count| i32::try_from(count).is_ok())
                .ok_or_else(|| self.error_at("Illegal repetition range", token.index))?;
            self.at += 1;
        }
        Ok(count)
    }

    /// The length of what a look-behind group holds; `close` is where it ends.
    fn behind(&self, node: &Node, close: usize) -> Result<Length> {
        let length = node.length();
        if length.is_obvious {
            Ok(length)
        } else {
            Err(self.error_before("Look-behind group does not have an obvious maximum length", close))
        }
    }
}

fn is_line_end(character: char) -> bool {
    matches!(character, '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// The characters of a pattern, with quotations resolved.
fn tokens(pattern: &str) -> Vec<Token> {
    let mut tokens = Vec::with_capacity(pattern.len());
    let mut characters = pattern.chars().enumerate().peekable();
    let mut is_quoted = false;
    while let Some((index, character)) = characters.next() {
        let next = characters.peek().map(|&(_, next)| next);
        match (is_quoted, character, next) {
            (true, '\\', Some('E')) => {
                characters.next();
                is_quoted = false;
            }
            (false, '\\', Some('Q')) => {
                characters.next();
                is_quoted = true;
            }
            (false, '\\', Some(escaped)) => {
                characters.next();
                tokens.push(Token { character, index, is_quoted });
                tokens.push(Token { character: escaped, index: index + 1, is_quoted });
            }
            _ => tokens.push(Token { character, index, is_quoted }),
        }
    }
    tokens
}
