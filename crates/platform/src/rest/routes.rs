//! The routes as data (`formations-behaviour.md` §6.10): server, CLI and OpenAPI are made from it.

use crate::{PlatformCatalog, UpdateMode};
use std::sync::LazyLock;

static ROUTES: LazyLock<Vec<RestRoute>> =
    LazyLock::new(|| PlatformCatalog::shared().entries().map(|entry| *entry.definition().route).collect());

/// The routes of one type, below the API's base path.
#[derive(Clone, Copy, Debug)]
pub struct RestRoute {
    /// The type they serve.
    pub type_name: &'static str,
    /// The collection (`/agents`).
    pub path: &'static str,
    /// The parameter that names an item (`agent_id`).
    pub id_param: &'static str,
    /// The permission module (`agents`).
    pub module: &'static str,
    /// The operation behind `POST` on the collection (`CreateAgent`).
    pub create: &'static str,
    /// The operation behind `GET` on the collection.
    pub list: &'static str,
    /// The operation behind `GET` on an item.
    pub get: &'static str,
    /// The operation behind `PUT` and `PATCH` on an item.
    pub update: &'static str,
    /// The operation behind `DELETE` on an item.
    pub delete: &'static str,
    /// The methods that update an item.
    pub update_modes: &'static [UpdateMode],
    /// The query parameters that narrow a list, beside `limit` and `offset`.
    pub list_filters: &'static [&'static str],
    /// What a successful create answers.
    pub create_status: u16,
    /// What a successful delete answers.
    pub delete_status: DeleteStatus,
    /// Whether a delete takes `?force=true`.
    pub force: bool,
}

/// What a successful delete answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeleteStatus {
    /// 204, without a body.
    NoContent,
    /// 200 with `{"success": true}`.
    Ok,
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
        let lines: Vec<String> = rest_routes()
            .iter()
            .map(|route| {
                format!(
                    "{} {}/{{{}}} {:?} {:?} create={} delete={:?} force={} {}:{}",
                    route.type_name,
                    route.path,
                    route.id_param,
                    route.update_modes,
                    route.list_filters,
                    route.create_status,
                    route.delete_status,
                    route.force,
                    route.module,
                    [route.create, route.list, route.get, route.update, route.delete].join(" "),
                )
            })
            .collect();
        insta::assert_snapshot!(lines.join("\n"));
    }
}
