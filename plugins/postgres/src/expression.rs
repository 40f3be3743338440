//! SQL that an author writes: expressions and type names. PostgreSQL judges what they mean; what is
//! judged here is that they end where they should, so that nothing of them is read as anything else.

use serde::Deserialize;

/// An expression. Between parentheses it is one expression or a syntax error: its own parentheses
/// and quotes are closed, and no comment or semicolon is in it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Expression(String);

impl TryFrom<String> for Expression {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        if text.trim().is_empty() {
            return Err("an expression must not be empty".to_owned());
        }
        Scanner { rest: &text, open: Vec::new() }.scan()?;
        Ok(Self(text))
    }
}

impl Expression {
    /// The expression in parentheses.
    pub(crate) fn sql(&self) -> String {
        format!("({})", self.0)
    }
}

/// The name of a type, as PostgreSQL reads it: `integer`, `numeric(10, 2)`, `app."Mood"[]`.
///
/// [`canonical_types`](crate::session::Session::canonical_types) has PostgreSQL confirm that it is one
/// type name before it becomes part of a statement.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct TypeText(String);

impl TryFrom<String> for TypeText {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        Expression::try_from(text)
            .map(|Expression(text)| Self(text))
            .map_err(|problem| problem.replace("an expression", "a type"))
    }
}

impl TypeText {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

/// Reads a text as PostgreSQL's lexer does, as far as quotes, comments and brackets go.
struct Scanner<'a> {
    rest: &'a str,
    /// The brackets that are still to be closed.
    open: Vec<char>,
}

impl Scanner<'_> {
    fn scan(mut self) -> Result<(), String> {
        while let Some(next) = self.rest.chars().next() {
            match next {
                '\'' => self.quoted('\'', false)?,
                '"' => self.quoted('"', false)?,
                '$' => self.dollar()?,
                _ if next.is_ascii_digit() => self.number()?,
                _ if is_word(next) => self.word()?,
                _ => self.plain(next)?,
            }
        }
        match self.open.pop() {
            Some(bracket) => Err(format!("an expression must close its `{bracket}`")),
            None => Ok(()),
        }
    }

    /// Steps over a word, and over the text that it is the prefix of (`E'…'`).
    fn word(&mut self) -> Result<(), String> {
        let end = self.rest.find(|next| !is_word(next) && next != '$').unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        match word {
            _ if !rest.starts_with('\'') => Ok(()),
            "e" | "E" => self.quoted('\'', true),
            "b" | "B" | "x" | "X" | "n" | "N" => self.quoted('\'', false),
            _ => Err(format!("an expression must have a space between `{word}` and the quote after it")),
        }
    }

    /// Steps over a number. Versions of PostgreSQL differ in what may follow it without a space.
    fn number(&mut self) -> Result<(), String> {
        let end = self.rest.find(|next| !is_word(next)).unwrap_or(self.rest.len());
        let (number, rest) = self.rest.split_at(end);
        self.rest = rest;
        if rest.starts_with(['\'', '"', '$']) {
            return Err(format!("an expression must have a space after the number `{number}`"));
        }
        Ok(())
    }

    fn plain(&mut self, next: char) -> Result<(), String> {
        if self.rest.starts_with("--") || self.rest.starts_with("/*") {
            return Err("an expression must not contain a comment".to_owned());
        }
        match next {
            '\0' => return Err("an expression must not contain the character U+0000".to_owned()),
            ';' => return Err("an expression must not contain a semicolon".to_owned()),
            '(' => self.open.push(')'),
            '[' => self.open.push(']'),
            ')' | ']' if self.open.pop() != Some(next) => {
                return Err(format!("an expression must not close a `{next}` that it did not open"));
            }
            // Between the parentheses that it stands in, this would begin another element.
            ',' if self.open.is_empty() => {
                return Err("an expression must not have a comma outside of parentheses".to_owned());
            }
            _ => {}
        }
        self.rest = &self.rest[next.len_utf8()..];
        Ok(())
    }

    /// Steps over what is between two quotes; a doubled quote is one within.
    fn quoted(&mut self, quote: char, escapes: bool) -> Result<(), String> {
        let mut characters = self.rest.char_indices().skip(1).peekable();
        while let Some((at, next)) = characters.next() {
            if next == '\0' {
                return Err("an expression must not contain the character U+0000".to_owned());
            }
            if escapes && next == '\\' {
                characters.next();
            } else if next == quote && characters.next_if(|(_, after)| *after == quote).is_none() {
                self.rest = &self.rest[at + 1..];
                return Ok(());
            }
        }
        Err(format!("an expression must close its `{quote}`"))
    }

    /// Steps over a dollar-quoted text. A `$` that quotes nothing is a parameter, which no
    /// declaration has.
    fn dollar(&mut self) -> Result<(), String> {
        let tag = self.rest[1..].find('$').map(|end| &self.rest[..end + 2]);
        let is_tag = |tag: &&str| {
            let word = &tag[1..tag.len() - 1];
            word.chars().all(is_word) && !word.starts_with(|first: char| first.is_ascii_digit())
        };
        let Some(tag) = tag.filter(is_tag) else {
            return Err("an expression must not contain a parameter".to_owned());
        };
        let body = &self.rest[tag.len()..];
        let Some(end) = body.find(tag) else {
            return Err(format!("an expression must close its `{tag}`"));
        };
        self.rest = &body[end + tag.len()..];
        Ok(())
    }
}

/// Whether PostgreSQL reads a character as part of a word.
fn is_word(character: char) -> bool {
    character == '_' || character.is_ascii_alphanumeric() || !character.is_ascii()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(text: &str) -> Option<String> {
        Expression::try_from(text.to_owned()).err()
    }

    #[test]
    fn expressions_are_taken_as_they_are() {
        for text in [
            "now()",
            "'it''s; -- fine'::text",
            r"E'\'; DROP TABLE x; --'",
            r"e'a\\' || 'b'",
            "$$a ' ; -- $$",
            "$tag$ ) $$ $tag$",
            "ARRAY[1, 2][1] + (3 * 4)",
            "\"a;b\" > 0",
            "price > 0 AND name <> ''",
            "(SELECT max(a) FROM generate_series(1, 2) AS g(a))",
            "nextval('a.b'::regclass)",
            "some$word = 1",
            "a$$x$ + 1.5e3",
            "date '2030-01-01'",
        ] {
            assert_eq!(problem(text), None, "{text}");
        }
    }

    #[test]
    fn nothing_leaves_its_parentheses() {
        for text in [
            "0); DROP TABLE x; --",
            "0), ADD COLUMN evil integer DEFAULT (0",
            "0, 1",
            "1 -- rest",
            "1 /* rest",
            "'open",
            "\"open",
            "$$open",
            "$1",
            "$a b$ x",
            "(1",
            "[1)",
            r"'\' ); DROP TABLE x; --'",
            r"typE'\' ; DROP TABLE x; --'",
            "",
            "  ",
            "1$x$ ' $x$ ); DROP TABLE x; -- '",
            "1E'\\' ; DROP TABLE x; -- '",
            "a$$x$ ; DROP TABLE x; $x$",
            "a\0b",
            "'a\0b'",
        ] {
            assert!(problem(text).is_some(), "{text}");
        }
    }

    #[test]
    fn a_type_says_that_it_is_one() {
        assert!(TypeText::try_from("numeric(10, 2)[]".to_owned()).is_ok());
        assert!(TypeText::try_from("int; DROP".to_owned()).unwrap_err().starts_with("a type"));
    }
}
