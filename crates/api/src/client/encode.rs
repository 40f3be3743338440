//! Percent-encoding of path segments and queries (RFC 3986 §2).

use std::fmt::Write as _;

/// A text as one path segment or query component.
pub(crate) fn component(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            // Writing to a string cannot fail.
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    // A segment of dots alone would be resolved away on the way.
    if encoded.bytes().all(|byte| byte == b'.') { encoded.replace('.', "%2E") } else { encoded }
}

/// A query with its question mark; empty where there is nothing in it.
pub(crate) fn query<'a>(pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    let mut text = String::new();
    for (name, value) in pairs {
        text.push(if text.is_empty() { '?' } else { '&' });
        text.push_str(&component(name));
        text.push('=');
        text.push_str(&component(value));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_is_not_plain_is_encoded() {
        assert_eq!(component("form_a-B.9~"), "form_a-B.9~");
        assert_eq!(component("a/b?c#é"), "a%2Fb%3Fc%23%C3%A9");
        assert_eq!(component(".."), "%2E%2E");
        assert_eq!(query([("limit", "5"), ("tag", "a&b=c")]), "?limit=5&tag=a%26b%3Dc");
        assert_eq!(query([]), "");
    }
}
