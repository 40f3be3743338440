//! Which model agents and chats use: one they name, their provider's default, or the one that their
//! project's default route picks.

use crate::{ProjectSettings, Refusal};
use formwork_model::{Json, ProjectId, WireCode};
use formwork_store::{DomainError, DomainTx};

/// Demands that there is a model: of a route, the project's own where none is named, or of a provider
/// that names one where the properties don't. A provider of seed 4's example ("Parameters") has none.
/// `who` is `An agent` or `A chat`, `bindings` what can say where its model comes from.
///
/// # Errors
/// A refusal if there is none, or a fault of the store.
pub(super) fn admit(
    tx: &mut dyn DomainTx,
    project: &ProjectId,
    properties: &Json,
    who: &str,
    bindings: &[&str],
) -> Result<(), DomainError> {
    let named = |name: &str| properties.get(name).and_then(Json::as_str);
    let refuse = |message: String| Err(Refusal::new(WireCode::ValidationFailed, message).into());
    if named("model_route_id").is_some() {
        return Ok(());
    }
    let Some(provider) = named("ai_provider_id") else {
        if ProjectSettings::within(tx, project)?.default_model_route_id.is_some() {
            return Ok(());
        }
        let needs = bindings.iter().map(|name| format!("{} {name}", article(name)));
        let needs = needs.collect::<Vec<_>>().join(" or ");
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

fn article(name: &str) -> &'static str {
    if name.starts_with("ai") { "an" } else { "a" }
}
