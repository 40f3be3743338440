//! `pkl analyze imports`: the graph of what modules import.

use super::PklError;
use super::host::Host;
use super::module::{Module, STDIN_URI};
use super::output::{write_file, write_stdout};
use super::timings::{Spent, Timings};
use crate::args::PklImports;
use pkl_core::ModuleSource;
use std::fmt::Write as _;
use std::time::Instant;

pub(super) fn run(arguments: &PklImports) -> Result<(), PklError> {
    let timings = Timings::new(arguments.modules.timings);
    let format = arguments.modules.format.as_deref();
    let host = Host::new(&arguments.host, &arguments.project, format)?;
    let names = arguments.modules.modules.iter();
    let uris = names.map(|name| Module::uri_of(name, &host)).collect::<Result<Vec<_>, _>>()?;
    let source = ModuleSource::Text { uri: STDIN_URI.to_owned(), text: program(&uris) };
    let start = Instant::now();
    let analysed = host.evaluator.session(&source, |session| {
        let loaded = Instant::now();
        let text = session.output_bytes()?;
        Ok((text, Spent { load: loaded - start, evaluate: loaded.elapsed() }))
    });
    let (text, spent) = analysed.map_err(|error| host.linked(error))?;
    timings.module("pkl:analyze", spent);
    match &arguments.output_path {
        Some(path) => write_file(&super::host::normal(&host.directory.join(path)), &text)?,
        None => write_stdout("", &text)?,
    }
    timings.total();
    Ok(())
}

/// The program whose output is the graph: maps and sets are shown as objects, which every format has.
fn program(uris: &[String]) -> String {
    let mut program = String::from("import \"pkl:analyze\"\n\noutput {\n  value = analyze.importGraph(Set(");
    for (index, uri) in uris.iter().enumerate() {
        let comma = if index == 0 { "" } else { ", " };
        let _ = write!(program, "{comma}{}", literal(uri));
    }
    program.push_str("))\n  renderer {\n    converters {\n      [Map] = (it) -> it.toMapping()\n");
    program.push_str("      [Set] = (it) -> it.toListing()\n    }\n  }\n}\n");
    program
}

/// A text as a string literal of Pkl.
fn literal(text: &str) -> String {
    let mut literal = String::with_capacity(text.len() + 2);
    literal.push('"');
    for letter in text.chars() {
        match letter {
            '"' | '\\' => literal.extend(['\\', letter]),
            letter if letter.is_control() => {
                let _ = write!(literal, "\\u{{{:x}}}", u32::from(letter));
            }
            letter => literal.push(letter),
        }
    }
    literal.push('"');
    literal
}

#[cfg(test)]
mod tests {
    use super::literal;

    #[test]
    fn a_uri_stays_a_text() {
        assert_eq!(literal("a\"\\(b)\n"), r#""a\"\\(b)\u{a}""#);
    }
}
