//! What the patterns of a schema would take to compile, told without compiling any.

use formwork_model::Json;
use regex_syntax::ParserBuilder;
use regex_syntax::ast::ErrorKind;
use regex_syntax::hir::{Class, Hir, HirKind};
use std::fmt;

/// The most that one pattern may weigh, in bytes and ranges of characters once its repetitions are written
/// out.
const MOST_OF_ONE: u64 = 40_000;
/// The most that all patterns of a schema may weigh.
const MOST_OF_ALL: u64 = 80_000;
/// How deep the groups of a pattern may be nested.
const DEEPEST_NEST: u32 = 50;
/// How much of a pattern's weight counts as one value of a schema.
const WEIGHT_PER_NODE: u64 = 16;
/// How many characters gone through in translating a pattern weigh as much as one that is compiled.
const LENGTH_PER_WEIGHT: u64 = 100;
/// How many characters of a pattern are quoted.
const QUOTED: usize = 40;

/// The patterns of a schema that are too much.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TooMuch {
    /// One of them.
    One(String),
    /// All of them together.
    All,
}

impl fmt::Display for TooMuch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::One(pattern) => {
                let start: String = pattern.chars().take(QUOTED).collect();
                let more = if start.len() < pattern.len() { "…" } else { "" };
                write!(f, "the pattern \"{start}{more}\" is too large once its repetitions are written out")
            }
            Self::All => f.write_str("its patterns are too large once their repetitions are written out"),
        }
    }
}

/// Refuses patterns that would take too much; else, as how many values they count when a value is checked.
pub(crate) fn check(schema: &Json) -> Result<u64, TooMuch> {
    let all = sum(schema)?;
    if all > MOST_OF_ALL { Err(TooMuch::All) } else { Ok(all / WEIGHT_PER_NODE) }
}

/// What all patterns of a schema weigh.
fn sum(schema: &Json) -> Result<u64, TooMuch> {
    let (mut all, mut pending) = (0_u64, vec![schema]);
    while let Some(value) = pending.pop() {
        match value {
            Json::Array(items) => pending.extend(items),
            Json::Object(members) => {
                let pattern = members.get("pattern").and_then(Json::as_str);
                let names = members.get("patternProperties").and_then(Json::as_object);
                let names = names.into_iter().flat_map(|named| named.keys().map(String::as_str));
                for pattern in pattern.into_iter().chain(names) {
                    let one = weight(pattern);
                    if one > MOST_OF_ONE {
                        return Err(TooMuch::One(pattern.to_owned()));
                    }
                    all = all.saturating_add(one);
                }
                pending.extend(members.values());
            }
            _ => {}
        }
    }
    Ok(all)
}

/// What a pattern weighs, as the engine compiles it: in parts if it begins with what must follow, and
/// translated.
fn weight(pattern: &str) -> u64 {
    let parts = jsonschema_regex::split_leading_lookaheads(pattern);
    let whole = || vec![pattern.to_owned()];
    parts.unwrap_or_else(whole).iter().map(|part| weight_translated(part)).fold(0, u64::saturating_add)
}

/// What can't be translated or parsed is never compiled: it weighs its length.
fn weight_translated(pattern: &str) -> u64 {
    let length = pattern.len() as u64;
    // Each control character is translated by going through the whole.
    let translating = length.saturating_mul(pattern.matches(r"\c").count() as u64) / LENGTH_PER_WEIGHT;
    if translating > MOST_OF_ONE {
        return translating;
    }
    let Ok(translated) = jsonschema_regex::to_rust_regex(pattern) else { return length + translating };
    match ParserBuilder::new().nest_limit(DEEPEST_NEST).build().parse(&translated) {
        Ok(parsed) => weight_of(&parsed).saturating_add(translating),
        Err(regex_syntax::Error::Parse(error)) if is_too_deep(&error) => u64::MAX,
        Err(_) => length + translating,
    }
}

fn is_too_deep(error: &regex_syntax::ast::Error) -> bool {
    matches!(error.kind(), ErrorKind::NestLimitExceeded(_))
}

/// The recursion ends with the nesting of groups, which is bounded.
fn weight_of(part: &Hir) -> u64 {
    let sum = |parts: &[Hir]| parts.iter().map(weight_of).fold(1, u64::saturating_add);
    match part.kind() {
        HirKind::Empty | HirKind::Look(_) => 1,
        HirKind::Literal(literal) => literal.0.len() as u64,
        HirKind::Class(Class::Unicode(class)) => class.ranges().len() as u64,
        HirKind::Class(Class::Bytes(class)) => class.ranges().len() as u64,
        HirKind::Repetition(repeated) => {
            let times = u64::from(repeated.max.unwrap_or(repeated.min.saturating_add(1)).max(1));
            weight_of(&repeated.sub).saturating_mul(times)
        }
        HirKind::Capture(group) => weight_of(&group.sub).saturating_add(1),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => sum(parts),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn repetitions_weigh_as_often_as_they_may_be() {
        assert_eq!((weight("abc"), weight("[0-9a-f]{40}"), weight("(ab){2,3}")), (3, 80, 9));
        assert!(weight(r"\p{L}{100}") > MOST_OF_ONE, "{}", weight(r"\p{L}{100}"));
        assert!(weight(r"^\p{L}{1,50}$") < MOST_OF_ONE, "{}", weight(r"^\p{L}{1,50}$"));
        assert!(weight("((((a{9}){9}){9}){9}){9}") > MOST_OF_ONE);
        assert!(weight("(?=a)b") > 0, "what the parser does not know is not refused here");
    }

    #[test]
    fn patterns_weigh_what_the_engine_compiles() {
        for costly in [
            r"\cA\p{L}{88}x".to_owned(),
            r"^(?=\cA\p{L}{88}x)a".to_owned(),
            format!("{}a{}", "(".repeat(51), ")".repeat(51)),
            r"\cA".repeat(20_000),
        ] {
            assert!(weight(&costly) > MOST_OF_ONE, "{}", weight(&costly));
        }
        assert!(weight(r"^[\cA-\cZ]{1,20}$") < 1000);
        assert_eq!(check(&json!({ "pattern": "[0-9a-f]{40}" })), Ok(5));
    }

    #[test]
    fn the_patterns_of_a_schema_are_bounded_wherever_they_stand() {
        let costly = r"\p{L}{100}";
        for schema in [
            json!({ "pattern": costly }),
            json!({ "properties": { "a": { "items": [{ "pattern": costly }] } } }),
            json!({ "patternProperties": { costly: true } }),
        ] {
            assert_eq!(check(&schema), Err(TooMuch::One(costly.to_owned())), "{schema}");
        }
        let many: Vec<_> =
            (40..48).map(|times| json!({ "pattern": format!("\\p{{L}}{{{times}}}") })).collect();
        assert!(check(&json!({ "anyOf": many[..2] })).is_ok());
        assert_eq!(check(&json!({ "anyOf": many })), Err(TooMuch::All));
    }

    #[test]
    fn a_long_pattern_is_quoted_in_part() {
        let told = TooMuch::One("a".repeat(50)).to_string();
        assert!(told.starts_with(&format!("the pattern \"{}…\" is too large", "a".repeat(40))), "{told}");
    }
}
