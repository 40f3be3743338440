//! A call as a URI.

use std::collections::BTreeMap;

use super::CallError;
use pkl_core::reader::percent_decode_strict;

/// A function with its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Call {
    pub(super) library: String,
    pub(super) function: String,
    arguments: BTreeMap<String, String>,
}

impl Call {
    /// The call that a URI means.
    pub(super) fn parse(uri: &str) -> Option<Self> {
        let rest = uri.strip_prefix("libext:///")?;
        let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (library, function) = path.split_once('/')?;
        let mut arguments = BTreeMap::new();
        for argument in query.split('&').filter(|argument| !argument.is_empty()) {
            let (name, value) = argument.split_once('=')?;
            arguments.insert(percent_decode_strict(name)?, percent_decode_strict(value)?);
        }
        Some(Self { library: library.to_owned(), function: function.to_owned(), arguments })
    }

    /// An argument that must be there.
    pub(super) fn text(&self, name: &'static str) -> Result<&str, CallError> {
        self.find(name).ok_or(CallError::Missing(name))
    }

    /// An argument, if it is there.
    pub(super) fn find(&self, name: &str) -> Option<&str> {
        self.arguments.get(name).map(String::as_str)
    }

    /// An argument that is a whole number in a range, which `wanted` describes.
    pub(super) fn number(
        &self,
        name: &'static str,
        range: std::ops::RangeInclusive<usize>,
        wanted: &'static str,
    ) -> Result<usize, CallError> {
        let text = self.text(name)?;
        match text.parse() {
            Ok(number) if range.contains(&number) => Ok(number),
            _ => Err(CallError::Argument { name, wanted, given: text.to_owned() }),
        }
    }

    /// An argument that is `true` or `false`; false if it isn't there.
    pub(super) fn truth(&self, name: &'static str) -> Result<bool, CallError> {
        match self.find(name) {
            Some("true") => Ok(true),
            Some("false") | None => Ok(false),
            Some(other) => {
                Err(CallError::Argument { name, wanted: "`true` or `false`", given: other.to_owned() })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn arguments_are_decoded() {
        let call = Call::parse("libext:///bcrypt/hash?password=a%26b%3D%C3%BC&x=").unwrap();
        assert_eq!((call.library.as_str(), call.function.as_str()), ("bcrypt", "hash"));
        assert_eq!(call.text("password"), Ok("a&b=ü"));
        assert_eq!(call.text("x"), Ok(""));
        assert_eq!(call.text("y"), Err(CallError::Missing("y")));
    }

    #[test]
    fn what_is_not_well_formed_is_no_call() {
        for uri in ["libext:///random", "libext:///a/b?c", "libext:///a/b?c=%4", "libext:///a/b?c=%zz", "x"] {
            assert_eq!(Call::parse(uri), None, "{uri}");
        }
    }
}
