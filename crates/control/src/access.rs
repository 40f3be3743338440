//! Which actions the routes of a type take, and so which a template that declares it takes.

use crate::authorise::Question;
use crate::{Control, ControlError, Principal, TypeCatalog};
use formwork_iam::{Context, Srn, Tag};
use formwork_model::{
    Catalog as _, IamActions, Json, Path, Planned, PlannedLeaf, ProjectId, Ref, RefPath, RefTarget, Tree,
    TypeName, WireCode,
};
use formwork_platform::{Platform, RestRoute, rest_routes, shown_properties};
use formwork_store::StoredObject;
use std::collections::BTreeSet;
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
fn required(iam: &IamActions, verb: Verb) -> Option<&Arc<str>> {
    match verb {
        Verb::Create => Some(&iam.create),
        Verb::Update => iam.update.as_ref(),
        Verb::Delete => Some(&iam.delete),
    }
}

/// What is written: by a route or by a step of a plan.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Target<'a> {
    /// One that is yet to be made, of these properties.
    New(&'a Json),
    /// One that is yet to be made, of properties of which a plan may not know all.
    Planned(Declared<'a>),
    /// One that is there.
    Stored(&'a StoredObject),
    /// One of which nothing but its id matters.
    Named(&'a str),
}

/// Properties as a plan knows them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Declared<'a> {
    pub(crate) properties: &'a Planned,
    /// The logical ids of what the same plan makes.
    pub(crate) made: &'a BTreeSet<&'a str>,
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
    /// What the routes of a type take.
    ///
    /// # Errors
    /// `RESOURCE_NOT_FOUND` for a type without routes.
    pub(crate) fn of(catalog: &TypeCatalog, type_name: &TypeName) -> Result<Self, ControlError> {
        let missing = || ControlError::new(WireCode::ResourceNotFound, format!("No such type: {type_name}"));
        let route = rest_routes().iter().find(|route| route.type_name == type_name.as_str());
        let route = route.ok_or_else(missing)?;
        let srn_type = Platform::srn_type(type_name).ok_or_else(missing)?;
        let iam = catalog.get(type_name).and_then(|rules| rules.capabilities().iam.clone());
        Ok(Self { route, iam, srn_type, srn_parent: Platform::srn_parent(type_name) })
    }

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

    /// What reading takes of a project's resources of which nothing is known.
    pub(crate) fn getting_any<'a>(&self, project: &'a ProjectId) -> Question<'a> {
        Question {
            action: self.route.permission(self.route.get).into(),
            srn: Srn::unknown(project, self.srn_type),
            project: Some(project),
            context: Context::unknown(),
            admin_only: self.admin_only(),
        }
    }

    /// What one of the route's operations on a resource takes.
    pub(crate) fn doing<'a>(&self, p: &Principal, operation: &str, object: &'a StoredObject) -> Question<'a> {
        self.taking(p, self.route.permission(operation), object)
    }

    /// What an action on a resource takes.
    pub(crate) fn taking<'a>(&self, p: &Principal, action: String, object: &'a StoredObject) -> Question<'a> {
        self.question(p, action, object.project.as_ref(), Target::Stored(object))
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
        target: Target<'_>,
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
        target: Target<'_>,
    ) -> Question<'a> {
        // What is stored is read only for whom it matters to.
        let asks_for_tags = p.subject.asks_for_tags();
        let shown = match target {
            Target::Stored(object) if asks_for_tags || self.srn_parent.is_some() => shown_properties(object),
            _ => Json::Null,
        };
        let name = match (target, self.srn_parent) {
            (Target::New(properties), Some(parent)) => Name::Is(text_at(properties, parent)),
            (Target::Planned(declared), Some(parent)) => declared.parent(parent),
            (Target::New(_) | Target::Planned(_), None) => Name::Is(ANY),
            (Target::Stored(_), Some(parent)) => Name::Is(text_at(&shown, parent)),
            (Target::Stored(object), None) => Name::Is(&object.id),
            (Target::Named(_), Some(_)) => Name::Unknown,
            (Target::Named(id), None) => Name::Is(id),
        };
        let context = match target {
            _ if !asks_for_tags => Context::new(),
            Target::New(properties) => Context::of_properties(properties),
            Target::Planned(declared) => declared.context().unwrap_or_default(),
            Target::Stored(_) => Context::of_properties(&shown),
            Target::Named(_) => Context::new(),
        };
        let srn = match (name, project) {
            (Name::Is(id), Some(project)) => Srn::new(project, self.srn_type, id),
            (Name::Is(id), None) => Srn::global(self.srn_type, id),
            (Name::Unknown, Some(project)) => Srn::unknown(project, self.srn_type),
            (Name::Unknown, None) => Srn::any_global(self.srn_type),
        };
        Question { action: action.into(), srn, project, context, admin_only: self.admin_only() }
    }
}

/// What stands in a name for what is yet to be made.
const ANY: &str = "*";

/// The id by which something goes.
enum Name<'a> {
    Is(&'a str),
    Unknown,
}

/// The id of what something is part of; `*` where it names none.
fn text_at<'a>(properties: &'a Json, parent: &str) -> &'a str {
    properties.get(parent).and_then(Json::as_str).unwrap_or(ANY)
}

impl<'a> Declared<'a> {
    /// The tags, as far as they are known; `None` if none are declared.
    pub(crate) fn context(self) -> Option<Context> {
        let tags = self.properties.at(&Path::of(["tags"]))?;
        if let Tree::Leaf(_) = tags {
            return Some(Context::unknown());
        }
        let known = tags.members().unwrap_or_default().into_iter().filter_map(|(name, value)| {
            let value = match value {
                Tree::Plain(value) => Tag::Is(value.as_str()?.to_owned()),
                _ => Tag::Unknown,
            };
            Some((name.to_string(), value))
        });
        Some(Context::of_tags(known))
    }

    /// What the declared thing is part of. No policy can name what the same plan makes.
    fn parent(self, property: &str) -> Name<'a> {
        let value = match self.properties {
            Tree::Plain(properties) => return Name::Is(text_at(properties, property)),
            Tree::Object(members) => members.get(property),
            Tree::Leaf(_) | Tree::Array(_) => return Name::Unknown,
        };
        match value {
            None => Name::Is(ANY),
            Some(Tree::Plain(value)) => Name::Is(value.as_str().unwrap_or(ANY)),
            Some(Tree::Leaf(PlannedLeaf::Unknown { from, .. })) if self.makes(from) => Name::Is(ANY),
            Some(_) => Name::Unknown,
        }
    }

    /// Whether a value is the id of something that the plan makes.
    fn makes(self, from: &[Ref]) -> bool {
        let [
            Ref {
                to: RefTarget::Resource { stack: None, label, .. },
                path: RefPath::NativeId,
                json: None,
                ..
            },
        ] = from
        else {
            return false;
        };
        self.made.contains(label.as_str())
    }
}

/// What the same write takes of an object that it leaves with other tags; `None` if it leaves them
/// as they are, or nobody asks for them.
pub(crate) fn retagging<'a>(
    p: &Principal,
    question: &Question<'a>,
    context: Context,
) -> Option<Question<'a>> {
    let matters = p.subject.asks_for_tags() && context != question.context;
    matters.then(|| Question { context, ..question.clone() })
}

/// What deleting an object takes; `None` if there is no route that does.
pub(crate) fn deleting<'a>(
    catalog: &TypeCatalog,
    p: &Principal,
    object: &'a StoredObject,
) -> Option<Question<'a>> {
    let access = Access::of(catalog, &object.type_name.as_str().into()).ok()?;
    access.writing(p, Verb::Delete, object.project.as_ref(), Target::Stored(object)).ok()
}

impl Control {
    /// What the routes of a type take.
    ///
    /// # Errors
    /// `RESOURCE_NOT_FOUND` for a type without routes.
    pub(crate) fn access(&self, type_name: &TypeName) -> Result<Access, ControlError> {
        Access::of(&self.catalog, type_name)
    }
}
