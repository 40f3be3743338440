//! What conditions may ask of a resource.

use crate::Srn;
use formwork_model::Json;
use std::collections::BTreeMap;

const RESOURCE_TYPE: &str = "soat:ResourceType";
const RESOURCE_TAG: &str = "soat:ResourceTag/";

/// What is known of a resource beside its name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Context {
    tags: BTreeMap<String, String>,
}

impl Context {
    /// A resource without tags.
    pub fn new() -> Self {
        Self::default()
    }

    /// The tags in a resource's properties: the members of `tags` that are texts. Any other form
    /// of tags has no names for conditions to ask by.
    pub fn of_properties(properties: &Json) -> Self {
        let tags = properties.get("tags").and_then(Json::as_object);
        let texts = tags
            .into_iter()
            .flatten()
            .filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned())));
        Self { tags: texts.collect() }
    }

    /// The value of a key of a condition; `None` if the resource has no such thing.
    pub(crate) fn value<'a>(&'a self, key: &str, srn: &'a Srn) -> Option<&'a str> {
        match key.strip_prefix(RESOURCE_TAG) {
            Some(tag) => self.tags.get(tag).map(String::as_str),
            None => (key == RESOURCE_TYPE).then(|| srn.type_name()),
        }
    }
}

/// Whether a key asks for a tag.
pub(crate) fn asks_for_tag(key: &str) -> bool {
    key.starts_with(RESOURCE_TAG)
}
