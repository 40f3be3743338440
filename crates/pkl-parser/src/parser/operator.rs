//! Operators and how strongly they bind.

use crate::TokenKind;
use crate::ast::{BinaryOp, TYPE_TEST_PRECEDENCE};

/// What a token between two operands does.
#[derive(Debug, Clone, Copy)]
pub(super) enum Infix {
    Binary(BinaryOp),
    Is,
    As,
}

/// The operator that a token is, with how strongly it binds: a higher number binds first.
pub(super) fn infix(kind: TokenKind) -> Option<(Infix, u8)> {
    let op = match kind {
        TokenKind::Is => return Some((Infix::Is, TYPE_TEST_PRECEDENCE)),
        TokenKind::As => return Some((Infix::As, TYPE_TEST_PRECEDENCE)),
        TokenKind::Coalesce => BinaryOp::Coalesce,
        TokenKind::Pipe => BinaryOp::Pipe,
        TokenKind::Or => BinaryOp::Or,
        TokenKind::And => BinaryOp::And,
        TokenKind::Equal => BinaryOp::Equal,
        TokenKind::NotEqual => BinaryOp::NotEqual,
        TokenKind::Less => BinaryOp::Less,
        TokenKind::Greater => BinaryOp::Greater,
        TokenKind::LessOrEqual => BinaryOp::LessOrEqual,
        TokenKind::GreaterOrEqual => BinaryOp::GreaterOrEqual,
        TokenKind::Plus => BinaryOp::Add,
        TokenKind::Minus => BinaryOp::Subtract,
        TokenKind::Star => BinaryOp::Multiply,
        TokenKind::Slash => BinaryOp::Divide,
        TokenKind::IntDivide => BinaryOp::IntDivide,
        TokenKind::Percent => BinaryOp::Remainder,
        TokenKind::Power => BinaryOp::Power,
        _ => return None,
    };
    Some((Infix::Binary(op), op.precedence()))
}
