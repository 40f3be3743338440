//! Object bodies.

use pkl_parser::ast::{Body, BodyId, ExprId, List, MemberValue, ObjectMember, ObjectMemberKind, Parameter};

use super::Builder;
use super::block::{Block, Spot};
use crate::layout::Piece;

impl Builder<'_> {
    /// `{ … }`; the gap before it is put out.
    pub(super) fn body(&mut self, body: BodyId) {
        let body = self.ast[body];
        self.nested(body.span, |builder| {
            builder.open();
            builder.text();
            builder.body_content(&body);
            builder.close();
        });
    }

    fn body_content(&mut self, body: &Body) {
        if body.members.is_empty() && body.params.is_empty() && !self.comments_follow() {
            return self.adjacent();
        }
        if self.must_break(body) {
            self.push(Piece::Break);
        }
        self.body_parameters(body.params);
        self.indent();
        let mut spot = Spot::First;
        for member in &self.ast[body.members] {
            self.block_gap(Block::Object, spot);
            self.object_member(member);
            spot = Spot::Between;
        }
        self.block_gap(Block::Object, if spot == Spot::First { Spot::Only } else { Spot::Last });
        self.dedent();
        self.push(Piece::Line);
        self.text();
    }

    /// Whether the members were written on several lines, or apart from a brace. After parameters the
    /// first member's line doesn't matter.
    fn must_break(&self, body: &Body) -> bool {
        let members = &self.ast[body.members];
        let (Some(first), Some(last)) = (members.first(), members.last()) else { return false };
        let apart_from_open =
            body.params.is_empty() && self.newline_between(body.span.start, first.span.start);
        apart_from_open
            || self.newline_between(last.span.end, body.span.end)
            || members.windows(2).any(|pair| self.newline_between(pair[0].span.end, pair[1].span.start))
    }

    /// ` a, b ->`, or nothing.
    fn body_parameters(&mut self, params: List<Parameter>) {
        if params.is_empty() {
            return;
        }
        self.open();
        self.indent();
        self.indent();
        for (index, param) in self.ast[params].iter().enumerate() {
            if index > 0 {
                self.adjacent();
            }
            self.gap(Piece::Line);
            self.parameter(param);
        }
        self.skip(pkl_parser::TokenKind::Comma);
        self.dedent();
        self.dedent();
        self.then(Piece::Space);
        self.close();
    }

    fn object_member(&mut self, member: &ObjectMember) {
        match member.kind {
            ObjectMemberKind::Element(element) => self.expr(element),
            ObjectMemberKind::Property(property) => self.property(property),
            ObjectMemberKind::Method(method) => self.method(method),
            ObjectMemberKind::Entry { key, value } => self.entry(key, value),
            ObjectMemberKind::Predicate { condition, value } => {
                self.text();
                self.touch();
                self.expr(condition);
                self.adjacent();
                self.text();
                match value {
                    MemberValue::Expr(value) => self.assignment_on_lines(value),
                    MemberValue::Bodies(bodies) => self.bodies(bodies),
                }
            }
            ObjectMemberKind::Spread { value, .. } => {
                self.text();
                self.touch();
                self.expr(value);
            }
            ObjectMemberKind::When { condition, then, otherwise } => {
                self.text();
                self.gap(Piece::Space);
                self.in_parens(condition);
                self.gap(Piece::Space);
                self.body(then);
                if let Some(otherwise) = otherwise {
                    self.then(Piece::Space);
                    self.gap(Piece::Space);
                    self.body(otherwise);
                }
            }
            ObjectMemberKind::For { variables, iterable, body } => self.for_each(variables, iterable, body),
        }
    }

    fn entry(&mut self, key: ExprId, value: MemberValue) {
        self.text();
        self.touch();
        self.expr(key);
        self.adjacent();
        self.member_value(value);
    }

    fn member_value(&mut self, value: MemberValue) {
        match value {
            MemberValue::Expr(value) => self.assignment(value),
            MemberValue::Bodies(bodies) => self.bodies(bodies),
        }
    }

    fn for_each(&mut self, variables: List<Parameter>, iterable: ExprId, body: BodyId) {
        self.text();
        self.gap(Piece::Space);
        self.open();
        self.text();
        self.indent();
        self.gap(Piece::SoftLine);
        self.open();
        for (index, variable) in self.ast[variables].iter().enumerate() {
            if index > 0 {
                self.adjacent();
                self.gap(Piece::Space);
            }
            self.parameter(variable);
        }
        self.then(Piece::Space);
        if self.stays_on_line(iterable) {
            self.gap(Piece::Space);
            self.expr(iterable);
        } else {
            self.indent();
            self.gap(Piece::Line);
            self.expr(iterable);
            self.dedent();
        }
        self.close();
        self.close_indented();
        self.close();
        self.gap(Piece::Space);
        self.body(body);
    }
}
