//! Import: a declared resource takes over an object that exists already.
//!
//! A resource with an `import` stands for exactly that object, or is refused. It is adopted by one
//! step; what follows is what follows for any object: what differs from the declaration is an update.

use super::cause::{about, declaration_place};
use super::declare::Case;
use super::draft::{Draft, Identity};
use super::world::Seen;
use crate::Import;
use formwork_model::{
    Action, Diagnostic, DiagnosticCode, Guard, NativeId, OnFailure, PatchOp, Row, Undo, fingerprint,
};

impl<'a> Draft<'_, 'a> {
    /// Decides a resource that is imported, unless it stands for its object already.
    pub(crate) fn adopts(&mut self, case: &Case<'_, 'a>) -> bool {
        let Some(native_id) = &case.resource().import else { return false };
        match case.object() {
            Some(object) if object.native_id != *native_id => {
                let why = format!("stands for `{}` already", object.native_id);
                self.refuse_import(case, native_id, &why, Some("take `import` off"));
            }
            Some(_) if matches!(case.seen, Seen::Gone) => {
                self.refuse_import(
                    case,
                    native_id,
                    "lost it: it was deleted outside",
                    Some("take `import` off"),
                );
            }
            Some(_) => return false,
            None => match self.importable(case, native_id) {
                Ok(row) => self.adopt(case, native_id, row),
                Err(why) => self.refuse_import(case, native_id, &why, None),
            },
        }
        true
    }

    /// The row as it will stand once it has the object, if nothing speaks against it.
    fn importable(&self, case: &Case<'_, 'a>, native_id: &'a NativeId) -> Result<&'a Row, String> {
        let type_name = &case.resource().type_name;
        if case.is_resolving() {
            return Err("has an earlier create whose outcome is not known: settle that first".to_owned());
        }
        if !case.capabilities.read {
            return Err(format!("is of type `{type_name}`, whose objects cannot be read"));
        }
        if let Some(other) = self.adopted.get(&(type_name, native_id)) {
            let label = &self.world.node(*other).resource.label;
            return Err(format!("is declared to be the same object as `{label}`"));
        }
        if let Some(owner) = self.world.request.rows.iter().find(|row| row.has(type_name, native_id)) {
            return Err(format!("would take it from `{}` of the same stack", owner.label));
        }
        match self.world.request.imports.get(&(type_name.clone(), native_id.clone())) {
            Some(Import::Free(row)) => Ok(row),
            Some(Import::Refused(why)) => Err(why.clone()),
            None => Err("was not looked for".to_owned()),
        }
    }

    fn adopt(&mut self, case: &Case<'_, 'a>, native_id: &'a NativeId, row: &'a Row) {
        let Some((object, (seen, _))) =
            row.current.as_ref().and_then(|object| Some((object, object.observed.as_ref()?)))
        else {
            return self.refuse_import(case, native_id, "was not looked at", None);
        };
        self.adopted.insert((&case.resource().type_name, native_id), case.index);
        let mut step = self.step(case, Action::Adopt { native_id: native_id.clone() });
        step.guard = Guard::Unchanged {
            native_id: native_id.clone(),
            generation: row.generation,
            baseline: Some(fingerprint(seen)),
        };
        step.undo = match self.world.stack(case.node.stack).on_failure {
            OnFailure::RollBack => Undo::Release,
            OnFailure::Continue => Undo::Nothing,
        };
        step.before = Some(seen.clone());
        step.cause = about(self.world, case.resource(), &format!("takes over `{native_id}`"));
        self.settle(case, step, Identity::Stays, false);
        let Case { index, node, schema, capabilities, .. } = *case;
        let adopted = Case {
            index,
            node,
            schema,
            capabilities,
            row: Some(row),
            seen: Seen::Present(seen),
            adopts: true,
        };
        self.compare(&adopted, row, object);
    }

    /// What is imported is never deleted for a replacement: that would not be an import.
    pub(crate) fn refuse_replacing(&mut self, case: &Case<'_, '_>, patch: &[PatchOp]) {
        let Some(native_id) = &case.resource().import else { return };
        let fixed: Vec<String> = (patch.iter().filter(|change| change.immutable))
            .map(|change| format!("`{}`", change.path))
            .collect();
        let why = if fixed.is_empty() {
            "would have to replace it".to_owned()
        } else {
            format!("would have to replace it, since {} cannot be changed", fixed.join(", "))
        };
        self.refuse_import(case, native_id, &why, Some("declare what is there, or take `import` off"));
    }

    fn refuse_import(&mut self, case: &Case<'_, '_>, native_id: &NativeId, why: &str, hint: Option<&str>) {
        let resource = case.resource();
        let path = resource.path.key("import");
        let text = format!("`{}` cannot import `{native_id}`: it {why}", resource.label);
        let place = self.world.request.desired.source_map.place(&path);
        let place = place.or_else(|| declaration_place(self.world, resource));
        let mut error = Diagnostic::error(DiagnosticCode::ImportRefused, path, text).at(place);
        error.hint = hint.map(str::to_owned);
        self.found.push(error);
    }
}
