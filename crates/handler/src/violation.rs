//! What a JSON Schema finds wrong with properties, in the words that built-in types use.

use formwork_model::{DiagnosticCode, Path, Segment, as_text};
use jsonschema::error::{TypeKind, ValidationErrorKind};
use jsonschema::paths::{Location, LocationSegment};
use jsonschema::{JsonType, ValidationError};

/// One thing that is wrong. No message quotes a value: it may be a secret.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Violation {
    /// Where, from the properties.
    pub(crate) path: Path,
    pub(crate) code: DiagnosticCode,
    pub(crate) message: String,
}

impl Violation {
    /// One of the properties as a whole, with the end of a sentence about them.
    pub(crate) fn of_all(problem: &str) -> Self {
        let message = format!("the properties {problem}");
        Self { path: Path::root(), code: DiagnosticCode::InputTooLarge, message }
    }

    pub(crate) fn of(error: &ValidationError<'_>) -> Vec<Self> {
        let at = path_of(error.instance_path());
        let one = |path: Path, code, message| vec![Self { path, code, message }];
        match error.kind() {
            ValidationErrorKind::Required { property } => {
                let path = at.key(as_text(property));
                let message = format!("`{path}` is required");
                one(path, DiagnosticCode::MissingProperty, message)
            }
            ValidationErrorKind::AdditionalProperties { unexpected }
            | ValidationErrorKind::UnevaluatedProperties { unexpected } => {
                let named = |name: &String| Self {
                    path: at.key(name.as_str()),
                    code: DiagnosticCode::UnknownProperty,
                    message: format!("{} has no field '{name}'", place(&at)),
                };
                unexpected.iter().map(named).collect()
            }
            ValidationErrorKind::Type { kind } => {
                let message = format!("{} must be {}", place(&at), expected(kind));
                one(at, DiagnosticCode::WrongType, message)
            }
            ValidationErrorKind::Enum { options } => {
                let options: Vec<_> = options.as_array().into_iter().flatten().map(as_text).collect();
                let message = format!("{} must be one of: {}", place(&at), options.join(", "));
                one(at, DiagnosticCode::InvalidValue, message)
            }
            ValidationErrorKind::PropertyNames { .. } => {
                let message = format!("{} has a member whose name is not allowed", place(&at));
                one(at, DiagnosticCode::InvalidValue, message)
            }
            ValidationErrorKind::AnyOf { .. } | ValidationErrorKind::OneOfNotValid { .. } => {
                let message = format!("{} has none of the forms that its schema allows", place(&at));
                one(at, DiagnosticCode::InvalidValue, message)
            }
            ValidationErrorKind::OneOfMultipleValid { .. } => {
                let message =
                    format!("{} has several of the forms of which its schema allows one", place(&at));
                one(at, DiagnosticCode::InvalidValue, message)
            }
            _ => {
                let message = error.masked_with(place(&at)).to_string();
                one(at, DiagnosticCode::InvalidValue, message)
            }
        }
    }
}

/// What messages call a place.
fn place(path: &Path) -> String {
    if path.is_root() { "`properties`".to_owned() } else { format!("`{path}`") }
}

pub(crate) fn path_of(location: &Location) -> Path {
    let segment = |segment| match segment {
        LocationSegment::Property(name) => Segment::Key((*name).into()),
        LocationSegment::Index(index) => Segment::Index(index),
    };
    location.segments().map(segment).collect()
}

fn expected(kind: &TypeKind) -> String {
    match kind {
        TypeKind::Single(kind) => with_article(*kind).to_owned(),
        TypeKind::Multiple(kinds) => kinds.iter().map(with_article).collect::<Vec<_>>().join(" or "),
    }
}

fn with_article(kind: JsonType) -> &'static str {
    match kind {
        JsonType::Array => "an array",
        JsonType::Boolean => "a boolean",
        JsonType::Integer => "an integer",
        JsonType::Null => "null",
        JsonType::Number => "a number",
        JsonType::Object => "an object",
        JsonType::String => "a string",
    }
}

/// The texts of some violations, as one sentence.
pub(crate) fn in_one_line(violations: &[Violation]) -> String {
    const MOST: usize = 5;
    let shown = violations.iter().take(MOST).map(|violation| violation.message.as_str());
    let shown = shown.collect::<Vec<_>>().join("; ");
    match violations.len().saturating_sub(MOST) {
        0 => shown,
        more => format!("{shown}; and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_violations_are_cut_short() {
        let violation = |number| Violation {
            path: Path::root(),
            code: DiagnosticCode::InvalidValue,
            message: format!("m{number}"),
        };
        let several: Vec<_> = (0..7).map(violation).collect();
        assert_eq!(in_one_line(&several), "m0; m1; m2; m3; m4; and 2 more");
        assert_eq!(in_one_line(&several[..1]), "m0");
    }

    #[test]
    fn places_are_named() {
        assert_eq!(place(&Path::root()), "`properties`");
        assert_eq!(place(&Path::of(["a"]).index(0)), "`a[0]`");
    }
}
