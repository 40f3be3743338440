//! `memory`: a collection of entries that agents remember.

use super::check_texts;
use crate::{
    Definition, DependentRule, Dependents, Findings, Node, PlatformType, Refusal, RestRoute, UpdateMode,
    rest::Filter,
};
use formwork_model::{ImmutableRule, Json, Kind, Path, PropertySchema};

pub(super) struct Memory;

static ROUTE: RestRoute = RestRoute {
    type_name: "memory",
    path: "/memories",
    id_param: "memory_id",
    module: "memories",
    create: Some("CreateMemory"),
    list: "ListMemories",
    get: "GetMemory",
    update: Some("UpdateMemory"),
    delete: Some("DeleteMemory"),
    update_modes: &[UpdateMode::Put],
    list_filters: &["project_id", "tags"],
    ..RestRoute::USUAL
};

static DEPENDENTS: [Dependents; 1] =
    [Dependents { type_name: "memory_entry", fields: &["memory_id"], rule: DependentRule::Cascade }];

impl PlatformType for Memory {
    fn define(&self) -> Definition {
        Definition {
            name: "memory",
            title: "memory",
            noun: "Memory",
            id_prefix: "mem",
            doc: "A collection of entries that agents remember.",
            properties: vec![
                ("name", PropertySchema::new(Kind::String, "What people call it; not unique.").required()),
                ("description", PropertySchema::new(Kind::String, "What it is for.").nullable()),
                (
                    "tags",
                    PropertySchema::new(Kind::Array, "Texts to find it by.")
                        .nullable()
                        .shaped(super::texts()),
                ),
            ],
            // Nothing of it is fixed, so the rule never applies.
            on_immutable: ImmutableRule::Replace,
            srn_type: "memory",
            dependents: &DEPENDENTS,
            route: &ROUTE,
        }
    }

    fn check(&self, properties: Node<'_>, findings: &mut Findings) {
        check_texts(properties.member("tags"), &Path::of(["tags"]), findings);
    }

    /// `tags` holds patterns, separated by commas; a memory passes if one of its tags matches one.
    fn filter(&self, _name: &str, value: &str) -> Result<Filter, Refusal> {
        let patterns: Vec<String> = value.split(',').map(|pattern| pattern.trim().to_owned()).collect();
        Ok(Filter::Test(Box::new(move |document| {
            let tags = document.properties.get("tags").and_then(Json::as_array);
            let mut tags = tags.into_iter().flatten().filter_map(Json::as_str);
            tags.any(|tag| patterns.iter().any(|pattern| glob_matches(pattern, tag)))
        })))
    }
}

/// Whether a text matches a pattern in which `*` stands for any text and `?` for one character.
/// Linear space and no recursion: on a mismatch it goes back to the last `*` only.
fn glob_matches(pattern: &str, text: &str) -> bool {
    let (pattern, text): (Vec<char>, Vec<char>) = (pattern.chars().collect(), text.chars().collect());
    let (mut at, mut here) = (0, 0);
    let mut last_star: Option<(usize, usize)> = None;
    while here < text.len() {
        match pattern.get(at) {
            Some('*') => {
                last_star = Some((at, here));
                at += 1;
            }
            Some(wanted) if *wanted == '?' || *wanted == text[here] => {
                at += 1;
                here += 1;
            }
            _ => {
                let Some((star, from)) = last_star else { return false };
                last_star = Some((star, from + 1));
                at = star + 1;
                here = from + 1;
            }
        }
    }
    pattern[at..].iter().all(|rest| *rest == '*')
}

#[cfg(test)]
mod tests {
    use super::glob_matches;

    #[test]
    fn stars_and_question_marks_match_what_they_stand_for() {
        for (pattern, text) in [
            ("a", "a"),
            ("*", ""),
            ("a*", "a"),
            ("a*c", "abbc"),
            ("?b*", "abc"),
            ("*a*b", "xaxab"),
            ("é?", "éx"),
        ] {
            assert!(glob_matches(pattern, text), "{pattern} {text}");
        }
        for (pattern, text) in [("a", "b"), ("", "a"), ("a?", "a"), ("a*c", "abcd"), ("*a", "ab")] {
            assert!(!glob_matches(pattern, text), "{pattern} {text}");
        }
    }
}
