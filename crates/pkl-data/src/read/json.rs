//! JSON, strictly as RFC 8259 has it.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use crate::tree::{MAX_DEPTH, Member, Tree};

/// What is wrong with a JSON text, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonError {
    /// What is wrong.
    pub description: String,
    /// The line, counted from one.
    pub line: usize,
    /// The column, counted from one in UTF-16 units.
    pub column: usize,
}

impl fmt::Display for JsonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {}:{}", self.description, self.line, self.column)
    }
}

impl std::error::Error for JsonError {}

/// Reads a JSON text.
///
/// # Errors
/// If it isn't one, or nests more than [`MAX_DEPTH`] levels deep.
pub fn parse(text: &str, use_mapping: bool) -> Result<Tree, JsonError> {
    let mut reader = Reader { text, at: 0, use_mapping };
    reader.skip_space();
    let value = reader.value(0)?;
    reader.skip_space();
    if reader.at < text.len() {
        return Err(reader.error("Unexpected character"));
    }
    Ok(value)
}

/// The members of an object in order, the last value for each name.
#[derive(Default)]
struct Members {
    list: Vec<(Arc<str>, Tree)>,
    /// The places by name, once there are many.
    places: HashMap<Arc<str>, usize>,
}

/// So many names are compared one by one.
const FEW: usize = 16;

impl Members {
    fn insert(&mut self, name: Arc<str>, value: Tree) {
        let known = if self.list.len() <= FEW {
            self.list.iter().position(|(known, _)| *known == name)
        } else {
            self.places.get(&name).copied()
        };
        if let Some(place) = known {
            self.list[place].1 = value;
            return;
        }
        self.list.push((name, value));
        match self.list.len() {
            length if length == FEW + 1 => {
                self.places =
                    self.list.iter().zip(0..).map(|((name, _), place)| (Arc::clone(name), place)).collect();
            }
            length if length > FEW => {
                self.places.insert(Arc::clone(&self.list[length - 1].0), length - 1);
            }
            _ => {}
        }
    }

    fn into_tree(self, use_mapping: bool) -> Tree {
        let members = self.list.into_iter();
        if use_mapping {
            Tree::Mapping(members.map(|(name, value)| (Tree::String(name), value)).collect())
        } else {
            Tree::Dynamic(members.map(|(name, value)| Member::Property(name, value)).collect())
        }
    }
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
    use_mapping: bool,
}

type Result<T, E = JsonError> = std::result::Result<T, E>;

impl Reader<'_> {
    fn error(&self, description: &str) -> JsonError {
        let before = &self.text[..self.at];
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        JsonError {
            description: description.to_owned(),
            line: 1 + before.matches('\n').count(),
            column: 1 + before[line_start..].encode_utf16().count(),
        }
    }

    /// That something else was expected here, or that the text ends.
    fn expected(&self, what: &str) -> JsonError {
        if self.at == self.text.len() {
            self.error("Unexpected end of input")
        } else {
            self.error(&format!("Expected {what}"))
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn value(&mut self, depth: usize) -> Result<Tree> {
        if depth > MAX_DEPTH {
            return Err(self.error("Nested too deeply"));
        }
        match self.peek() {
            Some(b'{') => self.members(depth),
            Some(b'[') => self.elements(depth),
            Some(b'"') => {
                self.at += 1;
                Ok(Tree::string(self.string()?))
            }
            Some(b't') => self.word("true", Tree::Bool(true)),
            Some(b'f') => self.word("false", Tree::Bool(false)),
            Some(b'n') => self.word("null", Tree::Null),
            Some(b'-' | b'0'..=b'9') => self.number(),
            _ => Err(self.expected("value")),
        }
    }

    fn word(&mut self, word: &str, value: Tree) -> Result<Tree> {
        for letter in word.chars() {
            if self.text[self.at..].starts_with(letter) {
                self.at += 1;
            } else {
                return Err(self.expected(&format!("'{letter}'")));
            }
        }
        Ok(value)
    }

    fn elements(&mut self, depth: usize) -> Result<Tree> {
        self.at += 1;
        self.skip_space();
        let mut elements = Vec::new();
        if self.eat(b']') {
            return Ok(Tree::Listing(elements));
        }
        loop {
            self.skip_space();
            elements.push(self.value(depth + 1)?);
            self.skip_space();
            if self.eat(b']') {
                return Ok(Tree::Listing(elements));
            }
            if !self.eat(b',') {
                return Err(self.expected("',' or ']'"));
            }
        }
    }

    fn members(&mut self, depth: usize) -> Result<Tree> {
        self.at += 1;
        self.skip_space();
        let mut members = Members::default();
        if self.eat(b'}') {
            return Ok(members.into_tree(self.use_mapping));
        }
        loop {
            self.skip_space();
            if !self.eat(b'"') {
                return Err(self.expected("name"));
            }
            let name = self.string()?;
            self.skip_space();
            if !self.eat(b':') {
                return Err(self.expected("':'"));
            }
            self.skip_space();
            members.insert(name.into(), self.value(depth + 1)?);
            self.skip_space();
            if self.eat(b'}') {
                return Ok(members.into_tree(self.use_mapping));
            }
            if !self.eat(b',') {
                return Err(self.expected("',' or '}'"));
            }
        }
    }

    /// A string; its opening quote is behind us.
    fn string(&mut self) -> Result<String> {
        let mut string = String::new();
        loop {
            let plain = self.text.as_bytes()[self.at..]
                .iter()
                .take_while(|&&b| b >= b' ' && b != b'"' && b != b'\\')
                .count();
            string.push_str(&self.text[self.at..self.at + plain]);
            self.at += plain;
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(string);
                }
                Some(b'\\') => {
                    self.at += 1;
                    string.push(self.escape()?);
                }
                _ => return Err(self.expected("valid string character")),
            }
        }
    }

    fn escape(&mut self) -> Result<char> {
        let character = match self.peek() {
            Some(byte @ (b'"' | b'\\' | b'/')) => char::from(byte),
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => {
                self.at += 1;
                return self.unicode_escape();
            }
            _ => return Err(self.expected("valid escape sequence")),
        };
        self.at += 1;
        Ok(character)
    }

    /// `\uXXXX`, or two of them for a character beyond the basic plane. Half of such a pair has no text
    /// of its own and becomes a question mark.
    fn unicode_escape(&mut self) -> Result<char> {
        let unit = self.unit()?;
        if (0xD800..0xDC00).contains(&unit) && self.text[self.at..].starts_with("\\u") {
            let before = self.at;
            self.at += 2;
            let low = self.unit()?;
            if (0xDC00..0xE000).contains(&low) {
                let code = 0x1_0000 + ((unit - 0xD800) << 10) + (low - 0xDC00);
                return Ok(char::from_u32(code).unwrap_or('?'));
            }
            self.at = before;
        }
        Ok(char::from_u32(unit).unwrap_or('?'))
    }

    fn unit(&mut self) -> Result<u32> {
        let mut unit = 0;
        for _ in 0..4 {
            let Some(digit) = self.peek().and_then(|byte| char::from(byte).to_digit(16)) else {
                return Err(self.expected("hexadecimal digit"));
            };
            unit = unit * 16 + digit;
            self.at += 1;
        }
        Ok(unit)
    }

    fn number(&mut self) -> Result<Tree> {
        let start = self.at;
        self.eat(b'-');
        if !self.eat(b'0') {
            self.digits()?;
        }
        let mut is_int = true;
        if self.eat(b'.') {
            is_int = false;
            self.digits()?;
        }
        if self.eat(b'e') || self.eat(b'E') {
            is_int = false;
            if !self.eat(b'+') {
                self.eat(b'-');
            }
            self.digits()?;
        }
        let text = &self.text[start..self.at];
        match text.parse() {
            Ok(number) if is_int => Ok(Tree::Int(number)),
            // The form has been checked: what doesn't fit an `Int` is a `Float`.
            _ => text.parse().map(Tree::Float).map_err(|_| self.error("Expected value")),
        }
    }

    fn digits(&mut self) -> Result<()> {
        let digits = self.text.as_bytes()[self.at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        if digits == 0 {
            return Err(self.expected("digit"));
        }
        self.at += digits;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::display::one_line;

    fn read(text: &str) -> String {
        match parse(text, false) {
            Ok(tree) => one_line(&tree),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn values_are_read() {
        for (text, value) in [
            (
                r#"{"a":1,"b":[1,2.5,"x",null,true,{}]}"#,
                r#"new Dynamic { a = 1; b { 1; 2.5; "x"; null; true; new Dynamic {} } }"#,
            ),
            (r#"{"a":1,"b":2,"a":3}"#, "new Dynamic { a = 3; b = 2 }"),
            ("9223372036854775808", "9.223372036854776E18"),
            ("-0", "0"),
            ("-0.0", "-0.0"),
            ("1e400", "Infinity"),
            (r#""\ud83d\ude00\n\/""#, r#""😀\n/""#),
        ] {
            assert_eq!(read(text), value);
        }
        assert_eq!(
            parse(r#"{"a":1}"#, true).map(|tree| one_line(&tree)).as_deref(),
            Ok(r#"new Mapping { ["a"] = 1 }"#)
        );
    }

    #[test]
    fn errors_say_what_and_where() {
        for (text, error) in [
            ("", "Unexpected end of input at 1:1"),
            (" \n ", "Unexpected end of input at 2:2"),
            (r#"{"a":1,}"#, "Expected name at 1:8"),
            (r#"{"a" 1}"#, "Expected ':' at 1:6"),
            ("[1 2]", "Expected ',' or ']' at 1:4"),
            ("[1,]", "Expected value at 1:4"),
            ("01", "Unexpected character at 1:2"),
            ("1.x", "Expected digit at 1:3"),
            ("nulx", "Expected 'l' at 1:4"),
            ("nul", "Unexpected end of input at 1:4"),
            (r#""\x""#, "Expected valid escape sequence at 1:3"),
            (r#""\u12""#, "Expected hexadecimal digit at 1:6"),
            ("\"\n\"", "Expected valid string character at 1:2"),
            ("{\"a\":1\n,\n}", "Expected name at 3:1"),
            ("\u{feff}1", "Expected value at 1:1"),
        ] {
            assert_eq!(read(text), error);
        }
    }

    #[test]
    fn objects_of_many_members_keep_their_order_and_the_last_values() {
        let members: Vec<String> = (0..40).chain([3, 30]).map(|n| format!("\"m{n}\": {n}")).collect();
        let text = format!("{{{}, \"m0\": 7}}", members.join(", "));
        let Ok(Tree::Dynamic(members)) = parse(&text, false) else { panic!("it is an object") };
        assert_eq!(members.len(), 40);
        assert_eq!(members[0], Member::Property("m0".into(), Tree::Int(7)));
        assert_eq!(members[30], Member::Property("m30".into(), Tree::Int(30)));
    }

    #[test]
    fn depth_is_bounded() {
        assert!(read(&"[".repeat(100_000)).starts_with("Nested too deeply"));
        assert!(parse(&format!("{}{}", "[".repeat(900), "]".repeat(900)), false).is_ok());
    }

    proptest::proptest! {
        #[test]
        fn nothing_panics(text in "[\\[\\]{}\",:0-9eE.+tfn\\\\u -]{0,40}") {
            let _ = parse(&text, false);
        }
    }
}
