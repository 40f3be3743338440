//! The bytes of files: kept beside the file's record, bounded, and gone with it.

use super::handlers::{is_visible, served};
use crate::{
    Caller, Completeness, Platform, PlatformError, Refusal,
    document::Document,
    draft::{self, Given},
    ids::new_id,
    rest::body,
    types::FILE_DOCUMENT,
    view::representation,
};
use base64::{Engine as _, prelude::BASE64_STANDARD};
use formwork_model::{Json, ProjectId, TypeName, WireCode};
use formwork_secret::Secret;
use formwork_store::{DomainError, DomainJob, DomainTx, NewObject, StoredObject};
use serde_json::{Map, json};
use std::sync::Arc;

/// The most bytes that a file can have.
pub const MOST_FILE_BYTES: usize = 5 << 20;

const FILE: &str = "file";
const TYPE: &str = "file_content";
const CONTENT: &str = "content";
const BASE64: &str = "base64";

/// The bytes of a file, with what is known of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileBytes {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// The file's own name.
    pub filename: Option<String>,
    /// What its bytes are.
    pub content_type: Option<String>,
}

impl Platform {
    /// Makes a file with its bytes: the body is that of a create, with `content` in base64 in place of
    /// `size`.
    ///
    /// # Errors
    /// [`PlatformError`].
    pub async fn rest_upload(
        &self,
        caller: &Caller,
        project: &ProjectId,
        body: Json,
    ) -> Result<Json, PlatformError> {
        let entry = served(&TypeName::from(FILE))?;
        let (bytes, properties) = split(body::members(body)?)?;
        let properties = body::of_create(&entry, Some(project), Json::Object(properties))?;
        let given = Given {
            properties: Secret::new(properties),
            secret_paths: Vec::new(),
            kept_paths: Vec::new(),
            completeness: Completeness::Whole,
            actor: caller.actor.clone(),
        };
        let (key, project, job_entry) = (self.key.clone(), project.clone(), Arc::clone(&entry));
        let job: DomainJob = Box::new(move |tx| {
            let id = new_id(job_entry.definition().id_prefix);
            let made = draft::create(tx, &job_entry, &key, &id, Some(&project), &given)?;
            tx.insert(NewObject {
                id: content_id(&id),
                type_name: TYPE.to_owned(),
                project: Some(project),
                doc: json!({ BASE64: BASE64_STANDARD.encode(bytes) }),
                keys: Vec::new(),
                links: Vec::new(),
            })?;
            Ok(json!({ "shown": representation(&job_entry, &made.object)? }))
        });
        let mut answer = self.rest_run(&entry, None, job).await?;
        Ok(answer["shown"].take())
    }

    /// The bytes of a file, if it is in one of these projects (`None`: in any). Those of a document's
    /// file are the document's text.
    ///
    /// # Errors
    /// [`PlatformError`]; `RESOURCE_NOT_FOUND` too for a file that was made without bytes.
    pub async fn rest_download(
        &self,
        projects: Option<&[ProjectId]>,
        id: &str,
    ) -> Result<FileBytes, PlatformError> {
        let entry = served(&TypeName::from(FILE))?;
        let reader = self.store.reader();
        let found = reader.object(id).await?.filter(|object| is_visible(object, &entry, projects));
        let file = Document::of(&found.ok_or_else(|| entry.not_found(id))?)?;
        let text = |name: &str| file.masked().get(name).and_then(Json::as_str).map(str::to_owned);
        let document = file.system.get(FILE_DOCUMENT).and_then(Json::as_str);
        let bytes = match document {
            Some(document) => reader.object(document).await?.and_then(|document| text_of(&document)),
            None => reader.object(&content_id(id)).await?.and_then(|content| decoded(&content)),
        };
        let none = || Refusal::new(WireCode::ResourceNotFound, format!("File '{id}' has no bytes"));
        Ok(FileBytes {
            bytes: bytes.ok_or_else(none)?,
            filename: text("filename"),
            content_type: text("content_type").or_else(|| document.map(|_| "text/plain".to_owned())),
        })
    }
}

/// Takes a file's bytes along with it.
///
/// # Errors
/// A fault of the store.
pub(crate) fn delete(tx: &mut dyn DomainTx, file: &StoredObject) -> Result<(), DomainError> {
    let id = content_id(&file.id);
    match tx.get(&id)? {
        Some(_) => tx.delete(&id).map(drop),
        None => Ok(()),
    }
}

fn content_id(file: &str) -> String {
    format!("{file}.content")
}

/// The bytes in a body, and the rest of it with their number.
fn split(mut members: Map<String, Json>) -> Result<(Vec<u8>, Map<String, Json>), Refusal> {
    let invalid = |message: String| Refusal::new(WireCode::ValidationFailed, message);
    if members.contains_key("size") {
        return Err(invalid("`size` is what `content` has: leave it out".to_owned()));
    }
    let Some(content) = members.shift_remove(CONTENT) else {
        body::refuse_missing(&[CONTENT])?;
        return Ok((Vec::new(), members));
    };
    let bytes = content.as_str().and_then(|text| BASE64_STANDARD.decode(text).ok());
    let bytes = bytes.ok_or_else(|| invalid(format!("`{CONTENT}` must be a string in base64")))?;
    if bytes.len() > MOST_FILE_BYTES {
        return Err(invalid(format!("A file can have {MOST_FILE_BYTES} bytes at most")));
    }
    members.insert("size".to_owned(), json!(bytes.len()));
    Ok((bytes, members))
}

fn text_of(document: &StoredObject) -> Option<Vec<u8>> {
    let shown = Document::of(document).ok()?.masked();
    shown.get(CONTENT)?.as_str().map(|text| text.as_bytes().to_vec())
}

fn decoded(content: &StoredObject) -> Option<Vec<u8>> {
    BASE64_STANDARD.decode(content.doc[BASE64].as_str()?).ok()
}
