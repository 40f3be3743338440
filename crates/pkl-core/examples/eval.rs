//! Evaluates a module or an expression, for trying things out: `eval <file> [-x <expression>]`.

use pkl_core::reader::FileReader;
use pkl_core::{Evaluator, ModuleSource};
use std::io::Write as _;
use std::process::ExitCode;
use std::sync::Arc;

/// The allocator that the command line uses too.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let Some(path) = args.first() else {
        eprintln!("usage: eval <file> [-x <expression>]");
        return ExitCode::FAILURE;
    };
    let format = args.iter().position(|arg| arg == "-f").and_then(|at| args.get(at + 1));
    let properties = format.map(|format| ("pkl.outputFormat", format.as_str()));
    let evaluator = Evaluator::builder()
        .files(FileReader::new())
        .environment(std::env::vars())
        .properties(properties)
        .trace(Arc::new(|line| eprintln!("{line}")))
        .build();
    let module = match ModuleSource::file(path) {
        Ok(module) => module,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::FAILURE;
        }
    };
    let result = match args.iter().position(|arg| arg == "-x").and_then(|at| args.get(at + 1)) {
        Some(expression) => evaluator.expression_text(&module, expression).map(String::into_bytes),
        None => evaluator.output_bytes(&module),
    };
    match result.map(|output| std::io::stdout().write_all(&output)) {
        Ok(Ok(())) => ExitCode::SUCCESS,
        Ok(Err(error)) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("–– Pkl Error ––\n{error}");
            ExitCode::FAILURE
        }
    }
}
