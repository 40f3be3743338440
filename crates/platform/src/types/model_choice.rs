//! Which model agents and chats use: one they name, or their provider's default.

use crate::Refusal;
use formwork_model::{Json, WireCode};
use formwork_store::{DomainError, DomainTx};

/// Demands that there is a model: of a route, or of a provider that names one where the properties
/// don't. A provider of seed 4's example ("Parameters") has none. `who` is `An agent` or `A chat`,
/// `needs` what it can get its model from.
///
/// # Errors
/// A refusal if there is none, or a fault of the store.
pub(super) fn admit(
    tx: &mut dyn DomainTx,
    properties: &Json,
    who: &str,
    needs: &str,
) -> Result<(), DomainError> {
    let named = |name: &str| properties.get(name).and_then(Json::as_str);
    let refuse = |message: String| Err(Refusal::new(WireCode::ValidationFailed, message).into());
    if named("model_route_id").is_some() {
        return Ok(());
    }
    let Some(provider) = named("ai_provider_id") else {
        return refuse(format!("{who} needs {needs}: the project has no default model route to inherit."));
    };
    if named("model").is_some() {
        return Ok(());
    }
    // Whether the provider is there at all is for the references to say.
    let has_default = tx.get(provider)?.is_none_or(|it| it.doc["properties"]["default_model"].is_string());
    if has_default {
        return Ok(());
    }
    refuse(format!("{who} needs a model: the provider '{provider}' has no default_model."))
}
