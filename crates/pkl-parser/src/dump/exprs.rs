//! Expressions, types, strings and object bodies as text.

use std::fmt::Write;

use super::{Dumper, Step, each};
use crate::ast::{
    BodyId, ExprId, ExprKind, List, MemberAccess, MemberValue, Name, ObjectMember, ObjectMemberKind,
    Parameter, ReadKind, StringId, StringPartKind, TypeId, TypeKind,
};

impl Dumper<'_> {
    pub(super) fn expr(&mut self, expr: ExprId) {
        use Step::{Body, Expr, Name, String, Text, Type};
        let ast = self.ast;
        let (open, mut steps) = match ast[expr].kind {
            ExprKind::Error => return self.out.push_str("(error)"),
            ExprKind::Null => return self.out.push_str("null"),
            ExprKind::Bool(value) => return self.out.push_str(if value { "true" } else { "false" }),
            ExprKind::Int(value) => return write!(self.out, "{value}").expect("a string can be written"),
            ExprKind::Float(value) => return write!(self.out, "{value:?}").expect("a string can be written"),
            ExprKind::String(string) => return self.string(string),
            ExprKind::This => return self.out.push_str("this"),
            ExprKind::Outer => return self.out.push_str("outer"),
            ExprKind::Module => return self.out.push_str("module"),
            ExprKind::Name(name) => return self.name(name),
            ExprKind::Call { name, args } => ("(call ", with_args(vec![Name(name)], &ast[args])),
            ExprKind::Member { receiver, access, name, args } => {
                let dot = if access == MemberAccess::Plain { "(. " } else { "(?. " };
                (dot, self.with_optional_args(vec![Expr(receiver), Text(" "), Name(name)], args))
            }
            ExprKind::SuperMember { name, args } => {
                ("(super.", self.with_optional_args(vec![Name(name)], args))
            }
            ExprKind::SuperSubscript(index) => ("(super[] ", vec![Expr(index)]),
            ExprKind::Subscript { receiver, index } => ("([] ", vec![Expr(receiver), Text(" "), Expr(index)]),
            ExprKind::NonNull(operand) => ("(!! ", vec![Expr(operand)]),
            ExprKind::Unary { op, operand } => ("(", vec![Text(op.as_str()), Text(" "), Expr(operand)]),
            ExprKind::Binary { op, left, right, .. } => {
                ("(", vec![Text(op.as_str()), Text(" "), Expr(left), Text(" "), Expr(right)])
            }
            ExprKind::Is { operand, ty } => ("(is ", vec![Expr(operand), Text(" "), Type(ty)]),
            ExprKind::As { operand, ty } => ("(as ", vec![Expr(operand), Text(" "), Type(ty)]),
            ExprKind::If { condition, then, otherwise } => {
                ("(if ", vec![Expr(condition), Text(" "), Expr(then), Text(" "), Expr(otherwise)])
            }
            ExprKind::Let { variable, value, body } => {
                let mut steps = each("", &ast[variable], |variable| Step::Parameter(*variable));
                steps.extend([Text(" "), Expr(value), Text(" "), Expr(body)]);
                ("(let ", steps)
            }
            ExprKind::Function { params, body } => {
                let mut steps = each(" ", &ast[params], |param| Step::Parameter(*param));
                steps.extend([Text(" -> "), Expr(body)]);
                ("(function", steps)
            }
            ExprKind::Parenthesized(inner) => ("(paren ", vec![Expr(inner)]),
            ExprKind::New { ty, body } => {
                let mut steps: Vec<Step> = ty.map_or_else(Vec::new, |ty| vec![Text(" "), Type(ty)]);
                steps.push(Body(body));
                ("(new", steps)
            }
            ExprKind::Amend { receiver, body } => ("(amend ", vec![Expr(receiver), Body(body)]),
            ExprKind::Throw(message) => ("(throw ", vec![Expr(message)]),
            ExprKind::Trace(value) => ("(trace ", vec![Expr(value)]),
            ExprKind::Import { glob, uri } => {
                (if glob { "(import* " } else { "(import " }, vec![String(uri)])
            }
            ExprKind::Read { kind, uri } => {
                let open = match kind {
                    ReadKind::Read => "(read ",
                    ReadKind::Nullable => "(read? ",
                    ReadKind::Glob => "(read* ",
                };
                (open, vec![Expr(uri)])
            }
        };
        self.out.push_str(open);
        steps.push(Text(")"));
        self.next(steps);
    }

    fn with_optional_args(&self, steps: Vec<Step>, args: Option<List<ExprId>>) -> Vec<Step> {
        match args {
            None => steps,
            Some(args) if args.is_empty() => {
                let mut steps = steps;
                steps.push(Step::Text(" ()"));
                steps
            }
            Some(args) => with_args(steps, &self.ast[args]),
        }
    }

    pub(super) fn string(&mut self, string: StringId) {
        let literal = self.ast[string];
        for _ in 0..literal.delimiter.pounds {
            self.out.push('#');
        }
        if literal.delimiter.multiline {
            self.out.push_str("\"\"");
        }
        if let Some(text) = self.ast.constant(string) {
            return self.quoted(text);
        }
        self.out.push_str("(string");
        let mut steps = Vec::new();
        for part in &self.ast[literal.parts] {
            match part.kind {
                StringPartKind::Interpolation(expr) => steps.extend([Step::Text(" "), Step::Expr(expr)]),
                StringPartKind::Text(text) => steps.extend([Step::Text(" "), Step::Quoted(text)]),
            }
        }
        steps.push(Step::Text(")"));
        self.next(steps);
    }

    pub(super) fn ty(&mut self, ty: TypeId) {
        use Step::{Expr, Text, Type};
        let ast = self.ast;
        let (open, mut steps) = match ast[ty].kind {
            TypeKind::Error => return self.out.push_str("(error)"),
            TypeKind::Unknown => return self.out.push_str("unknown"),
            TypeKind::Nothing => return self.out.push_str("nothing"),
            TypeKind::Module => return self.out.push_str("module"),
            TypeKind::StringLiteral(string) => return self.string(string),
            TypeKind::Declared { name, args } if args.is_empty() => return self.next(self.dotted(name)),
            TypeKind::Declared { name, args } => {
                let mut steps = self.dotted(name);
                steps.extend(each(" ", &ast[args], |arg| Type(*arg)));
                ("(of ", steps)
            }
            TypeKind::Nullable(inner) => ("(? ", vec![Type(inner)]),
            TypeKind::Union { members, default } => {
                let mut steps = each(" ", &ast[members], |member| Type(*member));
                if let Some(default) = default {
                    steps[default as usize * 2] = Text(" *");
                }
                ("(|", steps)
            }
            TypeKind::Constrained { base, constraints } => {
                let mut steps = vec![Type(base)];
                steps.extend(each(" ", &ast[constraints], |constraint| Expr(*constraint)));
                ("(where ", steps)
            }
            TypeKind::Function { params, result } => {
                let mut steps = each(" ", &ast[params], |param| Type(*param));
                steps.extend([Text(" -> "), Type(result)]);
                ("(function", steps)
            }
            TypeKind::Parenthesized(inner) => ("(paren ", vec![Type(inner)]),
        };
        self.out.push_str(open);
        steps.push(Text(")"));
        self.next(steps);
    }

    pub(super) fn dotted(&self, name: List<Name>) -> Vec<Step> {
        each(".", &self.ast[name], |name| Step::Name(*name)).into_iter().skip(1).collect()
    }

    pub(super) fn parameter(&mut self, parameter: Parameter) {
        match parameter.name {
            Some(name) => self.name(name),
            None => self.out.push('_'),
        }
        if let Some(ty) = parameter.ty {
            self.next([Step::Text(": "), Step::Type(ty)]);
        }
    }

    /// ` { params -> members }`
    pub(super) fn body(&mut self, body: BodyId) {
        let body = self.ast[body];
        self.out.push_str(" {");
        let mut steps = each(" ", &self.ast[body.params], |param| Step::Parameter(*param));
        if !steps.is_empty() {
            steps.push(Step::Text(" ->"));
        }
        steps.push(Step::Indent);
        for member in &self.ast[body.members] {
            steps.extend([Step::Newline, Step::Member(*member)]);
        }
        steps.extend([Step::Dedent, Step::Text("}")]);
        self.next(steps);
    }

    pub(super) fn object_member(&mut self, member: ObjectMember) {
        use Step::{Body, Expr, Text};
        let ast = self.ast;
        let (open, mut steps) = match member.kind {
            ObjectMemberKind::Element(element) => return self.expr(element),
            ObjectMemberKind::Property(property) => return self.property(property),
            ObjectMemberKind::Method(method) => return self.method(method),
            ObjectMemberKind::Entry { key, value } => ("(entry ", self.keyed(key, value)),
            ObjectMemberKind::Predicate { condition, value } => ("(predicate ", self.keyed(condition, value)),
            ObjectMemberKind::Spread { value, nullable } => {
                (if nullable { "(...? " } else { "(... " }, vec![Expr(value)])
            }
            ObjectMemberKind::When { condition, then, otherwise } => {
                let mut steps = vec![Expr(condition), Body(then)];
                steps.extend(otherwise.into_iter().flat_map(|otherwise| [Text(" else"), Body(otherwise)]));
                ("(when ", steps)
            }
            ObjectMemberKind::For { variables, iterable, body } => {
                let mut steps = each(" ", &ast[variables], |variable| Step::Parameter(*variable));
                steps.extend([Text(" in "), Expr(iterable), Body(body)]);
                ("(for", steps)
            }
        };
        self.out.push_str(open);
        steps.push(Text(")"));
        self.next(steps);
    }

    fn keyed(&self, key: ExprId, value: MemberValue) -> Vec<Step> {
        let mut steps = vec![Step::Expr(key)];
        match value {
            MemberValue::Expr(value) => steps.extend([Step::Text(" = "), Step::Expr(value)]),
            MemberValue::Bodies(bodies) => {
                steps.extend(self.ast[bodies].iter().map(|body| Step::Body(*body)));
            }
        }
        steps
    }
}

fn with_args(mut steps: Vec<Step>, args: &[ExprId]) -> Vec<Step> {
    steps.extend(each(" ", args, |arg| Step::Expr(*arg)));
    steps
}
