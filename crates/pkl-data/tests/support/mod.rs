//! The official evaluator as an oracle: many expressions in one process.
//!
//! `PKL_ORACLE` names the binary. Without it these tests say so and pass, unless
//! `FORMWORK_TEST_REQUIRE_ALL=1`.
#![allow(dead_code, reason = "each test binary uses its own part")]

pub(crate) mod values;

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

/// What the oracle says of an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// A string as it is; anything else as `PcfRenderer` shows it.
    Value(String),
    /// The message of `pkl:test.catch`: one line.
    Error(String),
    /// An internal error of the oracle, which says nothing.
    NoVerdict,
}

/// Ours for an expression.
pub(crate) type Ours = Result<String, String>;

pub(crate) use pkl_corpus::named_oracle as oracle;

const BATCH: usize = 400;

/// Asks the oracle for the value of each expression; `preamble` declares what they use.
pub(crate) fn ask(oracle: &PathBuf, preamble: &str, expressions: &[String]) -> Vec<Answer> {
    expressions.chunks(BATCH).flat_map(|batch| ask_batch(oracle, preamble, batch)).collect()
}

fn ask_batch(oracle: &PathBuf, preamble: &str, batch: &[String]) -> Vec<Answer> {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let (header, declarations) = match preamble.split_once('\n') {
        Some((header, rest)) if header.starts_with("module ") => (header, rest),
        _ => ("", preamble),
    };
    let mut source = format!("{header}\nimport \"pkl:test\"\n{declarations}");
    source.push_str(
        "\nlocal oracleLine = new JsonRenderer { indent = \"\" }\nlocal oraclePcf = new PcfRenderer {}\n",
    );
    source.push_str("output { text = List(\n");
    for (index, expression) in batch.iter().enumerate() {
        let comma = if index == 0 { "" } else { ",\n" };
        let _ = write!(
            source,
            "{comma}let (error = test.catchOrNull(() -> let (value = ({expression})) \"\")) \
             if (error != null) oracleLine.renderValue(List(\"error\", error)) else \
             let (value = ({expression})) \
             oracleLine.renderValue(List(\"value\", if (value is String) value else oraclePcf.renderValue(value)))"
        );
    }
    source.push_str(").join(\"\\n\") }\n");
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let path = std::env::temp_dir().join(format!("pkl-data-oracle-{}-{number}.pkl", std::process::id()));
    std::fs::write(&path, &source).expect("the temporary directory is writable");
    let output = Command::new(oracle).arg("eval").arg(&path).output().expect("the oracle starts");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        output.status.success(),
        "the oracle rejects {}:\n{}",
        path.display(),
        String::from_utf8_lossy(&output.stderr)
    );
    let _ = std::fs::remove_file(&path);
    let answers: Vec<Answer> = text.lines().filter(|line| !line.is_empty()).map(answer).collect();
    assert_eq!(answers.len(), batch.len());
    answers
}

fn answer(line: &str) -> Answer {
    let (kind, text): (String, String) = serde_json::from_str(line).expect("the program prints such lines");
    match kind.as_str() {
        "value" => Answer::Value(text),
        _ if text.contains("java.lang.") || text.contains("Pkl Error") => Answer::NoVerdict,
        _ => Answer::Error(text),
    }
}

/// Compares; prints what differs and fails if anything does.
pub(crate) fn compare(preamble: &str, cases: &[(String, Ours)]) {
    let Some(oracle) = oracle() else { return };
    let expressions: Vec<String> = cases.iter().map(|(expression, _)| expression.clone()).collect();
    let answers = ask(&oracle, preamble, &expressions);
    let mut different = 0;
    for ((expression, ours), theirs) in cases.iter().zip(&answers) {
        let same = match (ours, theirs) {
            (Ok(ours), Answer::Value(theirs)) => ours == theirs,
            (Err(ours), Answer::Error(theirs)) => one_line(ours) == one_line(theirs),
            (_, Answer::NoVerdict) => true,
            _ => false,
        };
        if !same {
            different += 1;
            if different <= 12 {
                eprintln!("{expression}\n    ours:   {ours:?}\n    theirs: {theirs:?}");
            }
        }
    }
    assert_eq!(different, 0, "of {} cases so many differ", cases.len());
}

/// `pkl:test.catch` gives the first paragraph of a message, on one line.
fn one_line(message: &str) -> String {
    let paragraph = message.split("\n\n").next().unwrap_or_default();
    let paragraph = paragraph.strip_suffix('`').unwrap_or(paragraph);
    paragraph.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A string literal of Pkl.
pub(crate) fn literal(text: &str) -> String {
    let mut literal = String::from("\"");
    for character in text.chars() {
        match character {
            '"' => literal.push_str("\\\""),
            '\\' => literal.push_str("\\\\"),
            '\n' => literal.push_str("\\n"),
            ' '..='~' => literal.push(character),
            other => {
                let _ = write!(literal, "\\u{{{:x}}}", u32::from(other));
            }
        }
    }
    literal.push('"');
    literal
}

/// A float literal of Pkl; parenthesised if it isn't a plain number.
pub(crate) fn float_literal(value: f64) -> String {
    if value.is_nan() {
        "NaN".to_owned()
    } else if value.is_infinite() {
        if value > 0.0 { "Infinity".to_owned() } else { "(-Infinity)".to_owned() }
    } else if value.is_sign_negative() {
        format!("(-{:?})", value.abs())
    } else {
        format!("{value:?}")
    }
}

/// A small generator of pseudo-random numbers (SplitMix64), so that failures repeat.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() % u64::try_from(limit.max(1)).expect("fits")).expect("fits")
    }

    pub(crate) fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }

    /// Doubles of every size, many of them round.
    pub(crate) fn double(&mut self) -> f64 {
        match self.below(6) {
            0 => f64::from(u32::try_from(self.below(2000)).expect("fits")) - 1000.0,
            1 => (f64::from(u32::try_from(self.below(200_000)).expect("fits")) - 100_000.0) / 1000.0,
            2 => f64::from_bits(self.next()),
            3 => {
                f64::from(u32::try_from(self.below(1000)).expect("fits"))
                    * 10_f64.powi(i32::try_from(self.below(40)).expect("fits") - 20)
            }
            4 => f64::from_bits(self.next() >> 2 | 0x3000_0000_0000_0000),
            _ => *self.pick(&[0.0, -0.0, 0.1, 0.5, 1.5, 2.5, 1e7, 1e-3, 9_999_999.999, 1e23, 4.9e-324, 0.3]),
        }
    }
}
