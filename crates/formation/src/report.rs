//! Collects diagnostics and gives each its place.

use formwork_model::{Diagnostic, DiagnosticCode, Diagnostics, Path, Place, SourceMap, Span};

/// What was found so far in one text.
pub(crate) struct Report<'a> {
    source: &'a SourceMap,
    found: Diagnostics,
}

impl<'a> Report<'a> {
    pub(crate) fn new(source: &'a SourceMap) -> Self {
        Self { source, found: Diagnostics::default() }
    }

    /// Adds a diagnostic that stands at a span.
    pub(crate) fn push(&mut self, span: Span, diagnostic: Diagnostic) {
        let place = self.place(span);
        self.found.push(diagnostic.at(place));
    }

    /// Reports a key that stands twice in the object at `path`.
    pub(crate) fn duplicate_key(&mut self, path: &Path, key: &str, first: Span, second: Span) {
        let message = format!("The key `{key}` is there twice");
        let first = self.place(first);
        let diagnostic = Diagnostic::error(DiagnosticCode::DuplicateKey, path.key(key), message);
        self.push(second, diagnostic.related("first here", first));
    }

    /// A span as a place. Once the report is full it has no more use for places, and counting the
    /// columns of a very long line would cost too much to do for nothing.
    pub(crate) fn place(&self, span: Span) -> Option<Place> {
        if self.is_full() { None } else { self.source.resolve(span) }
    }

    /// Whether further diagnostics are only counted.
    pub(crate) fn is_full(&self) -> bool {
        self.found.left_out() > 0
    }

    pub(crate) fn source(&self) -> &'a SourceMap {
        self.source
    }

    /// The collection itself, for checks that write to one; places are filled in by
    /// [`finish`](Self::finish).
    pub(crate) fn found_mut(&mut self) -> &mut Diagnostics {
        &mut self.found
    }

    pub(crate) fn has_errors(&self) -> bool {
        self.found.has_errors()
    }

    pub(crate) fn finish(mut self) -> Diagnostics {
        let source = self.source;
        self.found.locate(|diagnostic| source.place(&diagnostic.path));
        self.found
    }
}
