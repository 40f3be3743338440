//! `pkl reader`: being another evaluator's external reader, over standard input and output.

use super::PklError;
use formwork_forma::library::LibraryReader;
use formwork_forma::package::PackageReader;
use formwork_forma::tfvars::TfvarsReader;
use pkl_external::Served;
use std::io::{BufReader, BufWriter, stdin, stdout};

/// Answers until the evaluator is done.
///
/// # Errors
/// What the evaluator sends is no request, or it takes no answers.
pub(super) fn run() -> Result<(), PklError> {
    let served = Served::default()
        .resource_reader(LibraryReader::default())
        .resource_reader(TfvarsReader::new("."))
        .module_reader(PackageReader);
    let (mut input, mut output) = (BufReader::new(stdin().lock()), BufWriter::new(stdout().lock()));
    pkl_external::serve(&served, &mut input, &mut output).map_err(PklError::Serve)
}
