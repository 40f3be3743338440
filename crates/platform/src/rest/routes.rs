//! The routes as data (`formations-behaviour.md` §6.10): server, CLI and OpenAPI are made from it.

use crate::{PlatformCatalog, UpdateMode};
use formwork_model::Kind;
use std::sync::LazyLock;

static ROUTES: LazyLock<Vec<RestRoute>> =
    LazyLock::new(|| PlatformCatalog::shared().entries().map(|entry| *entry.definition().route).collect());

/// The routes of one type, below the API's base path.
#[derive(Clone, Copy, Debug)]
pub struct RestRoute {
    /// The type they serve.
    pub type_name: &'static str,
    /// The collection (`/agents`); below another item it holds that item's parameter
    /// (`/datasets/{dataset_id}/items`).
    pub path: &'static str,
    /// The parameter that names an item (`agent_id`).
    pub id_param: &'static str,
    /// The item whose collection it is, for a path with a parameter.
    pub parent: Option<RestParent>,
    /// The permission module (`agents`).
    pub module: &'static str,
    /// The operation behind `POST` on the collection (`CreateAgent`).
    pub create: Option<&'static str>,
    /// The operation behind `GET` on the collection.
    pub list: &'static str,
    /// The operation behind `GET` on an item.
    pub get: &'static str,
    /// The operation behind `PUT` and `PATCH` on an item.
    pub update: Option<&'static str>,
    /// The operation behind `DELETE` on an item.
    pub delete: Option<&'static str>,
    /// Operations that are authorised as an action of another name, with that action
    /// (`evaluations:CreateDataset`).
    pub gated_as: &'static [(&'static str, &'static str)],
    /// The methods that update an item.
    pub update_modes: &'static [UpdateMode],
    /// What follows the item's id in the path of an update (`/metadata`).
    pub update_suffix: &'static str,
    /// The query parameters that narrow a list, beside `limit` and `offset`.
    pub list_filters: &'static [&'static str],
    /// What a successful create answers.
    pub create_status: u16,
    /// Whether a create may answer 200 with what is there already.
    pub answers_existing: bool,
    /// What a successful delete answers.
    pub delete_status: DeleteStatus,
    /// Whether a delete takes `?force=true`.
    pub force: bool,
    /// What else can be done with an item.
    pub actions: &'static [RestAction],
}

/// The item whose collection a route serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RestParent {
    /// Its type.
    pub type_name: &'static str,
    /// The parameter in the path, and the property that holds its id.
    pub property: &'static str,
}

/// What can be done with an item beyond reading and writing it (`GET /traces/{trace_id}/tree`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RestAction {
    /// The method.
    pub method: ActionMethod,
    /// What follows the item's path, without the slash.
    pub path: &'static str,
    /// The operation (`GetTraceTree`).
    pub operation: &'static str,
    /// What its body holds.
    pub takes: ActionBody,
    /// What it answers if it succeeds.
    pub status: u16,
    /// For one that answers a page of other items: which.
    pub lists: Option<Listed>,
    /// Whether it shows to whoever may do it what only readers of the item may see, so that it takes
    /// reading it too.
    pub reads: bool,
}

/// The items of which an action answers a page: those of a type that name this one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Listed {
    /// Their type.
    pub type_name: &'static str,
    /// Where they name it.
    pub field: &'static str,
    /// Whether this one, and those that name them, and so on, are listed too, each with its depth.
    pub as_tree: bool,
}

/// The method of an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ActionMethod {
    /// It shows something and has no effect.
    Get,
    /// A `GET` that shows a credential: it is written down who was told.
    Reveal,
    /// It changes something.
    Post,
    /// It replaces something.
    Put,
    /// It changes a part of something.
    Patch,
    /// It takes something away.
    Delete,
}

/// What the body of an action holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ActionBody {
    /// There is none.
    Nothing,
    /// An object with these fields and no others; where none is required it may be left out.
    Fields(&'static [ActionField]),
    /// An object of texts by name; null takes one away.
    Texts,
}

/// A field of the body of an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ActionField {
    /// Its name.
    pub name: &'static str,
    /// What kind of value it is.
    pub kind: Kind,
    /// Whether it must be there.
    pub required: bool,
    /// What it is for.
    pub doc: &'static str,
}

impl RestAction {
    /// One that shows something.
    pub(crate) const fn get(path: &'static str, operation: &'static str) -> Self {
        Self::of(ActionMethod::Get, path, operation)
    }

    /// One that shows a credential.
    pub(crate) const fn reveal(path: &'static str, operation: &'static str) -> Self {
        Self::of(ActionMethod::Reveal, path, operation)
    }

    /// One that changes something.
    pub(crate) const fn post(path: &'static str, operation: &'static str) -> Self {
        Self::of(ActionMethod::Post, path, operation)
    }

    /// One that takes something away.
    pub(crate) const fn delete(path: &'static str, operation: &'static str) -> Self {
        Self::of(ActionMethod::Delete, path, operation)
    }

    /// One that shows a page of the items of a type that name the item.
    pub(crate) const fn list(path: &'static str, operation: &'static str, listed: Listed) -> Self {
        let mut action = Self::of(ActionMethod::Get, path, operation);
        action.lists = Some(listed);
        action
    }

    pub(crate) const fn of(method: ActionMethod, path: &'static str, operation: &'static str) -> Self {
        let takes = ActionBody::Nothing;
        Self { method, path, operation, takes, status: 200, lists: None, reads: false }
    }

    /// The same with a body.
    pub(crate) const fn taking(mut self, takes: ActionBody) -> Self {
        self.takes = takes;
        self
    }

    /// The same with another status.
    pub(crate) const fn answering(mut self, status: u16) -> Self {
        self.status = status;
        self
    }

    /// The same, for one that takes reading the item too.
    pub(crate) const fn reading(mut self) -> Self {
        self.reads = true;
        self
    }

    /// Whether it has no effect.
    pub fn only_shows(&self) -> bool {
        matches!(self.method, ActionMethod::Get | ActionMethod::Reveal)
    }
}

/// What a successful delete answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeleteStatus {
    /// 204, without a body.
    NoContent,
    /// 200 with `{"success": true}`.
    Ok,
}

impl RestRoute {
    /// What most routes have in common, to be completed.
    pub(crate) const USUAL: Self = Self {
        type_name: "",
        path: "",
        id_param: "",
        parent: None,
        module: "",
        create: None,
        list: "",
        get: "",
        update: None,
        delete: None,
        gated_as: &[],
        update_modes: &[],
        update_suffix: "",
        list_filters: &["project_id"],
        create_status: 201,
        answers_existing: false,
        delete_status: DeleteStatus::NoContent,
        force: false,
        actions: &[],
    };

    /// All operations, those of single items' actions last.
    pub fn operations(&self) -> impl Iterator<Item = &'static str> {
        let usual = [self.create, Some(self.list), Some(self.get), self.update, self.delete];
        usual.into_iter().flatten().chain(self.actions.iter().map(|action| action.operation))
    }

    /// The action that a principal must be allowed for an operation (`agents:CreateAgent`).
    pub fn permission(&self, operation: &str) -> String {
        let gate = self.gated_as.iter().find(|(name, _)| *name == operation);
        gate.map_or_else(|| format!("{}:{operation}", self.module), |(_, action)| (*action).to_owned())
    }
}

/// The routes of all types, in the order of the types.
pub fn rest_routes() -> &'static [RestRoute] {
    &ROUTES
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_routes_read_as_documented() {
        let lines: Vec<String> = rest_routes().iter().map(line).collect();
        insta::assert_snapshot!(lines.join("\n"));
    }

    fn line(route: &RestRoute) -> String {
        let gates: Vec<String> = route.operations().map(|operation| gate(route, operation)).collect();
        let actions: Vec<String> =
            route.actions.iter().map(|action| format!("{:?} …/{}", action.method, action.path)).collect();
        format!(
            "{} {}/{{{}}} {:?}{} {:?} create={} delete={:?} force={} {} {}",
            route.type_name,
            route.path,
            route.id_param,
            route.update_modes,
            route.update_suffix,
            route.list_filters,
            route.create_status,
            route.delete_status,
            route.force,
            gates.join(" "),
            actions.join(" "),
        )
        .trim_end()
        .to_owned()
    }

    fn gate(route: &RestRoute, operation: &str) -> String {
        let permission = route.permission(operation);
        if permission.ends_with(&format!(":{operation}")) {
            permission
        } else {
            format!("{operation}({permission})")
        }
    }
}
