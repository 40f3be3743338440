//! References: to whom they are, and how they stand within texts.
//!
//! The wire's envelopes and frames (seed 1, "Resolvables and embedded values") are read here and nowhere else.

use base64::Engine as _;
use formwork_model::{
    Expr, ExprLeaf, Json, Part, Path, ProjectId, Ref, RefPath, RefTarget, Segment, StackKey, Visibility,
};
use std::sync::Arc;

/// Begins a reference within a text.
const OPENING: char = '\u{1e}';
/// Ends it.
const CLOSING: char = '\u{1f}';

/// A reference as its author wrote it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Envelope {
    pub(crate) label: Option<Arc<str>>,
    pub(crate) type_name: Option<Arc<str>>,
    pub(crate) stack: Option<Arc<str>>,
    pub(crate) property: Option<Arc<str>>,
    pub(crate) json: Option<Arc<str>>,
    pub(crate) is_opaque: bool,
}

/// The type of what a reference to a stack, a target or a policy refers to.
pub(crate) const STACK: &str = "Formae::Stack";
pub(crate) const TARGET: &str = "Formae::Target";
pub(crate) const POLICY: &str = "Formae::Policy";

impl Envelope {
    /// A reference as JSON, as the wire and a frame have it; `None` if it is none.
    pub(crate) fn read(json: &Json) -> Option<Self> {
        let members = json.as_object()?;
        if members.get("$res") != Some(&Json::Bool(true)) {
            return None;
        }
        let text = |key| members.get(key).and_then(Json::as_str).map(Arc::from);
        Some(Self {
            label: text("$label"),
            type_name: text("$type"),
            stack: text("$stack"),
            property: text("$property"),
            json: text("$json"),
            is_opaque: members.get("$visibility").and_then(Json::as_str) == Some("Opaque"),
        })
    }

    /// Whether it is to a property of a resource.
    pub(crate) fn is_of_resource(&self) -> bool {
        !matches!(self.type_name.as_deref(), Some(STACK | TARGET | POLICY))
    }

    /// The reference, once the stack of its resource is known.
    ///
    /// # Errors
    /// What is missing of it.
    pub(crate) fn resolved(&self, project: &ProjectId) -> Result<Ref, String> {
        let property = self.property.as_deref().unwrap_or_default();
        let type_name = self.type_name.as_deref().unwrap_or_default();
        let Some(label) = self.label.clone() else {
            return Err(format!("A reference to `{property}` of a `{type_name}` has no label"));
        };
        let to = match type_name {
            STACK => RefTarget::Stack(StackKey { project: project.clone(), name: label }),
            TARGET => RefTarget::Target(label.as_ref().into()),
            POLICY => RefTarget::Policy(label),
            _ => RefTarget::Resource {
                stack: self.stack.clone().map(|name| StackKey { project: project.clone(), name }),
                type_name: self.type_name.as_deref().map(Into::into),
                label: label.as_ref().into(),
            },
        };
        Ok(Ref {
            to,
            path: RefPath::Property(path(property)),
            json: self.json.as_deref().map(path),
            visibility: if self.is_opaque { Visibility::Opaque } else { Visibility::Clear },
        })
    }
}

/// A reference as the wire has it.
pub(crate) fn envelope(reference: &Ref) -> Json {
    let (type_name, stack, label) = match &reference.to {
        RefTarget::Resource { stack, type_name, label } => (
            type_name.as_ref().map_or("", |name| name.as_str()),
            stack.as_ref().map(|stack| &*stack.name),
            label.as_str(),
        ),
        RefTarget::Stack(stack) => (STACK, None, &*stack.name),
        RefTarget::Target(target) => (TARGET, None, target.as_str()),
        RefTarget::Policy(policy) => (POLICY, None, &**policy),
    };
    let mut members = serde_json::Map::new();
    let mut put = |key: &str, value: Json| _ = members.insert(key.to_owned(), value);
    put("$res", true.into());
    put("$label", label.into());
    put("$type", type_name.into());
    if let Some(stack) = stack {
        put("$stack", stack.into());
    }
    if let RefPath::Property(path) = &reference.path {
        put("$property", dotted(path).into());
    }
    put("$visibility", if reference.visibility == Visibility::Opaque { "Opaque" } else { "Clear" }.into());
    if let Some(json) = &reference.json {
        put("$json", dotted(json).into());
    }
    Json::Object(members)
}

/// A text with references as the wire has it.
pub(crate) fn template(parts: &[Part]) -> String {
    let mut text = String::new();
    for part in parts {
        match part {
            Part::Text(literal) => text.push_str(literal),
            Part::Ref(reference) => {
                let envelope = envelope(reference).to_string();
                text.push(OPENING);
                text.push_str(&base64::engine::general_purpose::STANDARD.encode(envelope));
                text.push(CLOSING);
            }
            Part::Secret(secret) => text.push_str(&formwork_model::as_text(secret.expose())),
        }
    }
    text
}

/// A path as the wire has it.
fn dotted(path: &Path) -> String {
    let segment = |segment: &Segment| match segment {
        Segment::Key(key) => {
            let mut escaped = String::with_capacity(key.len());
            for letter in key.chars() {
                if matches!(letter, '.' | ':' | '\\') {
                    escaped.push('\\');
                }
                escaped.push(letter);
            }
            escaped
        }
        Segment::Index(index) => index.to_string(),
    };
    path.segments().iter().map(segment).collect::<Vec<_>>().join(".")
}

/// A dotted path; a backslash takes a dot's meaning.
pub(crate) fn path(text: &str) -> Path {
    let mut segments = Vec::new();
    let mut segment = String::new();
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => segment.extend(letters.next()),
            '.' => segments.push(Segment::Key(std::mem::take(&mut segment).into())),
            letter => segment.push(letter),
        }
    }
    segments.push(Segment::Key(segment.into()));
    segments.into_iter().collect()
}

/// Whether a text has a reference in it, or a part of one.
pub(crate) fn has_frame(text: &str) -> bool {
    text.contains([OPENING, CLOSING])
}

/// A text with references in it as a value: plain if there are none.
///
/// # Errors
/// What is wrong with a frame, or what `resolve` says.
pub(crate) fn parts(
    template: &str,
    resolve: &mut dyn FnMut(Envelope) -> Result<Ref, String>,
) -> Result<Expr, String> {
    let broken = || "A text to embed has part of a reference in it: put in references whole".to_owned();
    let mut sections = template.split(OPENING);
    let mut parts = Vec::new();
    let mut push = |text: &str| {
        if !text.is_empty() {
            parts.push(Part::Text(text.into()));
        }
    };
    push(sections.next().unwrap_or_default());
    for section in sections {
        let (frame, rest) = section.split_once(CLOSING).ok_or_else(broken)?;
        let bytes = base64::engine::general_purpose::STANDARD.decode(frame).map_err(|_| broken())?;
        let json: Json = serde_json::from_slice(&bytes).map_err(|_| broken())?;
        let reference = resolve(Envelope::read(&json).ok_or_else(broken)?)?;
        parts.push(Part::Ref(reference));
        if !rest.is_empty() {
            parts.push(Part::Text(rest.into()));
        }
    }
    if parts.iter().any(|part| matches!(part, Part::Text(text) if has_frame(text))) {
        return Err(broken());
    }
    Ok(if parts.iter().any(|part| matches!(part, Part::Ref(_))) {
        Expr::Leaf(ExprLeaf::Template(parts))
    } else {
        Expr::Plain(Json::String(template.to_owned()))
    })
}

/// A part of a text that must not be shown.
pub(crate) fn secret_part(part: Part) -> Part {
    match part {
        Part::Ref(mut reference) => {
            reference.visibility = Visibility::Opaque;
            Part::Ref(reference)
        }
        part => part,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn a_backslash_takes_the_meaning_of_a_dot() {
        assert_eq!(path("a.b"), Path::of(["a", "b"]));
        assert_eq!(path(r"ports.svc\:80\.x"), Path::of(["ports", "svc:80.x"]));
        assert_eq!(path("items.0.uri"), Path::of(["items", "0", "uri"]));
        assert_eq!(path(r"a\\.b"), Path::of([r"a\", "b"]));
    }

    #[test]
    fn a_text_is_cut_at_its_references() {
        let frame = base64::engine::general_purpose::STANDARD
            .encode(r#"{"$res":true,"$label":"db","$type":"A::B::C","$stack":"s","$property":"Host"}"#);
        let project = ProjectId::from("p");
        let mut resolve = |envelope: Envelope| envelope.resolved(&project);
        let value = parts(&format!("pg://{OPENING}{frame}{CLOSING}/app"), &mut resolve).unwrap();
        let Expr::Leaf(ExprLeaf::Template(found)) = value else { panic!("{value:?}") };
        assert!(matches!(&found[..], [Part::Text(before), Part::Ref(reference), Part::Text(after)]
            if &**before == "pg://" && &**after == "/app" && reference.to_string() == "s/db.Host"));
        assert!(matches!(parts("plain", &mut resolve), Ok(Expr::Plain(_))));
    }

    #[test]
    fn a_broken_frame_is_refused() {
        let project = ProjectId::from("p");
        let mut resolve = |envelope: Envelope| envelope.resolved(&project);
        for text in ["\u{1e}abc", "\u{1f}", "\u{1e}!\u{1f}", "\u{1e}e30=\u{1f}", "x\u{1e}e30=\u{1f}\u{1f}"] {
            assert!(parts(text, &mut resolve).is_err(), "{text:?}");
        }
    }
}
