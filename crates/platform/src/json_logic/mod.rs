//! JSON Logic as guardrails, workflows and tools hold it: its structure is checked and its
//! variables are listed without evaluating anything. An object with one member is an operation;
//! objects with more members, and all other values, are data. Guards of workflows are evaluated here, and
//! can't hold objects as data.

mod cost;
mod guard;
mod operators;

pub(crate) use guard::{Unevaluated, holds, inexact_literal};

use crate::{Findings, Node};
use formwork_model::{DiagnosticCode, Path};
use operators::{OPERATORS, operator};

/// How deep an expression may be nested. People write a handful of levels.
const DEEPEST: usize = 64;

/// The operators whose second argument is evaluated for each element, so that its variables are
/// the element's own.
const PER_ELEMENT: &[&str] = &["map", "filter", "reduce", "all", "none", "some"];

/// Checks that a value is a JSON Logic expression: an object with one known operator, down to
/// every argument. An expression of the template stands for a right one.
pub(crate) fn check(expression: Node<'_>, at: &Path, findings: &mut Findings) {
    if expression.is_expression() {
        return;
    }
    if expression.members().len() != 1 {
        let message = format!("`{at}` must be a JSON Logic expression: an object with one operator");
        findings.error(DiagnosticCode::InvalidValue, at.clone(), message);
        return;
    }
    // A stack of our own, since a caller decides how deep the value is.
    let mut pending = vec![(at.clone(), 0, expression)];
    while let Some((path, depth, node)) = pending.pop() {
        if depth > DEEPEST {
            let message = format!("JSON Logic in `{at}` can be nested {DEEPEST} deep at most");
            findings.error(DiagnosticCode::InputTooLarge, at.clone(), message);
            return;
        }
        let items = node.items();
        let below = items.into_iter().enumerate();
        let mut below: Vec<_> = below.map(|(index, item)| (path.index(index), depth + 1, item)).collect();
        if let [(name, argument)] = node.members()[..] {
            let problem = match operator(name) {
                Some(known) => {
                    known.problem(argument).map(|problem| format!("JSON Logic operator '{name}' {problem}"))
                }
                None => Some(unknown(name)),
            };
            match problem {
                Some(message) => findings.error(DiagnosticCode::InvalidValue, path, message),
                None => below.push((path.key(name), depth + 1, argument)),
            }
        }
        pending.extend(below.into_iter().rev());
    }
}

fn unknown(operator: &str) -> String {
    let known: Vec<_> = OPERATORS.iter().map(|operator| operator.name).collect();
    format!("Unknown JSON Logic operator '{operator}'. Known: {}", known.join(", "))
}

/// All variables of the data that an expression reads, in order; those that stand for parts of an
/// element in `map` and its like are not among them.
pub(crate) fn variables(logic: Node<'_>) -> Vec<&str> {
    let mut found = Vec::new();
    let mut pending = vec![logic];
    while let Some(node) = pending.pop() {
        let members = node.members();
        let is_operation = members.len() == 1;
        let mut below = Vec::new();
        for (name, member) in members {
            if name == "var" {
                found.extend(first_argument(member).text());
            }
            if is_operation && PER_ELEMENT.contains(&name) && member.is_array() {
                let arguments = member.items().into_iter().enumerate();
                below.extend(arguments.filter(|(index, _)| *index != 1).map(|(_, argument)| argument));
            } else {
                below.push(member);
            }
        }
        below.extend(node.items());
        pending.extend(below.into_iter().rev());
    }
    found
}

/// Whether an expression uses an operator anywhere.
pub(crate) fn uses(logic: Node<'_>, operator: &str) -> bool {
    let mut pending = vec![logic];
    while let Some(node) = pending.pop() {
        let members = node.members();
        if members.len() == 1 && members[0].0 == operator {
            return true;
        }
        pending.extend(members.into_iter().map(|(_, member)| member));
        pending.extend(node.items());
    }
    false
}

/// Whether an expression goes through a list within what it does for each element of another.
pub(crate) fn nests_loops(logic: Node<'_>) -> bool {
    let mut pending = vec![(logic, false)];
    while let Some((node, looping)) = pending.pop() {
        let members = node.members();
        let loops = members.len() == 1 && PER_ELEMENT.contains(&members[0].0);
        if loops && looping {
            return true;
        }
        pending.extend(members.into_iter().map(|(_, member)| (member, looping || loops)));
        pending.extend(node.items().into_iter().map(|item| (item, looping)));
    }
    false
}

/// Whether an object stands anywhere in an expression as data.
pub(crate) fn holds_object(logic: Node<'_>) -> bool {
    let mut pending = vec![logic];
    while let Some(node) = pending.pop() {
        let members = node.members();
        if node.is_object() && members.len() != 1 {
            return true;
        }
        pending.extend(members.into_iter().map(|(_, member)| member));
        pending.extend(node.items());
    }
    false
}

fn first_argument(argument: Node<'_>) -> Node<'_> {
    argument.items().first().copied().unwrap_or(argument)
}

#[cfg(test)]
mod tests {
    use super::*;
    use formwork_model::{Expr, ExprLeaf, Json, Ref};
    use serde_json::json;

    fn found(value: &Json) -> Vec<String> {
        let mut findings = Findings::default();
        check(Node::Plain(value), &Path::of(["guard"]), &mut findings);
        findings.into_diagnostics().map(|found| format!("{}: {}", found.path, found.message)).collect()
    }

    #[test]
    fn an_expression_is_one_known_operator_at_every_level() {
        for right in [
            json!({ "var": "args.amount" }),
            json!({ "and": [{ ">": [{ "var": "a" }, 1] }, { "in": ["x", ["x", { "k": 1, "l": 2 }]] }] }),
            json!({ "if": [true, { "cat": ["a", "b"] }, null] }),
        ] {
            assert_eq!(found(&right), Vec::<String>::new(), "{right}");
        }
        let not_one = "guard: `guard` must be a JSON Logic expression: an object with one operator";
        for wrong in [json!({}), json!({ "a": 1, "b": 2 }), json!("x"), json!([{ "var": "a" }]), json!(null)]
        {
            assert_eq!(found(&wrong), [not_one], "{wrong}");
        }
        let nested = found(&json!({ "and": [{ "var": "a" }, { "equals": [1, { "oops": 2 }] }] }));
        assert_eq!(nested.len(), 1, "{nested:?}");
        assert!(
            nested[0].starts_with("guard.and[1]: Unknown JSON Logic operator 'equals'. Known: var, missing,")
        );
    }

    #[test]
    fn an_expression_of_the_template_may_stand_anywhere() {
        let reference = || Expr::Leaf(ExprLeaf::Ref(Ref::native_id("X")));
        let nested =
            Expr::object([("==".into(), Expr::array(vec![reference(), Expr::from(json!(1))]))].into());
        for expression in [reference(), nested] {
            let mut findings = Findings::default();
            check(Node::of(&expression), &Path::of(["guard"]), &mut findings);
            assert_eq!(findings.into_diagnostics().count(), 0);
        }
    }

    fn of_arguments(operator: &str, count: usize) -> Json {
        let all = match operator {
            "map" | "filter" | "all" | "none" | "some" => json!([[1], { "var": "" }, 0]),
            "reduce" => json!([[1], { "var": "current" }, 0, 0]),
            "missing_some" => json!([1, ["a"], 1]),
            "substr" => json!(["text", 1, 1, 1]),
            "in" => json!([1, [1], 1]),
            _ => json!([1, 1, 1, 1, 1]),
        };
        json!({ operator: all.as_array().expect("a list")[..count] })
    }

    #[test]
    fn what_the_check_lets_pass_can_be_evaluated() {
        // Where expressions are evaluated, there is nothing to log to: guards can't use it.
        for operator in OPERATORS.iter().filter(|operator| operator.name != "log") {
            let allowed: Vec<usize> =
                (0..=3).filter(|count| found(&of_arguments(operator.name, *count)).is_empty()).collect();
            assert!(!allowed.is_empty(), "{}", operator.name);
            for count in allowed {
                let logic = of_arguments(operator.name, count);
                let answer = datalogic_rs::eval_into::<Json, _, _>(&logic, &json!({}));
                assert!(answer.is_ok(), "{logic}: {answer:?}");
            }
        }
    }

    #[test]
    fn operators_take_so_many_arguments() {
        for (wrong, message) in [
            (json!({ ">": [] }), "guard: JSON Logic operator '>' takes 2 arguments at least, not 0"),
            (json!({ ">": 1 }), "guard: JSON Logic operator '>' takes 2 arguments at least, not 1"),
            (json!({ "some": [[1]] }), "guard: JSON Logic operator 'some' takes 2 arguments, not 1"),
            (json!({ "if": [] }), "guard: JSON Logic operator 'if' takes 1 argument at least, not 0"),
            (json!({ "and": true }), "guard: JSON Logic operator 'and' takes a list of arguments"),
            (json!({ "substr": ["a"] }), "guard: JSON Logic operator 'substr' takes 2 to 3 arguments, not 1"),
            (json!({ "!": [{ "in": [] }] }), "guard.![0]: JSON Logic operator 'in' takes 2 arguments, not 0"),
        ] {
            assert_eq!(found(&wrong), [message]);
        }
        assert_eq!(found(&json!({ "!": { "var": "a" } })), Vec::<String>::new());
    }

    #[test]
    fn objects_as_data_are_seen() {
        for (logic, expected) in [
            (json!({ "==": [{ "var": "a" }, [1, "x"]] }), false),
            (json!({ "in": [{ "var": "a" }, [{ "k": 1, "l": 2 }]] }), true),
            (json!({ "==": [{ "var": "a" }, {}] }), true),
        ] {
            assert_eq!(holds_object(Node::Plain(&logic)), expected, "{logic}");
        }
    }

    #[test]
    fn loops_are_seen_wherever_they_stand() {
        let simple = json!({ "and": [{ "some": [{ "var": "a" }, { "var": "" }] }, { "all": [[1], true] }] });
        let nested = json!({ "some": [{ "var": "a" }, { "!": [{ "all": [{ "var": "b" }, true] }] }] });
        assert!(!nests_loops(Node::Plain(&simple)) && nests_loops(Node::Plain(&nested)));
        assert!(uses(Node::Plain(&nested), "all") && !uses(Node::Plain(&simple), "reduce"));
    }

    #[test]
    fn depth_is_bounded_and_told_once() {
        let mut deep = json!(1);
        for _ in 0..500 {
            let mut members = serde_json::Map::new();
            members.insert("!".to_owned(), Json::Array(vec![deep]));
            deep = Json::Object(members);
        }
        assert_eq!(found(&deep), ["guard: JSON Logic in `guard` can be nested 64 deep at most"]);
    }

    #[test]
    fn variables_of_an_element_are_not_variables_of_the_data() {
        let logic = json!({ "and": [
            { "some": [{ "var": "args.items" }, { "==": [{ "var": "name" }, "x"] }] },
            { "reduce": [{ "var": "args.sums" }, { "+": [{ "var": "current" }] }, { "var": "args.start" }] },
            { "var": ["args.last", 0] },
        ] });
        assert_eq!(variables(Node::Plain(&logic)), ["args.items", "args.sums", "args.start", "args.last"]);
    }
}
