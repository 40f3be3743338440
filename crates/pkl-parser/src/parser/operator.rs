//! Operators and how strongly they bind.

use crate::TokenKind;
use crate::ast::BinaryOp;

/// What a token between two operands does.
#[derive(Debug, Clone, Copy)]
pub(super) enum Infix {
    Binary(BinaryOp),
    Is,
    As,
}

/// The operator that a token is, with how strongly it binds: a higher number binds first.
pub(super) fn infix(kind: TokenKind) -> Option<(Infix, u8)> {
    let (op, strength) = match kind {
        TokenKind::Coalesce => (BinaryOp::Coalesce, 1),
        TokenKind::Pipe => (BinaryOp::Pipe, 2),
        TokenKind::Or => (BinaryOp::Or, 3),
        TokenKind::And => (BinaryOp::And, 4),
        TokenKind::Equal => (BinaryOp::Equal, 5),
        TokenKind::NotEqual => (BinaryOp::NotEqual, 5),
        TokenKind::Is => return Some((Infix::Is, 6)),
        TokenKind::As => return Some((Infix::As, 6)),
        TokenKind::Less => (BinaryOp::Less, 7),
        TokenKind::Greater => (BinaryOp::Greater, 7),
        TokenKind::LessOrEqual => (BinaryOp::LessOrEqual, 7),
        TokenKind::GreaterOrEqual => (BinaryOp::GreaterOrEqual, 7),
        TokenKind::Plus => (BinaryOp::Add, 8),
        TokenKind::Minus => (BinaryOp::Subtract, 8),
        TokenKind::Star => (BinaryOp::Multiply, 9),
        TokenKind::Slash => (BinaryOp::Divide, 9),
        TokenKind::IntDivide => (BinaryOp::IntDivide, 9),
        TokenKind::Percent => (BinaryOp::Remainder, 9),
        TokenKind::Power => (BinaryOp::Power, 10),
        _ => return None,
    };
    Some((Infix::Binary(op), strength))
}
