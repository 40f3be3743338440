//! The evaluation of an expression that guards something, within bounds.

use super::{PER_ELEMENT, cost, first_argument};
use crate::Node;
use formwork_model::Json;

/// The largest integer of which each smaller one differs as a float, which is what numbers compare as.
const LARGEST_EXACT: u64 = 1 << 53;

/// Why an expression has no answer: the end of a sentence about it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unevaluated {
    /// It would cost too much, so nothing was evaluated.
    #[error("it would go through too much data; make what it reads smaller, or the guard simpler")]
    TooCostly,
    /// It may read a number that would be compared as another.
    #[error("`{0}` is an integer beyond 2^53, which compares as its neighbours do; keep it as text")]
    Inexact(String),
    /// An operator can't be applied to the data. The data is not quoted: it may be a secret.
    #[error("{0}")]
    Failed(String),
}

/// Whether an expression that was checked holds for data.
///
/// # Errors
/// [`Unevaluated`]: what guards something must not let it through by failing.
pub(crate) fn holds(logic: &Json, data: &Json) -> Result<bool, Unevaluated> {
    if cost::is_excessive(logic, data) {
        return Err(Unevaluated::TooCostly);
    }
    if let Some(path) = inexact_that_is_read(logic, data) {
        return Err(Unevaluated::Inexact(path));
    }
    let truth = serde_json::json!({ "!!": [logic] });
    datalogic_rs::eval_into::<Json, _, _>(&truth, data)
        .map(|holds| holds == true)
        .map_err(|error| Unevaluated::Failed(in_words(&error)))
}

fn in_words(error: &datalogic_rs::Error) -> String {
    let problem = match error.tag() {
        "Thrown" | "TypeError" => "a value is not of a kind that it can be calculated or compared with",
        "ArithmeticError" => "a calculation has no result",
        _ => "an operator does not take what it is given",
    };
    // The outermost operator is the one that asks for the truth.
    match error.operator().filter(|operator| *operator != "!!") {
        Some(operator) => format!("{problem} (in '{operator}')"),
        None => problem.to_owned(),
    }
}

/// The first integer of an expression that would be compared as another.
pub(crate) fn inexact_literal(logic: Node<'_>) -> Option<&Json> {
    let mut pending = vec![logic];
    while let Some(node) = pending.pop() {
        if let Some(number) = node.json().filter(|value| is_inexact(value)) {
            return Some(number);
        }
        pending.extend(node.items().into_iter().rev());
        pending.extend(node.members().into_iter().rev().map(|(_, member)| member));
    }
    None
}

fn is_inexact(value: &Json) -> bool {
    value.as_i64().map(i64::unsigned_abs).or(value.as_u64()).is_some_and(|number| number > LARGEST_EXACT)
}

/// The path of the first integer that an expression may read and that would be compared as another.
fn inexact_that_is_read(logic: &Json, data: &Json) -> Option<String> {
    let (mut path, mut read) = (String::new(), None);
    let mut is_read = |path: &str| read.get_or_insert_with(|| Reads::of(Node::Plain(logic))).covers(path);
    leads_to_inexact(data, &mut path, &mut is_read).then_some(path)
}

/// Whether a value is such an integer or holds one, whose path is then left behind. There is one text for
/// all paths, since names may be long. The recursion ends with the depth of what comes in, which is bounded.
fn leads_to_inexact(value: &Json, path: &mut String, is_read: &mut dyn FnMut(&str) -> bool) -> bool {
    let mut below = |name: &str, value: &Json| {
        let length = path.len();
        if length > 0 {
            path.push('.');
        }
        path.push_str(name);
        let found = leads_to_inexact(value, path, is_read);
        if !found {
            path.truncate(length);
        }
        found
    };
    match value {
        Json::Array(items) => items.iter().enumerate().any(|(index, item)| below(&index.to_string(), item)),
        Json::Object(members) => members.iter().any(|(name, member)| below(name, member)),
        number => is_inexact(number) && is_read(path),
    }
}

/// What an expression reads of its data.
enum Reads<'l> {
    Anything,
    Paths(Vec<&'l str>),
}

impl<'l> Reads<'l> {
    fn of(logic: Node<'l>) -> Self {
        let (mut paths, mut pending) = (Vec::new(), vec![logic]);
        while let Some(node) = pending.pop() {
            pending.extend(node.items());
            for (operator, arguments) in node.members() {
                if operator == "var" {
                    match first_argument(arguments).text() {
                        Some(path) if !path.is_empty() => paths.push(path),
                        _ => return Self::Anything,
                    }
                }
                // What is read of an element is a part of the list.
                if PER_ELEMENT.contains(&operator) {
                    pending.extend(arguments.items().first());
                } else {
                    pending.push(arguments);
                }
            }
        }
        Self::Paths(paths)
    }

    fn covers(&self, path: &str) -> bool {
        match self {
            Self::Anything => true,
            Self::Paths(paths) => paths.iter().any(|read| {
                path.strip_prefix(read).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_expression_holds_if_it_comes_to_something_true() {
        let data = json!({ "payload": { "amount": 5, "tags": ["a", "b"], "empty": [] } });
        for (logic, expected) in [
            (json!({ ">": [{ "var": "payload.amount" }, 4] }), true),
            (json!({ ">": [{ "var": "payload.amount" }, 5] }), false),
            (json!({ "in": ["b", { "var": "payload.tags" }] }), true),
            (json!({ "var": "payload.empty" }), false),
            (json!({ "var": "payload.missing" }), false),
            (json!({ "var": ["payload.missing", 1] }), true),
            (json!({ "some": [{ "var": "payload.tags" }, { "==": [{ "var": "" }, "b"] }] }), true),
            (json!({ "missing": ["payload.nothing"] }), true),
            (json!({ "missing_some": [1, ["payload.amount", "payload.x"]] }), false),
        ] {
            assert_eq!(holds(&logic, &data), Ok(expected), "{logic}");
        }
    }

    #[test]
    fn what_cannot_be_evaluated_says_so_and_quotes_nothing() {
        let data = json!({ "payload": { "text": "canary", "none": [] } });
        for logic in [
            json!({ ">": [[{ "var": "payload.text" }], 1] }),
            json!({ "+": [{ "var": "payload.text" }, 1] }),
            json!({ "max": { "var": "payload.none" } }),
        ] {
            let error = holds(&logic, &data).expect_err("no answer").to_string();
            assert!(!error.contains("canary") && !error.is_empty(), "{logic}: {error}");
        }
        let large = json!({ "payload": { "l": vec![1; 32_000] } });
        let logic = json!({ "some": [[{ "var": "payload.l" }], { "!": [{ "merge": vec![json!({ "var": "" }); 150] }] }] });
        assert_eq!(holds(&logic, &large), Err(Unevaluated::TooCostly));
    }

    #[test]
    fn integers_that_compare_as_their_neighbours_are_not_compared() {
        let largest: i64 = 1 << 53;
        let with = |number: i64| json!({ "payload": { "n": number, "l": [number], "s": "a" } });
        let equal = |path: &str| json!({ "==": [{ "var": path }, largest] });
        assert_eq!(holds(&equal("payload.n"), &with(largest)), Ok(true));
        assert_eq!(holds(&equal("payload.n"), &with(-largest)), Ok(false));
        let inexact = |path: &str| Err(Unevaluated::Inexact(path.to_owned()));
        assert_eq!(holds(&equal("payload.n"), &with(largest + 1)), inexact("payload.n"));
        assert_eq!(holds(&equal("payload.n"), &with(-largest - 1)), inexact("payload.n"));
        assert_eq!(
            holds(
                &json!({ "some": [{ "var": "payload.l" }, { "==": [{ "var": "" }, 1] }] }),
                &with(largest + 1)
            ),
            inexact("payload.l.0")
        );
        assert!(
            holds(&json!({ "!!": [{ "var": { "cat": ["payload", ".s"] } }] }), &with(largest + 1)).is_err()
        );
        assert_eq!(holds(&json!({ "==": [{ "var": "payload.s" }, "a"] }), &with(largest + 1)), Ok(true));
        let literal = json!({ "==": [{ "var": "a" }, [1, largest + 1]] });
        assert_eq!(inexact_literal(Node::Plain(&literal)), Some(&json!(largest + 1)));
        assert_eq!(inexact_literal(Node::Plain(&equal("payload.n"))), None);
    }

    #[test]
    fn the_first_integer_is_told() {
        let beyond = |more: i64| (1_i64 << 53) + more;
        let literals = json!({ "or": [{ "==": [1, beyond(1)] }, beyond(2), { "!": [beyond(3)] }] });
        assert_eq!(inexact_literal(Node::Plain(&literals)), Some(&json!(beyond(1))));
        let data = json!({ "a": [1, [beyond(1)], beyond(2)], "b": beyond(3) });
        let read = |logic: Json| inexact_that_is_read(&logic, &data);
        assert_eq!(read(json!({ "var": "" })).as_deref(), Some("a.1.0"));
        assert_eq!(read(json!({ "var": "a.2" })).as_deref(), Some("a.2"));
        assert_eq!(read(json!({ "var": "b" })).as_deref(), Some("b"));
        assert_eq!(read(json!({ "var": "c" })), None);
    }

    #[test]
    fn a_long_name_over_many_numbers_is_written_once() {
        let name = "n".repeat(31_000);
        let numbers = vec![(1_i64 << 53) + 1; 3000];
        let data = json!({ "payload": { name: numbers, "s": "a" } });
        let mut longest = 0;
        let mut path = String::new();
        let mut is_read = |path: &str| {
            longest = longest.max(path.len());
            false
        };
        assert!(!leads_to_inexact(&data, &mut path, &mut is_read));
        assert!(path.is_empty() && path.capacity() < 4 * longest, "{} of {longest}", path.capacity());
    }
}
