//! Values as one line of text: what `toString()` gives and messages show.

use crate::identifier;
use crate::literal;
use crate::number::float_to_string;
use crate::tree::{Member, Tree};

/// Texts of values in messages are shorter than this, in UTF-16 units.
const LIMIT: usize = 80;

/// `value.toString()` for a value whose class doesn't have its own.
///
/// Objects in a `List` or `Set` stand on several lines; anywhere else on one.
pub fn to_string(value: &Tree) -> String {
    match value {
        Tree::String(text) => text.to_string(),
        Tree::List(_) | Tree::Set(_) => written(value, Layout::Lines),
        _ => one_line(value),
    }
}

/// The value as it stands inside of another one: strings are quoted, and there is but one line.
pub fn one_line(value: &Tree) -> String {
    written(value, Layout::OneLine)
}

fn written(value: &Tree, layout: Layout) -> String {
    let mut writer = Writer { out: String::new(), limit: usize::MAX, layout, depth: 0 };
    writer.value(value);
    writer.out
}

/// The value as a message shows it: [`one_line`], cut with an ellipsis if it is long.
pub fn excerpt(value: &Tree) -> String {
    let mut writer = Writer { out: String::new(), limit: LIMIT, layout: Layout::OneLine, depth: 0 };
    writer.value(value);
    truncated(writer.out)
}

/// As [`excerpt`], of an object that is shown as one of another class.
pub(crate) fn excerpt_as(class: &str, value: &Tree) -> String {
    let mut writer = Writer { out: format!("new {class} "), limit: LIMIT, layout: Layout::OneLine, depth: 0 };
    writer.body(value);
    truncated(writer.out)
}

/// A text cut to the length that messages allow for a value.
pub fn truncated(text: String) -> String {
    if text.encode_utf16().take(LIMIT).count() < LIMIT {
        return text;
    }
    let mut short = String::new();
    let mut units = LIMIT - 3;
    for character in text.chars() {
        if let Some(rest) = units.checked_sub(character.len_utf16()) {
            short.push(character);
            units = rest;
        } else {
            // Half of a character that takes two units.
            if units == 1 {
                short.push('?');
            }
            break;
        }
    }
    short.push_str("...");
    short
}

/// How the members of objects are laid out.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Layout {
    OneLine,
    Lines,
}

struct Writer {
    out: String,
    /// Once so many bytes are written nothing more is: the rest is cut anyway.
    limit: usize,
    layout: Layout,
    /// How many objects are open.
    depth: usize,
}

impl Writer {
    fn value(&mut self, value: &Tree) {
        if self.out.len() / 4 > self.limit {
            return;
        }
        match value {
            Tree::Null => self.out.push_str("null"),
            Tree::Bool(value) => self.out.push_str(if *value { "true" } else { "false" }),
            Tree::Int(value) => self.out.push_str(&value.to_string()),
            Tree::Float(value) => self.out.push_str(&float_to_string(*value)),
            Tree::String(text) => self.out.push_str(&literal::plain(text)),
            Tree::Bytes(bytes) => {
                self.call("Bytes", bytes.iter(), |writer, byte| writer.out.push_str(&byte.to_string()));
            }
            Tree::Duration(value) => self.out.push_str(&value.to_string()),
            Tree::DataSize(value) => self.out.push_str(&value.to_string()),
            Tree::Pair(pair) => self.call("Pair", [&pair.0, &pair.1].into_iter(), Self::value),
            Tree::IntSeq(seq) => self.out.push_str(&seq.to_string()),
            Tree::Regex(pattern) => self.out.push_str(&format_regex(pattern)),
            Tree::List(items) => self.call("List", items.iter(), Self::value),
            Tree::Set(items) => self.call("Set", items.iter(), Self::value),
            Tree::Map(entries) => {
                self.call("Map", entries.iter().flat_map(|(key, value)| [key, value]), Self::value);
            }
            Tree::Class(name) | Tree::TypeAlias(name) => self.out.push_str(&name.to_string()),
            Tree::Error(error) => {
                self.out.push_str("throw(");
                self.out.push_str(&literal::plain(&error.message));
                self.out.push(')');
            }
            Tree::Listing(_)
            | Tree::Mapping(_)
            | Tree::Dynamic(_)
            | Tree::Typed(_)
            | Tree::Function { .. } => {
                self.out.push_str("new ");
                self.out.push_str(&simple_class_name(value));
                self.out.push(' ');
                self.body(value);
            }
        }
    }

    fn call<T>(&mut self, name: &str, items: impl Iterator<Item = T>, mut item: impl FnMut(&mut Self, T)) {
        self.out.push_str(name);
        self.out.push('(');
        for (index, value) in items.enumerate() {
            if self.out.len() / 4 > self.limit {
                return;
            }
            if index > 0 {
                self.out.push_str(", ");
            }
            item(self, value);
        }
        self.out.push(')');
    }

    /// The members of an object in braces.
    fn body(&mut self, value: &Tree) {
        match value {
            Tree::Listing(items) => self.members(items.iter(), Self::value),
            Tree::Mapping(entries) => {
                self.members(entries.iter(), |writer, (key, value)| writer.entry(key, value));
            }
            Tree::Dynamic(members) => self.members(members.iter(), |writer, member| match member {
                Member::Property(name, value) => writer.property(name, value),
                Member::Entry(key, value) => writer.entry(key, value),
                Member::Element(value) => writer.value(value),
            }),
            Tree::Typed(typed) => {
                self.members(typed.properties.iter(), |writer, (name, value)| writer.property(name, value));
            }
            _ => self.out.push_str("{}"),
        }
    }

    fn members<T>(&mut self, items: impl Iterator<Item = T>, mut item: impl FnMut(&mut Self, T)) {
        self.out.push('{');
        self.depth += 1;
        let mut empty = true;
        for value in items {
            if self.out.len() / 4 > self.limit {
                return;
            }
            match self.layout {
                Layout::OneLine => self.out.push_str(if empty { " " } else { "; " }),
                Layout::Lines => self.start_line(),
            }
            empty = false;
            item(self, value);
        }
        self.depth -= 1;
        match self.layout {
            _ if empty => {}
            Layout::OneLine => self.out.push(' '),
            Layout::Lines => self.start_line(),
        }
        self.out.push('}');
    }

    fn start_line(&mut self) {
        self.out.push('\n');
        for _ in 0..self.depth {
            self.out.push_str("  ");
        }
    }

    fn property(&mut self, name: &str, value: &Tree) {
        self.out.push_str(&identifier::quoted(name));
        self.assigned(value);
    }

    fn entry(&mut self, key: &Tree, value: &Tree) {
        self.out.push('[');
        self.value(key);
        self.out.push(']');
        self.assigned(value);
    }

    fn assigned(&mut self, value: &Tree) {
        if is_object(value) {
            self.out.push(' ');
            self.body(value);
        } else {
            self.out.push_str(" = ");
            self.value(value);
        }
    }
}

fn is_object(value: &Tree) -> bool {
    matches!(
        value,
        Tree::Listing(_) | Tree::Mapping(_) | Tree::Dynamic(_) | Tree::Typed(_) | Tree::Function { .. }
    )
}

fn simple_class_name(value: &Tree) -> String {
    match value {
        Tree::Typed(typed) if typed.class.is_module_class => "ModuleClass".to_owned(),
        Tree::Typed(typed) => typed.class.name.to_string(),
        other => other.class_name(),
    }
}

/// `Regex("…")` with the delimiters that need no escapes.
pub(crate) fn format_regex(pattern: &str) -> String {
    format!("Regex({})", literal::custom(pattern))
}

/// A number as messages show it: with commas between thousands.
pub fn grouped(number: i64) -> String {
    let digits = number.unsigned_abs().to_string();
    let mut text = String::from(if number < 0 { "-" } else { "" });
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::{ClassName, Typed};

    #[test]
    fn objects_and_collections_stand_on_one_line() {
        let listing = Tree::Listing(vec![Tree::Int(1), Tree::from("a\"b\n")]);
        let typed = Tree::Typed(Box::new(Typed {
            class: ClassName::new("birds", "Parrot"),
            properties: vec![("a b".into(), Tree::Int(1)), ("f".into(), listing.clone())],
        }));
        assert_eq!(one_line(&typed), r#"new Parrot { `a b` = 1; f { 1; "a\"b\n" } }"#);
        let map = Tree::Map(vec![(Tree::from("k"), listing)]);
        assert_eq!(one_line(&map), r#"Map("k", new Listing { 1; "a\"b\n" })"#);
        assert_eq!(one_line(&Tree::Dynamic(vec![])), "new Dynamic {}");
        assert_eq!(one_line(&Tree::Function { parameters: 2 }), "new Function2 {}");
    }

    #[test]
    fn messages_cut_long_values() {
        let long = "x".repeat(100);
        assert_eq!(excerpt(&Tree::from(long.as_str())), format!("\"{}...", "x".repeat(76)));
        let many = Tree::List((0..100_000).map(Tree::Int).collect());
        assert!(excerpt(&many).ends_with("..."));
    }
}
