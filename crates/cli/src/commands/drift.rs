//! What was changed out of band.

use super::CommandError;
use super::formation::path;
use crate::args::Drift;
use crate::exit::Exit;
use crate::session::Session;
use crate::ui::{drift, json};
use formwork_api::HttpMethod;

pub(crate) async fn run(session: &Session, arguments: &Drift) -> Result<Exit, CommandError> {
    let client = session.client().clone().with_timeout(None);
    let path = format!("{}/drift", path(&arguments.formation));
    let found = client.request(HttpMethod::Get, &path, &[], None).await?.body.unwrap_or_default();
    json::print(&found)?;
    let drifted = drift::print(&found);
    Ok(if arguments.detailed_exitcode && drifted { Exit::Changes } else { Exit::Done })
}
