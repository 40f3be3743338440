//! `{{…}}` tokens in a tool's requests: `{{secret:sec_…}}` anywhere, `{{context:<key>}}` in headers.
//! They are resolved per call and never echoed (`formations-behaviour.md` §6.6).

use crate::{Findings, Node, node::GAP};
use formwork_model::{DiagnosticCode, Path, WireCode};

/// One token of a text, braces left off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token<'a> {
    /// A secret, by id.
    Secret(&'a str),
    /// A key of the call's context.
    Context(&'a str),
    /// A token of which a part is not known yet.
    Unknown,
    /// Anything else.
    Invalid(&'a str),
}

/// A text taken apart: tokens, and what is between them.
pub(super) struct Tokens<'a> {
    pub(super) tokens: Vec<Token<'a>>,
    /// The text without its tokens.
    pub(super) rest: String,
}

/// Takes a text apart. Braces that are not closed are text.
pub(super) fn parse(text: &str) -> Tokens<'_> {
    let (mut tokens, mut rest, mut here) = (Vec::new(), String::new(), text);
    while let Some((before, after)) = here.split_once("{{") {
        let Some((inner, tail)) = after.split_once("}}") else { break };
        rest.push_str(before);
        tokens.push(classify(inner));
        here = tail;
    }
    rest.push_str(here);
    Tokens { tokens, rest }
}

fn classify(inner: &str) -> Token<'_> {
    if let Some(id) = inner.strip_prefix("secret:") {
        return match id.strip_prefix("sec_") {
            Some(tail) if !tail.is_empty() && tail.bytes().all(|byte| byte.is_ascii_alphanumeric()) => {
                Token::Secret(id)
            }
            _ if id.contains(GAP) => Token::Unknown,
            _ => Token::Invalid(inner),
        };
    }
    if let Some(key) = inner.strip_prefix("context:")
        && (key.contains(GAP) || is_header_name(key))
    {
        return Token::Context(key);
    }
    if inner.contains(GAP) { Token::Unknown } else { Token::Invalid(inner) }
}

/// Whether a text can name a header (RFC 9110, "token").
pub(in crate::types) fn is_header_name(text: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !text.is_empty() && text.bytes().all(is_letter)
}

/// Checks all texts in a part of a tool. Problems are reported at the part.
pub(super) fn check(part: Node<'_>, at: &Path, findings: &mut Findings) {
    let (mut invalid, mut misplaced) = (Vec::new(), Vec::new());
    for_each_text(part, &mut |in_headers, text| {
        for token in parse(text).tokens {
            match token {
                Token::Invalid(inner) => invalid.push(format!("'{{{{{inner}}}}}'")),
                Token::Context(key) if !in_headers => misplaced.push(format!("'{{{{context:{key}}}}}'")),
                _ => {}
            }
        }
    });
    if !invalid.is_empty() {
        let message = format!(
            "Invalid template token(s) {} — double curly braces are reserved for {{{{secret:sec_...}}}} and \
             {{{{context:<key>}}}} references; use single braces ({{param}}) for URL path parameters.",
            invalid.join(", ")
        );
        report(at, message, findings);
    }
    if !misplaced.is_empty() {
        let message = format!("Template token(s) {} can only be used in headers.", misplaced.join(", "));
        report(at, message, findings);
    }
}

fn report(at: &Path, message: String, findings: &mut Findings) {
    findings.coded(WireCode::InvalidTemplateToken, DiagnosticCode::InvalidValue, at.clone(), message);
}

/// The ids of the secrets that tokens in a value name.
pub(super) fn secret_ids(value: Node<'_>) -> Vec<String> {
    let mut ids = Vec::new();
    for_each_text(value, &mut |_, text| {
        let found = parse(text).tokens.into_iter().filter_map(|token| match token {
            Token::Secret(id) => Some(id.to_owned()),
            _ => None,
        });
        ids.extend(found);
    });
    ids
}

/// Visits each text with whether it stands in headers. A stack of our own, since a caller decides
/// how deep the value is.
fn for_each_text(value: Node<'_>, visit: &mut impl FnMut(bool, &str)) {
    let mut pending = vec![(false, value)];
    while let Some((in_headers, node)) = pending.pop() {
        if let Some(text) = node.known_text() {
            visit(in_headers, &text);
            continue;
        }
        let members = node.members().into_iter();
        let mut below: Vec<_> =
            members.map(|(name, member)| (in_headers || name == "headers", member)).collect();
        below.extend(node.items().into_iter().map(|item| (in_headers, item)));
        below.reverse();
        pending.append(&mut below);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_taken_apart_into_tokens_and_the_rest() {
        let parsed = parse("Bearer {{secret:sec_1a}}-{{context:x-user}} {{ secret:sec_1 }} {open {{");
        assert_eq!(
            parsed.tokens,
            [Token::Secret("sec_1a"), Token::Context("x-user"), Token::Invalid(" secret:sec_1 ")]
        );
        assert_eq!(parsed.rest, "Bearer -  {open {{");
    }

    #[test]
    fn ids_must_look_like_ids_unless_a_part_is_unknown() {
        let unknown = format!("{{{{secret:{GAP}}}}}");
        assert_eq!(parse(&unknown).tokens, [Token::Unknown]);
        for bad in
            ["{{secret:}}", "{{secret:sec_}}", "{{secret:key_1}}", "{{context:a b}}", "{{param}}", "{{}}"]
        {
            assert!(matches!(parse(bad).tokens[..], [Token::Invalid(_)]), "{bad}");
        }
    }
}
