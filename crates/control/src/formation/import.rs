//! Imports: finding the objects that declarations are to take over, and asking whether the caller may.

use crate::{Control, ControlError, Principal};
use formwork_model::{
    Certainty, Desired, NativeId, Object, Observation, ProjectId, ResourceDesired, Row, RowId, StackId,
    Stored, TargetRev, TypeName,
};
use formwork_planner::{Import, Imports};
use formwork_platform::Platform;
use std::collections::BTreeMap;

/// A declaration that is to take over an object, and the row of its label if there is one already.
struct Wanted<'a> {
    stack: &'a StackId,
    resource: &'a ResourceDesired,
    native_id: &'a NativeId,
    row: Option<&'a Row>,
}

impl Control {
    /// What there is of the objects that declarations import and that no row of theirs has yet: an
    /// object of the project and of the type, which the caller may see and no other formation owns.
    ///
    /// # Errors
    /// `RATE_LIMITED`.
    pub(crate) async fn imports(
        &self,
        p: &Principal,
        desired: &Desired,
        rows: &[Row],
    ) -> Result<Imports, ControlError> {
        let mut imports = Imports::new();
        let mut free: BTreeMap<RowId, Wanted<'_>> = BTreeMap::new();
        for wanted in wanted(desired, rows) {
            let type_name = &wanted.resource.type_name;
            match self.why_not(p, &desired.project, &wanted, rows).await? {
                Some(why) => _ = imports.insert(key(&wanted), Import::Refused(why)),
                // Several may name one object, which is the planner's to refuse.
                None => _ = free.insert(RowId::from(format!("{type_name}/{}", wanted.native_id)), wanted),
            }
        }
        if free.is_empty() {
            return Ok(imports);
        }
        let to_be: Vec<Row> = free.iter().map(|(id, wanted)| to_be(id, wanted)).collect();
        for (id, observation) in self.observe(p, &desired.project, &to_be, rows).await? {
            let Some(wanted) = free.get(&id) else { continue };
            let import = match observation {
                Observation::Present { properties, at, .. } => {
                    Import::free(wanted.resource, wanted.native_id, wanted.row, (properties, at))
                }
                Observation::Gone { .. } => Import::Refused(names_nothing(wanted)),
                Observation::Failed { message, .. } => {
                    Import::Refused(format!("could not be read: {message}"))
                }
            };
            imports.insert(key(wanted), import);
        }
        Ok(imports)
    }

    /// What speaks against an import, as far as that is known without looking at the object.
    async fn why_not(
        &self,
        p: &Principal,
        project: &ProjectId,
        wanted: &Wanted<'_>,
        rows: &[Row],
    ) -> Result<Option<String>, ControlError> {
        let type_name = &wanted.resource.type_name;
        if Platform::srn_type(type_name).is_some() {
            let access = self.access(type_name)?;
            let found = self.object_of(project, type_name, wanted.native_id).await?;
            // What the caller may not see is not there, as by its own route.
            if !found.is_some_and(|object| Self::may(p, &access.getting(p, &object))) {
                return Ok(Some(names_nothing(wanted)));
            }
        }
        let owners = self.owners(type_name, wanted.native_id).await?;
        // What the own stack has, the planner sees.
        let other = owners.iter().find(|owner| rows.iter().all(|row| row.id != owner.id));
        Ok(other.map(|owner| format!("is owned by formation `{}`, as `{}`", owner.stack, owner.label)))
    }
}

/// The declarations whose object no row of theirs has yet.
fn wanted<'a>(desired: &'a Desired, rows: &'a [Row]) -> impl Iterator<Item = Wanted<'a>> {
    let stacks = desired.stacks.iter();
    let resources =
        stacks.flat_map(|stack| stack.resources.iter().map(move |resource| (&stack.id, resource)));
    resources.filter_map(|(stack, resource)| {
        let native_id = resource.import.as_ref()?;
        let of_label = || rows.iter().filter(|row| row.label == resource.label);
        let row = of_label().find(|row| row.is_live()).or_else(|| of_label().next());
        let has_one = row.is_some_and(|row| row.current.is_some());
        (!has_one).then_some(Wanted { stack, resource, native_id, row })
    })
}

fn key(wanted: &Wanted<'_>) -> (TypeName, NativeId) {
    (wanted.resource.type_name.clone(), wanted.native_id.clone())
}

fn names_nothing(wanted: &Wanted<'_>) -> String {
    format!("names no `{}` of this project", wanted.resource.type_name)
}

/// A row that stands for the object, to look at it.
fn to_be(id: &RowId, wanted: &Wanted<'_>) -> Row {
    let Wanted { stack, resource, native_id, .. } = *wanted;
    let named = |name| TargetRev { name, revision: 0 };
    let target = resource.target.clone().map(named).unwrap_or_default();
    let object = Object {
        native_id: native_id.clone(),
        type_name: resource.type_name.clone(),
        target,
        deletion_policy: resource.deletion_policy,
        sent: Stored::empty_object(),
        echo: Stored::empty_object(),
        observed: None,
        certainty: Certainty::Certain,
    };
    let row = Row::new(id.clone(), stack.clone(), resource.label.clone(), resource.type_name.clone(), 0);
    Row { current: Some(object), ..row }
}
