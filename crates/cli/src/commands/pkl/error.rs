//! How a `pkl` command fails.

use std::io;
use std::path::PathBuf;

/// How a `pkl` command fails.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PklError {
    /// A module can't be evaluated.
    #[error("{0}")]
    Evaluation(#[from] Box<pkl_core::Error>),
    /// A project can't be loaded.
    #[error("{0}")]
    Project(pkl_project::LoadError),
    /// There is no project where one was expected.
    #[error("{0}")]
    NoProject(String),
    /// A package can't be had.
    #[error("{0}")]
    Package(Box<pkl_project::PackageError>),
    /// A test module can't be tested.
    #[error("{0}")]
    Test(pkl_test::RunError),
    /// There is nothing to test.
    #[error("no test modules are named, neither as arguments nor in the `tests` of a project")]
    NoTests,
    /// Several packages can't be had.
    #[error("Failed to download some packages.{}", each(.0))]
    Downloads(Vec<(pkl_project::PackageId, PklError)>),
    /// There are more packages to download than may be at once.
    #[error("more than {limit} packages are to be downloaded at once")]
    TooManyPackages { limit: usize },
    /// A project can't be published.
    #[error("{0}")]
    Publish(Box<pkl_project::PublishError>),
    /// The tests of a package fail.
    #[error("Failed to create package `{0}`, because its API tests are failing.")]
    ApiTests(String),
    /// There is nothing that downloaded packages could be kept in.
    #[error("Cannot download packages because no cache directory is specified.")]
    NoCache,
    /// A project's dependencies can't be resolved.
    #[error("{0}")]
    Resolve(Box<pkl_project::ResolveError<pkl_project::PackageError>>),
    /// A dependency that isn't there.
    #[error("{0}")]
    Dependency(pkl_core::host::ReadError),
    /// The evaluator that is read for can't be answered.
    #[error("{0}")]
    Serve(pkl_external::ServeError),
    /// An archive can't be searched for modules.
    #[error("{0}")]
    ModulePath(pkl_project::ModulePathError),
    /// The proxy isn't one.
    #[error(transparent)]
    Proxy(#[from] pkl_http::ProxyError),
    /// Something of the official command line that there isn't here.
    #[error("{what} is not supported")]
    Unsupported { what: String, hint: Option<&'static str> },
    /// What may be read isn't given by patterns.
    #[error("`{flag}` has an invalid pattern")]
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

fn each(failures: &[(pkl_project::PackageId, PklError)]) -> String {
    let told = |(id, error): &(pkl_project::PackageId, PklError)| {
        format!("\n\nFailed to download {id} because:\n{error}")
    };
    failures.iter().map(told).collect()
}

impl PklError {
    /// What would help.
    pub(crate) fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Unsupported { hint, .. } => *hint,
            Self::IsDirectory { .. } => {
                Some("`--multiple-file-output-path` writes the files of `output.files` into a directory")
            }
            Self::TooManyPackages { .. } => Some("`--no-transitive` downloads only those that are named"),
            Self::WriteStdin => Some("without `--write` the formatted text is printed"),
            _ => None,
        }
    }
}

impl From<pkl_project::LoadError> for PklError {
    fn from(error: pkl_project::LoadError) -> Self {
        match error {
            pkl_project::LoadError::Evaluation(error) => Self::Evaluation(error),
            error => Self::Project(error),
        }
    }
}

impl From<pkl_project::PublishError> for PklError {
    fn from(error: pkl_project::PublishError) -> Self {
        match error {
            pkl_project::PublishError::Outside(error) => Self::Evaluation(error),
            error => Self::Publish(Box::new(error)),
        }
    }
}

impl From<pkl_test::RunError> for PklError {
    fn from(error: pkl_test::RunError) -> Self {
        match error {
            pkl_test::RunError::Evaluation(error) => Self::Evaluation(error),
            error @ pkl_test::RunError::Expected { .. } => Self::Test(error),
        }
    }
}

impl From<pkl_project::PackageError> for PklError {
    fn from(error: pkl_project::PackageError) -> Self {
        Self::Package(Box::new(error))
    }
}

impl From<pkl_core::Error> for PklError {
    fn from(error: pkl_core::Error) -> Self {
        Self::Evaluation(Box::new(error))
    }
}
