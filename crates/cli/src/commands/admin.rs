//! What only an operator does.

use super::CommandError;
use super::basics::show;
use crate::args::Admin;
use crate::exit::Exit;
use crate::session::Session;
use formwork_api::HttpMethod;

pub(crate) async fn run(session: &Session, command: &Admin) -> Result<Exit, CommandError> {
    match command {
        Admin::PurgeSecretOutputs { dry_run } => {
            let query = [("dry_run", if *dry_run { "true" } else { "false" })];
            show(session, HttpMethod::Post, "/formations/purge-secret-outputs", &query, None).await
        }
    }
}
