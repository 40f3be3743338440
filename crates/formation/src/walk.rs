//! The one walk that turns a value of the template into an [`Expr`].
//!
//! Checking and lowering both take it, each with its own [`Names`]: what is checked is exactly
//! what is lowered.

use crate::expression::{Form, Token, has_stray, tokens};
use crate::item::Item;
use formwork_model::{
    Children, Expr, ExprLeaf, Json, Label, Part, Path, Ref, RefPath, RefTarget, Secret, Segment, SourceNode,
    Span, Visibility,
};
use std::sync::Arc;

/// What a parameter stands for.
#[derive(Clone)]
pub(crate) enum Value {
    Text(Arc<str>),
    Secret(Secret<Json>),
    /// Not known now: whatever was there stays.
    Unresolved,
}

/// What a name in a `sub` stands for.
pub(crate) enum Meaning {
    Parameter(Value),
    Resource(Label),
    Nothing,
}

/// Where in the template an expression stands.
pub(crate) struct Spot<'w> {
    pub(crate) trail: &'w Trail,
    pub(crate) node: Option<&'w SourceNode>,
}

impl Spot<'_> {
    pub(crate) fn path(&self) -> Path {
        self.trail.path()
    }

    pub(crate) fn span(&self) -> Span {
        self.node.map(|node| node.span).unwrap_or_default()
    }

    /// The span of the expression's text, where it is known, not of the object around it.
    pub(crate) fn text_span(&self) -> Span {
        let Some(SourceNode { children: Children::Object(members), .. }) = self.node else {
            return self.span();
        };
        members.first().map_or_else(|| self.span(), |(_, member)| member.span)
    }
}

/// What the walk asks of names, and where it reports what it meets.
pub(crate) trait Names {
    /// The value of a parameter that stands alone; an unknown one is `Unresolved`.
    fn parameter(&mut self, name: &str, spot: &Spot<'_>) -> Value;
    /// The resource that a `ref` names.
    fn resource(&mut self, name: &str, spot: &Spot<'_>) -> Option<Label>;
    /// What a name in a `sub` stands for: a parameter before a resource (seed 4, "Sub
    /// Expressions").
    fn meaning(&mut self, name: &str, spot: &Spot<'_>) -> Meaning;
    /// What a `ref_attr` refers to; `None` where none may be.
    fn attribute(&mut self, text: &str, spot: &Spot<'_>) -> Option<Ref>;
    /// A `${` in the text of a `sub` that begins no name.
    fn stray(&mut self, spot: &Spot<'_>);
}

/// The path of the walk, as it goes.
#[derive(Default)]
pub(crate) struct Trail {
    segments: Vec<Segment>,
}

impl Trail {
    pub(crate) fn new(path: &Path) -> Self {
        Self { segments: path.segments().to_vec() }
    }

    pub(crate) fn path(&self) -> Path {
        self.segments.iter().cloned().collect()
    }
}

/// A walk through one part of the template.
pub(crate) struct Walk<'n, N> {
    names: &'n mut N,
    trail: Trail,
}

impl<'n, N: Names> Walk<'n, N> {
    /// A walk that begins at a path.
    pub(crate) fn new(names: &'n mut N, start: &Path) -> Self {
        Self { names, trail: Trail::new(start) }
    }

    /// A bag of members, which is never itself an expression: `properties`, `metadata`.
    pub(crate) fn bag(&mut self, item: Item<'_>) -> Expr {
        self.data(item).unwrap_or_else(|| Expr::Plain(item.value.clone()))
    }

    /// Any value.
    pub(crate) fn value(&mut self, item: Item<'_>) -> Expr {
        self.changed(item).unwrap_or_else(|| Expr::Plain(item.value.clone()))
    }

    /// The expression that a value becomes; `None` if it is data as it stands, so that large
    /// literal parts are copied once, by whoever holds them.
    fn changed(&mut self, item: Item<'_>) -> Option<Expr> {
        let spot = Spot { trail: &self.trail, node: item.node };
        let leaf = match Form::of(item.value) {
            Form::Data => return self.data(item),
            Form::Plain => return None,
            Form::Literal(inner) => return Some(Expr::Plain(inner.clone())),
            Form::Param(name) => return Some(value_expr(self.names.parameter(name, &spot))),
            Form::Sub(text) => return Some(self.sub(text, item.node)),
            Form::Ref(name) => match self.names.resource(name, &spot) {
                Some(label) => ExprLeaf::Ref(Ref::native_id(label)),
                None => ExprLeaf::KeepPrevious,
            },
            Form::RefAttr(text) => match self.names.attribute(text, &spot) {
                Some(reference) => ExprLeaf::Ref(reference),
                None => ExprLeaf::KeepPrevious,
            },
        };
        Some(Expr::Leaf(leaf))
    }

    fn data(&mut self, item: Item<'_>) -> Option<Expr> {
        match item.value {
            Json::Array(items) => self.array(item, items),
            Json::Object(_) => self.object(item),
            _ => None,
        }
    }

    fn array(&mut self, array: Item<'_>, items: &[Json]) -> Option<Expr> {
        let mut changes = Vec::new();
        for (index, value) in items.iter().enumerate().filter(|(_, value)| is_container(value)) {
            self.trail.segments.push(Segment::Index(index));
            changes.extend(self.changed(array.element(index, value)).map(|changed| (index, changed)));
            self.trail.segments.pop();
        }
        if changes.is_empty() {
            return None;
        }
        let mut changes = changes.into_iter().peekable();
        let all =
            items.iter().enumerate().map(|(index, value)| match changes.next_if(|(at, _)| *at == index) {
                Some((_, changed)) => changed,
                None => Expr::Plain(value.clone()),
            });
        Some(Expr::array(all.collect()))
    }

    fn object(&mut self, object: Item<'_>) -> Option<Expr> {
        let mut changes = Vec::new();
        let members = object.members()?.enumerate();
        for (index, (name, member)) in members.filter(|(_, (_, member))| is_container(member.value)) {
            self.trail.segments.push(Segment::Key(name.to_arc()));
            changes.extend(self.changed(member).map(|changed| (index, changed)));
            self.trail.segments.pop();
        }
        if changes.is_empty() {
            return None;
        }
        let mut changes = changes.into_iter().peekable();
        let all = object.members()?.enumerate().map(|(index, (name, member))| {
            let value = match changes.next_if(|(at, _)| *at == index) {
                Some((_, changed)) => changed,
                None => Expr::Plain(member.value.clone()),
            };
            (name.to_arc(), value)
        });
        Some(Expr::object(all.collect()))
    }

    /// The value of a `sub`. One unresolved parameter makes the whole unresolved: there are no
    /// half texts.
    fn sub(&mut self, text: &str, node: Option<&SourceNode>) -> Expr {
        let mut parts: Vec<Part> = Vec::new();
        let mut unresolved = false;
        if has_stray(text) {
            self.names.stray(&Spot { trail: &self.trail, node });
        }
        for token in tokens(text) {
            let name = match token {
                Token::Text(text) => {
                    parts.push(Part::Text(text.into()));
                    continue;
                }
                Token::Name(name) => name,
            };
            match self.names.meaning(name, &Spot { trail: &self.trail, node }) {
                Meaning::Parameter(Value::Text(text)) => parts.push(Part::Text(text)),
                Meaning::Parameter(Value::Secret(secret)) => parts.push(Part::Secret(secret)),
                Meaning::Resource(label) => parts.push(Part::Ref(Ref::native_id(label))),
                Meaning::Parameter(Value::Unresolved) | Meaning::Nothing => unresolved = true,
            }
        }
        if unresolved {
            return Expr::Leaf(ExprLeaf::KeepPrevious);
        }
        joined(parts)
    }
}

/// A reference to a named output of a resource (seed 4, "`ref_attr`").
pub(crate) fn output_ref(label: Label, attribute: &str, visibility: Visibility) -> Ref {
    Ref {
        to: RefTarget::Resource { stack: None, type_name: None, label },
        path: RefPath::Output(attribute.into()),
        json: None,
        visibility,
    }
}

/// Whether an expression can stand in a value, or it be one.
fn is_container(value: &Json) -> bool {
    value.is_array() || value.is_object()
}

fn value_expr(value: Value) -> Expr {
    match value {
        Value::Text(text) => Expr::Plain(Json::from(&*text)),
        Value::Secret(secret) => Expr::Leaf(ExprLeaf::Secret(secret)),
        Value::Unresolved => Expr::Leaf(ExprLeaf::KeepPrevious),
    }
}

/// The parts of a text as one value: a template if a reference is among them, else a text, which
/// is secret if any part is.
fn joined(parts: Vec<Part>) -> Expr {
    if parts.iter().any(|part| matches!(part, Part::Ref(_))) {
        return Expr::Leaf(ExprLeaf::Template(merged(parts)));
    }
    let secret = parts.iter().any(|part| matches!(part, Part::Secret(_)));
    let mut text = String::new();
    for part in &parts {
        match part {
            Part::Text(piece) => text.push_str(piece),
            Part::Secret(secret) => text.push_str(&formwork_model::as_text(secret.expose())),
            Part::Ref(_) => {}
        }
    }
    if secret {
        return Expr::Leaf(ExprLeaf::Secret(Secret::new(Json::String(text))));
    }
    Expr::Plain(Json::String(text))
}

/// The parts with neighbouring texts made one.
fn merged(parts: Vec<Part>) -> Vec<Part> {
    let mut out: Vec<Part> = Vec::with_capacity(parts.len());
    for part in parts {
        if let (Some(Part::Text(last)), Part::Text(next)) = (out.last_mut(), &part) {
            *last = format!("{last}{next}").into();
        } else {
            out.push(part);
        }
    }
    out
}
