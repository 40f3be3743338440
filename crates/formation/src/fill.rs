//! The references of a value filled in at once, for those who have the objects before anything is planned.

use crate::expression::{Form, Token, tokens};
use formwork_model::{Json, as_text};

/// A value in which each `ref` and each name of a `sub` is what `of` says of it. A `literal` is what is in it; what
/// else names something (`param`, `ref_attr`) stays as it is.
///
/// # Errors
/// The first name of which nothing is known.
pub fn fill_references(value: &Json, of: &mut dyn FnMut(&str) -> Option<Json>) -> Result<Json, String> {
    match Form::of(value) {
        Form::Ref(name) => of(name).ok_or_else(|| name.to_owned()),
        Form::Sub(text) => substituted(text, of).map(Json::String),
        Form::Literal(inner) => Ok(inner.clone()),
        Form::Plain | Form::Param(_) | Form::RefAttr(_) => Ok(value.clone()),
        Form::Data => match value {
            Json::Array(items) => items.iter().map(|item| fill_references(item, of)).collect(),
            Json::Object(members) => {
                let filled = members.iter().map(|(key, it)| Ok((key.clone(), fill_references(it, of)?)));
                filled.collect::<Result<_, _>>().map(Json::Object)
            }
            _ => Ok(value.clone()),
        },
    }
}

fn substituted(text: &str, of: &mut dyn FnMut(&str) -> Option<Json>) -> Result<String, String> {
    let mut filled = String::new();
    for token in tokens(text) {
        match token {
            Token::Text(text) => filled.push_str(text),
            Token::Name(name) => {
                let name = name.trim();
                filled.push_str(&as_text(&of(name).ok_or_else(|| name.to_owned())?));
            }
        }
    }
    Ok(filled)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn filled(value: &Json) -> Result<Json, String> {
        fill_references(value, &mut |name| (name == "A").then(|| json!("id-1")))
    }

    #[test]
    fn references_are_what_they_refer_to() {
        let value = json!({
            "a": { "ref": "A" }, "list": [{ "sub": "x-${A}-$${A}" }, 1], "kept": { "param": "P" },
            "literal": { "literal": { "ref": "A" } },
        });
        let expected = json!({
            "a": "id-1", "list": ["x-id-1-${A}", 1], "kept": { "param": "P" }, "literal": { "ref": "A" },
        });
        assert_eq!(filled(&value), Ok(expected));
    }

    #[test]
    fn an_unknown_name_is_told() {
        assert_eq!(filled(&json!({ "deep": [{ "ref": "B" }] })), Err("B".to_owned()));
        assert_eq!(filled(&json!({ "sub": "${ C }" })), Err("C".to_owned()));
    }
}
