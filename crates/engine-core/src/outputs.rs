//! The outputs and metadata of a stack, once all is done.

use crate::inputs::{Rows, value_of};
use formwork_model::{
    InputLeaf, InputPart, Inputs, Json, PlannedStack, Row, RowRef, Tree, Visibility, as_text,
};
use indexmap::IndexMap;
use std::convert::Infallible;
use std::sync::Arc;

/// What a secret reads as in outputs and metadata.
const HIDDEN: &str = "***";

/// A resolved value has no leaves.
#[derive(Clone, Debug)]
enum NoLeaf {}

impl formwork_model::Leaf for NoLeaf {}

/// Resolves a stack's outputs and metadata. Only outputs that resolve to a text are given (seed 4,
/// "Outputs"); what can't be resolved is left out, and secrets read `***`.
pub fn resolve_outputs<'r>(
    stack: &PlannedStack,
    row: &dyn Fn(&RowRef) -> Option<&'r Row>,
) -> (IndexMap<Arc<str>, Json>, Option<Json>) {
    let outputs = stack.outputs.iter().filter_map(|(name, value)| {
        let value = shown(row, value)?;
        value.is_string().then(|| (name.clone(), value))
    });
    (outputs.collect(), stack.metadata.as_ref().and_then(|metadata| shown(row, metadata)))
}

fn shown(rows: Rows<'_, '_>, inputs: &Inputs) -> Option<Json> {
    let shown: Result<Option<Tree<NoLeaf>>, Infallible> = inputs.try_map(&mut |_, leaf| {
        Ok(match leaf {
            InputLeaf::Ref(bound) if bound.reference.visibility == Visibility::Opaque => Some(HIDDEN.into()),
            InputLeaf::Ref(bound) => value_of(rows, bound).ok(),
            InputLeaf::Template(parts) => template(rows, parts).map(Json::String),
            InputLeaf::Secret { .. } | InputLeaf::Kept(_) => Some(HIDDEN.into()),
        }
        .map(Tree::Plain))
    });
    let Ok(shown) = shown;
    shown.and_then(Tree::into_plain)
}

fn template(rows: Rows<'_, '_>, parts: &[InputPart]) -> Option<String> {
    let mut text = String::new();
    for part in parts {
        match part {
            InputPart::Text(literal) => text.push_str(literal),
            InputPart::Ref(bound) if bound.reference.visibility == Visibility::Clear => {
                text.push_str(&as_text(&value_of(rows, bound).ok()?));
            }
            // Secrecy is contagious.
            InputPart::Ref(_) | InputPart::Secret { .. } => return Some(HIDDEN.to_owned()),
        }
    }
    Some(text)
}
