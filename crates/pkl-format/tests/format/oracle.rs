//! Whether the recorded styles and the formatted corpus are the official formatter's.
//!
//! `PKL_ORACLE` names its binary. Without it the test says so and passes, unless
//! `FORMWORK_TEST_REQUIRE_ALL=1`.

use pkl_corpus::named_oracle as oracle;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::{corpus, styles};

#[test]
fn formatted_texts_are_the_official_formatters() {
    let Some(oracle) = oracle() else { return };
    let corpus = corpus::files().into_iter().filter_map(|(path, source)| {
        let formatted = pkl_format::format(&source).ok()?;
        Some((path.to_string_lossy().into_owned(), source, formatted))
    });
    let styles = styles::cases().into_iter().filter(|case| !case.name.starts_with("ours"));
    let styles = styles.map(|case| (case.name, case.source, case.expected));
    let all: Vec<(String, String, String)> = corpus.chain(styles).collect();
    let directory = tempfile::tempdir().expect("a directory can be made");
    let wrong: Vec<&str> = formatted_by(&oracle, directory.path(), &all);
    assert!(wrong.is_empty(), "{} of {} differ: {wrong:#?}", wrong.len(), all.len());
}

/// The names of texts that the oracle formats otherwise. It formats a directory in one process.
fn formatted_by<'t>(oracle: &Path, directory: &Path, texts: &'t [(String, String, String)]) -> Vec<&'t str> {
    let path = |index: usize| directory.join(format!("text{index}.pkl"));
    for (index, (_, source, _)) in texts.iter().enumerate() {
        fs::write(path(index), source).expect("a text can be written");
    }
    let output =
        Command::new(oracle).args(["format", "-w"]).arg(directory).output().expect("the oracle runs");
    assert!(!output.stdout.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    let expected = |index: usize| fs::read_to_string(path(index)).expect("a text can be read");
    let differs = |index: &usize| expected(*index) != texts[*index].2;
    (0..texts.len()).filter(differs).map(|index| &*texts[index].0).collect()
}
