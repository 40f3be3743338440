//! The files that a forma's values come from.

use formwork_model::{Place, SourceFile, Span};
use pkl_core::{CodeSpan, Session, SourceId, SourcePlace};
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

/// Sources that nobody who writes a forma can change: the program's own, and those of packages.
const FOREIGN: [&str; 6] = ["pkl:", "formae:", "package:", "projectpackage:", "modulepath:", "repl:"];

/// The files so far.
pub(super) struct Sources {
    files: Vec<SourceFile>,
    known: HashMap<SourceId, Option<u16>>,
    base: Option<String>,
}

impl Sources {
    /// Files below `base` are shown relative to it.
    pub(super) fn new(base: Option<&Path>) -> Self {
        let base = base.map(|base| format!("file://{}/", base.display()));
        Self { files: Vec::new(), known: HashMap::new(), base }
    }

    /// The files, once no more are added.
    pub(super) fn into_files(self) -> Vec<SourceFile> {
        self.files
    }

    /// A file by its number.
    pub(super) fn file(&self, span: Span) -> Option<&SourceFile> {
        self.files.get(usize::from(span.file))
    }

    /// A span, if it stands in a file of the forma's author.
    pub(super) fn own(&mut self, session: &mut Session<'_, '_>, code: CodeSpan) -> Option<Span> {
        let file = self.number(session, code.source)?;
        Some(Span { file, start: code.start, end: code.end })
    }

    /// The span of a member's name, if it has one in a file of the forma's author.
    pub(super) fn own_name(&mut self, session: &mut Session<'_, '_>, code: CodeSpan) -> Option<Span> {
        let (start, end) = code.name?;
        let file = self.number(session, code.source)?;
        Some(Span { file, start, end })
    }

    fn number(&mut self, session: &mut Session<'_, '_>, source: SourceId) -> Option<u16> {
        if let Some(known) = self.known.get(&source) {
            return *known;
        }
        let (uri, text) = session.source(source);
        let number = self.add(&uri, text);
        self.known.insert(source, number);
        number
    }

    /// Beyond the most files that a source map has, values have no places.
    fn add(&mut self, uri: &str, text: Arc<str>) -> Option<u16> {
        if is_foreign(uri) {
            return None;
        }
        let number = u16::try_from(self.files.len()).ok().filter(|number| *number < u16::MAX)?;
        self.files.push(SourceFile::new(self.shown(uri), text));
        Some(number)
    }

    /// A URI as a person sees it.
    fn shown(&self, uri: &str) -> String {
        let relative = self.base.as_deref().and_then(|base| uri.strip_prefix(base));
        relative.or_else(|| uri.strip_prefix("file://")).unwrap_or(uri).to_owned()
    }

    /// Where an error happened: the innermost place in the author's files, else the innermost of all; and
    /// whether that is one of the author's.
    pub(super) fn place_of(
        &mut self,
        session: &mut Session<'_, '_>,
        error: &pkl_core::Error,
    ) -> Option<(Place, bool)> {
        let places = || error.trace.iter().map(|frame| &frame.place);
        let place = places().find(|place| !is_foreign(&place.uri)).or_else(|| places().next())?;
        let file: Arc<str> = self.shown(&place.uri).into();
        if !self.files.iter().any(|known| known.name == file)
            && let Some(text) = session.source_at(&place.uri)
        {
            // The excerpt of the error's line is cut from it.
            self.files.push(SourceFile::new(Arc::clone(&file), text));
        }
        Some((shown_place(file, place), !is_foreign(&place.uri)))
    }
}

fn shown_place(file: Arc<str>, place: &SourcePlace) -> Place {
    let (end_line, last) = place.end;
    Place { file, line: place.line, column: place.column, end_line, end_column: last.saturating_add(1) }
}

fn is_foreign(uri: &str) -> bool {
    FOREIGN.iter().any(|scheme| uri.starts_with(scheme))
}
