//! `plugin verify-schema`: all that is wrong with a plugin's files.

use super::PluginError;
use crate::args::PluginVerify;
use crate::commands::CommandError;
use crate::exit::Exit;
use crate::ui::{json, text};
use formwork_model::Json;
use formwork_plugin_host::{Mistake, Verified, VerifyError, verify};
use serde_json::json;
use std::fmt::Write as _;
use std::io;

pub(super) async fn run(arguments: PluginVerify) -> Result<Exit, CommandError> {
    let path = arguments.path.clone();
    let verified = tokio::task::spawn_blocking(move || verify(&path)).await;
    let stopped = |error| VerifyError::Read { path: arguments.path.clone(), source: io::Error::other(error) };
    let verified = verified.map_err(stopped).and_then(|verified| verified).map_err(PluginError::Verify)?;
    if arguments.json {
        json::print(&document(&verified))?;
    } else {
        json::print_text(&text::lines(&page(&verified)))?;
    }
    Ok(if verified.mistakes.is_empty() { Exit::Done } else { Exit::Failed })
}

fn document(verified: &Verified) -> Json {
    let mistake = |mistake: &Mistake| {
        let (line, column) = mistake.place.unzip();
        json!({ "file": mistake.file, "line": line, "column": column, "message": mistake.message })
    };
    json!({
        "passed": verified.mistakes.is_empty(),
        "types": verified.types,
        "mistakes": verified.mistakes.iter().map(mistake).collect::<Vec<_>>(),
    })
}

fn page(verified: &Verified) -> String {
    let mut page = String::new();
    for Mistake { file, place, message } in &verified.mistakes {
        let place = place.map(|(line, column)| format!(":{line}:{column}")).unwrap_or_default();
        // Writing to a string cannot fail.
        let _ = writeln!(page, "{file}{place}: {message}");
    }
    let types = counted(verified.types.len(), "type");
    let _ = match verified.mistakes.len() {
        0 => writeln!(page, "no mistakes in {types}"),
        count => writeln!(page, "{} in {types}", counted(count, "mistake")),
    };
    page
}

fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}
