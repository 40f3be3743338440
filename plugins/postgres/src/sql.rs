//! Names and values as SQL spells them.

use postgres_protocol::escape::{escape_identifier, escape_literal};
use serde::Deserialize;
use std::fmt::{self, Write as _};

/// How many bytes of a name PostgreSQL keeps; what is longer it would cut off.
const LONGEST_NAME: usize = 63;

/// The name of an object, as it is stored: neither quoted nor folded to lower case.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Name(String);

impl TryFrom<String> for Name {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        if text.is_empty() {
            return Err("a name must not be empty".to_owned());
        }
        if text.contains('\0') {
            return Err("a name must not contain the character U+0000".to_owned());
        }
        if text.len() > LONGEST_NAME {
            let length = text.len();
            return Err(format!(
                "a name has at most {LONGEST_NAME} bytes, and `{text}` has {length}: PostgreSQL would cut it off"
            ));
        }
        Ok(Self(text))
    }
}

impl Name {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// The name in double quotes.
    pub(crate) fn quoted(&self) -> String {
        escape_identifier(&self.0)
    }
}

/// A text that PostgreSQL can store.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Text(String);

impl TryFrom<String> for Text {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        if text.contains('\0') {
            return Err("PostgreSQL stores no texts with the character U+0000".to_owned());
        }
        Ok(Self(text))
    }
}

impl Text {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// The text as a literal.
    pub(crate) fn literal(&self) -> String {
        literal(&self.0)
    }
}

/// Adds to a statement.
pub(crate) fn add(sql: &mut String, more: fmt::Arguments<'_>) {
    sql.write_fmt(more).expect("a string takes whatever is written to it");
}

/// A text as a literal. It means the same whatever `standard_conforming_strings` is.
pub(crate) fn literal(text: &str) -> String {
    escape_literal(text)
}

/// An optional text as a literal, or NULL.
pub(crate) fn literal_or_null(text: Option<&Text>) -> String {
    text.map_or_else(|| "NULL".to_owned(), Text::literal)
}

/// Names in quotes, with commas between them.
pub(crate) fn list<'a>(names: impl IntoIterator<Item = &'a Name>) -> String {
    names.into_iter().map(Name::quoted).collect::<Vec<_>>().join(", ")
}

/// A name within a schema.
pub(crate) fn qualified(schema: &Name, name: &Name) -> String {
    format!("{}.{}", schema.quoted(), name.quoted())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_quoted_whatever_is_in_them() {
        let name = |text: &str| Name::try_from(text.to_owned());
        assert_eq!(name("a\"; DROP ROLE b; --").unwrap().quoted(), "\"a\"\"; DROP ROLE b; --\"");
        assert_eq!(name("Zürich ☃").unwrap().quoted(), "\"Zürich ☃\"");
    }

    #[test]
    fn a_name_that_would_be_cut_off_is_refused() {
        assert!(Name::try_from("x".repeat(63)).is_ok());
        assert!(Name::try_from("x".repeat(64)).unwrap_err().contains("64"));
        assert!(Name::try_from("ü".repeat(32)).is_err(), "the bytes count");
        assert!(Name::try_from(String::new()).is_err() && Name::try_from("a\0b".to_owned()).is_err());
    }

    #[test]
    fn literals_survive_quotes_and_backslashes() {
        assert_eq!(literal("it's"), "'it''s'");
        assert_eq!(literal(r"\'"), r" E'\\'''");
    }
}
