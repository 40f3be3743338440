//! What only an operator does.

use super::CommandError;
use super::basics::show;
use crate::args::Admin;
use crate::exit::Exit;
use crate::session::Session;
use formwork_api::HttpMethod;
use formwork_config::{Environment, name};

pub(crate) async fn run(session: &Session, command: &Admin) -> Result<Exit, CommandError> {
    match command {
        Admin::PurgeSecretOutputs { dry_run } => {
            // What cannot be read as a no must not purge.
            let told = Environment::from_process().flag(name::PURGE_DRY_RUN)?;
            let query = [("dry_run", if *dry_run || told { "true" } else { "false" })];
            show(session, HttpMethod::Post, "/formations/purge-secret-outputs", &query, None).await
        }
    }
}
