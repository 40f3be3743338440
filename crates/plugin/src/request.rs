//! Requests (seed 3, "CRUD methods"). Properties may hold secrets in the clear, so they can't be
//! printed.

use formwork_model::{Json, Label, NativeId, Path, Secret, TypeName};
use std::collections::BTreeMap;

/// Makes an object.
#[derive(Clone, Debug)]
pub struct CreateRequest {
    /// The type.
    pub resource_type: TypeName,
    /// The desired properties.
    pub properties: Secret<Json>,
    /// Credentials and endpoint.
    pub target_config: Secret<Json>,
    /// Ours: where in the properties secrets stand, so that a plugin that stores them can seal them.
    pub secret_paths: Vec<Path>,
}

/// Reads an object.
#[derive(Clone, Debug)]
pub struct ReadRequest {
    /// The type.
    pub resource_type: TypeName,
    /// Which object.
    pub native_id: NativeId,
    /// Credentials and endpoint.
    pub target_config: Secret<Json>,
    /// Whether to leave sensitive properties out of the result.
    pub redact_sensitive: bool,
    /// The caller's last-known model; `None` if it has none.
    pub prior_properties: Option<Json>,
}

/// Changes an object in place.
#[derive(Clone, Debug)]
pub struct UpdateRequest {
    /// The type.
    pub resource_type: TypeName,
    /// Which object.
    pub native_id: NativeId,
    /// What it was, secrets left out.
    pub prior_properties: Json,
    /// What it should be.
    pub desired_properties: Secret<Json>,
    /// The change, as RFC 6902.
    pub patch_document: Secret<Json>,
    /// Credentials and endpoint.
    pub target_config: Secret<Json>,
    /// Ours: where in the desired properties secrets stand.
    pub secret_paths: Vec<Path>,
    /// Ours: where the plugin keeps its own copy, which is not in the desired properties. Only
    /// sent to types that keep secrets.
    pub kept_paths: Vec<Path>,
}

/// Deletes an object.
#[derive(Clone, Debug)]
pub struct DeleteRequest {
    /// The type.
    pub resource_type: TypeName,
    /// Which object.
    pub native_id: NativeId,
    /// Credentials and endpoint.
    pub target_config: Secret<Json>,
}

/// Asks how an unfinished call goes.
#[derive(Clone, Debug)]
pub struct StatusRequest {
    /// The type.
    pub resource_type: TypeName,
    /// What the unfinished call answered.
    pub request_id: String,
    /// Ours: the object that the call is about, if it is known.
    pub native_id: Option<NativeId>,
    /// Credentials and endpoint.
    pub target_config: Secret<Json>,
}

/// Lists a type's objects.
#[derive(Clone, Debug)]
pub struct ListRequest {
    /// The type.
    pub resource_type: TypeName,
    /// Credentials and endpoint.
    pub target_config: Secret<Json>,
    /// Where the last page ended.
    pub page_token: Option<String>,
    /// How many to answer, about.
    pub page_size: u32,
    /// Ours: what the parent's properties say of its children (seed 1, "listParam"), by parameter;
    /// empty for a type without a parent.
    pub list_parameters: BTreeMap<String, Json>,
}

/// Ours: asks whether declared properties would be accepted, as far as they are known.
#[derive(Clone, Debug)]
pub struct ValidateRequest {
    /// The type.
    pub resource_type: TypeName,
    /// The author's name for the resource.
    pub label: Label,
    /// The properties, without those that are not known yet.
    pub properties: Secret<Json>,
}
