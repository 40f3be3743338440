//! Rules beyond the grammar that need nothing but the text: which modifiers stand where, what must have a
//! value, what may be defined once only.
//!
//! A formatter doesn't ask for them; an evaluator does before it looks at the module. They read the
//! arenas from one end to the other and so don't recurse.

mod calls;
mod modifiers;
mod scope;
mod words;

use modifiers::Place;
pub use scope::import_name;

use crate::ast::{
    Ast, Body, BodyId, ClassMember, ExprId, List, MethodId, Module, ModuleBaseKind, ModuleMember,
    ObjectMember, ObjectMemberKind, PropertyId, PropertyValue, TypeId, TypeKind, TypeParameter,
};
use crate::{Diagnostic, DiagnosticCode, Interner, Parsed, Span};

/// Who may write what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// A module of the standard library, which may have external members and type parameters.
    StandardLibrary,
    /// Any other module.
    User,
}

/// The errors of a module that the grammar lets pass, in the order in which the language finds them: those of
/// classes, type aliases, properties and methods, in each class those of properties before those of methods.
/// None after syntax errors, which would only be repeated in other words.
pub fn check_module(
    source: &str,
    parsed: &Parsed<Module>,
    interner: &Interner,
    origin: Origin,
) -> Vec<Diagnostic> {
    if !parsed.diagnostics.is_empty() {
        return Vec::new();
    }
    let mut checker = Checker::new(source, &parsed.ast, interner, origin);
    checker.module(&parsed.root);
    checker.bodies();
    checker.expressions();
    if origin == Origin::User {
        checker.words(&parsed.root);
    }
    let mut diagnostics = checker.diagnostics;
    diagnostics.sort_by_cached_key(|diagnostic| order_in_module(&parsed.ast, &parsed.root, diagnostic.span));
    diagnostics
}

/// The errors of a single expression that the grammar lets pass, in source order. None after syntax errors.
pub fn check_expression(source: &str, parsed: &Parsed<ExprId>, interner: &Interner) -> Vec<Diagnostic> {
    if !parsed.diagnostics.is_empty() {
        return Vec::new();
    }
    let mut checker = Checker::new(source, &parsed.ast, interner, Origin::User);
    checker.bodies();
    checker.expressions();
    checker.finish()
}

/// The place of an error in the order of errors: by what holds it, in a class by whether a method does.
fn order_in_module(ast: &Ast, module: &Module, place: Span) -> (u8, u32, bool, u32) {
    let span = |member: &ModuleMember| match *member {
        ModuleMember::Class(class) => ast[class].span,
        ModuleMember::TypeAlias(alias) => ast[alias].span,
        ModuleMember::Property(property) => ast[property].span,
        ModuleMember::Method(method) => ast[method].span,
    };
    let plain = |rank: u8| (rank, 0, false, place.start);
    match last_before(&ast[module.members], place, span) {
        None => plain(0),
        Some(ModuleMember::Class(class)) => {
            let members = ast[*class].body.map_or(List::EMPTY, |body| body.members);
            let span = |member: &ClassMember| match *member {
                ClassMember::Property(property) => ast[property].span,
                ClassMember::Method(method) => ast[method].span,
            };
            let in_method = matches!(last_before(&ast[members], place, span), Some(ClassMember::Method(_)));
            (1, ast[*class].span.start, in_method, place.start)
        }
        Some(ModuleMember::TypeAlias(_)) => plain(2),
        Some(ModuleMember::Property(_)) => plain(3),
        Some(ModuleMember::Method(_)) => plain(4),
    }
}

/// The last member that begins at or before a place; members are in source order.
fn last_before<Member>(members: &[Member], place: Span, span: impl Fn(&Member) -> Span) -> Option<&Member> {
    members[..members.partition_point(|member| span(member).start <= place.start)].last()
}

struct Checker<'a> {
    source: &'a str,
    ast: &'a Ast,
    interner: &'a Interner,
    origin: Origin,
    diagnostics: Vec<Diagnostic>,
}

impl<'a> Checker<'a> {
    fn new(source: &'a str, ast: &'a Ast, interner: &'a Interner, origin: Origin) -> Self {
        Self { source, ast, interner, origin, diagnostics: Vec::new() }
    }

    fn finish(mut self) -> Vec<Diagnostic> {
        self.diagnostics.sort_by_key(|diagnostic| diagnostic.span.start);
        self.diagnostics
    }

    fn report(&mut self, code: DiagnosticCode, span: Span, text: &str) {
        self.diagnostics.push(Diagnostic::new(code, span, text));
    }

    fn module(&mut self, module: &Module) {
        if let Some(decl) = module.decl {
            let amends = decl.base.is_some_and(|base| base.kind == ModuleBaseKind::Amends);
            self.modifiers(decl.modifiers, if amends { Place::AmendingModule } else { Place::Module });
        }
        self.module_names(module);
        for member in &self.ast[module.members] {
            match *member {
                ModuleMember::Property(property) => self.property(property),
                ModuleMember::Method(method) => self.method(method),
                ModuleMember::Class(class) => self.class(class),
                ModuleMember::TypeAlias(alias) => {
                    let alias = self.ast[alias];
                    self.modifiers(alias.modifiers, Place::TypeAlias);
                    self.type_parameter_names(alias.type_params);
                }
            }
        }
    }

    fn class(&mut self, class: crate::ast::ClassId) {
        let class = self.ast[class];
        self.modifiers(class.modifiers, Place::Class);
        self.library_type_parameters(class.type_params);
        self.type_parameter_names(class.type_params);
        if let Some(superclass) = class.superclass {
            self.superclass(superclass);
        }
        let members = class.body.map_or(List::EMPTY, |body| body.members);
        self.class_names(members);
        for member in &self.ast[members] {
            match *member {
                ClassMember::Property(property) => self.property(property),
                ClassMember::Method(method) => self.method(method),
            }
        }
    }

    fn superclass(&mut self, mut ty: TypeId) {
        while let TypeKind::Parenthesized(inner) = self.ast[ty].kind {
            ty = inner;
        }
        let ty = self.ast[ty];
        if !matches!(ty.kind, TypeKind::Declared { .. } | TypeKind::Module | TypeKind::Error) {
            let text = format!("`{}` is not a valid supertype.", ty.span.text(self.source));
            self.report(DiagnosticCode::InvalidSupertype, ty.span, &text);
        }
    }

    fn property(&mut self, property: PropertyId) {
        let property = self.ast[property];
        let set = self.modifiers(property.modifiers, Place::Property);
        match property.value {
            PropertyValue::Expr(_) if set.is_abstract() => self.abstract_with_body(property.name.span),
            PropertyValue::None if set.is_local() && property.ty.is_some() => {
                self.report(DiagnosticCode::MissingValue, property.name.span, "Missing property value.");
            }
            _ => {}
        }
    }

    fn method(&mut self, method: MethodId) {
        let method = self.ast[method];
        let set = self.modifiers(method.modifiers, Place::Method);
        self.type_parameter_names(method.type_params);
        if self.library_type_parameters(method.type_params) {
            return;
        }
        if method.body.is_some() {
            if set.is_abstract() {
                self.abstract_with_body(method.name.span);
            }
        } else if !set.is_abstract() && !set.is_external() {
            let text = format!("Method `{}` is missing a body.", self.interner.text(method.name.symbol));
            self.report(DiagnosticCode::MissingValue, method.name.span, &text);
        }
    }

    fn abstract_with_body(&mut self, span: Span) {
        self.report(DiagnosticCode::NotAllowedHere, span, "Abstract members cannot have a body.");
    }

    /// Reports type parameters outside of the standard library; whether there are any.
    fn library_type_parameters(&mut self, params: List<TypeParameter>) -> bool {
        let Some(first) = self.ast[params].first().filter(|_| self.origin == Origin::User) else {
            return false;
        };
        let text = "Only standard library members can have type parameters.";
        self.report(DiagnosticCode::NotAllowedHere, first.span, text);
        true
    }

    fn bodies(&mut self) {
        let ast = self.ast;
        let generated = scope::generated_bodies(ast);
        for (index, body) in ast.bodies().iter().enumerate() {
            if !generated.contains(&index) {
                self.separators(body);
                self.object_names(body);
            }
            for member in &ast[body.members] {
                self.object_member(member);
            }
        }
    }

    fn separators(&mut self, body: &Body) {
        let ast = self.ast;
        for pair in ast[body.members].windows(2) {
            if pair[0].span.end == pair[1].span.start {
                self.report(
                    DiagnosticCode::MissingSeparator,
                    pair[1].span,
                    "Object members must be separated by whitespace, newline, or semicolon.\nObject entries must be \
                     separated by newline or semicolon.",
                );
            }
        }
    }

    fn object_member(&mut self, member: &ObjectMember) {
        match member.kind {
            ObjectMemberKind::Property(property) => self.object_property(property),
            ObjectMemberKind::Method(method) => self.object_method(method),
            ObjectMemberKind::For { variables, body, .. } => {
                self.variable_names(variables);
                self.generated_members(member.span.start, body);
            }
            _ => {}
        }
    }

    fn object_property(&mut self, property: PropertyId) {
        let property = self.ast[property];
        let set = self.modifiers(property.modifiers, Place::ObjectMember);
        if let Some(ty) = property.ty
            && property.modifiers.is_empty()
            && !set.is_local()
        {
            let span = self.ast[ty].span;
            let text = "A non-local object property cannot have a type annotation.";
            self.report(DiagnosticCode::NotAllowedHere, span, text);
        }
    }

    fn object_method(&mut self, method: MethodId) {
        let method = self.ast[method];
        let set = self.modifiers(method.modifiers, Place::ObjectMethod);
        if !set.is_local() {
            if set.without_local_and_const().is_empty() {
                let text = "Method needs a `local` modifier because it is defined in an object, not a class.";
                self.report(DiagnosticCode::InvalidModifier, method.name.span, text);
            }
            return;
        }
        self.library_type_parameters(method.type_params);
    }

    /// A `for` generator makes no properties and methods, also not through a `when` in it. A `for` in it
    /// is looked at by itself.
    fn generated_members(&mut self, start: u32, body: BodyId) {
        let keyword = Span::new(start, start + 3);
        let mut bodies = vec![body];
        while let Some(body) = bodies.pop() {
            for member in &self.ast[self.ast[body].members] {
                let kind = match member.kind {
                    ObjectMemberKind::Property(_) => "properties",
                    ObjectMemberKind::Method(_) => "methods",
                    ObjectMemberKind::When { then, otherwise, .. } => {
                        bodies.push(then);
                        bodies.extend(otherwise);
                        continue;
                    }
                    _ => continue,
                };
                let text =
                    format!("A for-generator cannot generate object {kind} (only entries and elements).");
                self.report(DiagnosticCode::NotAllowedHere, keyword, &text);
            }
        }
    }
}
