//! A template's text, read into a value with its spans beside it.

use crate::report::Report;
use crate::{Limits, json, yaml};
use formwork_model::{
    Children, Diagnostic, DiagnosticCode, Diagnostics, Json, Path, Place, SourceFile, SourceMap, SourceNode,
    Span,
};
use std::borrow::Cow;
use std::sync::Arc;

/// A JSON value and where each part of it stands.
#[derive(Clone, Debug)]
pub struct Document {
    /// The value.
    pub value: Json,
    /// Its spans.
    pub source: Arc<SourceMap>,
}

/// Reads JSON or YAML 1.2; `name` is what places call the text.
///
/// A text that begins with `[`, or with `{` and then a double quote or a closing brace, is JSON;
/// any other is YAML.
///
/// # Errors
/// All that is wrong with the text and can be told at once, each with its place. To show them
/// beside the text, render them with [`text_only`].
pub fn parse(name: &str, bytes: &[u8], limits: &Limits) -> Result<Document, Diagnostics> {
    let most = limits.max_bytes.min(u32::MAX as usize - 1);
    if bytes.len() > most {
        let message = format!("The template has {} bytes; the most are {most}", bytes.len());
        return Err(at_start(name, DiagnosticCode::InputTooLarge, message));
    }
    let text = decode(name, bytes)?;
    let mut source = SourceMap { files: vec![SourceFile::new(name, text)], root: SourceNode::default() };
    let mut report = Report::new(&source);
    let read = if looks_like_json(text) { json::read } else { yaml::read };
    let built = read(text, limits, &mut report);
    let Some(built) = built.filter(|_| !report.has_errors()) else { return Err(report.finish()) };
    if let Some(excess) = excess_resource(&built.value, &built.node, limits.max_resources) {
        let message = format!("The template has more than {} resources", limits.max_resources);
        let path = Path::of(["resources"]);
        report.push(excess, Diagnostic::error(DiagnosticCode::InputTooLarge, path, message));
        return Err(report.finish());
    }
    source.root = built.node;
    Ok(Document { value: built.value, source: Arc::new(source) })
}

/// Gives a value that came without a text of its own, inside a request, an indented JSON text, so
/// that everything in it has a place.
pub fn document_from_json(name: &str, value: &Json) -> Document {
    let (text, root) = json::write(value);
    let source = SourceMap { files: vec![SourceFile::new(name, text)], root };
    Document { value: value.clone(), source: Arc::new(source) }
}

/// A source map that has the text but no spans: enough to render what [`parse`] refused.
pub fn text_only(name: &str, bytes: &[u8]) -> SourceMap {
    let text: Cow<'_, str> = String::from_utf8_lossy(without_mark(bytes));
    SourceMap { files: vec![SourceFile::new(name, text)], root: SourceNode::default() }
}

fn without_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes)
}

fn decode<'b>(name: &str, bytes: &'b [u8]) -> Result<&'b str, Diagnostics> {
    let encoding = DiagnosticCode::InvalidEncoding;
    if let Some(other) = other_encoding(bytes) {
        return Err(at_start(name, encoding, format!("The template is {other}; save it as UTF-8")));
    }
    let bytes = without_mark(bytes);
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let at = error.valid_up_to();
        let message = format!("The byte 0x{:02X} is not UTF-8", bytes.get(at).copied().unwrap_or_default());
        at_byte(name, bytes, at, message)
    })?;
    match text.find('\0') {
        None => Ok(text),
        Some(at) => Err(at_byte(name, bytes, at, "The template holds a NUL byte".to_owned())),
    }
}

/// The encoding that a byte order mark tells, if it is not UTF-8. UTF-16's little mark begins UTF-32's.
fn other_encoding(bytes: &[u8]) -> Option<&'static str> {
    if bytes.starts_with(b"\xFF\xFE\0\0") || bytes.starts_with(b"\0\0\xFE\xFF") {
        return Some("UTF-32");
    }
    (bytes.starts_with(b"\xFF\xFE") || bytes.starts_with(b"\xFE\xFF")).then_some("UTF-16")
}

fn at_start(name: &str, code: DiagnosticCode, message: String) -> Diagnostics {
    let place = Place { file: name.into(), line: 1, column: 1, end_line: 1, end_column: 1 };
    one(Diagnostic::error(code, Path::root(), message).at(Some(place)))
}

fn at_byte(name: &str, bytes: &[u8], at: usize, message: String) -> Diagnostics {
    let source = text_only(name, bytes);
    let start = u32::try_from(at).unwrap_or(u32::MAX);
    let place = source.resolve(Span { file: 0, start, end: start });
    one(Diagnostic::error(DiagnosticCode::InvalidEncoding, Path::root(), message).at(place))
}

fn one(diagnostic: Diagnostic) -> Diagnostics {
    let mut found = Diagnostics::default();
    found.push(diagnostic);
    found
}

fn looks_like_json(text: &str) -> bool {
    let text = text.trim_start();
    if text.starts_with('[') {
        return true;
    }
    let Some(inside) = text.strip_prefix('{') else { return false };
    let inside = inside.trim_start();
    inside.is_empty() || inside.starts_with(['"', '}', ',', '/', '{', '['])
}

/// The first resource beyond the limit.
fn excess_resource(value: &Json, node: &SourceNode, most: usize) -> Option<Span> {
    let resources = value.get("resources")?.as_object()?;
    if resources.len() <= most {
        return None;
    }
    let Children::Object(top) = &node.children else { return Some(node.span) };
    let node = top.get("resources")?;
    let Children::Object(nodes) = &node.children else { return Some(node.span) };
    nodes.get_index(most).map(|(_, node)| node.key.unwrap_or(node.span))
}
