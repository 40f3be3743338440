//! The host's side: an evaluator is built once and evaluates many modules.

use pkl_data::tree::Tree;
use std::path::Path;
use std::sync::Arc;
use std::thread;

use crate::error::{Error, ErrorCode, Failure, SourcePlace, TraceFrame};
use crate::host::{Dependencies, Limits, ModuleReader, ResourceReader, TraceMode};
use crate::reader::{
    Allowed, EnvReader, FileReader, LibraryReader, ModulePathReader, PropertyReader, Readers,
};
use crate::session::Session;
use crate::store::Store;
use crate::vm::Vm;

/// How much address space an evaluation's stack reserves at most; only what is used takes memory.
const STACK_SIZE: usize = if cfg!(debug_assertions) { 2 << 30 } else { 1 << 30 };

/// Enough for programs that aren't made to nest. Without optimisation frames are of any size.
const LEAST_STACK_SIZE: usize = if cfg!(debug_assertions) { STACK_SIZE } else { 128 << 20 };

/// The size of the stack of an evaluation that may take so much memory: what it uses of the stack is memory too.
fn stack_size(limits: &Limits) -> usize {
    limits.memory.clamp(LEAST_STACK_SIZE, STACK_SIZE)
}

/// A module to evaluate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ModuleSource {
    /// What is at an absolute URI, by the evaluator's readers.
    Uri(String),
    /// This text. The URI is what relative imports are resolved against.
    Text {
        /// The module's URI.
        uri: String,
        /// The module's text.
        text: String,
    },
}

impl ModuleSource {
    /// The module in a file.
    ///
    /// # Errors
    /// If the path can't be made absolute.
    pub fn file(path: impl AsRef<Path>) -> std::io::Result<Self> {
        crate::reader::file_uri(path.as_ref()).map(Self::Uri)
    }

    /// A text that has no place of its own.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { uri: "repl:text".to_owned(), text: text.into() }
    }
}

/// Receives what `trace` writes, a line each.
pub type TraceSink = Arc<dyn Fn(&str) + Send + Sync>;

/// Decides what an [`Evaluator`] can read and how far it may go.
pub struct EvaluatorBuilder {
    modules: Vec<Box<dyn ModuleReader>>,
    resources: Vec<Box<dyn ResourceReader>>,
    allowed_modules: Allowed,
    allowed_resources: Allowed,
    volatile: Vec<String>,
    dependencies: Option<Box<dyn Dependencies>>,
    limits: Limits,
    trace: Option<TraceSink>,
    trace_mode: TraceMode,
    kept: Option<Vec<u8>>,
}

impl EvaluatorBuilder {
    /// Adds a reader of modules.
    #[must_use]
    pub fn module_reader(mut self, reader: impl ModuleReader + 'static) -> Self {
        self.modules.push(Box::new(reader));
        self
    }

    /// Adds a reader of resources.
    #[must_use]
    pub fn resource_reader(mut self, reader: impl ResourceReader + 'static) -> Self {
        self.resources.push(Box::new(reader));
        self
    }

    /// Adds a reader of resources each read of which may give another value.
    #[must_use]
    pub fn volatile_resource_reader(mut self, reader: impl ResourceReader + 'static) -> Self {
        self.volatile.push(reader.scheme().to_owned());
        self.resource_reader(reader)
    }

    /// Lets programs name packages in dependency notation (`@name/path`).
    #[must_use]
    pub fn dependencies(mut self, dependencies: impl Dependencies + 'static) -> Self {
        self.dependencies = Some(Box::new(dependencies));
        self
    }

    /// Lets programs read files, all of them or those below a root.
    #[must_use]
    pub fn files(self, reader: FileReader) -> Self {
        self.module_reader(reader.clone()).resource_reader(reader)
    }

    /// Lets programs read environment variables, those given here.
    #[must_use]
    pub fn environment<N: Into<String>, V: Into<Arc<str>>>(
        self,
        values: impl IntoIterator<Item = (N, V)>,
    ) -> Self {
        self.resource_reader(EnvReader::new(values))
    }

    /// Lets programs read external properties, those given here.
    #[must_use]
    pub fn properties<N: Into<String>, V: Into<Arc<str>>>(
        self,
        values: impl IntoIterator<Item = (N, V)>,
    ) -> Self {
        self.resource_reader(PropertyReader::new(values))
    }

    /// Lets programs read from the directories of a module path.
    #[must_use]
    pub fn module_path(self, directories: Vec<std::path::PathBuf>) -> Self {
        let reader = ModulePathReader::new(directories);
        self.module_reader(reader.clone()).resource_reader(reader)
    }

    /// Which modules may be loaded, those given as text among them; all that have a reader, if nothing is said.
    #[must_use]
    pub fn allowed_modules(mut self, allowed: Allowed) -> Self {
        self.allowed_modules = allowed;
        self
    }

    /// Which resources may be read; all that have a reader, if nothing is said.
    #[must_use]
    pub fn allowed_resources(mut self, allowed: Allowed) -> Self {
        self.allowed_resources = allowed;
        self
    }

    /// Bounds of each evaluation.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Who receives what `trace` writes; nobody, if nothing is said.
    #[must_use]
    pub fn trace(mut self, sink: TraceSink) -> Self {
        self.trace = Some(sink);
        self
    }

    /// How `trace` shows values; on one line each, if nothing is said.
    #[must_use]
    pub fn trace_mode(mut self, mode: TraceMode) -> Self {
        self.trace_mode = mode;
        self
    }

    /// Keeps syntax trees for later evaluations. `text` is what [`Evaluator::kept`] gave before; any other
    /// text is as good as none.
    #[must_use]
    pub fn keep(mut self, text: Vec<u8>) -> Self {
        self.kept = Some(text);
        self
    }

    /// The evaluator.
    pub fn build(mut self) -> Evaluator {
        // Modules ask for the property that names their format.
        if !self.resources.iter().any(|reader| reader.scheme() == "prop") {
            self.resources.push(Box::new(PropertyReader::default()));
        }
        Evaluator {
            store: Store::new(self.kept),
            readers: Readers {
                modules: self.modules,
                resources: self.resources,
                allowed_modules: self.allowed_modules,
                allowed_resources: self.allowed_resources,
                volatile: self.volatile,
                dependencies: self.dependencies,
            },
            limits: self.limits,
            trace: self.trace,
            trace_mode: self.trace_mode,
        }
    }
}

/// Evaluates Pkl modules. Each evaluation has values of its own; parsed modules are shared by all.
///
/// ```
/// use pkl_core::{Evaluator, ModuleSource};
///
/// let evaluator = Evaluator::builder().build();
/// let module = ModuleSource::text("name = \"Dodo\"\ngreeting = \"Hello, \\(name)!\"");
/// let value = evaluator.evaluate_expression(&module, "greeting").unwrap();
/// assert_eq!(value, pkl_data::tree::Tree::string("Hello, Dodo!"));
/// ```
pub struct Evaluator {
    store: Store,
    readers: Readers,
    limits: Limits,
    trace: Option<TraceSink>,
    trace_mode: TraceMode,
}

impl Evaluator {
    /// A builder whose evaluator reads the standard library only, and has no external properties.
    pub fn builder() -> EvaluatorBuilder {
        EvaluatorBuilder {
            modules: vec![Box::new(LibraryReader)],
            resources: Vec::new(),
            allowed_modules: Allowed::All,
            allowed_resources: Allowed::All,
            volatile: Vec::new(),
            dependencies: None,
            limits: Limits::default(),
            trace: None,
            trace_mode: TraceMode::default(),
            kept: None,
        }
    }

    /// The syntax trees of all modules so far, for [`EvaluatorBuilder::keep`], if those are kept and enough
    /// was parsed anew to be worth it. A tree is used only for the very source that it was parsed from.
    pub fn kept(&self) -> Option<Vec<u8>> {
        self.store.kept()
    }

    /// Drops the evaluator, and leaves the memory of its modules to the end of the process: for a host that
    /// ends now and has no reason to wait until very many small pieces are given back.
    pub fn end(self) {
        let Self { store, .. } = self;
        std::mem::forget(store);
    }

    /// The module's value: its properties, without what `output` says about it.
    ///
    /// # Errors
    /// Why the module can't be loaded or one of its members evaluated.
    pub fn evaluate_module(&self, module: &ModuleSource) -> Result<Tree, Error> {
        self.session(module, |session| {
            let module = session.module();
            session.export(module)
        })
    }

    /// The value of an expression in the scope of a module.
    ///
    /// # Errors
    /// Why the module can't be loaded or the expression evaluated.
    pub fn evaluate_expression(&self, module: &ModuleSource, expression: &str) -> Result<Tree, Error> {
        self.session(module, |session| {
            let value = session.evaluate(expression)?;
            session.export(value)
        })
    }

    /// An expression's value as text, as an interpolation shows it.
    ///
    /// # Errors
    /// Why the module can't be loaded or the expression evaluated.
    pub fn expression_text(&self, module: &ModuleSource, expression: &str) -> Result<String, Error> {
        self.session(module, |session| {
            let value = session.evaluate(expression)?;
            session.text_of(value)
        })
    }

    /// `output.text` of a module.
    ///
    /// # Errors
    /// Why the module can't be loaded or rendered.
    pub fn output_text(&self, module: &ModuleSource) -> Result<String, Error> {
        self.session(module, |session| {
            let rendered = session.output_text()?;
            Ok(rendered)
        })
    }

    /// `output.bytes` of a module.
    ///
    /// # Errors
    /// Why the module can't be loaded or rendered.
    pub fn output_bytes(&self, module: &ModuleSource) -> Result<Vec<u8>, Error> {
        self.session(module, |session| {
            let rendered = session.output_bytes()?;
            Ok(rendered)
        })
    }

    /// Paths and contents of the files of `output.files`, in its order.
    ///
    /// # Errors
    /// Why the module can't be loaded or one of its files rendered.
    pub fn output_files(&self, module: &ModuleSource) -> Result<Vec<(String, Vec<u8>)>, Error> {
        self.session(module, |session| {
            let rendered = session.output_files()?;
            Ok(rendered)
        })
    }

    /// Runs `work` with the values of one evaluation, on a thread with a stack fit for deep programs.
    ///
    /// # Errors
    /// Why the module can't be loaded, or what `work` returns.
    pub fn session<T: Send>(
        &self,
        module: &ModuleSource,
        work: impl FnOnce(&mut Session<'_, '_>) -> Result<T, Error> + Send,
    ) -> Result<T, Error> {
        thread::scope(|scope| {
            let evaluation = thread::Builder::new()
                .name("pkl".to_owned())
                .stack_size(stack_size(&self.limits))
                .spawn_scoped(scope, || self.run(module, work));
            match evaluation.map(thread::ScopedJoinHandle::join) {
                Ok(Ok(result)) => result,
                Ok(Err(panic)) => std::panic::resume_unwind(panic),
                Err(error) => Err(Error {
                    code: ErrorCode::LimitExceeded,
                    message: format!("The evaluation's thread can't be started: {error}"),
                    hint: None,
                    trace: Vec::new(),
                }),
            }
        })
    }

    fn run<T>(
        &self,
        module: &ModuleSource,
        work: impl FnOnce(&mut Session<'_, '_>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let sink = self.trace.clone();
        let trace = Box::new(move |line: &str| {
            if let Some(sink) = &sink {
                sink(line);
            }
        });
        let mut vm =
            Vm::new(&self.store, &self.readers, self.limits.clone(), stack_size(&self.limits), trace);
        vm.trace_mode = self.trace_mode;
        let loaded = match module {
            ModuleSource::Uri(uri) => vm.load_module(uri),
            ModuleSource::Text { uri, text } => self
                .readers
                .check_module(uri)
                .and_then(|()| self.store.add(uri, text.as_str().into()))
                .and_then(|ir| vm.load_ir(ir)),
        };
        let object = loaded.and_then(|id| Ok((id, vm.module_object(id)?)));
        let (id, object) = object.map_err(|failure| resolve_error(&self.store, failure))?;
        work(&mut Session::new(&mut vm, id, object))
    }
}

/// An error as the host sees it: places as lines and columns.
pub(crate) fn resolve_error(store: &Store, failure: Failure) -> Error {
    let failure = failure.leave(String::new);
    let trace = failure
        .frames
        .iter()
        .filter(|frame| frame.span != pkl_parser::Span::default())
        .map(|frame| TraceFrame {
            place: source_place(store, frame.module, frame.span),
            member: frame.member.clone(),
            link: None,
        })
        .collect();
    Error { code: failure.code, message: failure.message, hint: failure.hint, trace }
}

/// The place of a span.
pub(crate) fn source_place(store: &Store, module: crate::ir::IrId, span: pkl_parser::Span) -> SourcePlace {
    let ir = store.module(module);
    let (line, column, text) = crate::store::line_of(ir, span.start);
    let inside = span.text(&ir.source).lines().next().unwrap_or_default().chars().count();
    let last = span.text(&ir.source).char_indices().next_back().map_or(0, |(index, _)| index);
    let (end_line, end_column, _) =
        crate::store::line_of(ir, span.start.saturating_add(u32::try_from(last).unwrap_or(0)));
    SourcePlace {
        uri: Arc::clone(&ir.uri),
        line,
        column,
        width: u32::try_from(inside.max(1)).unwrap_or(u32::MAX),
        end: (end_line, end_column),
        text: text.to_owned(),
    }
}
