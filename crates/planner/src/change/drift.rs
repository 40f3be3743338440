//! Drift: what was changed at the provider behind our back.

use super::grow::{lift, property_of};
use super::guided::Guide;
use super::rule::{Way, has_drifted, hint, is_private};
use super::view::View;
use formwork_model::{Object, PatchOp, Path, Schema, Stored, TypeCapabilities};
use rustc_hash::FxHashSet;

/// What is observed otherwise than the provider answered to our own last write: one change per
/// property, from the answer to the observation.
///
/// With `declared_only`, only the properties in it are compared; otherwise all that were answered
/// or are seen. Write-only and opaque properties, and a secret that the observation does not show,
/// never drift; neither does a type that cannot be read.
pub fn drift(
    schema: &Schema,
    capabilities: &TypeCapabilities,
    object: &Object,
    observed: &Stored,
    declared_only: Option<&Stored>,
) -> Vec<PatchOp> {
    if !capabilities.read {
        return Vec::new();
    }
    let mut seen = FxHashSet::default();
    let names: Vec<&str> = match declared_only {
        Some(declared) => View::of(declared).members().map(|(name, _)| name).collect(),
        None => (View::of(&object.echo).members().chain(View::of(observed).members()))
            .map(|(name, _)| name)
            .filter(|name| seen.insert(*name))
            .collect(),
    };
    let drifted = |(place, name): &(usize, &str)| {
        let hint = hint(schema, name);
        let guide = schema.property(name).and_then(Guide::of);
        let way = Way { method: &hint.update_method, guide };
        !is_private(hint) && has_drifted(way, object, observed, *place, name)
    };
    let change = |(_, name): (usize, &str)| PatchOp {
        path: Path::of([name]),
        before: property_of(&object.echo, name),
        after: property_of(observed, name).map(|value| lift(&value)),
        drift: true,
        immutable: hint(schema, name).create_only,
        place: None,
    };
    names.into_iter().enumerate().filter(drifted).map(change).collect()
}
