//! Numbers.

use super::Lexer;
use crate::{DiagnosticCode, TokenKind};

/// What may stand for a digit's place in one base.
struct Digits {
    name: &'static str,
    is_digit: fn(u8) -> bool,
}

const DECIMAL: Digits = Digits { name: "number", is_digit: |byte| byte.is_ascii_digit() };
const HEXADECIMAL: Digits = Digits { name: "hexadecimal number", is_digit: |byte| byte.is_ascii_hexdigit() };
const BINARY: Digits = Digits { name: "binary number", is_digit: |byte| matches!(byte, b'0' | b'1') };
const OCTAL: Digits = Digits { name: "octal number", is_digit: |byte| matches!(byte, b'0'..=b'7') };

impl Lexer<'_> {
    /// A number, which begins with a digit or with a point and a digit.
    pub(super) fn number(&mut self) -> TokenKind {
        if self.peek() == Some(b'0') {
            let base = match self.peek_at(1) {
                Some(b'x' | b'X') => Some(HEXADECIMAL),
                Some(b'b' | b'B') => Some(BINARY),
                Some(b'o' | b'O') => Some(OCTAL),
                _ => None,
            };
            if let Some(base) = base {
                self.position += 2;
                self.digits(&base);
                return TokenKind::Int;
            }
        }
        self.skip_digits(&DECIMAL);
        let fraction = self.fraction();
        let exponent = self.exponent();
        if fraction || exponent { TokenKind::Float } else { TokenKind::Int }
    }

    fn fraction(&mut self) -> bool {
        let follows = self.peek() == Some(b'.') && matches!(self.peek_at(1), Some(b'0'..=b'9' | b'_'));
        if follows {
            self.position += 1;
            self.digits(&DECIMAL);
        }
        follows
    }

    fn exponent(&mut self) -> bool {
        let follows = matches!(self.peek(), Some(b'e' | b'E'));
        if follows {
            self.position += 1;
            self.position += usize::from(matches!(self.peek(), Some(b'+' | b'-')));
            self.digits(&DECIMAL);
        }
        follows
    }

    /// At least one digit, then digits and underscores.
    fn digits(&mut self, digits: &Digits) {
        match self.peek() {
            Some(b'_') => {
                let start = self.position;
                self.skip_digits(digits);
                let message = "Unexpected separator character.\n\nThe separator character (`_`) cannot follow \
                               `0x`, `0b`, `.`, `e`, or 'E' in a number literal.";
                self.report(DiagnosticCode::InvalidNumber, start, message);
            }
            Some(byte) if (digits.is_digit)(byte) => self.skip_digits(digits),
            _ => self.report_next_character(DiagnosticCode::InvalidNumber, digits.name),
        }
    }

    fn skip_digits(&mut self, digits: &Digits) {
        self.skip_while(|byte| byte == b'_' || (digits.is_digit)(byte));
    }
}
