//! The operators of JSON Logic, and how many arguments each takes.

use crate::Node;

/// An operator.
pub(super) struct Operator {
    pub(super) name: &'static str,
    least: usize,
    most: usize,
    /// Whether even one argument must stand in a list.
    listed: bool,
}

const fn takes(name: &'static str, least: usize, most: usize) -> Operator {
    Operator { name, least, most, listed: false }
}

const fn takes_list(name: &'static str) -> Operator {
    Operator { name, least: 1, most: usize::MAX, listed: true }
}

pub(super) static OPERATORS: &[Operator] = &[
    takes("var", 0, 2),
    takes("missing", 0, usize::MAX),
    takes("missing_some", 2, 2),
    takes_list("if"),
    takes_list("?:"),
    takes("==", 2, usize::MAX),
    takes("===", 2, usize::MAX),
    takes("!=", 2, 2),
    takes("!==", 2, 2),
    takes("!", 1, 1),
    takes("!!", 1, 1),
    takes_list("or"),
    takes_list("and"),
    takes(">", 2, usize::MAX),
    takes(">=", 2, usize::MAX),
    takes("<", 2, usize::MAX),
    takes("<=", 2, usize::MAX),
    takes("max", 1, usize::MAX),
    takes("min", 1, usize::MAX),
    takes("+", 1, usize::MAX),
    takes("-", 1, usize::MAX),
    takes("*", 1, usize::MAX),
    takes("/", 1, 2),
    takes("%", 2, 2),
    takes("map", 2, 2),
    takes("filter", 2, 2),
    takes("reduce", 3, 3),
    takes("all", 2, 2),
    takes("none", 2, 2),
    takes("some", 2, 2),
    takes("merge", 0, usize::MAX),
    takes("in", 2, 2),
    takes("cat", 0, usize::MAX),
    takes("substr", 2, 3),
    takes("log", 1, 1),
];

pub(super) fn operator(name: &str) -> Option<&'static Operator> {
    OPERATORS.iter().find(|operator| operator.name == name)
}

impl Operator {
    /// What is wrong with how many arguments it is given: the end of a sentence about it.
    pub(super) fn problem(&self, arguments: Node<'_>) -> Option<String> {
        if arguments.is_expression() {
            return None;
        }
        if self.listed && !arguments.is_array() {
            return Some("takes a list of arguments".to_owned());
        }
        let given = if arguments.is_array() { arguments.items().len() } else { 1 };
        if (self.least..=self.most).contains(&given) {
            return None;
        }
        let arguments = |count: usize| format!("{count} argument{}", if count == 1 { "" } else { "s" });
        let takes = match (self.least, self.most) {
            (least, most) if least == most => arguments(least),
            (least, usize::MAX) => format!("{} at least", arguments(least)),
            (least, most) => format!("{least} to {}", arguments(most)),
        };
        Some(format!("takes {takes}, not {given}"))
    }
}
