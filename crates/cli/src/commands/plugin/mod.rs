//! `plugin`: what is installed on this machine, and what a plugin's author needs.

mod error;
mod init;
mod installed;
mod test;
mod verify;

pub(crate) use error::PluginError;

use super::CommandError;
use crate::args::Plugin as Command;
use crate::exit::Exit;

pub(crate) async fn run(command: Command) -> Result<Exit, CommandError> {
    match command {
        Command::List(arguments) => installed::list(&arguments).await,
        Command::Info(arguments) => installed::info(&arguments).await,
        Command::Init(arguments) => init::run(&arguments),
        Command::VerifySchema(arguments) => verify::run(arguments).await,
        Command::Test(arguments) => test::run(arguments).await,
    }
}
