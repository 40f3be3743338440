//! A template's dependency graph.

use super::CommandError;
use super::request::required_template;
use crate::args::{Graph, GraphFormat};
use crate::exit::Exit;
use crate::session::Session;
use crate::ui::graph;
use formwork_api::HttpMethod;
use serde_json::json;

pub(crate) async fn run(session: &Session, arguments: &Graph) -> Result<Exit, CommandError> {
    let source = required_template(&arguments.template)?;
    let body = json!({ "template": source.text });
    let answer = session.client().request(HttpMethod::Post, "/formations/graph", &[], Some(&body)).await;
    let answer =
        answer.map_err(|error| CommandError::from(error).in_source(Some(source)))?.body.unwrap_or_default();
    if arguments.format == GraphFormat::Json {
        crate::ui::json::print(&answer)?;
        return Ok(Exit::Done);
    }
    let graph: formwork_api::Graph = serde_json::from_value(answer)
        .map_err(|source| formwork_api::TransportError::Unexpected { status: 200, source: Some(source) })?;
    crate::ui::json::print_text(&graph::render(&graph, arguments.format))?;
    Ok(Exit::Done)
}
