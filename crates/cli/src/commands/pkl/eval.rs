//! `pkl eval`: what modules put out.

use super::PklError;
use super::files::Files;
use super::host::Host;
use super::module::Module;
use super::output::Output;
use super::timings::{Spent, Timings};
use crate::args::PklEval;
use pkl_core::{Error, Session};
use std::time::Instant;

pub(super) fn run(arguments: &PklEval) -> Result<(), PklError> {
    let timings = Timings::new(arguments.modules.timings);
    let format = arguments.modules.format.as_deref();
    let host = Host::new(&arguments.host, &arguments.project, format)?;
    let modules = Module::all(&arguments.modules.modules, &host)?;
    match &arguments.multiple_file_output_path {
        Some(directory) => {
            write_files(&host, &modules, Files::new(&host.directory.join(directory)), &timings)?;
        }
        None => write_outputs(arguments, &host, &modules, &timings)?,
    }
    host.keep_trees();
    timings.total();
    host.end();
    Ok(())
}

/// One output for each module.
fn write_outputs(
    arguments: &PklEval,
    host: &Host,
    modules: &[Module],
    timings: &Timings,
) -> Result<(), PklError> {
    let format = arguments.modules.format.as_deref();
    let separator = arguments.module_output_separator.as_str();
    let mut output = Output::new(arguments.output_path.as_deref(), format, separator, &host.directory);
    for module in modules {
        let bytes = evaluated(host, module, timings, |session| match &arguments.expression {
            Some(expression) => {
                let value = session.evaluate(expression)?;
                session.text_of(value).map(String::into_bytes)
            }
            None => session.output_bytes(),
        })?;
        output.write(module, &bytes)?;
    }
    Ok(())
}

/// Many files for each module.
fn write_files(host: &Host, modules: &[Module], mut files: Files, timings: &Timings) -> Result<(), PklError> {
    for module in modules {
        let rendered = evaluated(host, module, timings, |session| {
            let files = session.output_files()?;
            Ok(files)
        })?;
        files.write(module.uri(), &rendered)?;
    }
    Ok(())
}

fn evaluated<T: Send>(
    host: &Host,
    module: &Module,
    timings: &Timings,
    work: impl FnOnce(&mut Session<'_, '_>) -> Result<T, Error> + Send,
) -> Result<T, PklError> {
    let start = Instant::now();
    let evaluated = host.evaluator.session(&module.source, |session| {
        let loaded = Instant::now();
        let value = work(session)?;
        Ok((value, Spent { load: loaded - start, evaluate: loaded.elapsed() }))
    });
    let (value, spent) = evaluated.map_err(|error| host.linked(error))?;
    timings.module(module.uri(), spent);
    Ok(value)
}
