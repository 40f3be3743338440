//! A template's text as a message may draw it: what may be a credential is blanked, so that a log
//! of errors does not hold what no answer holds (INV-9).

use crate::item::Item;
use crate::template::names_something;
use crate::{Limits, parse};
use formwork_model::{Catalog, Expr, Json, Path, Schema, Segment, Span, TypeRules};
use std::borrow::Cow;

/// What stands in place of a character.
const BLANK: char = '*';

/// The text with the same lines and columns, less what may be a credential: literals where a type
/// says that credentials stand, misspelt properties of types that have any, all properties of
/// unknown types, and defaults of `no_echo` parameters. Of a text that can't be read only the
/// structure is left.
pub fn drawable<'t>(text: &'t str, catalog: &dyn Catalog) -> Cow<'t, str> {
    // Spans begin after a byte order mark.
    if let Some(unmarked) = text.strip_prefix('\u{feff}') {
        return Cow::Owned(format!("\u{feff}{}", drawable(unmarked, catalog)));
    }
    let Ok(document) = parse("template", text.as_bytes(), &Limits::default()) else {
        return Cow::Owned(structure(text));
    };
    let mut hidden = Hidden { spans: Vec::new() };
    let root = Item { value: &document.value, node: Some(&document.source.root) };
    hidden.parameters(root);
    hidden.resources(root, catalog);
    if hidden.spans.is_empty() { Cow::Borrowed(text) } else { Cow::Owned(hidden.blank(text)) }
}

struct Hidden {
    spans: Vec<Span>,
}

impl Hidden {
    fn parameters(&mut self, root: Item<'_>) {
        for (_, parameter) in root.get("parameters").and_then(Item::members).into_iter().flatten() {
            let silent = parameter.get("no_echo").is_some_and(|flag| *flag.value != Json::Bool(false));
            if let Some(default) = parameter.get("default").filter(|_| silent) {
                self.literals(default);
            }
        }
    }

    fn resources(&mut self, root: Item<'_>, catalog: &dyn Catalog) {
        for (_, resource) in root.get("resources").and_then(Item::members).into_iter().flatten() {
            let Some(properties) = resource.get("properties") else { continue };
            let type_name = resource.get("type").and_then(|name| name.value.as_str()).unwrap_or_default();
            match catalog.get(&type_name.into()) {
                Some(rules) => self.properties(properties, &*rules),
                // Whoever knows the type may know that this is a credential.
                None => self.literals(properties),
            }
        }
    }

    fn properties(&mut self, properties: Item<'_>, rules: &dyn TypeRules) {
        let schema = rules.schema();
        let keeps_secrets = schema.names().any(|name| is_private(schema, name));
        for (name, member) in properties.members().into_iter().flatten() {
            let misspelt = keeps_secrets && schema.property(name.as_str()).is_none();
            if misspelt || is_private(schema, name.as_str()) {
                self.literals(member);
            }
        }
        for place in rules.sensitive(&Expr::Plain(properties.value.clone())) {
            if let Some(item) = at(properties, &place) {
                self.literals(item);
            }
        }
    }

    /// Hides all texts and numbers in a value. Its depth is bounded by that of what can be read.
    fn literals(&mut self, item: Item<'_>) {
        match item.value {
            Json::String(_) | Json::Number(_) => self.spans.push(item.span()),
            Json::Object(_) if names_something(item.value) => {}
            Json::Object(_) => {
                item.members().into_iter().flatten().for_each(|(_, member)| self.literals(member));
            }
            Json::Array(items) => {
                items.iter().enumerate().for_each(|(at, value)| self.literals(item.element(at, value)));
            }
            Json::Null | Json::Bool(_) => {}
        }
    }

    fn blank(mut self, text: &str) -> String {
        self.spans.sort_unstable_by_key(|span| (span.start, span.end));
        let mut spans = self.spans.iter().peekable();
        let mut until = 0;
        text.char_indices()
            .map(|(at, character)| {
                while let Some(span) = spans.next_if(|span| span.start as usize <= at) {
                    until = until.max(span.end as usize);
                }
                let shown = at >= until || character.is_whitespace() || matches!(character, '"' | '\'');
                if shown { character } else { BLANK }
            })
            .collect()
    }
}

fn is_private(schema: &Schema, name: &str) -> bool {
    schema.property(name).is_some_and(|property| property.hint.write_only || property.hint.opaque)
}

fn at<'a>(item: Item<'a>, path: &Path) -> Option<Item<'a>> {
    path.segments().iter().try_fold(item, |item, segment| match segment {
        Segment::Key(name) => item.get(name),
        Segment::Index(index) => Some(item.element(*index, item.value.get(*index)?)),
    })
}

/// The text with the letters and digits of all but member names blanked: what is wrong with its
/// structure can still be seen.
fn structure(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let mut rest = line;
        while !rest.is_empty() {
            let end = rest.find(STRUCTURAL).unwrap_or(rest.len());
            let (word, after) = rest.split_at(end);
            if is_name(after) {
                shown.push_str(word);
            } else {
                shown.extend(word.chars().map(|it| if it.is_alphanumeric() { BLANK } else { it }));
            }
            let next = after.chars().next().map_or(0, char::len_utf8);
            shown.push_str(&after[..next]);
            rest = &after[next..];
        }
    }
    shown
}

/// What ends a name or a value.
const STRUCTURAL: [char; 9] = ['{', '}', '[', ']', ',', '"', '\'', ':', '\n'];

/// Whether what comes after a word makes it the name of a member: a colon that ends a name, after
/// the quote that may close it.
fn is_name(after: &str) -> bool {
    let after = after.strip_prefix(['"', '\'']).unwrap_or(after);
    let Some(value) = after.strip_prefix(':') else { return false };
    value.is_empty() || value.starts_with([' ', '\n', '\r', '\t'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_what_cannot_be_read_the_structure_is_left() {
        let text = "a: \"s3cr3t\nB: { type: secret, \"value\": 's3cr3t, url: http://x:80/ }\n  s3cr3t\n";
        assert_eq!(
            structure(text),
            "a: \"******\nB: { type: ******, \"value\": '******, url: ****://*:**/ }\n  ******\n"
        );
    }

    #[test]
    fn columns_stay_where_they_are() {
        let hidden = Hidden { spans: vec![Span { file: 0, start: 3, end: 9 }] };
        assert_eq!(hidden.blank("a: 'é€' b"), "a: '**' b");
    }
}
