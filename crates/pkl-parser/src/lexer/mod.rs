//! From text to tokens.
//!
//! The lexer never fails: what is wrong becomes a diagnostic, and every byte is in some token. It knows
//! where in a string it is by a stack of its own, so that strings in interpolations in strings may nest
//! as deep as memory allows.

mod chars;
mod number;
mod string;

pub(crate) use string::code_point;

use crate::{Diagnostic, DiagnosticCode, Span, Token, TokenKind};

/// Cuts a text into tokens, all of them, white space and comments too; the last is [`TokenKind::End`].
/// Joined, the texts of the tokens are the text.
///
/// A text longer than [`MAX_SOURCE_BYTES`](crate::MAX_SOURCE_BYTES) gives no token but the last, and a
/// diagnostic.
pub fn tokenize(source: &str) -> (Vec<Token>, Vec<Diagnostic>) {
    let mut lexer = Lexer::new(source);
    let mut tokens = Vec::new();
    loop {
        let token = lexer.next_token();
        tokens.push(token);
        if token.kind == TokenKind::End {
            return (tokens, lexer.diagnostics);
        }
    }
}

/// A place in a text, and the strings around it.
pub(crate) struct Lexer<'s> {
    source: &'s str,
    bytes: &'s [u8],
    position: usize,
    /// The strings that are open here, outermost first.
    strings: Vec<OpenString>,
    /// Whether the last token was a string's piece, so that the next is one too.
    in_string: bool,
    /// Whether nothing but white space and comments came before.
    may_be_shebang: bool,
    pub(crate) diagnostics: Vec<Diagnostic>,
}

/// A string whose end has not been reached.
struct OpenString {
    pounds: usize,
    multiline: bool,
    /// In an interpolation, the parentheses opened since its `\(`.
    open_parens: u32,
}

impl<'s> Lexer<'s> {
    pub(crate) fn new(source: &'s str) -> Self {
        let mut lexer = Self {
            source,
            bytes: source.as_bytes(),
            position: 0,
            strings: Vec::new(),
            in_string: false,
            may_be_shebang: true,
            diagnostics: Vec::new(),
        };
        if source.len() > crate::MAX_SOURCE_BYTES {
            let limit = crate::MAX_SOURCE_BYTES >> 20;
            let message = format!("A text may be {limit} MiB long at most.");
            lexer.report(DiagnosticCode::SourceTooLarge, 0, &message);
            lexer.position = source.len();
        }
        lexer
    }

    pub(crate) fn next_token(&mut self) -> Token {
        let start = self.position;
        let kind = if self.in_string { self.string_piece() } else { self.code() };
        self.may_be_shebang &= kind.is_trivia();
        Token { kind, span: self.span_from(start) }
    }

    fn span_from(&self, start: usize) -> Span {
        Span::new(offset(start), offset(self.position))
    }

    fn peek(&self) -> Option<u8> {
        self.peek_at(0)
    }

    fn peek_at(&self, distance: usize) -> Option<u8> {
        self.bytes.get(self.position + distance).copied()
    }

    fn peek_char(&self) -> Option<char> {
        self.source[self.position..].chars().next()
    }

    /// Moves past `byte` if it comes next.
    fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.position += usize::from(found);
        found
    }

    /// Moves past bytes as long as they pass. The test must pass all bytes of a character or none.
    fn skip_while(&mut self, mut test: impl FnMut(u8) -> bool) {
        while self.peek().is_some_and(&mut test) {
            self.position += 1;
        }
    }

    fn report(&mut self, code: DiagnosticCode, start: usize, text: &str) {
        self.diagnostics.push(Diagnostic::new(code, self.span_from(start), text));
    }

    /// Reports that the next character is not what was `expected`.
    fn report_next_character(&mut self, code: DiagnosticCode, expected: &str) {
        let found = self.peek_char();
        let shown = found.map_or_else(|| "EOF".to_owned(), String::from);
        let message = format!("Unexpected character `{shown}`. Did you mean `{expected}`?");
        let end = self.position + found.map_or(0, char::len_utf8);
        let span = Span::new(offset(self.position), offset(end));
        self.diagnostics.push(Diagnostic::new(code, span, &message));
    }

    fn code(&mut self) -> TokenKind {
        use TokenKind as K;
        let Some(byte) = self.peek() else {
            return K::End;
        };
        match byte {
            b'\n' => {
                self.position += 1;
                K::Newline
            }
            b' ' | b'\t' | b'\r' | 0x0C => self.white_space(),
            b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'$' => self.word(),
            b'0'..=b'9' => self.number(),
            b'"' => self.string_start(),
            b'#' => self.pound(),
            b'`' => self.quoted_name(),
            b'/' => self.slash(),
            _ => self.sign(byte),
        }
    }

    /// `\r\n`, or white space without it: outside of strings a lone `\r` ends no line.
    fn white_space(&mut self) -> TokenKind {
        if self.at_line_end() {
            self.position += 2;
            return TokenKind::Newline;
        }
        loop {
            let rest = &self.bytes[self.position..];
            let is_space = |byte: &u8| matches!(byte, b' ' | b'\t' | 0x0C);
            self.position += rest.iter().position(|byte| !is_space(byte)).unwrap_or(rest.len());
            if self.peek() != Some(b'\r') || self.at_line_end() {
                return TokenKind::Whitespace;
            }
            self.position += 1;
        }
    }

    /// Whether `\n` or `\r\n` comes next.
    fn at_line_end(&self) -> bool {
        match self.peek() {
            Some(b'\n') => true,
            Some(b'\r') => self.peek_at(1) == Some(b'\n'),
            _ => false,
        }
    }

    fn skip_to_line_end(&mut self) {
        let rest = &self.bytes[self.position..];
        self.position += rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')).unwrap_or(rest.len());
    }

    fn word(&mut self) -> TokenKind {
        let start = self.position;
        self.skip_name();
        let Some(keyword) = TokenKind::keyword(&self.source[start..self.position]) else {
            return TokenKind::Identifier;
        };
        let (sign, longer) = match keyword {
            TokenKind::Import => (b'*', TokenKind::ImportGlob),
            TokenKind::Read if self.peek() == Some(b'?') => (b'?', TokenKind::ReadNullable),
            TokenKind::Read => (b'*', TokenKind::ReadGlob),
            _ => return keyword,
        };
        if self.eat(sign) { longer } else { keyword }
    }

    fn skip_name(&mut self) {
        loop {
            let rest = &self.bytes[self.position..];
            let length = rest.iter().position(|byte| !chars::is_plain(*byte)).unwrap_or(rest.len());
            self.position += length;
            if rest.get(length).is_none_or(|byte| chars::ends_name(*byte)) {
                return;
            }
            match self.peek_char() {
                Some(c) if chars::continues_name(c) => self.position += c.len_utf8(),
                _ => return,
            }
        }
    }

    fn quoted_name(&mut self) -> TokenKind {
        self.position += 1;
        self.skip_while(|byte| !matches!(byte, b'`' | b'\n' | b'\r'));
        if self.eat(b'`') {
            return TokenKind::Identifier;
        }
        self.report_next_character(DiagnosticCode::UnterminatedName, "backquote");
        TokenKind::Unknown
    }

    fn slash(&mut self) -> TokenKind {
        self.position += 1;
        if self.eat(b'/') {
            let is_doc = self.peek() == Some(b'/');
            self.skip_to_line_end();
            return if is_doc { TokenKind::DocComment } else { TokenKind::LineComment };
        }
        if !self.eat(b'*') {
            return TokenKind::Slash;
        }
        if let Some(length) = self.source[self.position..].find("*/") {
            self.position += length + 2;
        } else {
            self.position = self.bytes.len();
            let end = self.position;
            self.report(DiagnosticCode::UnterminatedComment, end, "Unexpected end of file.");
        }
        TokenKind::BlockComment
    }

    fn pound(&mut self) -> TokenKind {
        if self.peek_at(1) == Some(b'!') && self.may_be_shebang {
            self.may_be_shebang = false;
            self.skip_to_line_end();
            return TokenKind::Shebang;
        }
        let length = self.bytes[self.position..].iter().take_while(|byte| **byte == b'#').count();
        if self.peek_at(length) == Some(b'"') {
            return self.string_start();
        }
        self.position += length;
        if self.peek().is_none() {
            let end = self.position;
            self.report(DiagnosticCode::UnexpectedEnd, end, "Unexpected end of file.");
        } else {
            self.report_next_character(DiagnosticCode::InvalidCharacter, "\"");
        }
        TokenKind::Unknown
    }

    fn sign(&mut self, byte: u8) -> TokenKind {
        use TokenKind as K;
        if byte == b'.' && self.peek_at(1).is_some_and(|next| next.is_ascii_digit()) {
            return self.number();
        }
        let rest = &self.bytes[self.position..];
        let (length, kind) = match rest {
            [b';', ..] => (1, K::Semicolon),
            [b'{', ..] => (1, K::LeftBrace),
            [b'}', ..] => (1, K::RightBrace),
            [b'(', ..] => return self.left_paren(),
            [b')', ..] => return self.right_paren(),
            [b'[', b'[', ..] => (2, K::LeftBrackets),
            [b'[', ..] => (1, K::LeftBracket),
            [b']', ..] => (1, K::RightBracket),
            [b',', ..] => (1, K::Comma),
            [b'.', b'.', b'.', b'?', ..] => (4, K::SpreadNullable),
            [b'.', b'.', b'.', ..] => (3, K::Spread),
            [b'.', b'.', ..] => return self.wrong_sign(2, "`.`, `...` or `...?`"),
            [b'.', ..] => (1, K::Dot),
            [b':', ..] => (1, K::Colon),
            [b'@', ..] => (1, K::At),
            [b'?', b'?', ..] => (2, K::Coalesce),
            [b'?', b'.', ..] => (2, K::QuestionDot),
            [b'?', ..] => (1, K::Question),
            [b'!', b'!', ..] => (2, K::BangBang),
            [b'!', b'=', ..] => (2, K::NotEqual),
            [b'!', ..] => (1, K::Bang),
            [b'*', b'*', ..] => (2, K::Power),
            [b'*', ..] => (1, K::Star),
            [b'~', b'/', ..] => (2, K::IntDivide),
            [b'~', ..] => return self.wrong_sign(1, "`~/`"),
            [b'%', ..] => (1, K::Percent),
            [b'+', ..] => (1, K::Plus),
            [b'-', b'>', ..] => (2, K::Arrow),
            [b'-', ..] => (1, K::Minus),
            [b'<', b'=', ..] => (2, K::LessOrEqual),
            [b'<', ..] => (1, K::Less),
            [b'>', b'=', ..] => (2, K::GreaterOrEqual),
            [b'>', ..] => (1, K::Greater),
            [b'=', b'=', ..] => (2, K::Equal),
            [b'=', ..] => (1, K::Assign),
            [b'&', b'&', ..] => (2, K::And),
            [b'&', ..] => return self.wrong_sign(1, "`&&`"),
            [b'|', b'|', ..] => (2, K::Or),
            [b'|', b'>', ..] => (2, K::Pipe),
            [b'|', ..] => (1, K::Bar),
            _ => return self.other_character(),
        };
        self.position += length;
        kind
    }

    fn left_paren(&mut self) -> TokenKind {
        self.position += 1;
        if let Some(string) = self.strings.last_mut() {
            string.open_parens += 1;
        }
        TokenKind::LeftParen
    }

    fn right_paren(&mut self) -> TokenKind {
        self.position += 1;
        let Some(string) = self.strings.last_mut() else {
            return TokenKind::RightParen;
        };
        if string.open_parens > 0 {
            string.open_parens -= 1;
            return TokenKind::RightParen;
        }
        self.in_string = true;
        TokenKind::InterpolationEnd
    }

    fn wrong_sign(&mut self, length: usize, meant: &str) -> TokenKind {
        let start = self.position;
        self.position += length;
        let found = &self.source[start..self.position];
        let message = format!("Unexpected character `{found}`. Did you mean {meant}?");
        self.report(DiagnosticCode::InvalidCharacter, start, &message);
        TokenKind::Unknown
    }

    /// A name of other letters than ASCII's, or characters that begin nothing, a whole run of them.
    fn other_character(&mut self) -> TokenKind {
        let start = self.position;
        let Some(first) = self.peek_char() else {
            return TokenKind::End;
        };
        if chars::starts_name(first) {
            self.skip_name();
            return TokenKind::Identifier;
        }
        self.position += first.len_utf8();
        while let Some(c) = self.peek_char() {
            if (c.is_ascii() && c != first) || chars::starts_name(c) {
                break;
            }
            self.position += c.len_utf8();
        }
        let message = format!("Invalid identifier `{first}`.");
        self.report(DiagnosticCode::InvalidCharacter, start, &message);
        TokenKind::Unknown
    }
}

fn offset(position: usize) -> u32 {
    u32::try_from(position).unwrap_or(u32::MAX)
}
