//! Reading declared properties strictly: every problem is found, with its place, and an unknown
//! property is one.

use crate::fault::Fault;
use formwork_model::{Json, Path, Suggest};
use formwork_plugin::PropertyProblem;
use serde_json::Map;

/// How much of a declaration is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    /// All of it.
    Whole,
    /// What is known before a plan is made; what is missing may come.
    Known,
}

/// The members of an object, as they are read one by one.
pub(crate) struct Fields<'a> {
    members: Option<&'a Map<String, Json>>,
    at: Path,
    extent: Extent,
    known: Vec<&'static str>,
    problems: Vec<PropertyProblem>,
}

impl<'a> Fields<'a> {
    fn new(value: &'a Json, at: Path, extent: Extent) -> Self {
        let members = value.as_object();
        let mut fields = Self { members, at, extent, known: Vec::new(), problems: Vec::new() };
        if members.is_none() {
            let path = fields.at.clone();
            fields.problem(path, "must be an object");
        }
        fields
    }

    /// A property that must be there.
    pub(crate) fn required<T>(
        &mut self,
        name: &'static str,
        read: impl FnOnce(&'a Json) -> Result<T, String>,
    ) -> Option<T> {
        if self.value(name).is_none() {
            self.known.push(name);
            if self.extent == Extent::Whole && self.members.is_some() {
                self.problem(self.at.key(name), "is required");
            }
            return None;
        }
        self.optional(name, read)
    }

    /// A property that may be there; `null` is as good as nothing.
    pub(crate) fn optional<T>(
        &mut self,
        name: &'static str,
        read: impl FnOnce(&'a Json) -> Result<T, String>,
    ) -> Option<T> {
        self.known.push(name);
        match read(self.value(name)?) {
            Ok(value) => Some(value),
            Err(message) => {
                self.problem(self.at.key(name), message);
                None
            }
        }
    }

    /// An object within this one.
    pub(crate) fn object<T>(
        &mut self,
        name: &'static str,
        read: impl FnOnce(&mut Fields<'a>) -> Option<T>,
    ) -> Option<T> {
        self.known.push(name);
        let mut within = Fields::new(self.value(name)?, self.at.key(name), self.extent);
        let value = read(&mut within);
        self.problems.extend(within.finish());
        value
    }

    /// Something that is wrong with one property, seen beside the others.
    pub(crate) fn report(&mut self, name: &'static str, message: impl Into<String>) {
        let path = self.at.key(name);
        self.problem(path, message);
    }

    /// Whether all is there that is going to be.
    pub(crate) fn is_whole(&self) -> bool {
        self.extent == Extent::Whole
    }

    fn value(&self, name: &str) -> Option<&'a Json> {
        self.members?.get(name).filter(|value| !value.is_null())
    }

    fn problem(&mut self, path: Path, message: impl Into<String>) {
        self.problems.push(PropertyProblem { path, message: message.into() });
    }

    fn finish(mut self) -> Vec<PropertyProblem> {
        let unknown = self.members.into_iter().flat_map(Map::keys);
        let unknown: Vec<&String> = unknown.filter(|name| !self.known.contains(&name.as_str())).collect();
        for name in unknown {
            let nearest = Suggest::default().hint(name, self.known.iter().copied());
            let hint = nearest.map(|hint| format!("; {hint}")).unwrap_or_default();
            self.problem(self.at.key(name.as_str()), format!("is not a property here{hint}"));
        }
        self.problems
    }
}

/// Everything that is wrong with an object's members.
pub(crate) fn problems<'a, T>(
    value: &'a Json,
    extent: Extent,
    read: impl FnOnce(&mut Fields<'a>) -> Option<T>,
) -> Vec<PropertyProblem> {
    let mut fields = Fields::new(value, Path::root(), extent);
    let _ = read(&mut fields);
    fields.finish()
}

/// What an object's members say; a fault that names all problems.
///
/// # Errors
/// `INVALID_REQUEST`, with a message that begins with `what`.
pub(crate) fn read<'a, T>(
    what: &str,
    value: &'a Json,
    read: impl FnOnce(&mut Fields<'a>) -> Option<T>,
) -> Result<T, Fault> {
    let mut fields = Fields::new(value, Path::root(), Extent::Whole);
    let found = read(&mut fields);
    let problems = fields.finish();
    match found {
        Some(found) if problems.is_empty() => Ok(found),
        _ => {
            let lines = problems.iter().map(|PropertyProblem { path, message }| {
                if path.is_root() { format!("{what} {message}") } else { format!("`{path}` {message}") }
            });
            Err(Fault::invalid(lines.collect::<Vec<_>>().join("; ")))
        }
    }
}

/// A text.
pub(crate) fn text(value: &Json) -> Result<&str, String> {
    value.as_str().ok_or_else(|| "must be a string".to_owned())
}

/// A text with something in it, of at most so many bytes and on one line.
pub(crate) fn short_text(value: &Json, most: usize) -> Result<String, String> {
    let text = text(value)?;
    if text.is_empty() || text.len() > most || text.contains(char::is_control) {
        return Err(format!("must have between 1 and {most} bytes and no control characters"));
    }
    Ok(text.to_owned())
}

/// Texts, none of them twice.
pub(crate) fn texts(value: &Json) -> Result<Vec<&str>, String> {
    let items = value.as_array().ok_or("must be a list of strings")?;
    let mut texts: Vec<&str> = Vec::with_capacity(items.len());
    for item in items {
        let text = item.as_str().ok_or("must be a list of strings")?;
        if texts.contains(&text) {
            return Err(format!("has `{text}` twice"));
        }
        texts.push(text);
    }
    Ok(texts)
}

/// A truth value.
pub(crate) fn flag(value: &Json) -> Result<bool, String> {
    value.as_bool().ok_or_else(|| "must be true or false".to_owned())
}

/// A whole number within bounds.
pub(crate) fn whole(value: &Json, least: u64, most: u64) -> Result<u64, String> {
    let whole = match value.as_u64() {
        // Pkl and JSON may spell a whole number with a fraction of nothing.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked to be whole")]
        None => value.as_f64().filter(|it| it.fract() == 0.0 && (0.0..9e15).contains(it)).map(|it| it as u64),
        found => found,
    };
    whole
        .filter(|whole| (least..=most).contains(whole))
        .ok_or_else(|| format!("must be a whole number between {least} and {most}"))
}

/// One of these texts.
pub(crate) fn one_of<'a>(value: &'a Json, allowed: &[&str]) -> Result<&'a str, String> {
    let text = text(value)?;
    if allowed.contains(&text) {
        return Ok(text);
    }
    Err(format!("must be one of `{}`", allowed.join("`, `")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn sample(fields: &mut Fields<'_>) -> Option<(String, Option<u64>)> {
        let name = fields.required("name", |value| text(value).map(str::to_owned));
        let size = fields.optional("size", |value| whole(value, 1, 9));
        fields.object("inner", |inner| inner.optional("flag", flag));
        Some((name?, size))
    }

    #[test]
    fn what_is_right_is_read() {
        assert_eq!(
            read("a thing", &json!({"name": "a", "size": 3.0}), sample),
            Ok(("a".to_owned(), Some(3)))
        );
        assert_eq!(read("a thing", &json!({"name": "a", "size": null}), sample), Ok(("a".to_owned(), None)));
    }

    #[test]
    fn every_problem_is_named_with_its_place() {
        let fault =
            read("a thing", &json!({"nmae": 1, "size": 10, "inner": {"flag": 1}}), sample).unwrap_err();
        assert_eq!(
            fault.message,
            "`name` is required; `size` must be a whole number between 1 and 9; `inner.flag` must be true or \
             false; `nmae` is not a property here; did you mean `name`?"
        );
        assert_eq!(read("a thing", &json!([]), sample).unwrap_err().message, "a thing must be an object");
    }

    #[test]
    fn what_may_come_yet_is_not_missed() {
        assert!(problems(&json!({"size": 3}), Extent::Known, sample).is_empty());
        assert_eq!(problems(&json!({"size": 0}), Extent::Known, sample).len(), 1);
    }

    #[test]
    fn lists_have_nothing_twice() {
        assert_eq!(texts(&json!(["a", "b"])), Ok(vec!["a", "b"]));
        assert!(texts(&json!(["a", "a"])).is_err() && texts(&json!(["a", 1])).is_err());
    }
}
