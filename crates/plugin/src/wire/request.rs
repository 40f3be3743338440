//! Requests, each with who calls.

use super::value::{WireError, may_say, optional, said, secret, secret_text, text, value};
use super::{path, pb};
use crate::{
    CallContext, CreateRequest, DeleteRequest, ListRequest, ReadRequest, StatusRequest, UpdateRequest,
    ValidateRequest,
};
use formwork_model::{NativeId, TypeName};

impl From<(&CallContext, CreateRequest)> for pb::CreateRequest {
    fn from((context, request): (&CallContext, CreateRequest)) -> Self {
        Self {
            context: Some(context.into()),
            resource_type: request.resource_type.to_string(),
            properties: secret_text(&request.properties),
            target_config: secret_text(&request.target_config),
            secret_paths: path::to_wire(&request.secret_paths),
        }
    }
}

impl TryFrom<pb::CreateRequest> for (CallContext, CreateRequest) {
    type Error = WireError;

    fn try_from(message: pb::CreateRequest) -> Result<Self, WireError> {
        let request = CreateRequest {
            resource_type: said("resource_type", message.resource_type)?,
            properties: secret("properties", &message.properties)?,
            target_config: secret("target_config", &message.target_config)?,
            secret_paths: path::from_wire(message.secret_paths)?,
        };
        Ok((message.context.try_into()?, request))
    }
}

impl From<(&CallContext, ReadRequest)> for pb::ReadRequest {
    fn from((context, request): (&CallContext, ReadRequest)) -> Self {
        Self {
            context: Some(context.into()),
            resource_type: request.resource_type.to_string(),
            native_id: request.native_id.to_string(),
            target_config: secret_text(&request.target_config),
            redact_sensitive: request.redact_sensitive,
            prior_properties: request.prior_properties.as_ref().map(text),
        }
    }
}

impl TryFrom<pb::ReadRequest> for (CallContext, ReadRequest) {
    type Error = WireError;

    fn try_from(message: pb::ReadRequest) -> Result<Self, WireError> {
        let request = ReadRequest {
            resource_type: said("resource_type", message.resource_type)?,
            native_id: said("native_id", message.native_id)?,
            target_config: secret("target_config", &message.target_config)?,
            redact_sensitive: message.redact_sensitive,
            prior_properties: optional("prior_properties", message.prior_properties.as_deref())?,
        };
        Ok((message.context.try_into()?, request))
    }
}

impl From<(&CallContext, UpdateRequest)> for pb::UpdateRequest {
    fn from((context, request): (&CallContext, UpdateRequest)) -> Self {
        Self {
            context: Some(context.into()),
            resource_type: request.resource_type.to_string(),
            native_id: request.native_id.to_string(),
            prior_properties: text(&request.prior_properties),
            desired_properties: secret_text(&request.desired_properties),
            patch_document: secret_text(&request.patch_document),
            target_config: secret_text(&request.target_config),
            secret_paths: path::to_wire(&request.secret_paths),
            kept_paths: path::to_wire(&request.kept_paths),
        }
    }
}

impl TryFrom<pb::UpdateRequest> for (CallContext, UpdateRequest) {
    type Error = WireError;

    fn try_from(message: pb::UpdateRequest) -> Result<Self, WireError> {
        let request = UpdateRequest {
            resource_type: said("resource_type", message.resource_type)?,
            native_id: said("native_id", message.native_id)?,
            prior_properties: value("prior_properties", &message.prior_properties)?,
            desired_properties: secret("desired_properties", &message.desired_properties)?,
            patch_document: secret("patch_document", &message.patch_document)?,
            target_config: secret("target_config", &message.target_config)?,
            secret_paths: path::from_wire(message.secret_paths)?,
            kept_paths: path::from_wire(message.kept_paths)?,
        };
        Ok((message.context.try_into()?, request))
    }
}

impl From<(&CallContext, DeleteRequest)> for pb::DeleteRequest {
    fn from((context, request): (&CallContext, DeleteRequest)) -> Self {
        Self {
            context: Some(context.into()),
            resource_type: request.resource_type.to_string(),
            native_id: request.native_id.to_string(),
            target_config: secret_text(&request.target_config),
        }
    }
}

impl TryFrom<pb::DeleteRequest> for (CallContext, DeleteRequest) {
    type Error = WireError;

    fn try_from(message: pb::DeleteRequest) -> Result<Self, WireError> {
        let request = DeleteRequest {
            resource_type: said("resource_type", message.resource_type)?,
            native_id: said("native_id", message.native_id)?,
            target_config: secret("target_config", &message.target_config)?,
        };
        Ok((message.context.try_into()?, request))
    }
}

impl From<(&CallContext, StatusRequest)> for pb::StatusRequest {
    fn from((context, request): (&CallContext, StatusRequest)) -> Self {
        Self {
            context: Some(context.into()),
            resource_type: request.resource_type.to_string(),
            request_id: request.request_id,
            native_id: request.native_id.map(|id| id.to_string()),
            target_config: secret_text(&request.target_config),
        }
    }
}

impl TryFrom<pb::StatusRequest> for (CallContext, StatusRequest) {
    type Error = WireError;

    fn try_from(message: pb::StatusRequest) -> Result<Self, WireError> {
        let request = StatusRequest {
            resource_type: said("resource_type", message.resource_type)?,
            request_id: said("request_id", message.request_id)?,
            native_id: may_say(message.native_id),
            target_config: secret("target_config", &message.target_config)?,
        };
        Ok((message.context.try_into()?, request))
    }
}

impl From<(&CallContext, ListRequest)> for pb::ListRequest {
    fn from((context, request): (&CallContext, ListRequest)) -> Self {
        let parameters = request.list_parameters.iter();
        Self {
            context: Some(context.into()),
            resource_type: request.resource_type.to_string(),
            target_config: secret_text(&request.target_config),
            page_token: request.page_token,
            page_size: request.page_size,
            list_parameters: parameters.map(|(name, value)| (name.clone(), text(value))).collect(),
        }
    }
}

impl TryFrom<pb::ListRequest> for (CallContext, ListRequest) {
    type Error = WireError;

    fn try_from(message: pb::ListRequest) -> Result<Self, WireError> {
        let parameter = |(name, text): (String, Vec<u8>)| Ok((name, value("list_parameters", &text)?));
        let parameters: Result<_, WireError> = message.list_parameters.into_iter().map(parameter).collect();
        let request = ListRequest {
            resource_type: said("resource_type", message.resource_type)?,
            target_config: secret("target_config", &message.target_config)?,
            page_token: may_say(message.page_token),
            page_size: message.page_size,
            list_parameters: parameters?,
        };
        Ok((message.context.try_into()?, request))
    }
}

impl From<(&CallContext, &[(TypeName, NativeId)])> for pb::DeleteBlockersRequest {
    fn from((context, objects): (&CallContext, &[(TypeName, NativeId)])) -> Self {
        Self { context: Some(context.into()), objects: objects.iter().map(object).collect() }
    }
}

impl TryFrom<pb::DeleteBlockersRequest> for (CallContext, Vec<(TypeName, NativeId)>) {
    type Error = WireError;

    fn try_from(message: pb::DeleteBlockersRequest) -> Result<Self, WireError> {
        let objects: Result<_, WireError> = message.objects.into_iter().map(named).collect();
        Ok((message.context.try_into()?, objects?))
    }
}

fn object((resource_type, native_id): &(TypeName, NativeId)) -> pb::ObjectRef {
    pb::ObjectRef { resource_type: resource_type.to_string(), native_id: native_id.to_string() }
}

/// The object that a message names.
pub(super) fn named(object: pb::ObjectRef) -> Result<(TypeName, NativeId), WireError> {
    Ok((said("resource_type", object.resource_type)?, said("native_id", object.native_id)?))
}

impl From<ValidateRequest> for pb::ValidateRequest {
    fn from(request: ValidateRequest) -> Self {
        Self {
            resource_type: request.resource_type.to_string(),
            label: request.label.to_string(),
            properties: secret_text(&request.properties),
        }
    }
}

impl TryFrom<pb::ValidateRequest> for ValidateRequest {
    type Error = WireError;

    fn try_from(message: pb::ValidateRequest) -> Result<Self, WireError> {
        Ok(Self {
            resource_type: said("resource_type", message.resource_type)?,
            label: message.label.into(),
            properties: secret("properties", &message.properties)?,
        })
    }
}
