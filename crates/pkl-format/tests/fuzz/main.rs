//! The checks of the fuzz targets over their seeds, and over every text of the crates' own tests.

use std::fs;
use std::path::{Path, PathBuf};

#[path = "../../../../fuzz/checks/formatter.rs"]
mod formatter;
#[path = "../../../../fuzz/checks/lexer.rs"]
mod lexer;
#[path = "../../../../fuzz/checks/parser.rs"]
mod parser;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The contents of the files in a directory.
fn files(directory: &Path) -> Vec<Vec<u8>> {
    let entries = fs::read_dir(directory).expect("the seeds are there").flatten();
    let files: Vec<_> = entries.filter_map(|entry| fs::read(entry.path()).ok()).collect();
    assert!(!files.is_empty(), "{} is empty", directory.display());
    files
}

fn seeds(target: &str) -> Vec<Vec<u8>> {
    let tests = root().join("crates/pkl-parser/tests");
    let others = ["acceptance", "errors", "trees"].map(|directory| tests.join(directory));
    let seeds = root().join("fuzz/seeds").join(target);
    others.iter().chain([&seeds]).flat_map(|directory| files(directory)).collect()
}

#[test]
fn the_lexers_seeds_hold() {
    for seed in seeds("lexer") {
        lexer::check(&seed);
    }
}

#[test]
fn the_parsers_seeds_hold() {
    for seed in seeds("parser") {
        parser::check(&seed);
    }
}

#[test]
fn the_formatters_seeds_hold() {
    for seed in seeds("formatter") {
        formatter::check(&seed);
    }
}
