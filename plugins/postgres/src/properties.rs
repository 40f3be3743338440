//! Declared properties, read strictly.

use crate::failure::Failure;
use formwork_model::Json;
use serde::de::DeserializeOwned;
use std::collections::BTreeSet;

/// What an update is to bring about.
pub(crate) struct Change<'a> {
    /// What should be.
    pub(crate) desired: &'a Json,
    /// Properties that were declared and are no longer.
    removed: BTreeSet<&'a str>,
}

impl<'a> Change<'a> {
    pub(crate) fn new(desired: &'a Json, patch: &'a Json) -> Self {
        let removed = patch.as_array().into_iter().flatten().filter_map(|operation| {
            let path = operation.get("path")?.as_str()?.strip_prefix('/')?;
            let removes = operation.get("op")?.as_str()? == "remove" && !path.contains('/');
            (removes && desired.get(path).is_none()).then_some(path)
        });
        Self { desired, removed: removed.collect() }
    }

    /// Nothing was declared before.
    pub(crate) fn anew(desired: &'a Json) -> Self {
        Self { desired, removed: BTreeSet::new() }
    }

    /// What to make of a property: its declared value; the default if it is declared no longer; and
    /// nothing at all if it never was, since it may be somebody else's.
    pub(crate) fn wanted<T>(&self, name: &str, declared: Option<T>, default: T) -> Option<T> {
        declared.or_else(|| self.removed.contains(name).then_some(default))
    }
}

/// Reads declared properties; what no property is called is refused.
pub(crate) fn read<T: DeserializeOwned>(properties: &Json) -> Result<T, Failure> {
    serde_path_to_error::deserialize(properties).map_err(|error| {
        let at = error.path().to_string();
        let place = if at == "." { String::new() } else { format!("`{at}`: ") };
        Failure::invalid(format!("{place}{}", error.inner()))
    })
}

/// A property that every declaration has: a text.
pub(crate) fn text<'a>(properties: &'a Json, name: &str) -> Result<&'a str, Failure> {
    let missing = || Failure::invalid(format!("`{name}` must be a string"));
    properties.get(name).and_then(Json::as_str).ok_or_else(missing)
}
