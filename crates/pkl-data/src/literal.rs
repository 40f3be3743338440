//! String literals of Pkl, as renderers and messages write them.

/// A literal on one line, with the escapes of the ordinary delimiters.
pub fn plain(text: &str) -> String {
    let mut literal = String::with_capacity(text.len() + 2);
    literal.push('"');
    push_escaped(&mut literal, text, "\\", true);
    literal.push('"');
    literal
}

/// A literal on one line, with custom delimiters if that saves escapes.
pub fn custom(text: &str) -> String {
    let pounds = pounds(text, &['"', '\\']);
    if pounds.is_empty() {
        return plain(text);
    }
    let escape = format!("\\{pounds}");
    let mut literal = format!("{pounds}\"");
    // `""` after the opening quote would read as the start of a multi-line literal.
    if text == "\"" {
        literal.push_str(&escape);
        literal.push('"');
    } else if let Some(rest) = text.strip_prefix("\"\"") {
        literal.push('"');
        literal.push_str(&escape);
        literal.push('"');
        push_control_escaped(&mut literal, rest, &escape);
    } else {
        push_control_escaped(&mut literal, text, &escape);
    }
    literal.push('"');
    literal.push_str(&pounds);
    literal
}

/// A literal of several lines, each beginning with `indent`.
pub fn multi_line(text: &str, indent: &str, custom_delimiters: bool) -> String {
    let pounds = if custom_delimiters { multi_line_pounds(text) } else { String::new() };
    let escape = format!("\\{pounds}");
    let mut literal = format!("{pounds}\"\"\"");
    for line in text.split('\n') {
        literal.push('\n');
        literal.push_str(indent);
        if pounds.is_empty() {
            push_line(&mut literal, line);
        } else {
            push_control_escaped(&mut literal, line, &escape);
        }
    }
    literal.push('\n');
    literal.push_str(indent);
    literal.push_str("\"\"\"");
    literal.push_str(&pounds);
    literal
}

/// One line between ordinary delimiters: every third quote of a row is escaped.
fn push_line(literal: &mut String, line: &str) {
    let mut rest = line;
    while let Some(at) = rest.find("\"\"\"") {
        push_escaped(literal, &rest[..at], "\\", false);
        literal.push_str("\"\"\\\"");
        rest = &rest[at + 3..];
    }
    push_escaped(literal, rest, "\\", false);
}

fn push_escaped(literal: &mut String, text: &str, escape: &str, quotes: bool) {
    for character in text.chars() {
        match character {
            '\\' => {
                literal.push_str(escape);
                literal.push('\\');
            }
            '"' if quotes => {
                literal.push_str(escape);
                literal.push('"');
            }
            _ => push_control(literal, character, escape),
        }
    }
}

fn push_control_escaped(literal: &mut String, text: &str, escape: &str) {
    for character in text.chars() {
        push_control(literal, character, escape);
    }
}

fn push_control(literal: &mut String, character: char, escape: &str) {
    let letter = match character {
        '\n' => 'n',
        '\r' => 'r',
        '\t' => 't',
        other => {
            literal.push(other);
            return;
        }
    };
    literal.push_str(escape);
    literal.push(letter);
}

/// So many `#` that nothing in the text reads as an escape or a delimiter; none if nothing would.
fn pounds(text: &str, specials: &[char]) -> String {
    let longest = text
        .match_indices(specials)
        .map(|(at, special)| 1 + text[at + special.len()..].bytes().take_while(|&b| b == b'#').count())
        .max();
    "#".repeat(longest.unwrap_or(0))
}

/// As [`pounds`], but only three quotes in a row end a literal of several lines.
fn multi_line_pounds(text: &str) -> String {
    let after_quotes = text
        .match_indices("\"\"\"")
        .map(|(at, _)| text[at..].trim_start_matches('"'))
        .map(|rest| 1 + rest.bytes().take_while(|&b| b == b'#').count())
        .max();
    let backslashes = pounds(text, &['\\']);
    "#".repeat(after_quotes.unwrap_or(0).max(backslashes.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_custom_literal_has_as_many_pounds_as_it_needs() {
        for (text, literal) in [
            ("a", r#""a""#),
            ("\\", r##"#"\"#"##),
            ("\"", "#\"\\#\"\"#"),
            ("\"\"\"", r##"#""\#"""#"##),
            ("a\"", "#\"a\"\"#"),
            ("\"##", r####"###""##"###"####),
            ("a\t\\#", r###"##"a\##t\#"##"###),
        ] {
            assert_eq!(custom(text), literal);
        }
    }

    #[test]
    fn lines_escape_what_would_end_the_literal() {
        assert_eq!(multi_line("a\n\"\"\"b", "  ", false), "\"\"\"\n  a\n  \"\"\\\"b\n  \"\"\"");
        assert_eq!(multi_line("a\\\n\"\"\"#", "", true), "##\"\"\"\na\\\n\"\"\"#\n\"\"\"##");
        assert_eq!(multi_line("\n\"\"", " ", true), "\"\"\"\n \n \"\"\n \"\"\"");
    }
}
