//! Formats files, or the standard input for `-`, to the standard output.
//!
//! `cargo run -p pkl-format --example format file…`

use std::io::Read;

fn main() -> std::io::Result<()> {
    for path in std::env::args().skip(1) {
        let mut source = String::new();
        if path == "-" {
            std::io::stdin().read_to_string(&mut source)?;
        } else {
            source = std::fs::read_to_string(&path)?;
        }
        match pkl_format::format(&source) {
            Ok(formatted) => print!("{formatted}"),
            Err(diagnostics) => diagnostics.iter().for_each(|diagnostic| eprintln!("{path}: {diagnostic}")),
        }
    }
    Ok(())
}
