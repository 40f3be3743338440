//! The bytes of files: `/files/upload/base64`, `/files/{file_id}/download` and `…/download/base64`.

use super::{Answer, Id, Reading, detached, json};
use crate::endpoint::Endpoint;
use crate::guard::Caller;
use crate::openapi::reference;
use crate::router::App;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::IntoResponse;
use axum::routing::{get, post};
use base64::{Engine as _, prelude::BASE64_STANDARD};
use formwork_control::Gate;
use formwork_platform::{MOST_FILE_BYTES, openapi_schemas};
use serde_json::{Map, json};

/// The most bytes of an upload: base64 takes four for three, and the rest is small.
const MOST_BODY: usize = MOST_FILE_BYTES / 3 * 4 + (64 << 10);

/// What an upload takes.
const FIELDS: [&str; 7] = ["project_id", "content", "prefix", "filename", "content_type", "metadata", "tags"];

pub(crate) fn endpoints() -> Vec<Endpoint> {
    let route = |method, path: &str, id: &str, action: &str, summary: &str, handler| {
        Endpoint::new(method, path, id, summary, handler).tag("files").permission(action).refuses(&[401, 403])
    };
    let text = |doc: &str| json!({ "type": "string", "description": doc });
    // What any file has, with its bytes in place of their number.
    let mut fields = openapi_schemas().shift_remove("file").map(|file| file.create["properties"].clone());
    let fields = FIELDS.map(|name| match (name, &mut fields) {
        ("content", _) | (_, None) => (name, text("Its bytes in base64.")),
        (name, Some(fields)) => (name, fields[name].take()),
    });
    let upload = json!({
        "type": "object",
        "required": ["content"],
        "additionalProperties": false,
        "properties": Map::from_iter(fields.map(|(name, schema)| (name.to_owned(), schema))),
    });
    let told = json!({
        "type": "object",
        "required": ["content", "size", "filename", "content_type"],
        "properties": {
            "content": text("Its bytes in base64."),
            "size": { "type": "integer" },
            "filename": { "type": ["string", "null"] },
            "content_type": { "type": ["string", "null"] },
        },
    });
    vec![
        route(
            Method::POST,
            "/files/upload/base64",
            "uploadFileBase64",
            "files:UploadFile",
            "Make a file with its bytes",
            post(upload_base64),
        )
        .body(upload)
        .answers(201, reference("File"))
        .refuses(&[400, 409, 413]),
        route(
            Method::GET,
            "/files/{file_id}/download",
            "downloadFile",
            "files:DownloadFile",
            "The bytes of a file",
            get(download),
        )
        .answers(200, json!({ "type": "string", "format": "binary" }))
        .refuses(&[404]),
        route(
            Method::GET,
            "/files/{file_id}/download/base64",
            "downloadFileBase64",
            "files:DownloadFile",
            "The bytes of a file, in base64",
            get(download_base64),
        )
        .answers(200, told)
        .refuses(&[404]),
    ]
}

async fn upload_base64(State(app): State<App>, Caller(principal): Caller, request: Request) -> Answer {
    let reading = Reading::in_project(Gate::UploadFile, MOST_BODY);
    let members = reading.read_fields(&app, &principal, request, (&FIELDS, &["content"])).await?;
    let control = app.control.clone();
    let made = detached(async move { control.upload_file(&principal, members).await }).await?;
    json(StatusCode::CREATED, &made)
}

/// Whatever the bytes are, a browser is to keep them and not to run them.
async fn download(State(app): State<App>, Caller(principal): Caller, Id(id): Id) -> Answer {
    let file = app.control.download_file(&principal, &id).await?;
    let mut headers = HeaderMap::new();
    let is_type =
        |kind: &String| kind.split_once('/').is_some_and(|(kind, rest)| !kind.is_empty() && !rest.is_empty());
    let kind = file.content_type.filter(is_type).and_then(|kind| HeaderValue::try_from(kind).ok());
    let kind = kind.unwrap_or(HeaderValue::from_static("application/octet-stream"));
    headers.insert(header::CONTENT_TYPE, kind);
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    let name: String = file.filename.unwrap_or_default().chars().map(in_header).collect();
    let disposition = HeaderValue::try_from(format!("attachment; filename=\"{name}\""));
    headers
        .insert(header::CONTENT_DISPOSITION, disposition.unwrap_or(HeaderValue::from_static("attachment")));
    Ok((StatusCode::OK, headers, file.bytes).into_response())
}

fn in_header(character: char) -> char {
    if character.is_ascii_alphanumeric() || "._- ".contains(character) { character } else { '_' }
}

async fn download_base64(State(app): State<App>, Caller(principal): Caller, Id(id): Id) -> Answer {
    let file = app.control.download_file(&principal, &id).await?;
    let told = json!({
        "content": BASE64_STANDARD.encode(&file.bytes),
        "size": file.bytes.len(),
        "filename": file.filename,
        "content_type": file.content_type,
    });
    json(StatusCode::OK, &told)
}
