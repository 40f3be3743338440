//! What a plugin says of found objects (seed 3, "DiscoveryFilters", "LabelConfig"): which of them are
//! passed over, and what the others are called.

use formwork_model::{Json, NativeId, TypeName, as_text};
use formwork_plugin::{LabelConfig, MatchFilter};
use serde_json_path::JsonPath;
use std::collections::{BTreeMap, BTreeSet};

/// The queries of a plugin, ready to be asked. One that is none is told once, and for whom it counts.
pub(crate) struct Queries {
    filters: Vec<Filter>,
    labels: BTreeMap<TypeName, JsonPath>,
    default_label: Option<JsonPath>,
}

struct Filter {
    types: BTreeSet<TypeName>,
    conditions: Vec<(JsonPath, String)>,
}

/// A query of a plugin that is no JSONPath.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{query}` is no JSONPath: {reason}")]
pub(crate) struct BadQuery {
    query: String,
    reason: String,
}

impl Queries {
    /// The queries of a plugin.
    ///
    /// # Errors
    /// The first query that is no JSONPath: to pass over less than was meant would be wrong.
    pub(crate) fn new(filters: &[MatchFilter], labels: &LabelConfig) -> Result<Self, BadQuery> {
        let filters = filters.iter().map(Filter::new).collect::<Result<_, _>>()?;
        let of_type = |(name, query): (&String, &String)| Ok((name.as_str().into(), parsed(query)?));
        let default_label = Some(labels.default_query.as_str()).filter(|query| !query.is_empty());
        Ok(Self {
            filters,
            labels: labels.resource_overrides.iter().map(of_type).collect::<Result<_, _>>()?,
            default_label: default_label.map(parsed).transpose()?,
        })
    }

    /// Whether an object is passed over: all conditions of one filter hold.
    pub(crate) fn passes_over(&self, type_name: &TypeName, properties: &Json) -> bool {
        let of_type = self.filters.iter().filter(|filter| filter.types.contains(type_name));
        of_type.into_iter().any(|filter| filter.matches(properties))
    }

    /// What an object is called: the first text that the query of its type finds, otherwise its id.
    pub(crate) fn label(&self, type_name: &TypeName, native_id: &NativeId, properties: &Json) -> String {
        let query = self.labels.get(type_name).or(self.default_label.as_ref());
        let found = query.and_then(|query| first_text(query, properties));
        found.unwrap_or_else(|| native_id.to_string())
    }
}

impl Filter {
    fn new(filter: &MatchFilter) -> Result<Self, BadQuery> {
        let conditions = filter.conditions.iter();
        let conditions = conditions
            .map(|condition| Ok((parsed(&condition.property_path)?, condition.property_value.clone())))
            .collect::<Result<_, _>>()?;
        let types = filter.resource_types.iter().map(|name| name.as_str().into()).collect();
        Ok(Self { types, conditions })
    }

    /// A filter without conditions passes over all of its types.
    fn matches(&self, properties: &Json) -> bool {
        self.conditions.iter().all(|(query, wanted)| {
            let found = query.query(properties);
            let mut values = found.iter();
            if wanted.is_empty() {
                values.next().is_some()
            } else {
                values.any(|value| as_text(value) == *wanted)
            }
        })
    }
}

fn parsed(query: &str) -> Result<JsonPath, BadQuery> {
    let bad = |error: serde_json_path::ParseError| BadQuery {
        query: query.to_owned(),
        reason: error.message().to_owned(),
    };
    JsonPath::parse(query).map_err(bad)
}

/// The first text that is found; of a list its first.
fn first_text(query: &JsonPath, properties: &Json) -> Option<String> {
    let text = |value: &Json| match value {
        Json::String(text) if !text.is_empty() => Some(text.clone()),
        Json::Number(number) => Some(number.to_string()),
        _ => None,
    };
    let found = query.query(properties);
    let mut texts = found.iter().filter_map(|value| match value {
        Json::Array(items) => items.iter().find_map(text),
        value => text(value),
    });
    texts.next()
}

/// Makes labels unique: the second of a name gets `-2`, and so on.
#[derive(Debug, Default)]
pub(crate) struct Labels(BTreeSet<String>);

impl Labels {
    pub(crate) fn unique(&mut self, label: &str) -> String {
        let mut unique = label.to_owned();
        let mut number = 2_u64;
        while !self.0.insert(unique.clone()) {
            unique = format!("{label}-{number}");
            number += 1;
        }
        unique
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use formwork_plugin::FilterCondition;
    use serde_json::json;

    fn filter(conditions: &[(&str, &str)]) -> MatchFilter {
        let condition = |(path, value): &(&str, &str)| FilterCondition {
            property_path: (*path).to_owned(),
            property_value: (*value).to_owned(),
        };
        MatchFilter {
            resource_types: vec!["C::S::T".to_owned()],
            conditions: conditions.iter().map(condition).collect(),
        }
    }

    fn queries(filters: &[MatchFilter], labels: &LabelConfig) -> Queries {
        Queries::new(filters, labels).expect("they are queries")
    }

    #[test]
    fn an_object_is_passed_over_where_all_conditions_of_a_filter_hold() {
        let skip = "$.Tags[?(@.Key=='formae:skip')].Value";
        let both = filter(&[(skip, "true"), ("$.Name", "")]);
        let queries = queries(&[both], &LabelConfig::default());
        let tagged = |value: &str| json!({ "Tags": [{ "Key": "formae:skip", "Value": value }], "Name": "a" });
        let kind: TypeName = "C::S::T".into();
        assert!(queries.passes_over(&kind, &tagged("true")));
        assert!(!queries.passes_over(&kind, &tagged("false")));
        assert!(!queries.passes_over(&"C::S::Other".into(), &tagged("true")));
        assert!(!queries.passes_over(&kind, &json!({ "Tags": [{ "Key": "formae:skip", "Value": "true" }] })));
    }

    #[test]
    fn a_filter_knows_expressions_and_patterns() {
        let filters = [filter(&[("$.Tags[?match(@.Key, 'aws:.*')]", "")])];
        let queries = queries(&filters, &LabelConfig::default());
        let kind: TypeName = "C::S::T".into();
        assert!(queries.passes_over(&kind, &json!({ "Tags": [{ "Key": "aws:cf" }] })));
        assert!(!queries.passes_over(&kind, &json!({ "Tags": [{ "Key": "my:aws:cf" }] })));
    }

    #[test]
    fn a_label_is_the_first_text_that_its_query_finds() {
        let labels = LabelConfig {
            default_query: "$.Tags[?(@.Key=='Name')].Value".to_owned(),
            resource_overrides: BTreeMap::from([("C::S::Role".to_owned(), "$.RoleName".to_owned())]),
        };
        let queries = queries(&[], &labels);
        let label = |kind: &str, value: Json| queries.label(&kind.into(), &"id-1".into(), &value);
        let tags = json!({ "Tags": [{ "Key": "Name", "Value": "web" }, { "Key": "Name", "Value": "db" }] });
        assert_eq!(label("C::S::T", tags.clone()), "web");
        assert_eq!(label("C::S::Role", tags), "id-1");
        assert_eq!(label("C::S::Role", json!({ "RoleName": ["", "first", "second"] })), "first");
    }

    #[test]
    fn labels_are_made_unique() {
        let mut labels = Labels::default();
        let unique = ["a", "a", "a-2", "a"].map(|label| labels.unique(label));
        assert_eq!(unique, ["a", "a-2", "a-2-2", "a-3"]);
    }

    #[test]
    fn what_is_no_query_is_told() {
        let labels = LabelConfig { default_query: "$.[".to_owned(), ..LabelConfig::default() };
        let error = Queries::new(&[], &labels).err().expect("it is none");
        assert!(error.to_string().starts_with("`$.[` is no JSONPath: "), "{error}");
    }
}
