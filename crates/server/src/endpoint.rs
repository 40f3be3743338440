//! The table of all routes.

use crate::guard::Pace;
use crate::router::App;
use crate::routes;
use axum::http::Method;
use axum::routing::MethodRouter;
use formwork_model::Json;

/// One route: what the router serves and what the OpenAPI document says of it.
pub(crate) struct Endpoint {
    pub(crate) method: Method,
    /// Below `/api/v1`, but for `/health`.
    pub(crate) path: String,
    pub(crate) operation_id: String,
    pub(crate) tag: &'static str,
    pub(crate) summary: String,
    /// The action that authorises it.
    pub(crate) permission: Option<String>,
    /// Whether it is there for whoever has no credential yet.
    pub(crate) open: bool,
    pub(crate) query: Vec<Parameter>,
    /// The schema of its body.
    pub(crate) body: Option<Json>,
    /// Whether the body may be left out.
    pub(crate) body_optional: bool,
    /// Statuses of success, with the schemas of their bodies.
    pub(crate) success: Vec<(u16, Option<Json>)>,
    /// Statuses of errors.
    pub(crate) errors: Vec<u16>,
    pub(crate) pace: Pace,
    pub(crate) handler: MethodRouter<App>,
}

/// A query parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Parameter {
    pub(crate) name: &'static str,
    pub(crate) kind: &'static str,
    pub(crate) doc: &'static str,
}

/// Which part of a list.
pub(crate) const PAGING: [Parameter; 2] = [
    Parameter { name: "limit", kind: "integer", doc: "How many items: 1 to 100, 50 if not given." },
    Parameter { name: "offset", kind: "integer", doc: "How many items to pass over." },
];

/// A route as a list shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndpointInfo {
    /// The HTTP method.
    pub method: String,
    /// The whole path, with its parameters in braces.
    pub path: String,
    /// The operation's id (`createFormation`); the command is the same in kebab-case.
    pub operation_id: String,
    /// The action that authorises it; `None` where authentication is enough.
    pub permission: Option<String>,
    /// Whether it is there for whoever has no credential yet.
    pub open: bool,
    /// The names of its query parameters.
    pub query: Vec<&'static str>,
}

/// All routes, in the order of the OpenAPI document.
pub fn endpoints() -> Vec<EndpointInfo> {
    table()
        .into_iter()
        .map(|endpoint| EndpointInfo {
            path: endpoint.full_path(),
            method: endpoint.method.to_string(),
            query: endpoint.query.iter().map(|parameter| parameter.name).collect(),
            operation_id: endpoint.operation_id,
            open: endpoint.open,
            permission: endpoint.permission,
        })
        .collect()
}

/// All routes, with their handlers.
pub(crate) fn table() -> Vec<Endpoint> {
    let mut all = routes::formations::endpoints();
    all.extend(routes::drift::endpoints());
    all.extend(routes::formae::endpoints());
    all.extend(routes::revisions::endpoints());
    all.extend(routes::purge::endpoints());
    all.extend(routes::plans::endpoints());
    all.extend(routes::operations::endpoints());
    all.extend(routes::projects::endpoints());
    all.extend(routes::tokens::endpoints());
    all.extend(routes::users::endpoints());
    all.extend(routes::audit::endpoints());
    all.extend(routes::prices::endpoints());
    all.extend(routes::orchestrations::endpoints());
    all.extend(routes::files::endpoints());
    all.extend(routes::resources::endpoints());
    all.extend(routes::system::endpoints());
    all
}

impl Endpoint {
    /// A prompt route without query or body.
    pub(crate) fn new(
        method: Method,
        path: impl Into<String>,
        operation_id: impl Into<String>,
        summary: impl Into<String>,
        handler: MethodRouter<App>,
    ) -> Self {
        Self {
            method,
            path: path.into(),
            operation_id: operation_id.into(),
            tag: "",
            summary: summary.into(),
            permission: None,
            open: false,
            query: Vec::new(),
            body: None,
            body_optional: false,
            success: Vec::new(),
            errors: Vec::new(),
            pace: Pace::Prompt,
            handler,
        }
    }

    pub(crate) fn tag(mut self, tag: &'static str) -> Self {
        self.tag = tag;
        self
    }

    pub(crate) fn permission(mut self, action: impl Into<String>) -> Self {
        self.permission = Some(action.into());
        self
    }

    pub(crate) fn open(mut self) -> Self {
        self.open = true;
        if self.method != Method::GET {
            self.pace = Pace::Stranger;
        }
        self
    }

    pub(crate) fn query(mut self, parameters: impl IntoIterator<Item = Parameter>) -> Self {
        self.query.extend(parameters);
        self
    }

    pub(crate) fn body(mut self, schema: Json) -> Self {
        self.body = Some(schema);
        self
    }

    pub(crate) fn optional_body(mut self, schema: Json) -> Self {
        self.body_optional = true;
        self.body(schema)
    }

    pub(crate) fn answers(mut self, status: u16, schema: Json) -> Self {
        self.success.push((status, Some(schema)));
        self
    }

    pub(crate) fn answers_nothing(mut self) -> Self {
        self.success.push((204, None));
        self
    }

    pub(crate) fn refuses(mut self, statuses: &[u16]) -> Self {
        self.errors.extend(statuses);
        self
    }

    pub(crate) fn patient(mut self) -> Self {
        self.pace = Pace::Patient;
        self
    }

    /// The path that clients ask for.
    pub(crate) fn full_path(&self) -> String {
        if self.path == "/health" { self.path.clone() } else { format!("/api/v1{}", self.path) }
    }
}
