//! How a `pkl` command fails.

use std::io;
use std::path::PathBuf;

/// How a `pkl` command fails.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PklError {
    /// A module can't be evaluated.
    #[error("{0}")]
    Evaluation(#[from] Box<pkl_core::Error>),
    /// Something of the official command line that there isn't here.
    #[error("{what} is not supported")]
    Unsupported { what: String, hint: Option<&'static str> },
    /// What may be read isn't given by patterns.
    #[error("`{flag}` has an invalid pattern\n{source}")]
    Pattern { flag: &'static str, source: pkl_core::reader::PatternError },
    /// Standard input is longer than any module may be.
    #[error("standard input is longer than {limit} bytes")]
    TooLong { limit: u64 },
    /// A file, or standard input, can't be read.
    #[error("cannot read `{name}`")]
    Read { name: String, source: io::Error },
    /// A file can't be written.
    #[error("cannot write `{}`", path.display())]
    Write { path: PathBuf, source: io::Error },
    /// Stdout can't be written.
    #[error("cannot write the answer")]
    Stdout(#[from] io::Error),
    /// The output path asks for the directory of what is no file.
    #[error("the output path's `%{{moduleDir}}` cannot be filled in, because module `{module}` is no file")]
    NoDirectory { module: String },
    /// A file is to be written where a directory is.
    #[error("`{}` is a directory", path.display())]
    IsDirectory { path: PathBuf },
    /// An entry of `output.files` leads out of the directory.
    #[error("`output.files` entry `\"{entry}\"` in module `{module}` leads to `{}`, which is outside of the output directory `{}`", path.display(), directory.display())]
    Outside { entry: String, module: String, path: PathBuf, directory: PathBuf },
    /// An entry of `output.files` leads to a directory.
    #[error("`output.files` entry `\"{entry}\"` in module `{module}` leads to `{}`, which is a directory", path.display())]
    EntryIsDirectory { entry: String, module: String, path: PathBuf },
    /// Two modules write one file.
    #[error("`output.files` entry `\"{entry}\"` in module `{module}` leads to `{}`, which module `{other}` writes too", path.display())]
    WrittenTwice { entry: String, module: String, other: String, path: PathBuf },
    /// Formatting standard input in place.
    #[error("standard input cannot be written back")]
    WriteStdin,
}

impl PklError {
    /// What would help.
    pub(crate) fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Unsupported { hint, .. } => *hint,
            Self::IsDirectory { .. } => {
                Some("`--multiple-file-output-path` writes the files of `output.files` into a directory")
            }
            Self::WriteStdin => Some("without `--write` the formatted text is printed"),
            _ => None,
        }
    }
}

impl From<pkl_core::Error> for PklError {
    fn from(error: pkl_core::Error) -> Self {
        Self::Evaluation(Box::new(error))
    }
}
