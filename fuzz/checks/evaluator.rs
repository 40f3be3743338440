//! Any program ends: with a value or an error, within its limits, without a panic.

use pkl_core::{Evaluator, Limits, ModuleSource};
use std::time::Duration;

/// Panics if a rule does not hold for `data`.
pub fn check(data: &[u8]) {
    let Ok(source) = std::str::from_utf8(data) else { return };
    let limits = Limits { time: Some(Duration::from_secs(2)), memory: 64 << 20, depth: 500, output: 1 << 20 };
    let evaluator = Evaluator::builder().limits(limits).properties([("name", "value")]).build();
    let module = ModuleSource::text(source);
    if let Err(error) = evaluator.output_text(&module) {
        assert!(!error.message.is_empty(), "an error says what is wrong");
        for frame in &error.trace {
            assert!(frame.place.line > 0 && frame.place.column > 0, "a place is in the text");
        }
    }
    // What can't be evaluated is a node of its own, and all the rest is there.
    let _ended = evaluator.session(&module, |session| {
        let module = session.module();
        session.export_collecting(module)
    });
}
