//! The types of the fake cloud: what each can do, and what it makes of properties.

use formwork_model::{ImmutableRule, Json, LookupRule, Path, TypeCapabilities, same};
use serde_json::Map;

/// The namespace of the types.
pub const NAMESPACE: &str = "FAKE";
/// An object on its own; knows client tokens.
pub const RESOURCE: &str = "FAKE::Test::Resource";
/// An object in a [`RESOURCE`]; is found by its name.
pub const CHILD: &str = "FAKE::Test::Child";
/// An object in a [`CHILD`]; is not found again.
pub const GRAND_CHILD: &str = "FAKE::Test::GrandChild";
/// An object that its user names.
pub const NAMED: &str = "FAKE::Test::Named";

/// How long a call may take: short, since a call that is never answered is waited for.
pub const TIMEOUT_MILLIS: u64 = 1_000;
/// How long after that an effect may still appear.
pub const SETTLE_MILLIS: u64 = 200;

/// What a type can do.
#[derive(Clone, Debug)]
pub struct Kind {
    /// Its name.
    pub name: &'static str,
    /// How an object is found whose create was not answered.
    lookup: LookupRule,
    /// What a changed create-only property means.
    on_immutable: ImmutableRule,
    /// The property that is the native id.
    pub named_by: Option<&'static str>,
    /// The property that no two objects share.
    pub unique: Option<&'static str>,
    /// The property that names the object that this one is in.
    pub parent: Option<&'static str>,
    /// Properties that an update may not change.
    pub create_only: &'static [&'static str],
    /// Properties that are never read back.
    pub write_only: &'static [&'static str],
    /// Properties that come back in small letters.
    pub respelled: &'static [&'static str],
    /// What is filled in where nothing was ever sent.
    pub defaults: &'static [(&'static str, &'static str)],
}

/// The types.
pub fn kinds() -> [Kind; 4] {
    let tier = &[("tier", "standard")];
    let by = |name: &str| Path::of([name]);
    let plain = Kind {
        name: RESOURCE,
        lookup: LookupRule::Token,
        on_immutable: ImmutableRule::Replace,
        named_by: None,
        unique: None,
        parent: None,
        create_only: &["name"],
        write_only: &["password"],
        respelled: &["region"],
        defaults: tier,
    };
    [
        Kind {
            name: CHILD,
            lookup: LookupRule::ByUnique(vec![by("name")]),
            on_immutable: ImmutableRule::ReplaceDeleteFirst,
            unique: Some("name"),
            parent: Some("parentId"),
            create_only: &["name", "parentId"],
            write_only: &[],
            respelled: &[],
            ..plain.clone()
        },
        Kind {
            name: GRAND_CHILD,
            lookup: LookupRule::None,
            on_immutable: ImmutableRule::ReplaceDeleteFirst,
            parent: Some("childId"),
            create_only: &["name", "childId"],
            respelled: &[],
            ..plain.clone()
        },
        Kind {
            name: NAMED,
            lookup: LookupRule::ByNativeId(by("name")),
            on_immutable: ImmutableRule::ReplaceDeleteFirst,
            named_by: Some("name"),
            create_only: &["name", "zone"],
            write_only: &[],
            respelled: &[],
            defaults: &[],
            ..plain.clone()
        },
        plain,
    ]
}

/// A type by its name.
pub fn kind(name: &str) -> Option<Kind> {
    kinds().into_iter().find(|kind| kind.name == name)
}

impl Kind {
    /// What the engine is told of it.
    pub fn capabilities(&self) -> TypeCapabilities {
        TypeCapabilities {
            lookup: self.lookup.clone(),
            on_immutable: self.on_immutable.clone(),
            timeout_millis: TIMEOUT_MILLIS,
            settle_millis: SETTLE_MILLIS,
            ..TypeCapabilities::of_plugin()
        }
    }

    /// Whether it knows client tokens.
    pub fn knows_tokens(&self) -> bool {
        self.lookup == LookupRule::Token
    }

    /// What the provider makes of what was sent, given what there was.
    pub fn made_of(&self, sent: &Map<String, Json>, before: Option<&Map<String, Json>>) -> Map<String, Json> {
        let mut made: Map<String, Json> = sent
            .iter()
            .filter(|(_, value)| !value.is_null())
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        for name in self.respelled {
            if let Some(Json::String(text)) = made.get_mut(*name) {
                *text = text.to_lowercase();
            }
        }
        let kept = self.defaults.iter().map(|(name, _)| name).chain(self.write_only);
        for name in kept {
            if let (false, Some(own)) =
                (made.contains_key(*name), before.and_then(|before| before.get(*name)))
            {
                made.insert((*name).to_owned(), own.clone());
            }
        }
        for (name, value) in self.defaults {
            made.entry(*name).or_insert_with(|| Json::from(*value));
        }
        if let Some(Json::Array(tags)) = made.get_mut("tags") {
            tags.sort_by_key(|tag| tag["key"].to_string());
        }
        made
    }

    /// What reading an object shows.
    pub fn shown(&self, properties: &Map<String, Json>) -> Json {
        let shown = properties.iter().filter(|(name, _)| !self.write_only.contains(&name.as_str()));
        Json::Object(shown.map(|(name, value)| (name.clone(), value.clone())).collect())
    }

    /// The create-only property that two states differ in.
    pub fn changed_for_good(
        &self,
        before: &Map<String, Json>,
        after: &Map<String, Json>,
    ) -> Option<&'static str> {
        let differs = |name: &&&str| match (before.get(**name), after.get(**name)) {
            (Some(before), Some(after)) => !same(before, after),
            (None, None) => false,
            _ => true,
        };
        self.create_only.iter().find(differs).copied()
    }
}
