//! A plugin with one type, `NOTES::Book::Note`: a file in the directory that the target names.

mod note;
mod store;

use async_trait::async_trait;
use formwork_model::{Json, LookupRule, Path, TypeCapabilities};
use formwork_plugin::{
    CallContext, CreateRequest, DeleteRequest, LabelConfig, ListRequest, ListResult, Operation, PluginError,
    PluginType, ProgressResult, ReadRequest, ReadResult, ResourcePlugin, UpdateRequest,
};
use note::Note;
use store::{Refusal, Store};

/// The plugin. It keeps nothing: what there is, is in the directory.
#[derive(Clone, Copy, Debug, Default)]
pub struct NotesPlugin;

#[async_trait]
impl ResourcePlugin for NotesPlugin {
    fn namespace(&self) -> &'static str {
        "NOTES"
    }

    fn types(&self) -> Vec<PluginType> {
        // Who declares a note chooses its id, so that one whose create was never answered is found.
        let lookup = LookupRule::ByNativeId(Path::of(["name"]));
        let capabilities =
            TypeCapabilities { lookup, outputs: vec!["name".into()], ..TypeCapabilities::of_plugin() };
        vec![PluginType { name: note::TYPE.into(), capabilities }]
    }

    fn label_config(&self) -> LabelConfig {
        LabelConfig { default_query: "$.name".to_owned(), ..LabelConfig::default() }
    }

    async fn create(&self, _: &CallContext, request: CreateRequest) -> Result<ProgressResult, PluginError> {
        let made = Store::of(&request.resource_type, request.target_config.expose()).and_then(|store| {
            let note = Note::declared(request.properties.expose())?;
            store.create(&note)?;
            Ok(note)
        });
        Ok(progress(Operation::Create, made))
    }

    async fn read(&self, _: &CallContext, request: ReadRequest) -> Result<ReadResult, PluginError> {
        let ReadRequest { resource_type, native_id, target_config, .. } = request;
        let found = Store::of(&resource_type, target_config.expose())
            .and_then(|store| store.read(native_id.as_str()));
        Ok(match found {
            Ok(Some(note)) => ReadResult::present(resource_type, native_id, note.shown()),
            Ok(None) => ReadResult::absent(resource_type, native_id),
            Err(refusal) => {
                let error_code = Some(refusal.code);
                ReadResult { error_code, ..ReadResult::absent(resource_type, native_id) }
            }
        })
    }

    async fn update(&self, _: &CallContext, request: UpdateRequest) -> Result<ProgressResult, PluginError> {
        let changed = Store::of(&request.resource_type, request.target_config.expose()).and_then(|store| {
            let note = Note::declared(request.desired_properties.expose())?;
            store.update(request.native_id.as_str(), &note)?;
            Ok(note)
        });
        Ok(progress(Operation::Update, changed))
    }

    async fn delete(&self, _: &CallContext, request: DeleteRequest) -> Result<ProgressResult, PluginError> {
        let DeleteRequest { resource_type, native_id, target_config } = request;
        let deleted = Store::of(&resource_type, target_config.expose())
            .and_then(|store| store.delete(native_id.as_str()));
        Ok(match deleted {
            Ok(()) => ProgressResult::deleted(native_id),
            Err(Refusal { code, message }) => ProgressResult::failure(Operation::Delete, code, message),
        })
    }

    async fn list(&self, _: &CallContext, request: ListRequest) -> Result<ListResult, PluginError> {
        let ListRequest { resource_type, target_config, page_token, page_size, .. } = request;
        let names = Store::of(&resource_type, target_config.expose())
            .and_then(|store| store.names())
            .map_err(|Refusal { message, .. }| PluginError::Lost {
                namespace: self.namespace().to_owned(),
                reason: message,
            })?;
        // A page begins after the name where the last one ended, whether that note is still there or not.
        let mut rest =
            names.into_iter().filter(|name| page_token.as_ref().is_none_or(|token| name > token)).peekable();
        let mut native_ids = Vec::new();
        while native_ids.len() < page_size.max(1) as usize {
            let Some(name) = rest.next() else { break };
            native_ids.push(name.into());
        }
        let next_page_token = rest.peek().and(native_ids.last()).map(ToString::to_string);
        Ok(ListResult { native_ids, next_page_token })
    }
}

fn progress(operation: Operation, outcome: Result<Note, Refusal>) -> ProgressResult {
    match outcome {
        Ok(note) => ProgressResult::success(operation, note.name().into(), note.shown()),
        Err(Refusal { code, message }) => ProgressResult::failure(operation, code, message),
    }
}

/// The configuration of a target whose notes are in a directory.
pub fn target_config(directory: &std::path::Path) -> Json {
    serde_json::json!({ "Type": "NOTES", "Directory": directory })
}
