//! The tree as compact text, for tests and for looking at it.
//!
//! A node is `(kind parts…)`; each member begins a line. Spans are left out,
//! and modifiers are in one order. The writer keeps what it has
//! yet to write on a stack of its own, since a tree may be deeper than the machine's.

mod decls;
mod exprs;

use std::fmt::Write;

use crate::ast::{
    Ast, BodyId, ClassId, ExprId, MethodId, Module, Name, ObjectMember, Parameter, PropertyId, StringId,
    Text, TypeAliasId, TypeId,
};
use crate::{Interner, Parsed};

/// The tree of a module as text.
pub fn dump_module(source: &str, parsed: &Parsed<Module>, interner: &Interner) -> String {
    let mut dumper = Dumper::new(source, &parsed.ast, interner);
    dumper.module(&parsed.root);
    dumper.finish()
}

/// The tree of an expression as text.
pub fn dump_expression(source: &str, parsed: &Parsed<ExprId>, interner: &Interner) -> String {
    let mut dumper = Dumper::new(source, &parsed.ast, interner);
    dumper.later.push(Step::Expr(parsed.root));
    dumper.finish()
}

/// Something yet to be written.
#[derive(Debug, Clone)]
enum Step {
    Text(&'static str),
    Name(Name),
    Expr(ExprId),
    Type(TypeId),
    String(StringId),
    Quoted(Text),
    Body(BodyId),
    Parameter(Parameter),
    Member(ObjectMember),
    Property(PropertyId),
    Method(MethodId),
    Class(ClassId),
    TypeAlias(TypeAliasId),
    Indent,
    Dedent,
    Newline,
}

struct Dumper<'a> {
    source: &'a str,
    ast: &'a Ast,
    interner: &'a Interner,
    out: String,
    depth: usize,
    /// What to write, the next last.
    later: Vec<Step>,
}

impl<'a> Dumper<'a> {
    fn new(source: &'a str, ast: &'a Ast, interner: &'a Interner) -> Self {
        Self { source, ast, interner, out: String::new(), depth: 0, later: Vec::new() }
    }

    fn finish(mut self) -> String {
        self.run();
        if !self.out.is_empty() {
            self.out.push('\n');
        }
        self.out
    }

    fn run(&mut self) {
        while let Some(step) = self.later.pop() {
            match step {
                Step::Text(text) => self.out.push_str(text),
                Step::Name(name) => self.name(name),
                Step::Expr(expr) => self.expr(expr),
                Step::Type(ty) => self.ty(ty),
                Step::String(string) => self.string(string),
                Step::Quoted(text) => self.quoted(self.ast.text(text)),
                Step::Body(body) => self.body(body),
                Step::Parameter(parameter) => self.parameter(parameter),
                Step::Member(member) => self.object_member(member),
                Step::Property(property) => self.property(property),
                Step::Method(method) => self.method(method),
                Step::Class(class) => self.class(class),
                Step::TypeAlias(alias) => self.type_alias(alias),
                Step::Indent => self.depth += 1,
                Step::Dedent => self.depth -= 1,
                Step::Newline => self.newline(),
            }
        }
    }

    fn newline(&mut self) {
        if self.out.is_empty() {
            return;
        }
        self.out.push('\n');
        // Deeper indentation would only make long texts longer.
        for _ in 0..self.depth.min(40) {
            self.out.push_str("  ");
        }
    }

    fn name(&mut self, name: Name) {
        let text = self.interner.text(name.symbol);
        self.out.push_str(&text);
    }

    fn quoted(&mut self, text: &str) {
        write!(self.out, "{text:?}").expect("a string can be written");
    }

    /// Puts steps before everything that is yet to be written, in order.
    fn next(&mut self, steps: impl IntoIterator<Item = Step, IntoIter: DoubleEndedIterator>) {
        self.later.extend(steps.into_iter().rev());
    }
}

/// `prefix item` for each item.
fn each<T>(prefix: &'static str, items: &[T], step: impl Fn(&T) -> Step) -> Vec<Step> {
    items.iter().flat_map(|item| [Step::Text(prefix), step(item)]).collect()
}
