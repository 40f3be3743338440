//! The bytes of files, price lists, and graphs to be checked: one request each.

use super::CommandError;
use super::basics::{borrowed, page_query, show, validated};
use super::request::{Body, json_flag, read};
use crate::args::{DownloadFile, ProjectPrices, UpdateProjectPrices, UploadFile, ValidateOrchestration};
use crate::exit::Exit;
use crate::session::Session;
use crate::ui::json;
use base64::{Engine as _, prelude::BASE64_STANDARD};
use formwork_api::{Client, HttpMethod};
use formwork_platform::MOST_FILE_BYTES;
use serde_json::json;
use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;

pub(crate) async fn upload(session: &Session, arguments: &UploadFile) -> Result<Exit, CommandError> {
    let path = &arguments.path;
    let is_stdin = path.as_os_str() == "-";
    let limit = MOST_FILE_BYTES as u64;
    let bytes =
        if is_stdin { read(io::stdin().lock(), path, limit)? } else { read(regular(path)?, path, limit)? };
    let own = path.file_name().and_then(|name| name.to_str()).filter(|_| !is_stdin);
    let tags = arguments.tags.as_ref().map(|tags| json_flag("--tags", tags)).transpose()?;
    let body = Body::default()
        .with("content", Some(BASE64_STANDARD.encode(bytes)))
        .with("project_id", arguments.project_id.as_deref())
        .with("prefix", arguments.prefix.as_deref())
        .with("filename", arguments.filename.as_deref().or(own))
        .with("content_type", arguments.content_type.as_deref())
        .with("metadata", arguments.metadata.as_deref())
        .with("tags", tags)
        .build();
    show(session, HttpMethod::Post, "/files/upload/base64", &[], Some(&body)).await
}

/// Writes the bytes, and says where: on standard output there is nothing but the bytes.
pub(crate) async fn download(session: &Session, arguments: &DownloadFile) -> Result<Exit, CommandError> {
    let path = format!("/files/{}/download/base64", Client::segment(arguments.get()));
    let answer = session.client().request(HttpMethod::Get, &path, &[], None).await?;
    let mut file = answer.body.unwrap_or_default();
    let content = file["content"].take();
    let bytes = content.as_str().and_then(|content| BASE64_STANDARD.decode(content).ok());
    let Some(bytes) = bytes else {
        return Err(CommandError::Argument("the server's answer holds no bytes".to_owned()));
    };
    match arguments.output.as_deref().filter(|path| path.as_os_str() != "-") {
        None => {
            let mut stdout = io::stdout().lock();
            stdout.write_all(&bytes)?;
            stdout.flush()?;
        }
        Some(path) => {
            put(path, &bytes, arguments.force)?;
            json::print(&json!({
                "path": path.display().to_string(),
                "size": file["size"],
                "filename": file["filename"],
                "content_type": file["content_type"],
            }))?;
        }
    }
    Ok(Exit::Done)
}

/// Opens a file that has an end: a pipe may never have one, and even to open it may wait for ever.
fn regular(path: &Path) -> Result<File, CommandError> {
    let unread = |source| CommandError::Read { path: path.to_owned(), source };
    if !std::fs::metadata(path).map_err(unread)?.is_file() {
        return Err(CommandError::NoFile { path: path.to_owned() });
    }
    File::open(path).map_err(unread)
}

/// Writes a file anew. One that is there already is kept, unless it may be overwritten.
fn put(path: &Path, bytes: &[u8], overwrite: bool) -> Result<(), CommandError> {
    let is_device = std::fs::metadata(path).is_ok_and(|found| !found.is_file());
    let mut options = OpenOptions::new();
    options.write(true);
    if overwrite || is_device {
        options.create(true).truncate(true);
    } else {
        options.create_new(true);
    }
    let written = options.open(path).and_then(|mut file| file.write_all(bytes));
    written.map_err(|source| match source.kind() {
        io::ErrorKind::AlreadyExists => CommandError::Exists { path: path.to_owned() },
        _ => CommandError::Write { path: path.to_owned(), source },
    })
}

pub(crate) async fn prices(session: &Session, arguments: &ProjectPrices) -> Result<Exit, CommandError> {
    let path = format!("/projects/{}/prices", Client::segment(arguments.project.get()));
    show(session, HttpMethod::Get, &path, &borrowed(&page_query(&arguments.page)), None).await
}

pub(crate) async fn set_prices(
    session: &Session,
    arguments: &UpdateProjectPrices,
) -> Result<Exit, CommandError> {
    let path = format!("/projects/{}/prices", Client::segment(arguments.project.get()));
    let body = json!({ "prices": json_flag("--prices", &arguments.prices)? });
    show(session, HttpMethod::Put, &path, &[], Some(&body)).await
}

/// Checks a graph without making one.
pub(crate) async fn validate_orchestration(
    session: &Session,
    arguments: &ValidateOrchestration,
) -> Result<Exit, CommandError> {
    let parsed =
        |flag: &str, text: &Option<String>| text.as_ref().map(|text| json_flag(flag, text)).transpose();
    let body = Body::default()
        .with("project_id", arguments.project_id.as_deref())
        .with("nodes", Some(json_flag("--nodes", &arguments.nodes)?))
        .with("edges", Some(json_flag("--edges", &arguments.edges)?))
        .with("state_schema", parsed("--state-schema", &arguments.state_schema)?)
        .with("input_schema", parsed("--input-schema", &arguments.input_schema)?)
        .build();
    let answer =
        session.client().request(HttpMethod::Post, "/orchestrations/validate", &[], Some(&body)).await?;
    validated(&answer.body.unwrap_or_default(), None)
}
