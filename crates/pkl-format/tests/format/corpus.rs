//! The evaluator's corpus and library: every file without syntax errors.

use std::fs;
use std::path::{Path, PathBuf};

use crate::same::format_checked;

/// Every Pkl file of the evaluator, sorted.
pub(crate) fn files() -> Vec<(PathBuf, String)> {
    let evaluator = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../pkl-core");
    let mut paths = Vec::new();
    for directory in ["tests/corpus", "stdlib"] {
        collect(&evaluator.join(directory), &mut paths);
    }
    paths.sort();
    let read = |path: PathBuf| fs::read_to_string(&path).ok().map(|source| (path, source));
    paths.into_iter().filter_map(read).collect()
}

fn collect(directory: &Path, paths: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, paths);
        } else if path.extension().is_some_and(|extension| extension == "pkl") {
            paths.push(path);
        }
    }
}

#[test]
fn the_corpus_keeps_its_trees_and_comments() {
    let files = files();
    let formatted = files
        .iter()
        .filter(|(path, source)| format_checked(&path.to_string_lossy(), source).is_some())
        .count();
    assert!(formatted * 10 > files.len() * 9, "only {formatted} of {} were formatted", files.len());
}
