//! Exit codes and the last words of a command.

use crate::ui;
use std::process::ExitCode;

/// How a command ends (cli reference, "Exit codes").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Done.
    Done,
    /// Input, deploy or plugin failed.
    Failed,
    /// What was to be validated is invalid. For the seed's own name of the binary that is an answer
    /// like any other (seed 4, "A Failed Deploy Still Answers 2xx": the outcome is the payload).
    Invalid,
    /// Wrong usage.
    Usage,
    /// Reality has drifted.
    Drifted,
    /// Another operation is in progress.
    Conflict,
    /// Not authorised.
    Unauthorised,
    /// `--detailed-exitcode`: there are changes.
    Changes,
    /// `pkl format`: a file is formatted otherwise.
    Unformatted,
    /// `pkl test`: examples were written, or a module can't be evaluated.
    Untested,
    /// Interrupted.
    Interrupted,
}

impl Exit {
    /// The number, which for the seed's own name of the binary is 1 for every failure.
    pub(crate) fn number(self, soat: bool) -> u8 {
        match self {
            Self::Done => 0,
            Self::Interrupted => 130,
            Self::Changes | Self::Untested => 10,
            Self::Unformatted => 11,
            Self::Invalid if soat => 0,
            _ if soat => 1,
            Self::Failed | Self::Invalid => 1,
            Self::Usage => 2,
            Self::Drifted => 3,
            Self::Conflict => 4,
            Self::Unauthorised => 5,
        }
    }

    /// The exit code for an error of this wire code.
    pub(crate) fn for_code(code: &str) -> Self {
        match code {
            "UNAUTHORIZED" | "FORBIDDEN" | "API_KEY_PROJECT_SCOPE" => Self::Unauthorised,
            "OPERATION_IN_PROGRESS" => Self::Conflict,
            "DRIFTED" | "PLAN_OUTDATED" => Self::Drifted,
            _ => Self::Failed,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.number(crate::args::called_as_soat()))
    }
}

/// Prints what clap has to say, a help text included.
pub(crate) fn usage(error: &clap::Error) -> ExitCode {
    let exit = match (error.use_stderr(), crate::args::calls_pkl(std::env::args_os())) {
        (false, _) => Exit::Done,
        (true, true) => Exit::Failed,
        (true, false) => Exit::Usage,
    };
    // Nothing better is left to do where even that can't be written.
    let _ = error.print();
    exit.into()
}

/// Prints an error and gives its exit code.
pub(crate) fn report(error: &crate::commands::CommandError) -> ExitCode {
    ui::error::print(error);
    error.exit().into()
}
