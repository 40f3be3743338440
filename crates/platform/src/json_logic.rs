//! JSON Logic as guardrails, workflows and tools hold it: its structure is checked and its
//! variables are listed without evaluating anything. An object with one member is an operation;
//! objects with more members, and all other values, are data.

use crate::{Findings, Node};
use formwork_model::{DiagnosticCode, Json, Path};

/// How deep an expression may be nested. People write a handful of levels.
const DEEPEST: usize = 64;

/// The operators of JSON Logic.
const OPERATORS: &[&str] = &[
    "var",
    "missing",
    "missing_some",
    "if",
    "?:",
    "==",
    "===",
    "!=",
    "!==",
    "!",
    "!!",
    "or",
    "and",
    ">",
    ">=",
    "<",
    "<=",
    "max",
    "min",
    "+",
    "-",
    "*",
    "/",
    "%",
    "map",
    "filter",
    "reduce",
    "all",
    "none",
    "some",
    "merge",
    "in",
    "cat",
    "substr",
    "log",
];

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
        if let [(operator, argument)] = node.members()[..] {
            if OPERATORS.contains(&operator) {
                below.push((path.key(operator), depth + 1, argument));
            } else {
                let known = OPERATORS.join(", ");
                let message = format!("Unknown JSON Logic operator '{operator}'. Known: {known}");
                findings.error(DiagnosticCode::InvalidValue, path, message);
            }
        }
        pending.extend(below.into_iter().rev());
    }
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

/// Whether an expression that was checked holds for data. One that cannot be evaluated does not: what
/// guards something must not let it through by failing.
pub(crate) fn holds(logic: &Json, data: &Json) -> bool {
    let truth = serde_json::json!({ "!!": [logic] });
    datalogic_rs::eval_into::<Json, _, _>(&truth, data).is_ok_and(|holds| holds == true)
}

fn first_argument(argument: Node<'_>) -> Node<'_> {
    argument.items().first().copied().unwrap_or(argument)
}

#[cfg(test)]
mod tests {
    use super::*;
    use formwork_model::{Expr, ExprLeaf, Ref};
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
            assert_eq!(holds(&logic, &data), expected, "{logic}");
        }
    }

    #[test]
    fn every_operator_that_is_known_can_be_evaluated() {
        let arguments = |operator: &str| match operator {
            "map" | "filter" | "all" | "none" | "some" => json!([[1], { "var": "" }]),
            "reduce" => json!([[1], { "var": "current" }, 0]),
            "missing_some" => json!([1, ["a"]]),
            "substr" => json!(["text", 1]),
            "in" => json!([1, [1]]),
            "if" | "?:" => json!([true, 1, 2]),
            _ => json!([1, 1]),
        };
        // Where expressions are evaluated, there is nothing to log to: guards can't use it.
        for operator in OPERATORS.iter().filter(|operator| **operator != "log") {
            let logic = json!({ *operator: arguments(operator) });
            let answer = datalogic_rs::eval_into::<Json, _, _>(&logic, &json!({}));
            assert!(answer.is_ok(), "{operator}: {answer:?}");
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
