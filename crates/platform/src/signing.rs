//! Signing secrets: generated, sealed at rest, shown to whoever makes or rotates one, and read back
//! by a route with a permission of its own (seed 4, "Secrets in Templates"). They are no output of a
//! formation.

use crate::{Act, Refusal, document::Document, rewrite::rewrite, scene::Scene, view::representation};
use formwork_model::{Json, WireCode};
use formwork_secret::{Secret, hex, random_bytes};
use formwork_store::{DomainError, DomainTx};
use serde_json::json;

/// What answers call it, and the credential that no formation may output.
pub(crate) const SECRET: &str = "secret";
/// Where the system part holds it, sealed.
const SEALED: &str = "signing_secret";

/// Gives a new object its secret.
pub(crate) fn mint(scene: &mut Scene<'_>) {
    let secret = generate();
    scene.system.insert(SEALED.to_owned(), Document::seal_text(scene.key, scene.id, SEALED, &secret));
    scene.reveal(SECRET, secret);
}

fn generate() -> Secret<String> {
    Secret::new(hex(&random_bytes::<32>()))
}

/// `GET …/secret`: the secret of an object.
pub(crate) fn read(act: &Act<'_>) -> Result<Json, DomainError> {
    let document = Document::of(&act.object)?;
    let Some(sealed) = document.system.get(SEALED) else { return Err(none(act).into()) };
    let secret = Document::open_text(act.key, &act.object.id, SEALED, sealed);
    let secret = secret.ok_or_else(|| shut(act))?;
    Ok(json!({ SECRET: secret.expose() }))
}

/// `POST …/rotate-secret`: the object with a new secret; the old one is gone at once.
pub(crate) fn rotate(tx: &mut dyn DomainTx, act: &Act<'_>) -> Result<Json, DomainError> {
    if !Document::of(&act.object)?.system.contains_key(SEALED) {
        return Err(none(act).into());
    }
    let secret = generate();
    let sealed = Document::seal_text(act.key, &act.object.id, SEALED, &secret);
    let object = rewrite(tx, act.key, &act.object, |document| {
        document.system.insert(SEALED.to_owned(), sealed);
    })?;
    let mut shown = representation(act.entry, &object)?;
    shown[SECRET] = json!(secret.expose());
    Ok(shown)
}

fn none(act: &Act<'_>) -> Refusal {
    let noun = act.entry.definition().noun;
    Refusal::new(WireCode::ResourceNotFound, format!("{noun} '{}' has no signing secret", act.object.id))
}

fn shut(act: &Act<'_>) -> Refusal {
    let message =
        format!("The signing secret of '{}' cannot be opened with this instance's key", act.object.id);
    Refusal::new(WireCode::SecretNotDecryptable, message)
}

/// Whether an object with these properties is to have a secret that it does not have yet.
pub(crate) fn lacks(scene: &Scene<'_>, signs: fn(&Json) -> bool) -> bool {
    signs(scene.after) && !scene.system.contains_key(SEALED)
}
