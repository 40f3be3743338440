//! Previous values that a new object would need and that there are none of.

use super::declare::Case;
use super::draft::Draft;
use super::resolve::subtree;
use crate::change::{hint, is_private};
use formwork_model::{
    Diagnostic, DiagnosticCode, Expr, ExprLeaf, Path, ResourceDesired, Schema, Segment, Stored,
};

impl<'a> Draft<'_, 'a> {
    /// Refuses a new object that would lack what it is declared to keep (architecture §6: a step
    /// that may need a plaintext nobody holds is refused when it is planned). Other fields that were
    /// never stored are dropped (seed 4, "Reusing Previously Stored Values").
    pub(crate) fn refuse_lacking(&mut self, case: &Case<'_, 'a>, previous: Option<&'a Stored>) {
        if self.world.request.incomplete {
            return;
        }
        let resource = case.resource();
        for (path, secret) in lacking(&resource.properties, case.schema, previous) {
            let error = lacks(resource, &path, secret);
            let place = self.world.request.desired.source_map.place(&error.path);
            self.found.push(error.at(place));
        }
    }
}

/// Where a previous value is kept that there is none of, and a new object needs it: in a property
/// that must not be seen, or as one that is required. With whether it is secret.
fn lacking(properties: &Expr, schema: &Schema, previous: Option<&Stored>) -> Vec<(Path, bool)> {
    let mut lacking = Vec::new();
    properties.for_each_leaf(&mut |path, leaf| {
        let Some((Segment::Key(name), below)) = path.segments().split_first() else { return };
        let hint = hint(schema, name);
        let needed = is_private(hint) || below.is_empty() && (hint.required || hint.required_on_create);
        let held = || previous.is_some_and(|previous| subtree(previous, path.segments()).is_some());
        if matches!(leaf, ExprLeaf::KeepPrevious) && needed && !held() {
            lacking.push((path.clone(), is_private(hint)));
        }
    });
    lacking
}

fn lacks(resource: &ResourceDesired, path: &Path, secret: bool) -> Diagnostic {
    let full = resource.properties_path.join(path);
    let what = format!("`{}.{path}` keeps its previous value", resource.label);
    let (code, message) = if secret {
        let why = "but the resource must be created and nobody holds the secret";
        (DiagnosticCode::SecretUnavailable, format!("{what}, {why}"))
    } else {
        let why = "but the resource must be created and has none";
        (DiagnosticCode::MissingParameter, format!("{what}, {why}"))
    };
    Diagnostic::error(code, full, message).hint("supply the value")
}
