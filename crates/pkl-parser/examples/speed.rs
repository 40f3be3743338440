//! How fast text is cut into tokens and read into a tree.
//!
//! `cargo run --release -p pkl-parser --example speed [file…]`; without files, a text of about 4 MB.

use std::fmt::Write;
use std::hint::black_box;
use std::time::{Duration, Instant};

use pkl_parser::{Interner, parse_module, tokenize};

fn main() {
    let paths: Vec<String> = std::env::args().skip(1).collect();
    if paths.is_empty() {
        measure("generated", &generated());
    }
    for path in paths {
        match std::fs::read_to_string(&path) {
            Ok(source) => measure(&path, &source),
            Err(error) => eprintln!("{path}: {error}"),
        }
    }
}

/// Declarations as schema packages have them.
fn generated() -> String {
    let mut text = String::from("module birds\n\nimport \"pkl:math\"\n\n");
    let mut index = 0;
    while text.len() < 4 << 20 {
        write!(
            text,
            "/// A bird of kind {index}.\n@Hint {{ createOnly = true; path = \"a.b.{index}\" }}\nopen class Bird{index} \
             extends Animal {{\n  /// Its name, as people say it.\n  name: String(length.isBetween(1, 63))\n\n  hidden \
             nest: Nest? = new {{ height = {index} * 2.5; leaves = List(1, 2, 3).map((it) -> it + 1) }}\n  fixed \
             label: String = \"bird-\\(name)-{index}\"\n\n  function fly(far: Int): Boolean = if (far > 10 && nest != \
             null) true else far == {index}\n}}\n\nbird{index}: Bird{index} = new {{\n  name = \"dodo\"\n  [\"key\"] = \
             0x1F\n  for (k, v in Map(\"a\", 1)) {{\n    [k] {{ value = v }}\n  }}\n}}\n\n"
        )
        .expect("a string can be written");
        index += 1;
    }
    text
}

fn measure(name: &str, source: &str) {
    let lexed = best(|| tokenize(black_box(source)).0.len());
    let parsed = best(|| parse_module(black_box(source), &Interner::new()).diagnostics.len());
    let speed = |time: Duration| source.len() as u128 * 1000 / time.as_nanos().max(1);
    println!(
        "{name}: {} bytes, tokens {lexed:?} ({} MB/s), tree {parsed:?} ({} MB/s)",
        source.len(),
        speed(lexed),
        speed(parsed)
    );
}

fn best<T>(mut run: impl FnMut() -> T) -> Duration {
    let once = || {
        let start = Instant::now();
        black_box(run());
        start.elapsed()
    };
    std::iter::repeat_with(once).take(10).min().unwrap_or_default()
}
