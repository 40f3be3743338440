//! Which actions the routes of a type take, and so which a template that declares it takes.

use crate::authorise::Question;
use crate::{Control, ControlError, Principal};
use formwork_iam::{Context, Srn};
use formwork_model::{Catalog as _, IamActions, ProjectId, TypeName, WireCode};
use formwork_platform::{rest_routes, shown_properties};
use formwork_store::StoredObject;
use std::sync::Arc;

/// What is done to a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verb {
    Create,
    Update,
    Delete,
}

/// What a write of a type takes (seed 4, "A Formation Only Does What the Caller Could Do
/// Directly"): the one place where a route and a formation both ask.
pub(crate) fn required(iam: &IamActions, verb: Verb) -> Option<&Arc<str>> {
    match verb {
        Verb::Create => Some(&iam.create),
        Verb::Update => iam.update.as_ref(),
        Verb::Delete => Some(&iam.delete),
    }
}

/// What a route that writes is about.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Target<'a> {
    /// One that is yet to be made, of these properties.
    New(&'a formwork_model::Json),
    /// One that is there.
    Stored(&'a StoredObject),
}

/// What the routes of a type take.
pub(crate) struct Access {
    iam: IamActions,
    list: String,
    get: String,
}

impl Access {
    pub(crate) fn srn_type(&self) -> &str {
        &self.iam.srn_type
    }

    pub(crate) fn admin_only(&self) -> bool {
        self.iam.admin_only
    }

    pub(crate) fn list(&self) -> &str {
        &self.list
    }

    /// What reading one resource takes.
    pub(crate) fn getting<'a>(&'a self, p: &Principal, object: &'a StoredObject) -> Question<'a> {
        self.question(p, &self.get, object.project.as_ref(), Target::Stored(object))
    }

    /// What writing takes.
    ///
    /// # Errors
    /// The type has no such route.
    pub(crate) fn writing<'a>(
        &'a self,
        p: &Principal,
        verb: Verb,
        project: Option<&'a ProjectId>,
        target: Target<'a>,
    ) -> Result<Question<'a>, ControlError> {
        let action = required(&self.iam, verb);
        let action =
            action.ok_or_else(|| ControlError::new(WireCode::ResourceNotFound, "There is no such route."))?;
        Ok(self.question(p, action, project, target))
    }

    fn question<'a>(
        &'a self,
        p: &Principal,
        action: &'a str,
        project: Option<&'a ProjectId>,
        target: Target<'a>,
    ) -> Question<'a> {
        let id = match target {
            Target::New(_) => "*",
            Target::Stored(object) => object.id.as_str(),
        };
        // Tags are read only for whom they matter to.
        let context = match target {
            _ if !p.subject.asks_for_tags() => Context::new(),
            Target::New(properties) => Context::of_properties(properties),
            Target::Stored(object) => Context::of_properties(&shown_properties(object)),
        };
        let srn = named(&self.iam.srn_type, project, id);
        Question { action, srn, project, context, admin_only: self.iam.admin_only }
    }
}

/// The name of a resource of a type.
pub(crate) fn named(srn_type: &str, project: Option<&ProjectId>, id: &str) -> Srn {
    match project {
        Some(project) => Srn::new(project, srn_type, id),
        None => Srn::global(srn_type, id),
    }
}

impl Control {
    /// What the routes of a type take.
    ///
    /// # Errors
    /// `RESOURCE_NOT_FOUND` for a type without routes.
    pub(crate) fn access(&self, type_name: &TypeName) -> Result<Access, ControlError> {
        let missing = || ControlError::new(WireCode::ResourceNotFound, format!("No such type: {type_name}"));
        let route = rest_routes().iter().find(|route| route.type_name == type_name.as_str());
        let route = route.ok_or_else(missing)?;
        let iam = self.catalog.get(type_name).and_then(|rules| rules.capabilities().iam.clone());
        Ok(Access {
            iam: iam.ok_or_else(missing)?,
            list: format!("{}:{}", route.module, route.list),
            get: format!("{}:{}", route.module, route.get),
        })
    }
}
