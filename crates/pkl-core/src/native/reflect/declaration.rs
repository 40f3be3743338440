//! What all declarations have: place, doc comment, annotations, modifiers and name.

use pkl_parser::ast::{self, Annotation, DocComment, ModifierKind, ModifierSet};
use pkl_parser::{Span, Symbol};
use std::sync::Arc;

use super::super::Table;
use super::{Mirror, class_named, list, member, module, shown};
use crate::error::Result;
use crate::heap::ClassKind;
use crate::ir::{Member, ModuleIr};
use crate::value::{ClassId, ModuleId, Value};
use crate::vm::Vm;

pub(in super::super) static PROPERTIES: Table = &[
    ("pkl.reflect#Declaration.location", location),
    ("pkl.reflect#Declaration.docComment", doc_comment),
    ("pkl.reflect#Declaration.annotations", annotations),
    ("pkl.reflect#Declaration.modifiers", modifiers),
    ("pkl.reflect#Declaration.name", name),
];

/// A declaration as it stands in its module.
pub(super) struct Declared<'ir> {
    module: ModuleId,
    ir: &'ir ModuleIr,
    span: Span,
    doc: Option<DocComment>,
    annotations: ast::List<Annotation>,
    modifiers: ModifierSet,
}

impl<'ir> Declared<'ir> {
    fn of(vm: &Vm<'ir>, mirror: Mirror) -> Self {
        match mirror {
            Mirror::Module(object) => Self::of_module(vm, module::id_of(vm, object)),
            Mirror::Class(class) => Self::of_class(vm, class),
            Mirror::Alias(alias) => {
                let record = vm.heap.alias(alias);
                let ir = vm.module(record.module).ir;
                let declared = &ir.ast[record.ir.ast];
                Self {
                    module: record.module,
                    ir,
                    span: declared.span,
                    doc: declared.doc,
                    annotations: declared.annotations,
                    modifiers: record.ir.modifiers,
                }
            }
            Mirror::Property { class, name, .. } => Self::of_property(vm, member::property(vm, class, name)),
            Mirror::Method { class, name } => {
                let method = member::method(vm, class, name);
                let module = vm.module_of(method.module);
                let ir = vm.module(module).ir;
                let declared = &ir.ast[method.ast];
                Self {
                    module,
                    ir,
                    span: declared.span,
                    doc: declared.doc,
                    annotations: declared.annotations,
                    modifiers: method.modifiers,
                }
            }
            Mirror::Parameter { .. } | Mirror::TypeParameter { .. } => {
                panic!("`pkl:reflect` declares parameters as no declarations")
            }
        }
    }

    fn of_module(vm: &Vm<'ir>, module: ModuleId) -> Self {
        let ir = vm.module(module).ir;
        let header = ir.root.decl;
        Self {
            module,
            ir,
            span: header.map_or(Span::default(), |header| header.span),
            doc: header.and_then(|header| header.doc),
            annotations: header.map_or(ast::List::EMPTY, |header| header.annotations),
            modifiers: header.map_or(ModifierSet::EMPTY, |header| ir.ast.modifier_set(header.modifiers)),
        }
    }

    fn of_class(vm: &Vm<'ir>, class: ClassId) -> Self {
        let record = vm.class(class);
        let ir = vm.module(record.module).ir;
        match record.ir.ast.map(|ast| &ir.ast[ast]) {
            Some(declared) => Self {
                module: record.module,
                ir,
                span: declared.span,
                doc: declared.doc,
                annotations: declared.annotations,
                modifiers: record.modifiers,
            },
            None => Self::of_module(vm, record.module),
        }
    }

    pub(super) fn of_property(vm: &Vm<'ir>, property: &'ir Member) -> Self {
        let module = vm.module_of(property.module);
        let ir = vm.module(module).ir;
        let declared = property.ast.map(|ast| &ir.ast[ast]);
        Self {
            module,
            ir,
            span: property.span,
            doc: declared.and_then(|declared| declared.doc),
            annotations: declared.map_or(ast::List::EMPTY, |declared| declared.annotations),
            modifiers: property.modifiers,
        }
    }

    /// Where the declaration begins, after its doc comment and annotations.
    fn start(&self) -> u32 {
        let before = self.ir.ast[self.annotations].last().map(|annotation| annotation.span.end);
        let before = before.or(self.doc.map(|doc| doc.span.end));
        let Some(before) = before else { return self.span.start };
        let rest = &self.ir.source[before as usize..];
        let skipped = rest.len() - skip_trivia(rest).len();
        before + u32::try_from(skipped).expect("a source is shorter than 4 GiB")
    }

    /// The annotations as objects.
    pub(super) fn annotation_objects(&self, vm: &mut Vm<'ir>) -> Result<Vec<Value>> {
        vm.annotation_objects(self.module, &self.ir.scope, self.annotations)
    }
}

/// A source without the white space and comments at its start.
fn skip_trivia(mut source: &str) -> &str {
    loop {
        source = source.trim_start();
        if source.starts_with("//") {
            source = source.find('\n').map_or("", |end| &source[end..]);
        } else if let Some(comment) = source.strip_prefix("/*") {
            source = comment.find("*/").map_or("", |end| &comment[end + 2..]);
        } else {
            return source;
        }
    }
}

fn location(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    let declared = Declared::of(vm, shown(vm, this));
    let (line, column, _) = crate::store::line_of(declared.ir, declared.start());
    let uri = &declared.ir.uri;
    let display_uri = match crate::reader::scheme(uri) {
        Some("pkl") => format!("{uri}#L{line}"),
        Some("package" | "projectpackage") => uri.to_string(),
        _ => format!("{uri}, line {line}"),
    };
    let class = class_named(vm, "SourceLocation")?;
    let fields = [
        (vm.store.symbol("line"), Value::Int(i64::from(line))),
        (vm.store.symbol("column"), Value::Int(i64::from(column))),
        (vm.store.symbol("displayUri"), vm.heap.string(display_uri)),
    ];
    Ok(vm.make_typed(class, &fields))
}

fn doc_comment(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    let declared = Declared::of(vm, shown(vm, this));
    Ok(match declared.doc {
        Some(doc) => vm.heap.string(doc.text(&declared.ir.source)),
        None => Value::NULL,
    })
}

fn annotations(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    let declared = Declared::of(vm, shown(vm, this));
    let annotations = declared.annotation_objects(vm)?;
    Ok(list(vm, annotations))
}

fn modifiers(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    let mirror = shown(vm, this);
    let is_class = matches!(mirror, Mirror::Class(_) | Mirror::Alias(_) | Mirror::Module(_));
    let modifiers = Declared::of(vm, mirror).modifiers;
    modifier_names(vm, modifiers, is_class)
}

/// The names of modifiers. That a member is implemented natively doesn't show.
pub(super) fn modifier_names(vm: &mut Vm<'_>, modifiers: ModifierSet, is_class: bool) -> Result<Value> {
    let order = [
        ModifierKind::Abstract,
        ModifierKind::Open,
        ModifierKind::External,
        ModifierKind::Hidden,
        ModifierKind::Fixed,
        ModifierKind::Const,
    ];
    let shown = order.into_iter().filter(|kind| modifiers.contains(*kind));
    let shown = shown.filter(|kind| is_class || *kind != ModifierKind::External);
    let names: Vec<Value> = shown.map(|kind| vm.heap.string(kind.as_str())).collect();
    vm.make_set(&names)
}

fn name(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    let text = match shown(vm, this) {
        Mirror::Module(object) => Arc::clone(&module::ir_of(vm, object).name),
        Mirror::Class(class) => simple_name(vm, class),
        Mirror::Alias(alias) => vm.text_of(vm.heap.alias(alias).name),
        Mirror::Property { name, .. } | Mirror::Method { name, .. } => vm.text_of(name),
        Mirror::Parameter { .. } | Mirror::TypeParameter { .. } => {
            panic!("`pkl:reflect` declares parameters as no declarations")
        }
    };
    Ok(vm.heap.string(text))
}

/// The name of a class without its module.
pub(in super::super) fn simple_name(vm: &Vm<'_>, class: ClassId) -> Arc<str> {
    let record = vm.class(class);
    match record.kind {
        ClassKind::Module => "ModuleClass".into(),
        ClassKind::Declared => vm.text_of(record.name),
    }
}

/// The modifiers of a property in a class and those above it.
pub(super) fn all_modifiers(vm: &Vm<'_>, class: ClassId, name: Symbol) -> ModifierSet {
    let declarations = member::declarations(vm, class, name);
    let kinds = declarations.iter().flat_map(|member| member.modifiers.iter());
    kinds.collect()
}
