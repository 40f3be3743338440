//! Modules and declarations as text.

use super::{Dumper, Step, each};
use crate::ast::{
    Annotation, ClassId, ClassMember, DocComment, List, MethodId, Modifier, Module, ModuleBaseKind,
    ModuleMember, PropertyId, PropertyValue, TypeAliasId, TypeParameter, Variance,
};

impl Dumper<'_> {
    pub(super) fn module(&mut self, module: &Module) {
        let ast = self.ast;
        if let Some(decl) = module.decl {
            self.preamble(decl.doc, decl.annotations, decl.modifiers);
            self.out.push_str("(module");
            let mut steps = self.dotted(decl.name);
            if !steps.is_empty() {
                steps.insert(0, Step::Text(" "));
            }
            if let Some(base) = decl.base {
                let kind = if base.kind == ModuleBaseKind::Amends { " amends " } else { " extends " };
                steps.extend([Step::Text(kind), Step::String(base.uri)]);
            }
            steps.push(Step::Text(")"));
            self.next(steps);
            self.run();
        }
        let mut steps = Vec::new();
        for import in &ast[module.imports] {
            let open = if import.glob { "(import* " } else { "(import " };
            steps.extend([Step::Newline, Step::Text(open), Step::String(import.uri)]);
            steps.extend(import.alias.into_iter().flat_map(|alias| [Step::Text(" as "), Step::Name(alias)]));
            steps.push(Step::Text(")"));
        }
        for member in &ast[module.members] {
            let step = match *member {
                ModuleMember::Class(class) => Step::Class(class),
                ModuleMember::TypeAlias(alias) => Step::TypeAlias(alias),
                ModuleMember::Property(property) => Step::Property(property),
                ModuleMember::Method(method) => Step::Method(method),
            };
            steps.extend([Step::Newline, step]);
        }
        self.next(steps);
    }

    pub(super) fn class(&mut self, class: ClassId) {
        let class = self.ast[class];
        self.preamble(class.doc, class.annotations, class.modifiers);
        self.out.push_str("(class ");
        let mut steps = vec![Step::Name(class.name)];
        steps.extend(self.type_parameters(class.type_params));
        steps.extend(class.superclass.into_iter().flat_map(|ty| [Step::Text(" extends "), Step::Type(ty)]));
        if let Some(body) = class.body {
            steps.extend([Step::Text(" {"), Step::Indent]);
            for member in &self.ast[body.members] {
                let step = match *member {
                    ClassMember::Property(property) => Step::Property(property),
                    ClassMember::Method(method) => Step::Method(method),
                };
                steps.extend([Step::Newline, step]);
            }
            steps.extend([Step::Dedent, Step::Text("}")]);
        }
        steps.push(Step::Text(")"));
        self.next(steps);
    }

    pub(super) fn type_alias(&mut self, alias: TypeAliasId) {
        let alias = self.ast[alias];
        self.preamble(alias.doc, alias.annotations, alias.modifiers);
        self.out.push_str("(typealias ");
        let mut steps = vec![Step::Name(alias.name)];
        steps.extend(self.type_parameters(alias.type_params));
        steps.extend([Step::Text(" = "), Step::Type(alias.ty), Step::Text(")")]);
        self.next(steps);
    }

    pub(super) fn property(&mut self, property: PropertyId) {
        let property = self.ast[property];
        self.preamble(property.doc, property.annotations, property.modifiers);
        self.out.push_str("(property ");
        let mut steps = vec![Step::Name(property.name)];
        steps.extend(property.ty.into_iter().flat_map(|ty| [Step::Text(": "), Step::Type(ty)]));
        match property.value {
            PropertyValue::None => {}
            PropertyValue::Expr(value) => steps.extend([Step::Text(" = "), Step::Expr(value)]),
            PropertyValue::Bodies(bodies) => {
                steps.extend(self.ast[bodies].iter().map(|body| Step::Body(*body)));
            }
        }
        steps.push(Step::Text(")"));
        self.next(steps);
    }

    pub(super) fn method(&mut self, method: MethodId) {
        let method = self.ast[method];
        self.preamble(method.doc, method.annotations, method.modifiers);
        self.out.push_str("(method ");
        let mut steps = vec![Step::Name(method.name)];
        steps.extend(self.type_parameters(method.type_params));
        steps.push(Step::Text(" ("));
        steps
            .extend(each(" ", &self.ast[method.params], |param| Step::Parameter(*param)).into_iter().skip(1));
        steps.push(Step::Text(")"));
        steps.extend(method.return_type.into_iter().flat_map(|ty| [Step::Text(": "), Step::Type(ty)]));
        steps.extend(method.body.into_iter().flat_map(|body| [Step::Text(" = "), Step::Expr(body)]));
        steps.push(Step::Text(")"));
        self.next(steps);
    }

    fn type_parameters(&self, params: List<TypeParameter>) -> Vec<Step> {
        if params.is_empty() {
            return Vec::new();
        }
        let mut steps = vec![Step::Text(" <")];
        for (index, param) in self.ast[params].iter().enumerate() {
            let variance = match param.variance {
                Some(Variance::In) => "in ",
                Some(Variance::Out) => "out ",
                None => "",
            };
            let space = if index > 0 { " " } else { "" };
            steps.extend([Step::Text(space), Step::Text(variance), Step::Name(param.name)]);
        }
        steps.push(Step::Text(">"));
        steps
    }

    /// What stands before a declaration; doc comment and annotations on lines of their own.
    fn preamble(
        &mut self,
        doc: Option<DocComment>,
        annotations: List<Annotation>,
        modifiers: List<Modifier>,
    ) {
        let ast = self.ast;
        if let Some(doc) = doc {
            self.out.push_str("(doc ");
            self.quoted(&doc.text(self.source));
            self.out.push(')');
            self.newline();
        }
        for annotation in &ast[annotations] {
            let mut steps = vec![Step::Text("(@ "), Step::Type(annotation.ty)];
            steps.extend(annotation.body.map(Step::Body));
            steps.extend([Step::Text(")"), Step::Newline]);
            self.run_now(steps);
        }
        for modifier in ast.modifier_set(modifiers).iter() {
            self.out.push_str(modifier.as_str());
            self.out.push(' ');
        }
    }

    /// Writes steps before returning. Only annotations need it, which don't nest.
    fn run_now(&mut self, steps: Vec<Step>) {
        let later = std::mem::take(&mut self.later);
        self.next(steps);
        self.run();
        self.later = later;
    }
}
