//! What conditions may ask of a resource.

use crate::Srn;
use formwork_model::Json;
use std::collections::BTreeMap;

/// The key of a condition that asks for the resource's type.
pub(crate) const RESOURCE_TYPE: &str = "soat:ResourceType";
/// What the key of a condition that asks for a tag begins with.
pub(crate) const RESOURCE_TAG: &str = "soat:ResourceTag/";

/// What is known of a resource beside its name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Context {
    tags: BTreeMap<String, Tag>,
    /// Whether it may have any tags beside those.
    open: bool,
}

/// The value of a tag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tag {
    /// It is this.
    Is(String),
    /// It is not known before the resource is written.
    Unknown,
}

/// What a condition finds under its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found<'a> {
    Nothing,
    Unknown,
    Is(&'a str),
}

impl Context {
    /// A resource without tags.
    pub fn new() -> Self {
        Self::default()
    }

    /// A resource with these tags and no others.
    pub fn of_tags(tags: impl IntoIterator<Item = (String, Tag)>) -> Self {
        Self { tags: tags.into_iter().collect(), open: false }
    }

    /// A resource of whose tags nothing is known.
    pub fn unknown() -> Self {
        Self { tags: BTreeMap::new(), open: true }
    }

    /// The tags in a resource's properties: the members of `tags` that are texts. Any other form
    /// of tags has no names for conditions to ask by.
    pub fn of_properties(properties: &Json) -> Self {
        let tags = properties.get("tags").and_then(Json::as_object);
        let texts = tags
            .into_iter()
            .flatten()
            .filter_map(|(name, value)| Some((name.clone(), Tag::Is(value.as_str()?.to_owned()))));
        Self::of_tags(texts)
    }

    /// The value of a key of a condition.
    pub(crate) fn value<'a>(&'a self, key: &str, srn: &'a Srn) -> Found<'a> {
        match key.strip_prefix(RESOURCE_TAG) {
            Some(tag) => match self.tags.get(tag) {
                Some(Tag::Is(value)) => Found::Is(value),
                Some(Tag::Unknown) => Found::Unknown,
                None if self.open => Found::Unknown,
                None => Found::Nothing,
            },
            None if key == RESOURCE_TYPE => Found::Is(srn.type_name()),
            None => Found::Nothing,
        }
    }
}

/// Whether a key asks for a tag.
pub(crate) fn asks_for_tag(key: &str) -> bool {
    key.starts_with(RESOURCE_TAG)
}

/// Whether there is such a key.
pub(crate) fn is_known_key(key: &str) -> bool {
    key == RESOURCE_TYPE || key.strip_prefix(RESOURCE_TAG).is_some_and(|tag| !tag.is_empty())
}
