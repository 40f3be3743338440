//! What is looked at before a module is rendered, used or not: the types and annotations it declares.

use pkl_parser::ast;
use std::sync::Arc;

use super::{Known, Resolved, Vm};
use crate::error::{ErrorCode, Failure, Raised, Result};
use crate::ir::{Code, Scope, Ty, TyIx};
use crate::value::{ClassId, ModuleId, ObjectId, TypeAliasId, Value};

impl<'ir> Vm<'ir> {
    /// Verifies the module that an object stands for, and those it builds on.
    pub(crate) fn verify(&mut self, object: ObjectId) -> Result<()> {
        let Some(position) = self.modules.iter().position(|module| module.object == Some(object)) else {
            return Ok(());
        };
        let mut current = Some(ModuleId::at(position));
        while let Some(module) = current {
            let ir = self.module(module).ir;
            if ir.uri.starts_with("pkl:") || !self.checks.verified.insert(module) {
                break;
            }
            let object = self.module_object(module)?;
            self.verify_declarations(module, object).map_err(|error| error.leave(|| ir.name.to_string()))?;
            current = self.module(module).base;
        }
        Ok(())
    }

    fn verify_declarations(&mut self, module: ModuleId, object: ObjectId) -> Result<()> {
        let ir = self.module(module).ir;
        if let Some(decl) = ir.root.decl {
            for annotation in self.annotation_objects(module, &ir.scope, decl.annotations)? {
                self.verify_version(ir, annotation)?;
            }
        }
        for position in 0..ir.aliases.len() {
            let alias = self.alias_at(module, position);
            self.verify_alias(alias)?;
            let declared = &ir.ast[ir.aliases[position].ast];
            self.verify_annotations(module, &ir.scope, declared.annotations)?;
        }
        let class = self.heap.object(object).class;
        if self.module(module).base.is_none() || self.heap.class(class).module == module {
            self.verify_class(module, class)?;
        } else {
            self.verify_members(module, &ir.class)?;
        }
        for position in 0..ir.classes.len() {
            let class = self.class_at(module, position)?;
            if let Some(id) = ir.classes[position].ast {
                self.verify_annotations(module, &ir.scope, ir.ast[id].annotations)?;
            }
            self.verify_class(module, class)?;
        }
        Ok(())
    }

    /// Whether the language is new enough for a module, if the annotation says what it needs.
    fn verify_version(&mut self, ir: &'ir crate::ir::ModuleIr, annotation: Value) -> Result<()> {
        let class = self.class_of(annotation)?;
        let info = self.known(Known::ModuleInfo)?;
        if !self.is_subclass(class, info) {
            return Ok(());
        }
        let name = self.store.symbol("minPklVersion");
        let Value::String(wanted) = self.read_property(annotation, name)? else { return Ok(()) };
        let wanted = self.heap.shared_text(wanted);
        let parts =
            |version: &str| version.split('.').map(|part| part.parse().unwrap_or(0)).collect::<Vec<u32>>();
        if parts(&wanted) <= parts(crate::LANGUAGE_VERSION) {
            return Ok(());
        }
        let message = format!(
            "Module `{}` requires Pkl version {wanted} or higher, but your Pkl version is {}.",
            ir.name,
            crate::LANGUAGE_VERSION
        );
        Err(Raised::new(ErrorCode::InvalidDeclaration, message))
    }

    fn verify_class(&mut self, module: ModuleId, class: ClassId) -> Result<()> {
        let ir = self.heap.class(class).ir;
        self.verify_members(module, ir)
    }

    fn verify_members(&mut self, module: ModuleId, class: &'ir crate::ir::ClassIr) -> Result<()> {
        let ir = self.module(module).ir;
        let members = self.store.class_members(ir, class);
        for member in &members.properties {
            if let Some(code) = self.store.member_type(member) {
                self.verify_types(code)?;
            }
            if let Some(id) = member.ast {
                self.verify_annotations(module, &ir.scope, ir.ast[id].annotations)?;
            }
        }
        for method in &members.methods {
            let lowered = self.store.method_code(method);
            for ty in lowered.params.iter().filter_map(|param| param.ty).chain(lowered.result) {
                self.verify_type(&lowered.code, ty)?;
            }
            self.verify_annotations(module, &ir.scope, ir.ast[method.ast].annotations)?;
        }
        Ok(())
    }

    fn verify_types(&mut self, code: &'ir Code) -> Result<()> {
        match code.ty {
            Some(ty) => self.verify_type(code, ty),
            None => Ok(()),
        }
    }

    /// Whether all names of a type stand for types, applied to as many as they take.
    fn verify_type(&mut self, code: &'ir Code, ty: TyIx) -> Result<()> {
        let all = |vm: &mut Self, types: &[TyIx]| types.iter().try_for_each(|&ty| vm.verify_type(code, ty));
        match &code.types[ty as usize] {
            Ty::Named { args, .. } => {
                let wanted = match self.resolve_type(code, ty)? {
                    Some(Resolved::Class(class)) => self.heap.class(class).ir.type_parameters.len(),
                    Some(Resolved::Alias(alias)) => self.heap.alias(alias).ir.type_parameters.len(),
                    None => 0,
                };
                if !args.is_empty() && args.len() != wanted {
                    let message = format!("Expected {wanted} type argument(s) but got {}.", args.len());
                    return Err(Raised::new(ErrorCode::InvalidDeclaration, message)
                        .locate(code.module, code.type_spans[ty as usize]));
                }
                all(self, args)
            }
            Ty::Nullable(inner) => self.verify_type(code, *inner),
            Ty::Union { members, .. } => all(self, members),
            Ty::Constrained { base, .. } => self.verify_type(code, *base),
            Ty::Function { params, result } => {
                all(self, params)?;
                self.verify_type(code, *result)
            }
            Ty::Unknown
            | Ty::Nothing
            | Ty::Module(_)
            | Ty::StringLiteral(_)
            | Ty::AliasParameter(_)
            | Ty::Variable(_) => Ok(()),
        }
    }

    fn verify_alias(&mut self, alias: TypeAliasId) -> Result<()> {
        let code = self.store.alias_type(self.heap.alias(alias).ir);
        self.verify_types(code)?;
        let mut seen = vec![alias];
        loop {
            let current = seen[seen.len() - 1];
            let code = self.store.alias_type(self.heap.alias(current).ir);
            let ty = code.ty.expect("the code of a type has a type");
            match self.resolve_type(code, ty)? {
                Some(Resolved::Alias(next)) if seen.contains(&next) => {
                    let ir = self.heap.alias(current).ir;
                    let message = "Type alias definitions must not be cyclic.";
                    return Err(
                        Raised::new(ErrorCode::InvalidDeclaration, message).locate(ir.module, ir.span)
                    );
                }
                Some(Resolved::Alias(next)) => seen.push(next),
                _ => return Ok(()),
            }
        }
    }

    fn verify_annotations(
        &mut self,
        module: ModuleId,
        scope: &Arc<Scope>,
        annotations: ast::List<ast::Annotation>,
    ) -> Result<()> {
        if annotations.is_empty() {
            return Ok(());
        }
        self.annotation_objects(module, scope, annotations).map(|_| ())
    }

    /// The objects that annotations stand for, made once per evaluation.
    pub(crate) fn annotation_objects(
        &mut self,
        module: ModuleId,
        scope: &Arc<Scope>,
        annotations: ast::List<ast::Annotation>,
    ) -> Result<Vec<Value>> {
        let ir = self.module(module).ir;
        let first = ir.ast[annotations].first().map(|annotation| annotation.span);
        let Some(first) = first else { return Ok(Vec::new()) };
        let key = (module, first.start);
        if let Some(known) = self.checks.annotations.get(&key) {
            return Ok(known.clone());
        }
        let mut objects = Vec::with_capacity(annotations.len());
        for annotation in &ir.ast[annotations] {
            let code = self.store.annotation_code(ir, annotation, scope);
            objects.push(self.annotation_object(module, code, annotation)?);
        }
        self.checks.annotations.insert(key, objects.clone());
        Ok(objects)
    }

    fn annotation_object(
        &mut self,
        module: ModuleId,
        code: &'ir Code,
        annotation: &ast::Annotation,
    ) -> Result<Value> {
        let located = |error: Failure| error.locate(code.module, annotation.span);
        let class = match self.resolve_type(code, 0).map_err(located)? {
            Some(Resolved::Class(class)) => Some(class),
            _ => None,
        };
        let base = self.known(Known::Annotation)?;
        if !class.is_some_and(|class| self.is_subclass(class, base)) {
            return Err(located(Raised::new(ErrorCode::TypeMismatch, "Expected an annotation class.")));
        }
        let object = self.module_object(module)?;
        self.eval_in_module(code, module, object)
    }
}
