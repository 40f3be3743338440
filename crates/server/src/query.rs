//! Query strings: only what a route documents, each name once.

use crate::failure::ApiFailure;
use axum::extract::FromRequestParts;
use axum::http::Uri;
use axum::http::request::Parts;
use formwork_api::Page;
use std::collections::BTreeMap;
use std::str::FromStr;

/// The query parameters of a request.
#[derive(Clone, Debug, Default)]
pub(crate) struct Query(BTreeMap<String, String>);

/// Which part of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slice {
    pub(crate) limit: usize,
    pub(crate) offset: usize,
}

impl Query {
    /// Reads a query that may have these names.
    pub(crate) fn parse(uri: &Uri, known: &[&str]) -> Result<Self, ApiFailure> {
        let pairs = axum::extract::Query::<Vec<(String, String)>>::try_from_uri(uri)
            .map_err(|_| ApiFailure::validation("The query is malformed"))?;
        let mut values = BTreeMap::new();
        let mut unknown = Vec::new();
        for (name, value) in pairs.0 {
            if value.contains('\0') {
                return Err(ApiFailure::validation(format!(
                    "`{name}` in the query holds the character U+0000"
                ))
                .meta(serde_json::json!({ "parameter": name })));
            }
            if !known.contains(&name.as_str()) {
                unknown.push(name);
            } else if values.insert(name.clone(), value).is_some() {
                return Err(ApiFailure::validation(format!("The query has `{name}` twice")));
            }
        }
        if unknown.is_empty() {
            return Ok(Self(values));
        }
        Err(ApiFailure::unknown_fields(&unknown.iter().map(String::as_str).collect::<Vec<_>>()))
    }

    /// A text; an empty one counts as absent.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str).filter(|text| !text.is_empty())
    }

    /// A truth value.
    pub(crate) fn flag(&self, name: &str, default: bool) -> Result<bool, ApiFailure> {
        match self.0.get(name).map(String::as_str) {
            None => Ok(default),
            Some("true") => Ok(true),
            Some("false") => Ok(false),
            Some(_) => Err(ApiFailure::validation(format!("`{name}` must be `true` or `false`"))),
        }
    }

    /// A whole number.
    pub(crate) fn number<T: FromStr>(&self, name: &str) -> Result<Option<T>, ApiFailure> {
        let malformed = |_| ApiFailure::validation(format!("`{name}` must be a whole number, 0 or more"));
        self.0.get(name).map(|text| text.parse().map_err(malformed)).transpose()
    }

    /// Which part of a list: 50 where it does not say, at most 100 (`formations-behaviour.md`
    /// §1.1).
    pub(crate) fn slice(&self) -> Result<Slice, ApiFailure> {
        let (default, max) = (Page::<()>::DEFAULT_LIMIT, Page::<()>::MAX_LIMIT);
        let limit = self.number("limit")?.unwrap_or(default);
        if !(1..=max).contains(&limit) {
            return Err(ApiFailure::validation(format!("`limit` must be between 1 and {max}")));
        }
        let offset = self.number("offset")?.unwrap_or(0);
        Ok(Slice { limit: usize::try_from(limit).unwrap_or(usize::MAX), offset })
    }

    /// All parameters but those of paging.
    pub(crate) fn filters(&self) -> BTreeMap<String, String> {
        let is_filter = |name: &str| !matches!(name, "limit" | "offset");
        self.0.iter().filter(|(name, _)| is_filter(name)).map(|(k, v)| (k.clone(), v.clone())).collect()
    }
}

/// The query that the route's guard has read.
impl<S: Sync> FromRequestParts<S> for Query {
    type Rejection = ApiFailure;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, ApiFailure> {
        let read = parts.extensions.get::<Self>().cloned();
        read.ok_or_else(|| ApiFailure::internal("a route without a guard"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slice(query: &str) -> Result<Slice, String> {
        let uri = format!("/x?{query}").parse().expect("a URI");
        Query::parse(&uri, &["limit", "offset"])
            .and_then(|query| query.slice())
            .map_err(|error| format!("{error:?}"))
    }

    #[test]
    fn pages_have_fifty_items_and_at_most_a_hundred() {
        assert_eq!(slice(""), Ok(Slice { limit: 50, offset: 0 }));
        assert_eq!(slice("limit=100&offset=7"), Ok(Slice { limit: 100, offset: 7 }));
        for refused in [
            "limit=0",
            "limit=101",
            "limit=-1",
            "offset=-1",
            "limit=x",
            "limit=",
            "offset=",
            "limit=1&limit=2",
            "page=1",
        ] {
            assert!(slice(refused).is_err(), "{refused}");
        }
    }
}
