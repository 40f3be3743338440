//! What evaluating an expression may cost, told from its form and the size of its data.
//!
//! The estimate is an upper one, and additive: for each part of an expression, how large its values are at
//! the most, over all times that it is evaluated. What is done for each element of a list is evaluated as
//! often as that has elements, and what it reads of them is the whole list at the most.

use super::PER_ELEMENT;
use formwork_model::Json;
use std::collections::HashMap;

/// The most that an evaluation may cost.
const MOST: u64 = 5_000_000;
/// What a truth value weighs, or null: what it is as text, and one more.
const FLAG: u64 = 6;
/// The most that a calculated number weighs: a float written out without an exponent has a sign, `0.`, at
/// most 323 zeros, and at most 17 digits.
const SCALAR: u64 = 1 + 1 + 2 + 323 + 17;
/// Operators that come to a truth value.
const TRUTHS: &[&str] = &["==", "===", "!=", "!==", "!", "!!", ">", ">=", "<", "<=", "in"];
/// What stands around a member of an object in text.
const AROUND_MEMBER: u64 = 4;

/// Whether evaluating an expression over data would cost more than it may.
pub(super) fn is_excessive(logic: &Json, data: &Json) -> bool {
    let sizes = Sizes::of(data);
    Scope { sizes: &sizes, element: None, times: 1 }.estimate(logic).cost > MOST
}

/// How many characters a number has as text at the most: `cat` writes it without an exponent.
fn written_out(number: &serde_json::Number) -> u64 {
    let without_exponent = number.as_f64().map_or(0, |float| float.to_string().len());
    without_exponent.max(number.to_string().len()) as u64
}

/// How large values are, and what it took to make them.
#[derive(Clone, Copy, Debug, Default)]
struct Estimate {
    size: u64,
    /// How many elements they have.
    length: u64,
    cost: u64,
}

/// How large a value of the data is.
#[derive(Clone, Copy, Debug, Default)]
struct Size {
    whole: u64,
    length: u64,
}

/// How large the values of the data are at the most, by the names of the members that hold them.
#[derive(Debug, Default)]
struct Sizes<'d> {
    whole: Size,
    /// The most members of one object.
    widest: u64,
    named: HashMap<&'d str, Size>,
}

impl<'d> Sizes<'d> {
    fn of(data: &'d Json) -> Self {
        let mut sizes = Self::default();
        sizes.whole = sizes.add(data);
        sizes
    }

    /// The recursion ends with the depth of what comes in, which is bounded.
    fn add(&mut self, value: &'d Json) -> Size {
        match value {
            Json::Null | Json::Bool(_) => Size { whole: FLAG, length: 1 },
            Json::Number(number) => Size { whole: 1 + written_out(number), length: 1 },
            Json::String(text) => Size { whole: 1 + text.len() as u64, length: 1 },
            Json::Array(items) => {
                let whole = items.iter().map(|item| self.add(item).whole).fold(1, u64::saturating_add);
                Size { whole, length: items.len() as u64 }
            }
            Json::Object(members) => {
                self.widest = self.widest.max(members.len() as u64);
                let mut whole = 1_u64;
                for (name, member) in members {
                    let size = self.add(member);
                    let named = self.named.entry(name).or_default();
                    named.whole = named.whole.max(size.whole);
                    named.length = named.length.max(size.length);
                    whole = whole.saturating_add(size.whole + name.len() as u64 + AROUND_MEMBER);
                }
                Size { whole, length: members.len() as u64 }
            }
        }
    }

    /// The largest value that a path can lead to: its last name says which members may hold it. A path to
    /// the whole, or to an element, may lead to anything.
    fn at(&self, path: &str) -> Size {
        let last = path.rsplit('.').next().unwrap_or(path);
        if last.is_empty() || last.bytes().all(|byte| byte.is_ascii_digit()) {
            return self.whole;
        }
        let [whole, last] = [path, last].map(|name| self.named.get(name).copied().unwrap_or_default());
        Size { whole: whole.whole.max(last.whole), length: whole.length.max(last.length) }
    }
}

/// Where a part of an expression stands.
#[derive(Clone, Copy)]
struct Scope<'s, 'd> {
    sizes: &'s Sizes<'d>,
    /// All elements together, in what is done for each of them.
    element: Option<u64>,
    /// How often it is evaluated.
    times: u64,
}

impl Scope<'_, '_> {
    /// The recursion ends with the depth of an expression, which is bounded.
    fn estimate(self, logic: &Json) -> Estimate {
        match logic {
            Json::Null | Json::Bool(_) => self.literal(FLAG),
            Json::Number(number) => self.literal(1 + written_out(number)),
            Json::String(text) => self.literal(1 + text.len() as u64),
            Json::Array(items) => {
                let all = self.all(items);
                let length = self.times.saturating_mul(items.len() as u64);
                Estimate { size: all.size, length, cost: all.cost.saturating_add(all.size) }
            }
            Json::Object(members) => match members.iter().next() {
                Some((operator, arguments)) => self.operation(operator, arguments),
                None => self.scalar(),
            },
        }
    }

    /// What is calculated, of which only the size is known at the most.
    fn scalar(self) -> Estimate {
        self.literal(SCALAR)
    }

    fn literal(self, weight: u64) -> Estimate {
        let size = self.times.saturating_mul(weight);
        Estimate { size, length: self.times, cost: size }
    }

    /// All values together.
    fn all(self, items: &[Json]) -> Estimate {
        items.iter().map(|item| self.estimate(item)).fold(
            Estimate { size: self.times, length: 0, cost: self.times },
            |all, one| Estimate {
                size: all.size.saturating_add(one.size),
                length: all.length.saturating_add(one.length),
                cost: all.cost.saturating_add(one.cost),
            },
        )
    }

    fn operation(self, operator: &str, arguments: &Json) -> Estimate {
        let arguments = match arguments {
            Json::Array(items) => items.as_slice(),
            one => std::slice::from_ref(one),
        };
        if operator == "var" {
            return self.variable(arguments);
        }
        if PER_ELEMENT.contains(&operator) {
            return self.each_element(operator, arguments);
        }
        let all = self.all(arguments);
        let cost = match operator {
            // Each name is looked up in what it is to be missing from.
            "missing" | "missing_some" => all.size.saturating_mul(1 + self.sizes.widest),
            _ => all.size,
        };
        let cost = all.cost.saturating_add(cost);
        match operator {
            "if" | "?:" | "and" | "or" | "merge" | "cat" | "substr" | "missing" | "missing_some" => {
                Estimate { cost, ..all }
            }
            operator if TRUTHS.contains(&operator) => Estimate { cost, ..self.literal(FLAG) },
            _ => Estimate { cost, ..self.scalar() },
        }
    }

    fn variable(self, arguments: &[Json]) -> Estimate {
        let all = self.all(arguments);
        let found = match (self.element, arguments.first()) {
            (Some(elements), _) => Size { whole: elements, length: elements },
            (None, Some(Json::String(path))) => self.sizes.at(path),
            (None, _) => self.sizes.whole,
        };
        // Members are looked up one by one.
        let looked_up = self.element.unwrap_or(self.sizes.widest);
        let null = self.times.saturating_mul(FLAG);
        let size = found.whole.saturating_add(all.size).saturating_add(null);
        let length = found.length.saturating_add(all.length);
        Estimate { size, length, cost: all.cost.saturating_add(looked_up).saturating_add(self.times) }
    }

    fn each_element(self, operator: &str, arguments: &[Json]) -> Estimate {
        let [source, body, rest @ ..] = arguments else { return self.all(arguments) };
        // What is carried from element to element may grow with each.
        if operator == "reduce" || !rest.is_empty() {
            return Estimate { size: u64::MAX, length: u64::MAX, cost: u64::MAX };
        }
        let source = self.estimate(source);
        let each = Scope { element: Some(source.size), times: source.length, ..self }.estimate(body);
        let cost =
            source.cost.saturating_add(source.size).saturating_add(each.cost).saturating_add(each.size);
        match operator {
            "map" => Estimate { size: each.size.saturating_add(self.times), length: source.length, cost },
            "filter" => Estimate { cost, ..source },
            _ => Estimate { cost, ..self.literal(FLAG) },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn estimate(logic: &Json, data: &Json) -> Estimate {
        let sizes = Sizes::of(data);
        Scope { sizes: &sizes, element: None, times: 1 }.estimate(logic)
    }

    #[test]
    fn no_value_is_larger_than_estimated() {
        let data = json!({
            "payload": {
                "l": [1, 2.5, -300_000_000, true, null, "text", { "name": "a", "tags": ["x", "yy"] }],
                "s": "a longer text, with \"quotes\"", "o": { "a": { "b": [1, 2, 3] } }, "n": 17, "a.b": "dotted",
                "tiny": [1e-300, -5e-324, 1e308, -2.225_073_858_507_201_4e-308],
            },
        });
        let l = || json!({ "var": "payload.l" });
        for logic in [
            json!({ "var": "" }),
            json!({ "var": "payload" }),
            json!({ "var": "payload.l.6.tags" }),
            json!({ "var": ["payload.none", ["a", "default", [1]]] }),
            json!({ "merge": [l(), l(), [[1, 2]], "x"] }),
            json!({ "merge": [{ "merge": [l(), l()] }, { "merge": [l(), l()] }] }),
            json!({ "cat": [{ "var": "payload.s" }, { "var": "payload.n" }, " and ", { "var": "payload.s" }] }),
            json!({ "cat": [{ "var": "payload.tiny" }] }),
            json!({ "cat": [{ "var": "payload.tiny.0" }, 1e-300, -5e-324, -1.797e308, true, null] }),
            json!({ "cat": [{ "*": [{ "var": "payload.tiny.0" }, -3.141_592_653_589_793e-10] }] }),
            json!({ "cat": [{ "*": [{ "var": "payload.tiny.2" }, 1.5] }] }),
            json!({ "map": [l(), { "merge": [{ "var": "" }, { "var": "" }, "text"] }] }),
            json!({ "map": [l(), { "var": "name" }] }),
            json!({ "map": [l(), ["a", { "var": "tags" }]] }),
            json!({ "filter": [l(), { "!!": [{ "var": "" }] }] }),
            json!({ "if": [{ "var": "payload.n" }, l(), { "var": "payload.o" }] }),
            json!({ "or": [{ "var": "payload.none" }, { "var": "payload.s" }] }),
            json!({ "missing": ["payload.none", "payload.n", "a.longer.name"] }),
            json!({ "missing_some": [2, ["payload.none", "payload.n", "b"]] }),
            json!({ "substr": [{ "var": "payload.s" }, 2, 40] }),
            json!({ "*": [{ "var": "payload.n" }, 1e300] }),
            json!({ "+": [{ "var": "payload.n" }, 0.1] }),
            json!([l(), [l(), { "var": "payload" }]]),
        ] {
            let value: Json = datalogic_rs::eval_into(&logic, &data).expect("it can be evaluated");
            let estimated = estimate(&logic, &data);
            let real = Sizes::of(&value).whole;
            assert!(real.whole <= estimated.size, "{logic}: {real:?} of {estimated:?}");
            assert!(
                !value.is_array() || real.length <= estimated.length,
                "{logic}: {real:?} of {estimated:?}"
            );
            assert!(estimated.cost < 20_000, "{logic}: {estimated:?}");
        }
    }

    #[test]
    fn what_multiplies_the_data_is_excessive() {
        let data = json!({ "payload": { "l": vec![1; 32_000] } });
        let (l, whole) = (json!({ "var": "payload.l" }), json!({ "var": "" }));
        let merged = json!({ "!": [{ "merge": vec![whole.clone(); 150] }] });
        for excessive in [
            json!({ "some": [vec![l.clone(); 80], merged.clone()] }),
            json!({ "some": [[l.clone()], merged] }),
            json!({ "map": [l.clone(), { "merge": vec![whole.clone(); 60] }] }),
            json!({ "merge": vec![whole; 100] }),
        ] {
            assert!(is_excessive(&excessive, &data), "{excessive}: {:?}", estimate(&excessive, &data));
        }
        let wide: Json = (0..3000)
            .map(|number| (format!("m{number}"), json!(1)))
            .collect::<serde_json::Map<_, _>>()
            .into();
        assert!(is_excessive(&json!({ "missing": [vec!["name"; 900]] }), &wide));
    }

    #[test]
    fn what_people_write_is_not() {
        let tags: Vec<String> = (0..5000).map(|number| format!("tag-{number}")).collect();
        let data =
            json!({ "payload": { "tags": tags, "amount": 5 }, "task": { "state": "new" }, "actor": "u" });
        let amount = || json!({ ">": [{ "var": "payload.amount" }, 3] });
        for usual in [
            json!({ "and": vec![amount(); 100] }),
            json!({ "some": [{ "var": "payload.tags" }, { "==": [{ "var": "" }, "tag-4999"] }] }),
            json!({ "all": [{ "var": "payload.tags" }, { "in": [{ "var": "" }, ["a", "b", "c", "d"]] }] }),
            json!({ "missing": ["payload.tags", "payload.amount", "payload.more"] }),
        ] {
            assert!(!is_excessive(&usual, &data), "{usual}: {:?}", estimate(&usual, &data));
        }
    }

    #[test]
    fn nothing_overflows() {
        let data = json!({ "payload": { "l": vec![1; 1000] } });
        let nested =
            (0..40).fold(json!({ "var": "" }), |inner, _| json!({ "merge": vec![inner.clone(); 1] }));
        let loops = (0..40).fold(nested, |inner, _| json!({ "map": [{ "var": "payload.l" }, inner] }));
        assert_eq!(estimate(&loops, &data).cost, u64::MAX);
    }
}
