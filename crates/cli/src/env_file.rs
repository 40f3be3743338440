//! The file of `--env-file`: `KEY=value` lines, `export` allowed, quotes, `#` comments, blank lines.
//! Values are taken as they are: nothing is substituted in them, so a `$` in a secret stays one.

use std::collections::BTreeMap;

/// A parsed env file.
#[derive(Debug, Default)]
pub(crate) struct EnvFile(BTreeMap<String, String>);

/// A line that is not of the required form. Its text is not in the message: it may be a secret.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {reason}")]
pub(crate) struct EnvFileError {
    pub(crate) line: usize,
    pub(crate) reason: &'static str,
}

impl EnvFile {
    /// Parses the text of an env file.
    ///
    /// # Errors
    /// The first line that can't be read.
    pub(crate) fn parse(text: &str) -> Result<Self, EnvFileError> {
        let mut variables = BTreeMap::new();
        for (index, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
            let refused = |reason| EnvFileError { line: index + 1, reason };
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let line = line.strip_prefix("export ").unwrap_or(line);
            let (name, value) = line.split_once('=').ok_or_else(|| refused("expected `KEY=value`"))?;
            let name = name.trim();
            if name.is_empty() || name.contains(char::is_whitespace) {
                return Err(refused("expected a name without spaces before `=`"));
            }
            variables.insert(name.to_owned(), value_of(value.trim()).map_err(refused)?);
        }
        Ok(Self(variables))
    }

    /// The value of a variable.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }
}

fn value_of(text: &str) -> Result<String, &'static str> {
    match text.chars().next() {
        Some('\'') => {
            let end = text[1..].find('\'').ok_or("the quote is not closed")?;
            after_quote(&text[end + 2..])?;
            Ok(text[1..=end].to_owned())
        }
        Some('"') => double_quoted(text),
        _ => Ok(text.split_once(" #").map_or(text, |(value, _)| value.trim_end()).to_owned()),
    }
}

fn double_quoted(text: &str) -> Result<String, &'static str> {
    let mut value = String::new();
    let mut letters = text.char_indices().skip(1);
    while let Some((at, letter)) = letters.next() {
        match letter {
            '"' => {
                after_quote(&text[at + 1..])?;
                return Ok(value);
            }
            '\\' => match letters.next() {
                Some((_, 'n')) => value.push('\n'),
                Some((_, 'r')) => value.push('\r'),
                Some((_, 't')) => value.push('\t'),
                Some((_, escaped @ ('"' | '\\' | '$'))) => value.push(escaped),
                Some((_, other)) => value.extend(['\\', other]),
                None => break,
            },
            other => value.push(other),
        }
    }
    Err("the quote is not closed")
}

fn after_quote(rest: &str) -> Result<(), &'static str> {
    let rest = rest.trim_start();
    if rest.is_empty() || rest.starts_with('#') {
        Ok(())
    } else {
        Err("there is text after the closing quote")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_of_a_line_is_read() {
        let text = "\u{feff}# comment\n\nexport A=1\nB = two words # note\nC='single # $X'\nD=\"a\\n\\\"b\\\" \\x\" # end\nE=\nF=a=b#c\n";
        let file = EnvFile::parse(text).expect("valid");
        let all = ["A", "B", "C", "D", "E", "F", "G"].map(|name| file.get(name));
        assert_eq!(
            all,
            [
                Some("1"),
                Some("two words"),
                Some("single # $X"),
                Some("a\n\"b\" \\x"),
                Some(""),
                Some("a=b#c"),
                None
            ]
        );
    }

    #[test]
    fn a_bad_line_is_named_but_not_shown() {
        let error = EnvFile::parse("A=1\nsk-secret\n").expect_err("no `=`");
        assert_eq!(error.to_string(), "line 2: expected `KEY=value`");
        assert_eq!(
            EnvFile::parse("A='x").map(drop),
            Err(EnvFileError { line: 1, reason: "the quote is not closed" })
        );
    }
}
