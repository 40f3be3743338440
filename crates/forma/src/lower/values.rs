//! Values of the language as declared values, each with its place.

use super::classes::{ClassPlan, Meaning, Shaping, text};
use super::{Stop, Walk, references};
use formwork_model::{
    Children, DiagnosticCode, Expr, ExprLeaf, Json, Members, RefTarget, Secret, SourceNode, Span, Visibility,
};
use indexmap::IndexMap;
use pkl_core::{CodeSpan, Handle, Key, Member, Members as Kind, ObjectView, View};
use std::sync::Arc;

/// How deep a value may be nested.
const DEEPEST: usize = 200;

/// A value and its places.
pub(super) struct Lowered {
    pub(super) value: Expr,
    pub(super) node: SourceNode,
}

impl Lowered {
    fn plain(value: impl Into<Json>, span: Span) -> Self {
        Self::new(Expr::Plain(value.into()), span)
    }

    fn new(value: Expr, span: Span) -> Self {
        Self { value, node: SourceNode { span, ..SourceNode::default() } }
    }

    fn null(span: Span) -> Self {
        Self::plain(Json::Null, span)
    }

    pub(super) fn is_null(&self) -> bool {
        matches!(self.value, Expr::Plain(Json::Null))
    }
}

/// Where a value stands: what stands in it has places of its own, unless it was made from another value.
#[derive(Clone, Copy)]
pub(super) struct At {
    pub(super) span: Span,
    pinned: bool,
    depth: usize,
}

impl At {
    /// A value that stands at a span.
    pub(super) fn new(span: Span) -> Self {
        Self { span, pinned: false, depth: 0 }
    }

    /// A value that was made from the one at this place.
    fn made(self) -> Self {
        Self { pinned: true, ..self }
    }
}

impl Walk<'_, '_, '_> {
    /// A value as it is sent. What of it can't be evaluated is reported, and null in its place.
    pub(super) fn value(&mut self, value: Handle, at: At) -> Result<Lowered, Stop> {
        if at.depth > DEEPEST {
            let message = format!("A value is nested more than {DEEPEST} deep");
            self.report(at.span, DiagnosticCode::InputTooLarge, message);
            return Ok(Lowered::null(at.span));
        }
        Ok(match self.session.view(value)? {
            View::Null => Lowered::null(at.span),
            View::Bool(value) => Lowered::plain(value, at.span),
            View::Int(value) => Lowered::plain(value, at.span),
            View::Float(number) => self.float(number, at),
            View::String(text) => self.text(&text, at),
            View::Items(items) => self.items(&items, at)?,
            View::Map(entries) => self.map(&entries, at)?,
            View::Object(object) => self.object(value, &object, at)?,
            View::Class(_) => {
                let name = self.session.property(value, "simpleName")?;
                Lowered::plain(text(self.session, name)?.as_ref(), at.span)
            }
            View::Other => {
                let class = self.session.class_of(value)?;
                let message = format!("A `{}` can't be sent: make it a number or a text", class.name);
                self.report(at.span, DiagnosticCode::WrongType, message);
                Lowered::null(at.span)
            }
        })
    }

    fn float(&mut self, number: f64, at: At) -> Lowered {
        if let Some(number) = serde_json::Number::from_f64(number) {
            return Lowered::plain(Json::Number(number), at.span);
        }
        self.report(at.span, DiagnosticCode::InvalidValue, format!("The number `{number}` can't be sent"));
        Lowered::null(at.span)
    }

    /// A text; one with a reference in it had to be embedded (reading 15).
    fn text(&mut self, text: &str, at: At) -> Lowered {
        if references::has_frame(text) {
            let message = "A reference stands within a text: use `formae.embed(…)`, for which the property must accept a `formae.Embedded`";
            self.report(at.span, DiagnosticCode::MisplacedExpression, message);
            return Lowered::null(at.span);
        }
        Lowered::plain(text, at.span)
    }

    fn items(&mut self, items: &[Handle], at: At) -> Result<Lowered, Stop> {
        let within = At { depth: at.depth + 1, ..at };
        let lowered = items.iter().map(|item| self.value(*item, within));
        Ok(array(lowered.collect::<Result<_, _>>()?, at.span))
    }

    fn map(&mut self, entries: &[(Handle, Handle)], at: At) -> Result<Lowered, Stop> {
        let within = At { depth: at.depth + 1, ..at };
        let mut members = Vec::with_capacity(entries.len());
        for (key, value) in entries {
            let Some(key) = self.key(*key, at)? else { continue };
            members.push((key, self.value(*value, within)?));
        }
        Ok(object(members, at.span))
    }

    /// The key of an entry, which must be a text.
    fn key(&mut self, key: Handle, at: At) -> Result<Option<Arc<str>>, Stop> {
        if let View::String(text) = self.session.view(key)? {
            return Ok(Some(text));
        }
        let shown = self.session.text_of(key)?;
        self.report(at.span, DiagnosticCode::WrongType, format!("The key `{shown}` must be a text"));
        Ok(None)
    }

    fn object(&mut self, value: Handle, object: &ObjectView, at: At) -> Result<Lowered, Stop> {
        match self.classes.meaning(self.session, object.class)? {
            Meaning::SubResource(plan) => {
                let (members, span) = self.fields(value, &plan, At { depth: at.depth + 1, ..at })?;
                Ok(self::object(members, if at.pinned { at.span } else { span.unwrap_or(at.span) }))
            }
            Meaning::Reference => {
                let reference = self.reference(value, at.span)?;
                Ok(reference.map_or_else(|| Lowered::null(at.span), |it| leaf(ExprLeaf::Ref(it), at.span)))
            }
            Meaning::StackReference | Meaning::TargetReference => {
                let label = self.session.property(value, "label")?;
                self.value(label, at)
            }
            Meaning::Embedded => self.embedded(value, at.span),
            Meaning::Value => self.held(value, at),
            Meaning::Resource => {
                let label = self.session.property(value, "label")?;
                let label = text(self.session, label)?;
                let message =
                    format!("The resource `{label}` is the value of a property: refer to it by `.res`");
                self.report(at.span, DiagnosticCode::MisplacedExpression, message);
                Ok(Lowered::null(at.span))
            }
            Meaning::Stack | Meaning::Target | Meaning::Policy | Meaning::Data => self.data(object, at),
        }
    }

    /// An object that means nothing by its class.
    fn data(&mut self, object: &ObjectView, at: At) -> Result<Lowered, Stop> {
        let elements = object.members.iter().filter(|member| matches!(member.key, Key::Element(_))).count();
        let is_array = object.kind == Kind::Elements || (elements > 0 && elements == object.members.len());
        if elements > 0 && !is_array {
            let message = "An object with both elements and properties can't be sent";
            self.report(at.span, DiagnosticCode::WrongType, message);
            return Ok(Lowered::null(at.span));
        }
        let mut members = Vec::with_capacity(object.members.len());
        for member in &object.members {
            let (key, keeps_null) = match &member.key {
                Key::Property(name) => (Arc::clone(name), false),
                Key::Element(_) => (Arc::default(), true),
                Key::Entry(key) => match self.key(*key, at)? {
                    Some(key) => (key, true),
                    None => continue,
                },
            };
            let lowered = self.member(member, at)?;
            // A property without a value is not declared (reading 23).
            if keeps_null || !lowered.is_null() {
                members.push((key, lowered));
            }
        }
        Ok(if is_array {
            array(members.into_iter().map(|(_, lowered)| lowered).collect(), at.span)
        } else {
            self::object(members, at.span)
        })
    }

    /// A member of an object; one that can't be evaluated is reported.
    fn member(&mut self, member: &Member, at: At) -> Result<Lowered, Stop> {
        let at = self.within(member.place, at);
        let value = self.session.value_of(member);
        match self.evaluated(value, at.span)? {
            Some(value) => {
                let mut lowered = self.value(value, at)?;
                lowered.node.key = member.place.and_then(|code| self.sources.own_name(self.session, code));
                Ok(lowered)
            }
            None => Ok(Lowered::null(at.span)),
        }
    }

    /// The place of what is defined by some code within a value.
    fn within(&mut self, code: Option<CodeSpan>, at: At) -> At {
        let own = code.filter(|_| !at.pinned).and_then(|code| self.sources.own(self.session, code));
        At { span: own.unwrap_or(at.span), depth: at.depth + 1, ..at }
    }

    /// What is sent of an object whose class has a plan, and the first place of it.
    #[expect(clippy::type_complexity, reason = "members with their places, and a place")]
    pub(super) fn fields(
        &mut self,
        object: Handle,
        plan: &ClassPlan,
        at: At,
    ) -> Result<(Vec<(Arc<str>, Lowered)>, Option<Span>), Stop> {
        let mut members = Vec::with_capacity(plan.fields.len());
        let mut first: Option<Span> = None;
        for field in &plan.fields {
            let code = self.session.code_of_property(object, &field.name);
            let within = self.within(code, at);
            let value = self.session.property(object, &field.name);
            let Some(value) = self.evaluated(value, within.span)? else { continue };
            let mistakes = self.found.error_count();
            let Some(mut lowered) = self.shaped(value, field.shaping, within)? else {
                // What could not be made out is not missing.
                if field.required && self.found.error_count() == mistakes {
                    self.missing(field, at);
                }
                continue;
            };
            if field.opaque {
                lowered.value = secret(lowered.value);
            }
            lowered.node.key = code.and_then(|code| self.sources.own_name(self.session, code));
            if lowered.node.key.is_some() && first.is_none_or(|known| within.span.start < known.start) {
                first = Some(within.span);
            }
            members.push((Arc::clone(&field.key), lowered));
        }
        Ok((members, first))
    }

    /// A property without a value where its hint demands one; one whose type demands it can't be evaluated.
    fn missing(&mut self, field: &super::classes::Field, at: At) {
        let message = format!("The property `{}` must have a value", field.name);
        self.report(at.span, DiagnosticCode::MissingProperty, message);
    }

    /// A property's value as it is sent; `None` if it is not.
    fn shaped(&mut self, value: Handle, shaping: Option<Shaping>, at: At) -> Result<Option<Lowered>, Stop> {
        if matches!(self.session.view(value)?, View::Null) {
            return Ok(None);
        }
        let Some(Shaping { transformation, condition }) = shaping else {
            return Ok(Some(self.value(value, at)?).filter(|lowered| !lowered.is_null()));
        };
        let sent = self.session.call(condition, &[value]);
        let Some(sent) = self.evaluated(sent, at.span)? else { return Ok(None) };
        if !matches!(self.session.view(sent)?, View::Bool(true)) {
            return Ok(None);
        }
        let made = self.session.call(transformation, &[value]);
        let Some(made) = self.evaluated(made, at.span)? else { return Ok(None) };
        Ok(Some(self.value(made, at.made())?).filter(|lowered| !lowered.is_null()))
    }

    /// A `formae.Value`: a text, maybe secret, maybe kept once it was written.
    fn held(&mut self, value: Handle, at: At) -> Result<Lowered, Stop> {
        let mut property = |name| -> Result<Handle, Stop> { Ok(self.session.property(value, name)?) };
        let [held, visibility, strategy, hashed] =
            [property("value")?, property("visibility")?, property("strategy")?, property("isHashed")?];
        if matches!(self.session.view(hashed)?, View::Bool(true)) {
            return Ok(leaf(ExprLeaf::KeepPrevious, at.span));
        }
        let held = text(self.session, held)?;
        let mut lowered = self.text(&held, at);
        if &*text(self.session, visibility)? == "Opaque" {
            lowered.value = secret(lowered.value);
        }
        if &*text(self.session, strategy)? == "SetOnce" {
            lowered.value = Expr::Leaf(ExprLeaf::Once(Box::new(lowered.value)));
        }
        Ok(lowered)
    }

    /// A text with references.
    fn embedded(&mut self, value: Handle, span: Span) -> Result<Lowered, Stop> {
        let template = self.session.property(value, "template")?;
        let template = text(self.session, template)?;
        let parts = references::parts(&template, &mut |envelope| self.enveloped(envelope));
        Ok(match parts {
            Ok(value) => Lowered::new(value, span),
            Err(message) => {
                self.report(span, DiagnosticCode::InvalidExpression, message);
                Lowered::null(span)
            }
        })
    }
}

fn leaf(leaf: ExprLeaf, span: Span) -> Lowered {
    Lowered::new(Expr::Leaf(leaf), span)
}

fn array(items: Vec<Lowered>, span: Span) -> Lowered {
    let (values, nodes) = items.into_iter().map(|item| (item.value, item.node)).unzip();
    let node = SourceNode { span, key: None, children: Children::Array(nodes) };
    Lowered { value: Expr::array(values), node }
}

/// An object of members; of two with one key the last counts.
pub(super) fn object(members: Vec<(Arc<str>, Lowered)>, span: Span) -> Lowered {
    let mut values = IndexMap::with_capacity(members.len());
    let mut nodes = Vec::with_capacity(members.len());
    for (key, lowered) in members {
        if values.insert(Arc::clone(&key), lowered.value).is_some() {
            nodes.retain(|(known, _)| *known != key);
        }
        nodes.push((key, lowered.node));
    }
    let node = SourceNode { span, key: None, children: Children::Object(Members::from(nodes)) };
    Lowered { value: Expr::object(values), node }
}

/// A value that must not be shown.
pub(crate) fn secret(value: Expr) -> Expr {
    match value {
        Expr::Plain(Json::Null) => value,
        Expr::Plain(plain) => Expr::Leaf(ExprLeaf::Secret(Secret::new(plain))),
        Expr::Leaf(ExprLeaf::Once(inner)) => Expr::Leaf(ExprLeaf::Once(Box::new(secret(*inner)))),
        Expr::Leaf(ExprLeaf::Ref(mut reference)) => {
            if matches!(reference.to, RefTarget::Resource { .. }) {
                reference.visibility = Visibility::Opaque;
            }
            Expr::Leaf(ExprLeaf::Ref(reference))
        }
        Expr::Leaf(ExprLeaf::Template(parts)) => {
            Expr::Leaf(ExprLeaf::Template(parts.into_iter().map(references::secret_part).collect()))
        }
        Expr::Leaf(leaf) => Expr::Leaf(leaf),
        Expr::Array(items) => Expr::array(items.into_iter().map(secret).collect()),
        Expr::Object(members) => {
            Expr::object(members.into_iter().map(|(key, member)| (key, secret(member))).collect())
        }
    }
}
