//! The tree and the errors of files.
//!
//! `cargo run -p pkl-parser --example tree [--errors] file…`; with `--errors` only what is wrong.

use pkl_parser::{Interner, Origin, check_module, dump_module, parse_module};

fn main() {
    let (flags, paths): (Vec<String>, Vec<String>) =
        std::env::args().skip(1).partition(|arg| arg == "--errors");
    for path in paths {
        let Ok(source) = std::fs::read_to_string(&path) else {
            eprintln!("{path}: can't be read");
            continue;
        };
        let interner = Interner::new();
        let parsed = parse_module(&source, &interner);
        if flags.is_empty() {
            print!("{}", dump_module(&source, &parsed, &interner));
        }
        let checked = check_module(&source, &parsed, &interner, Origin::StandardLibrary);
        for diagnostic in parsed.diagnostics.iter().chain(&checked) {
            let line = source[..diagnostic.span.start as usize].matches('\n').count() + 1;
            println!("{path}:{line}: {diagnostic}");
        }
    }
}
