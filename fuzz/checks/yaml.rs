//! Any text is read as YAML or refused, within the limits, in every mode.

use pkl_data::read::yaml::{Mode, Options, parse_all};

/// Panics if a rule does not hold for `data`.
pub fn check(data: &[u8]) {
    let Ok(source) = std::str::from_utf8(data) else { return };
    for mode in [Mode::Compat, Mode::Yaml11, Mode::Yaml12] {
        let options = Options { mode, max_values: 100_000, ..Options::default() };
        if let Ok(documents) = parse_all(source, &options) {
            assert!(documents.len() <= 100_000, "documents are values");
        }
    }
}
