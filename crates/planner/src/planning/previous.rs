//! What a new object would need and that there is none of: previous values, and properties that are required.

use super::cause::declaration_place;
use super::declare::Case;
use super::draft::Draft;
use super::resolve::subtree;
use crate::change::{hint, is_private};
use formwork_model::{
    Diagnostic, DiagnosticCode, Expr, ExprLeaf, Json, Ownership, Path, ResourceDesired, Schema, Segment,
    Stored,
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

impl Draft<'_, '_> {
    /// Refuses a new object whose declaration lacks what its type needs (seed 1, "required and requiredOnCreate").
    /// A declaration that owns only what it says was checked as a whole by whoever read it.
    pub(crate) fn refuse_incomplete(&mut self, case: &Case<'_, '_>) {
        let resource = case.resource();
        let owns_all = self.world.stack(case.node.stack).ownership != Ownership::DeclaredOnly;
        if self.world.request.incomplete || !owns_all {
            return;
        }
        let is_declared = |name: &str| match &resource.properties {
            Expr::Plain(Json::Object(members)) => members.contains_key(name),
            Expr::Object(members) => members.contains_key(name),
            _ => true,
        };
        for (name, property) in &case.schema.properties {
            let needed = property.hint.required || property.hint.required_on_create;
            if !needed || is_declared(name) {
                continue;
            }
            let path = resource.properties_path.key(name.clone());
            let text = format!("`{}` must be created and lacks `{name}`", resource.label);
            let error = Diagnostic::error(DiagnosticCode::MissingProperty, path, text);
            let place = declaration_place(self.world, resource);
            self.found.push(error.at(place).hint("declare it"));
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
