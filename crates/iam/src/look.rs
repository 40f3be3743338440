//! What a policy document is read from: JSON, or a declaration in which an expression may stand for
//! any value. One reader serves both, so that what is refused when a policy is written and what is
//! understood when it is decided by are the same.

use formwork_model::Json;

/// A value as the reader of documents sees it.
pub trait Look<'a>: Copy {
    /// Whether it is not known yet. Nothing is said of such a value.
    fn is_unknown(self) -> bool;

    /// The members of an object, nulls included; `None` of anything else.
    fn members(self) -> Option<Vec<(&'a str, Self)>>;

    /// The elements of an array; `None` of anything else.
    fn items(self) -> Option<Vec<Self>>;

    /// The text, if it is one.
    fn text(self) -> Option<&'a str>;

    /// How messages quote it.
    fn quoted(self) -> String;
}

impl<'a> Look<'a> for &'a Json {
    fn is_unknown(self) -> bool {
        false
    }

    fn members(self) -> Option<Vec<(&'a str, Self)>> {
        Some(self.as_object()?.iter().map(|(name, member)| (name.as_str(), member)).collect())
    }

    fn items(self) -> Option<Vec<Self>> {
        Some(self.as_array()?.iter().collect())
    }

    fn text(self) -> Option<&'a str> {
        self.as_str()
    }

    fn quoted(self) -> String {
        self.as_str().map_or_else(|| self.to_string(), |text| format!("\"{text}\""))
    }
}
