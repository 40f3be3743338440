//! Whether the paths that a module names stay in its package.

use std::path::Path;

use pkl_core::{Error, ErrorCode, ModuleSource, SourcePlace, TraceFrame};
use pkl_parser::ast::{Ast, ExprKind, StringId};
use pkl_parser::{Interner, Span, parse_module};

use super::PublishError;

/// Checks the constant paths of imports and reads in a file, if it is a module.
///
/// # Errors
/// A path leads out of the package, or the module isn't well formed.
pub(super) fn check(root: &Path, path: &str, bytes: &[u8]) -> Result<(), PublishError> {
    if path.rsplit_once('.').is_none_or(|(_, end)| end != "pkl") {
        return Ok(());
    }
    let location = root.join(path);
    let uri = match ModuleSource::file(&location) {
        Ok(ModuleSource::Uri(uri) | ModuleSource::Text { uri, .. }) => uri,
        Err(source) => return Err(PublishError::Read { path: location, source }),
    };
    let source = std::str::from_utf8(bytes)
        .map_err(|error| PublishError::Read { path: location, source: std::io::Error::other(error) })?;
    let parsed = parse_module(source, &Interner::default());
    let failed = |code, message: String, span| {
        let place = place(&uri, source, span);
        let trace = vec![TraceFrame { place, member: "<unknown>".to_owned(), link: None }];
        PublishError::Outside(Box::new(Error { code, message, hint: None, trace }))
    };
    if let Some(diagnostic) = parsed.diagnostics.first() {
        return Err(failed(ErrorCode::Parse, diagnostic.to_string(), diagnostic.span));
    }
    let depth = path.matches('/').count();
    for literal in named(&parsed.ast, parsed.root) {
        if let Some(uri) = parsed.ast.constant(literal)
            && leads_out(uri, depth)
        {
            let message =
                format!("Path `{uri}` includes path segments that are outside the project root directory.");
            return Err(failed(ErrorCode::NotAllowed, message, parsed.ast[literal].span));
        }
    }
    Ok(())
}

/// What a module amends or extends, imports and reads, in the order of the text.
fn named(ast: &Ast, module: pkl_parser::ast::Module) -> Vec<StringId> {
    let base = module.decl.and_then(|declaration| declaration.base).map(|base| base.uri);
    let clauses = ast[module.imports].iter().map(|import| import.uri);
    let expressions = ast.exprs().iter().filter_map(|expression| match expression.kind {
        ExprKind::Import { uri, .. } => Some(uri),
        ExprKind::Read { uri, .. } => match ast[uri].kind {
            ExprKind::String(literal) => Some(literal),
            _ => None,
        },
        _ => None,
    });
    let mut named: Vec<StringId> = base.into_iter().chain(clauses).chain(expressions).collect();
    named.sort_by_key(|literal| ast[*literal].span.start);
    named
}

/// Whether a path leads out of a package from a directory that is so deep in it.
fn leads_out(uri: &str, depth: usize) -> bool {
    if pkl_core::reader::scheme(uri).is_some() || uri.starts_with('@') || uri.starts_with("...") {
        return false;
    }
    let mut depth = if uri.starts_with('/') { 0 } else { depth };
    for part in uri.split('/') {
        match part {
            "" | "." => {}
            ".." if depth == 0 => return true,
            ".." => depth -= 1,
            _ => depth += 1,
        }
    }
    false
}

fn place(uri: &str, source: &str, span: Span) -> SourcePlace {
    let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    let at = |offset: usize| {
        let before = source.get(..offset).unwrap_or(source);
        let lead = before.rsplit('\n').next().unwrap_or_default();
        (number(before.matches('\n').count() + 1), number(lead.chars().count() + 1))
    };
    let start = span.start as usize;
    let (line, column) = at(start);
    let meant = span.text(source);
    let last = meant.char_indices().next_back().map_or(0, |(index, _)| index);
    SourcePlace {
        uri: uri.into(),
        line,
        column,
        width: number(meant.lines().next().unwrap_or_default().chars().count().max(1)),
        end: at(start + last),
        text: source.lines().nth(line as usize - 1).unwrap_or_default().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::leads_out;

    #[test]
    fn paths_are_followed_from_their_module() {
        for (uri, depth, out) in [
            ("a.pkl", 0, false),
            ("../a.pkl", 0, true),
            ("../a.pkl", 1, false),
            ("a/../../b.pkl", 1, false),
            ("a/../../b.pkl", 0, true),
            ("/../q.pkl", 3, true),
            ("/a/b.pkl", 0, false),
            ("https://example.com/../../a.pkl", 0, false),
            ("@birds/../../a.pkl", 0, false),
            (".../a.pkl", 0, false),
            ("../../fruit/*.pkl", 1, true),
        ] {
            assert_eq!(leads_out(uri, depth), out, "{uri}");
        }
    }
}
