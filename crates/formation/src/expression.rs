//! What an expression looks like: an object with exactly one key and a text (seed 4, "Parameter
//! Expressions", "Ref Expressions", "Sub Expressions").

use formwork_model::Json;

/// What a value of the template is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Form<'a> {
    /// Data, in which expressions may stand.
    Data,
    /// Data in which none stands.
    Plain,
    /// `{"ref": "Logical"}`
    Ref(&'a str),
    /// `{"param": "Name"}`
    Param(&'a str),
    /// `{"sub": "text ${Name}"}`
    Sub(&'a str),
    /// `{"ref_attr": "Logical.attribute"}`
    RefAttr(&'a str),
    /// `{"literal": value}`, where the value would else be read as holding an expression.
    Literal(&'a Json),
}

impl<'a> Form<'a> {
    /// What a value is. A `literal` around a value without expressions is itself plain data, so
    /// that a property bag with that one member means what it says.
    pub(crate) fn of(value: &'a Json) -> Self {
        let Some((key, inner)) = single_member(value) else { return Self::Data };
        match (key, inner) {
            ("ref", Json::String(text)) => Self::Ref(text),
            ("param", Json::String(text)) => Self::Param(text),
            ("sub", Json::String(text)) => Self::Sub(text),
            ("ref_attr", Json::String(text)) => Self::RefAttr(text),
            ("literal", inner) if holds_expression(inner) => Self::Literal(inner),
            ("literal", _) => Self::Plain,
            _ => Self::Data,
        }
    }
}

fn single_member(value: &Json) -> Option<(&str, &Json)> {
    let members = value.as_object().filter(|members| members.len() == 1)?;
    members.iter().next().map(|(key, member)| (key.as_str(), member))
}

/// The kind of expression that a value is.
pub(crate) fn expression_kind(value: &Json) -> Option<&str> {
    single_member(value)
        .filter(|(key, inner)| matches!(*key, "ref" | "param" | "sub" | "ref_attr") && inner.is_string())
        .map(|(key, _)| key)
}

/// Whether an expression stands at some depth; a `literal` that would be unwrapped is one that
/// holds an expression, so it needs no question of its own.
fn holds_expression(value: &Json) -> bool {
    if expression_kind(value).is_some() {
        return true;
    }
    match value {
        Json::Array(items) => items.iter().any(holds_expression),
        Json::Object(members) => members.values().any(holds_expression),
        _ => false,
    }
}

/// A piece of the text of a `sub`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Token<'a> {
    /// Text that stays as it is.
    Text(&'a str),
    /// The name in `${Name}`, white space and all.
    Name(&'a str),
}

/// The pieces of the text of a `sub`: `${Name}` is a name, `$${` an escaped `${`, `${body.…}` is
/// left for the time a tool is called, and a `${` without its brace, or with nothing in it, is text.
pub(crate) fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let mut rest = text;
    let mut from = 0;
    while let Some(offset) = rest[from..].find('$') {
        let at = from + offset;
        let here = &rest[at..];
        if let Some(after) = here.strip_prefix("$${") {
            push_text(&mut tokens, &rest[..at]);
            push_text(&mut tokens, "${");
            (rest, from) = (after, 0);
        } else if let Some(name) = token_name(here).filter(|name| !name.starts_with("body.")) {
            push_text(&mut tokens, &rest[..at]);
            tokens.push(Token::Name(name));
            (rest, from) = (&here[name.len() + 3..], 0);
        } else {
            // Beyond a tool's token as a whole, so that nothing within it is read.
            from = at + token_name(here).map_or(1, |name| name.len() + 3);
        }
    }
    push_text(&mut tokens, rest);
    tokens
}

/// Whether a `${` stands in the text of a `sub` that begins no name and escapes nothing: it has no
/// closing brace, or nothing before it.
pub(crate) fn has_stray(text: &str) -> bool {
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        let here = &rest[at..];
        if let Some(after) = here.strip_prefix("$${") {
            rest = after;
        } else if let Some(name) = token_name(here) {
            rest = &here[name.len() + 3..];
        } else if here.starts_with("${") {
            return true;
        } else {
            rest = &here[1..];
        }
    }
    false
}

fn push_text<'a>(tokens: &mut Vec<Token<'a>>, text: &'a str) {
    if !text.is_empty() {
        tokens.push(Token::Text(text));
    }
}

/// The name of the token that begins here.
fn token_name(here: &str) -> Option<&str> {
    let inside = here.strip_prefix("${")?;
    let end = inside.find('}')?;
    (end > 0).then(|| &inside[..end])
}

#[cfg(test)]
mod tests {
    use super::*;
    use Token::{Name, Text};
    use serde_json::json;

    #[test]
    fn an_expression_has_one_key_and_a_text() {
        assert_eq!(Form::of(&json!({"ref": "A"})), Form::Ref("A"));
        assert_eq!(Form::of(&json!({"param": "A"})), Form::Param("A"));
        assert_eq!(Form::of(&json!({"sub": "A"})), Form::Sub("A"));
        assert_eq!(Form::of(&json!({"ref_attr": "A.b"})), Form::RefAttr("A.b"));
        for data in [
            json!({"ref": "A", "param": "B"}),
            json!({"ref": 1}),
            json!({"Ref": "A"}),
            json!({}),
            json!("ref"),
            json!([{"ref": "A"}]),
        ] {
            assert_eq!(Form::of(&data), Form::Data, "{data}");
        }
    }

    #[test]
    fn a_literal_is_unwrapped_only_around_an_expression() {
        for (inner, unwrapped) in [
            (json!({"ref": "A"}), true),
            (json!([1, {"deep": {"sub": "x"}}]), true),
            (json!({"literal": {"param": "A"}}), true),
            (json!("a ${B}"), false),
            (json!({"literal": "a"}), false),
            (json!({"ref": 1}), false),
            (json!(null), false),
        ] {
            let value = json!({ "literal": inner });
            let expected = if unwrapped { Form::Literal(&value["literal"]) } else { Form::Plain };
            assert_eq!(Form::of(&value), expected, "{value}");
        }
    }

    #[test]
    fn a_stray_opening_begins_no_name_and_is_not_escaped() {
        for stray in ["${open", "${A} ${open", "$${A} ${", "${}", "$${ ${} }", "${body.open"] {
            assert!(has_stray(stray), "{stray}");
        }
        for right in ["", "$", "{", "${A}", "$${open", "$5 {x}", "${body.id}", "${a${b}", "$$$${A}"] {
            assert!(!has_stray(right), "{right}");
        }
    }

    #[test]
    fn the_tokens_of_a_sub() {
        let cases: &[(&str, &[Token<'_>])] = &[
            ("", &[]),
            ("plain", &[Text("plain")]),
            ("${A}", &[Name("A")]),
            ("a ${A}${B} b", &[Text("a "), Name("A"), Name("B"), Text(" b")]),
            ("${ A }", &[Name(" A ")]),
            ("{{secret:${S}}}", &[Text("{{secret:"), Name("S"), Text("}}")]),
            ("x/${body.id}/${A}", &[Text("x/${body.id}/"), Name("A")]),
            ("a $${A} b", &[Text("a "), Text("${"), Text("A} b")]),
            ("$", &[Text("$")]),
            ("$5 and ${}", &[Text("$5 and ${}")]),
            ("${open", &[Text("${open")]),
            ("${a${b}", &[Name("a${b")]),
            ("é${é}é", &[Text("é"), Name("é"), Text("é")]),
            ("$$$${A}", &[Text("$$"), Text("${"), Text("A}")]),
        ];
        for (text, expected) in cases {
            assert_eq!(tokens(text), *expected, "{text}");
        }
    }
}
