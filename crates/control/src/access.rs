//! Which actions the routes of a type take, and so which a template that declares it takes.

use crate::authorise::Question;
use crate::{Control, ControlError, Principal};
use formwork_iam::{Context, Srn};
use formwork_model::{Catalog as _, IamActions, ProjectId, TypeName, WireCode};
use formwork_platform::{Platform, RestRoute, rest_routes, shown_properties};
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
    route: &'static RestRoute,
    /// What a template that declares it takes; `None` for what only routes know.
    iam: Option<IamActions>,
    srn_type: &'static str,
    /// For what goes by the name of something else: the property that holds its id.
    srn_parent: Option<&'static str>,
}

impl Access {
    pub(crate) fn srn_type(&self) -> &str {
        self.srn_type
    }

    /// Whether it takes the admin role beside any action.
    pub(crate) fn admin_only(&self) -> bool {
        self.iam.as_ref().is_some_and(|iam| iam.admin_only)
    }

    /// What listing takes.
    pub(crate) fn list(&self) -> String {
        self.route.permission(self.route.list)
    }

    /// What reading one resource takes.
    pub(crate) fn getting<'a>(&self, p: &Principal, object: &'a StoredObject) -> Question<'a> {
        self.doing(p, self.route.get, object)
    }

    /// What one of the route's operations on a resource takes.
    pub(crate) fn doing<'a>(&self, p: &Principal, operation: &str, object: &'a StoredObject) -> Question<'a> {
        self.question(p, self.route.permission(operation), object.project.as_ref(), Target::Stored(object))
    }

    /// What writing takes.
    ///
    /// # Errors
    /// The type has no such route.
    pub(crate) fn writing<'a>(
        &self,
        p: &Principal,
        verb: Verb,
        project: Option<&'a ProjectId>,
        target: Target<'a>,
    ) -> Result<Question<'a>, ControlError> {
        Ok(self.question(p, self.action(verb)?, project, target))
    }

    /// The action that a write takes.
    ///
    /// # Errors
    /// The type has no such route.
    pub(crate) fn action(&self, verb: Verb) -> Result<String, ControlError> {
        let action = match &self.iam {
            Some(iam) => required(iam, verb).map(ToString::to_string),
            None => self.operation(verb).map(|operation| self.route.permission(operation)),
        };
        action.ok_or_else(|| ControlError::new(WireCode::ResourceNotFound, "There is no such route."))
    }

    fn operation(&self, verb: Verb) -> Option<&'static str> {
        match verb {
            Verb::Create => self.route.create,
            Verb::Update => self.route.update,
            Verb::Delete => self.route.delete,
        }
    }

    fn question<'a>(
        &self,
        p: &Principal,
        action: String,
        project: Option<&'a ProjectId>,
        target: Target<'a>,
    ) -> Question<'a> {
        let shown = match target {
            Target::Stored(object) if self.srn_parent.is_some() => shown_properties(object),
            _ => formwork_model::Json::Null,
        };
        let id = match (target, self.srn_parent) {
            (Target::New(properties), Some(parent)) => text_at(properties, parent),
            (Target::New(_), None) => "*",
            (Target::Stored(_), Some(parent)) => text_at(&shown, parent),
            (Target::Stored(object), None) => object.id.as_str(),
        };
        // Tags are read only for whom they matter to.
        let context = match target {
            _ if !p.subject.asks_for_tags() => Context::new(),
            Target::New(properties) => Context::of_properties(properties),
            Target::Stored(object) => Context::of_properties(&shown_properties(object)),
        };
        let srn = named(self.srn_type, project, id);
        Question { action: action.into(), srn, project, context, admin_only: self.admin_only() }
    }
}

/// The id of what something is part of; `*` where it names none.
pub(crate) fn text_at<'a>(properties: &'a formwork_model::Json, parent: &str) -> &'a str {
    properties.get(parent).and_then(formwork_model::Json::as_str).unwrap_or("*")
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
        let srn_type = Platform::srn_type(type_name).ok_or_else(missing)?;
        let iam = self.catalog.get(type_name).and_then(|rules| rules.capabilities().iam.clone());
        Ok(Access { route, iam, srn_type, srn_parent: Platform::srn_parent(type_name) })
    }
}
