//! Any text is read as JSON or refused with a place; what is read renders, and reads back the same.

use pkl_data::read::json::parse;
use pkl_data::render::json::{Options, value};

/// Panics if a rule does not hold for `data`.
pub fn check(data: &[u8]) {
    let Ok(source) = std::str::from_utf8(data) else { return };
    for use_mapping in [false, true] {
        match parse(source, use_mapping) {
            Ok(tree) => {
                let options = Options { omit_null_properties: false, ..Options::default() };
                // Numbers beyond what a float holds have no text.
                let Ok(text) = value(&tree, &options) else { continue };
                assert_eq!(parse(&text, use_mapping), Ok(tree), "what is rendered reads back");
            }
            Err(error) => assert!(error.line >= 1 && error.column >= 1, "places count from one"),
        }
    }
}
