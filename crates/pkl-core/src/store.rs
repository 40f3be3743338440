//! Modules that were read, parsed and lowered: shared by all evaluations of a host, never changed.

mod trees;

use elsa::sync::FrozenVec;
use pkl_parser::ast::{self, TypeId};
use pkl_parser::{
    Diagnostic, Interner, Origin, Parsed, Symbol, check_expression, check_module, parse_expression,
    parse_module,
};
use rustc_hash::FxHashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crate::error::{ErrorCode, Failure, Raised};
use crate::ir::{
    Body, ClassIr, ClassMembers, Code, IrId, Lambda, LazyBody, Member, MemberSource, Method, MethodCode,
    ModuleIr, Parameter, Scope,
};
use crate::lower::{self, Arguments, Context, Numbers, Words};
use crate::stdlib;
use trees::{SourceHash, Trees};

/// The URI of a host's expressions, of which each is a module.
pub(crate) const EXPRESSION_URI: &str = "repl:text";

/// A module's URI and text.
type SourceKey = (Arc<str>, Arc<str>);

/// From how many bytes of sources on it pays to write their trees down.
const WORTH_KEEPING: usize = 32 << 10;

/// Trees of earlier evaluations, and what this one adds to them.
#[derive(Default)]
struct Kept {
    trees: Trees,
    /// What the sources of the modules hash to.
    hashes: Mutex<Vec<(IrId, SourceHash)>>,
    /// How many bytes were parsed because there was no tree of them.
    parsed: AtomicUsize,
}

/// What evaluations share.
pub(crate) struct Store {
    pub(crate) interner: Arc<Interner>,
    pub(crate) numbers: Numbers,
    pub(crate) words: Words,
    modules: FrozenVec<Box<ModuleIr>>,
    /// Modules by URI and text: a file that changed is another module.
    known: Mutex<FxHashMap<SourceKey, IrId>>,
    base: OnceLock<IrId>,
    given: OnceLock<[Member; 4]>,
    /// `None` if trees aren't kept.
    kept: Option<Kept>,
}

impl Store {
    /// A store without modules. If trees are kept, `text` holds those of earlier evaluations.
    pub(crate) fn new(text: Option<Vec<u8>>) -> Self {
        let interner = Arc::new(Interner::starting_with(stdlib::fixed_names()));
        let kept = text.map(|text| Kept { trees: Trees::read(text, &interner), ..Kept::default() });
        let words = Words::new(&interner);
        Self {
            interner,
            numbers: Numbers::default(),
            words,
            modules: FrozenVec::new(),
            known: Mutex::default(),
            base: OnceLock::new(),
            given: OnceLock::new(),
            kept,
        }
    }

    /// The trees for later evaluations, if they are kept and enough was parsed anew.
    pub(crate) fn kept(&self) -> Option<Vec<u8>> {
        let kept = self.kept.as_ref()?;
        if kept.parsed.load(Ordering::Relaxed) < WORTH_KEEPING {
            return None;
        }
        let hashes = kept.hashes.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let modules = hashes.into_iter().map(|(id, source)| {
            let module = self.module(id);
            (source, &module.ast, &module.root)
        });
        kept.trees.continued(modules, &self.interner)
    }

    pub(crate) fn module(&self, id: IrId) -> &ModuleIr {
        self.modules.get(id.0 as usize).expect("a module's number is given when it is added")
    }

    /// The base module.
    pub(crate) fn base(&self) -> &ModuleIr {
        let id = self.base.get_or_init(|| {
            let source = stdlib::source("base").expect("the base module is part of the library");
            self.add("pkl:base", source.into()).expect("the base module is well formed").id
        });
        self.module(*id)
    }

    /// Parses and lowers a module, unless the same text was added under the same URI before.
    pub(crate) fn add(&self, uri: &str, source: Arc<str>) -> Result<&ModuleIr, Failure> {
        let key = (Arc::from(uri), Arc::clone(&source));
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(&id) = known.get(&key) {
            return Ok(self.module(id));
        }
        let hash =
            self.kept.as_ref().filter(|_| !uri.starts_with("pkl:")).map(|kept| (kept, trees::hash(&source)));
        let (parsed, diagnostics) = match hash.as_ref().and_then(|(kept, hash)| kept.trees.find(hash)) {
            Some(parsed) => (parsed, Vec::new()),
            None => self.parse(uri, &source),
        };
        let id = IrId(u32::try_from(self.modules.len()).expect("modules fill memory before they fill u32"));
        let module = lower::lower_module(id, uri, source, parsed, &self.interner, &self.numbers, &self.words);
        self.modules.push(Box::new(module));
        let Some(first) = diagnostics.first() else {
            known.insert(key, id);
            if let Some((kept, hash)) = hash {
                kept.hashes.lock().unwrap_or_else(PoisonError::into_inner).push((id, hash));
            }
            return Ok(self.module(id));
        };
        let error = Raised::new(ErrorCode::Syntax, first.to_string()).locate(id, first.span);
        Err(error.leave(|| self.module(id).name.to_string()))
    }

    /// The tree of a source, and what is wrong with it.
    fn parse(&self, uri: &str, source: &str) -> (Parsed<ast::Module>, Vec<Diagnostic>) {
        let mut parsed = stdlib::tree(uri, source).unwrap_or_else(|| parse_module(source, &self.interner));
        let mut diagnostics = std::mem::take(&mut parsed.diagnostics);
        if !uri.starts_with("pkl:") {
            if diagnostics.is_empty() {
                diagnostics = check_module(source, &parsed, &self.interner, Origin::User);
            }
            if let Some(kept) = &self.kept {
                kept.parsed.fetch_add(source.len(), Ordering::Relaxed);
            }
        }
        (parsed, diagnostics)
    }

    /// Parses and lowers an expression in the scope of a module.
    pub(crate) fn add_expression(&self, text: &str, module: &ModuleIr) -> Result<&ModuleIr, Failure> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let mut parsed = parse_expression(text, &self.interner);
        let mut diagnostics = std::mem::take(&mut parsed.diagnostics);
        if diagnostics.is_empty() {
            diagnostics = check_expression(text, &parsed, &self.interner);
        }
        let id = IrId(u32::try_from(self.modules.len()).expect("modules fill memory before they fill u32"));
        let root = ast::Module {
            span: pkl_parser::Span::default(),
            decl: None,
            imports: ast::List::EMPTY,
            members: ast::List::EMPTY,
        };
        let expr = parsed.root;
        let outline = Parsed { ast: parsed.ast, root, diagnostics: Vec::new() };
        let ir = lower::lower_module(
            id,
            EXPRESSION_URI,
            text.into(),
            outline,
            &self.interner,
            &self.numbers,
            &self.words,
        );
        self.modules.push(Box::new(ir));
        drop(known);
        let ir = self.module(id);
        if let Some(first) = diagnostics.first() {
            let error = Raised::new(ErrorCode::Syntax, first.to_string()).locate(id, first.span);
            return Err(error.leave(String::new));
        }
        ir.expression.get_or_init(|| lower::lower_expression(self.context(id), &module.scope, expr));
        Ok(ir)
    }

    fn given_members(&self) -> &[Member; 4] {
        self.given.get_or_init(|| {
            let sources = [
                MemberSource::Given,
                MemberSource::ModuleAt,
                MemberSource::ResourceAt,
                MemberSource::Forward,
            ];
            sources.map(|source| lower::given_member(self.base(), source))
        })
    }

    /// The definition of every member whose value is given instead of computed.
    pub(crate) fn given(&self) -> &Member {
        &self.given_members()[0]
    }

    /// The definition of every member whose value is a module found by a pattern.
    pub(crate) fn module_at(&self) -> &Member {
        &self.given_members()[1]
    }

    /// The definition of every member whose value is a resource found by a pattern.
    pub(crate) fn resource_at(&self) -> &Member {
        &self.given_members()[2]
    }

    /// The definition of every member whose value is another object's.
    pub(crate) fn forward(&self) -> &Member {
        &self.given_members()[3]
    }

    pub(crate) fn symbol(&self, text: &str) -> Symbol {
        self.interner.intern(text)
    }

    pub(crate) fn context(&self, id: IrId) -> Context<'_> {
        let module = self.module(id);
        let base = (&*module.uri != "pkl:base").then(|| &*self.base().names);
        lower::context(module, &self.interner, &self.numbers, &self.words, base)
    }

    pub(crate) fn body<'a>(&self, lazy: &'a LazyBody) -> &'a Body {
        lazy.body.get_or_init(|| lower::lower_body(self.context(lazy.module), lazy, Arguments::Given))
    }

    /// A body with parameters that amends something other than a function.
    pub(crate) fn unapplied_body<'a>(&self, lazy: &'a LazyBody) -> &'a Body {
        let lower = || lower::lower_body(self.context(lazy.module), lazy, Arguments::Missing);
        lazy.unapplied.get_or_init(|| Box::new(lower()))
    }

    pub(crate) fn member_code<'a>(&self, member: &'a Member) -> &'a Code {
        member.code.get_or_init(|| Box::new(lower::lower_member(self.context(member.module), member)))
    }

    pub(crate) fn member_type<'a>(&self, member: &'a Member) -> Option<&'a Code> {
        member.ty?;
        let lower = || lower::lower_member_type(self.context(member.module), member).map(Box::new);
        member.type_code.get_or_init(lower).as_deref()
    }

    pub(crate) fn method_code<'a>(&self, method: &'a Method) -> &'a MethodCode {
        method.code.get_or_init(|| lower::lower_method(self.context(method.module), method))
    }

    pub(crate) fn lambda_code<'a>(&self, lambda: &'a Lambda) -> &'a (Box<[Parameter]>, Code) {
        lambda.code.get_or_init(|| lower::lower_lambda(self.context(lambda.module), lambda))
    }

    pub(crate) fn class_members<'a>(&self, module: &ModuleIr, class: &'a ClassIr) -> &'a ClassMembers {
        class.members.get_or_init(|| lower::lower_class(self.context(module.id), module, class))
    }

    /// The code of an annotation.
    pub(crate) fn annotation_code<'a>(
        &self,
        module: &'a ModuleIr,
        annotation: &ast::Annotation,
        scope: &Arc<Scope>,
    ) -> &'a Code {
        let place = annotation.span.start;
        if let Some(code) = module.annotations.get(&place) {
            return code;
        }
        let code = lower::lower_annotation(self.context(module.id), scope, annotation);
        module.annotations.insert(place, Box::new(code))
    }

    /// The type that an alias stands for.
    pub(crate) fn alias_type<'a>(&self, alias: &'a crate::ir::AliasIr) -> &'a Code {
        alias.ty.get_or_init(|| {
            let cx = self.context(alias.module);
            lower::lower_type(cx, &alias.scope, cx.ast[alias.ast].ty)
        })
    }

    /// The type that a class extends, with its arguments.
    pub(crate) fn supertype_code<'a>(
        &self,
        module: &'a ModuleIr,
        ty: TypeId,
        scope: &Arc<Scope>,
    ) -> &'a Code {
        let cx = self.context(module.id);
        let place = cx.ast[ty].span.start;
        if let Some(code) = module.supertypes.get(&place) {
            return code;
        }
        module.supertypes.insert(place, Box::new(lower::lower_type(cx, scope, ty)))
    }
}

/// Line and column of an offset in a module, counted from one, and the text of the line.
pub(crate) fn line_of(module: &ModuleIr, offset: u32) -> (u32, u32, &str) {
    let lines = module.lines.get_or_init(|| {
        let ends = module.source.bytes().zip(1_u32..).filter(|(byte, _)| *byte == b'\n');
        std::iter::once(0).chain(ends.map(|(_, next)| next)).collect()
    });
    let line = lines.partition_point(|&start| start <= offset).saturating_sub(1);
    let start = lines[line] as usize;
    let text = module.source[start..].lines().next().unwrap_or_default();
    let until = module.source.get(start..offset as usize).unwrap_or_default();
    let column = u32::try_from(until.chars().count() + 1).unwrap_or(u32::MAX);
    (u32::try_from(line + 1).unwrap_or(u32::MAX), column, text)
}
