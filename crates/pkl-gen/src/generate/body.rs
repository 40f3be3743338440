//! Bodies of objects.

use super::Generator;
use super::names::{ClassId, INDICES, Kind, Name};
use super::scope::{Scope, ScopeKind};

/// A body that is being written.
struct Body {
    kind: Kind,
    /// Whether what is written over has members already.
    amends: bool,
    /// What it is known to have.
    known: Known,
    depth: usize,
    /// Names and keys that must not be written twice.
    used: Vec<String>,
}

/// What an object is known to have before it is amended.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Known {
    /// So many elements.
    pub(super) elements: usize,
    /// Entries with these keys.
    pub(super) keys: &'static [&'static str],
}

impl Generator<'_> {
    /// `{ … }` for an object of a kind; `amends` says whether it may have members already.
    pub(super) fn body(&mut self, kind: Kind, amends: bool, depth: usize) -> String {
        self.body_of(kind, amends.then(Known::default), depth)
    }

    /// The same, with what is known of the object that is amended, if one is.
    pub(super) fn body_of(&mut self, kind: Kind, amended: Option<Known>, depth: usize) -> String {
        let (amends, known) = (amended.is_some(), amended.unwrap_or_default());
        let mut scope = Scope::new(ScopeKind::Object);
        if let Kind::Instance(class) = kind {
            scope.inherited = self.members_of(class);
        }
        if matches!(kind, Kind::IntListing) && !amends {
            scope.elements = Some(0);
        }
        let overridden = self.scopes.overridden.take();
        let body = Body { kind, amends, known, depth, used: Vec::new() };
        let members = self.within(scope, |this| this.members(body));
        self.scopes.overridden = overridden;
        if members.is_empty() { "{}".to_owned() } else { format!("{{ {} }}", members.join("; ")) }
    }

    fn members(&mut self, mut body: Body) -> Vec<String> {
        let mut members = Vec::new();
        if body.kind == Kind::Dynamic && !body.amends {
            for kind in [Kind::Int, Kind::Text] {
                members.extend(self.dynamic_property(&mut body, Name::new(kind, 0)));
            }
        }
        if self.choices.chance(10) {
            members.extend(self.local(&mut body));
        }
        let most = if body.depth == 0 { 1 } else { 4 };
        self.several(0, most, |this, _| members.extend(this.member(&mut body)));
        members
    }

    fn local(&mut self, body: &mut Body) -> Option<String> {
        let name = Name::new(self.choices.pick(&[Kind::Int, Kind::Text, Kind::Function]), self.some_index());
        if self.is_careful() && body.used.contains(&name.to_string()) {
            return None;
        }
        body.used.push(name.to_string());
        let value = self.value_of(name, false, |this| this.nested(name.kind, body.depth));
        let careful = self.is_careful();
        if let Some(scope) = self.scopes.stack.last_mut() {
            scope.names.push(name);
            if careful {
                scope.locals.push(name);
            }
        }
        Some(format!("local {name} = {value}"))
    }

    fn some_index(&mut self) -> u8 {
        u8::try_from(self.choices.below(INDICES.into())).unwrap_or(0)
    }

    fn member(&mut self, body: &mut Body) -> Option<String> {
        match body.kind {
            Kind::Instance(class) => self.typed_member(body, class),
            Kind::IntListing => Some(self.element(body, Kind::Int)),
            Kind::Objects(class) => Some(self.element(body, Kind::Instance(class))),
            Kind::IntMapping => self.entry(body, Kind::Int),
            Kind::ObjectMapping(class) => self.entry(body, Kind::Instance(class)),
            _ => self.dynamic_member(body),
        }
    }

    fn typed_member(&mut self, body: &mut Body, class: ClassId) -> Option<String> {
        let settable: Vec<Name> = self
            .properties_of(class)
            .into_iter()
            .filter(|property| !property.is_fixed && !body.used.contains(&property.name.to_string()))
            .map(|property| property.name)
            .collect();
        if settable.is_empty() {
            return None;
        }
        let name = self.choices.pick(&settable);
        body.used.push(name.to_string());
        let text = self.override_of(name, body.depth);
        // Also lexically visible from here on, and in the bodies inside.
        if let Some(scope) = self.scopes.stack.last_mut() {
            scope.names.push(name);
        }
        Some(self.perhaps_when(text))
    }

    fn override_of(&mut self, name: Name, depth: usize) -> String {
        let depth = depth.saturating_sub(1);
        if name.kind.is_object() && self.choices.chance(60) {
            let body = self.value_of(name, true, |this| this.body(name.kind, true, depth));
            return format!("{name} {body}");
        }
        let value = self.value_of(name, true, |this| this.nested(name.kind, depth));
        format!("{name} = {value}")
    }

    /// Puts a member into a `when`, sometimes.
    fn perhaps_when(&mut self, member: String) -> String {
        if !self.choices.chance(8) {
            return member;
        }
        let condition = self.outside(|this| this.nested(Kind::Bool, 1));
        format!("when ({condition}) {{ {member} }}")
    }

    /// Writes what is evaluated with the object, not with a member: it doesn't see the object.
    fn outside<T>(&mut self, write: impl FnOnce(&mut Self) -> T) -> T {
        let scope = self.scopes.stack.pop();
        let written = write(self);
        self.scopes.stack.extend(scope);
        written
    }

    fn dynamic_member(&mut self, body: &mut Body) -> Option<String> {
        let may_match = self.may_match(body);
        match self.choices.below(9) {
            5 | 6 if self.plain_objects => self.entry(body, Kind::Int),
            0..=3 => {
                let kind = self.any_kind();
                let kind = if kind == Kind::Function { Kind::Int } else { kind };
                let name = Name::new(kind, self.index_for(kind));
                self.dynamic_property(body, name)
            }
            4 => self.entry(body, Kind::Int),
            5 => Some(self.element(body, Kind::Int)),
            6 => Some(format!("...{}", self.outside(|this| this.nested(Kind::Ints, 1)))),
            7 if body.amends && may_match => {
                body.used.push("[[".to_owned());
                Some(format!("[[{}]] = {}", self.predicate(), self.nested(Kind::Int, 1)))
            }
            _ => {
                let kind = self.choices.pick(&[Kind::Int, Kind::Text]);
                self.dynamic_property(body, Name::new(kind, 0))
            }
        }
    }

    fn dynamic_property(&mut self, body: &mut Body, name: Name) -> Option<String> {
        if body.used.contains(&name.to_string()) {
            return None;
        }
        body.used.push(name.to_string());
        let depth = body.depth.saturating_sub(1);
        // Whether the object that is amended has the property.
        let everywhere = name.index == 0 && matches!(name.kind, Kind::Int | Kind::Text);
        let known = body.amends && (!self.is_careful() || everywhere);
        let text = if name.kind == Kind::Dynamic && self.choices.chance(60) {
            let amends = body.amends && !self.is_careful();
            let inner = self.value_of(name, amends, |this| this.body(name.kind, amends, depth));
            format!("{name} {inner}")
        } else {
            let value = self.value_of(name, known, |this| this.nested(name.kind, depth));
            format!("{name} = {value}")
        };
        if let Some(scope) = self.scopes.stack.last_mut() {
            scope.names.push(name);
        }
        if self.is_careful() && (name.index == 0 || !body.amends) {
            return Some(text);
        }
        Some(self.perhaps_when(text))
    }

    /// A predicate over members that may be of any kind.
    fn predicate(&mut self) -> String {
        self.choices
            .pick(&["this is Int && this > 1", "this == 3", "this is Typed", "this is Int", "this is String"])
            .to_owned()
    }

    fn element(&mut self, body: &mut Body, kind: Kind) -> String {
        let depth = body.depth.saturating_sub(1);
        let may_match = self.may_match(body);
        let matched = body.used.iter().any(|used| used == "[[");
        match self.choices.below(10) {
            0 if self.is_careful() && matched => self.plain_element(kind, depth),
            0 if body.known.elements > 0 || body.amends && self.may_fail() => {
                let index = self.choices.below(2);
                let key = format!("[{index}]");
                if body.used.contains(&key) {
                    return self.plain_element(kind, depth);
                }
                body.used.push(key.clone());
                self.keyed(&key, kind, depth, true)
            }
            1 => {
                self.forget_elements();
                self.generated(kind, depth)
            }
            2 => {
                self.forget_elements();
                let condition = self.outside(|this| this.nested(Kind::Bool, 1));
                let (yes, no) = (self.plain_element(kind, depth), self.plain_element(kind, depth));
                format!("when ({condition}) {{ {yes} }} else {{ {no} }}")
            }
            3 => {
                self.forget_elements();
                let source = match kind {
                    Kind::Int => Kind::IntListing,
                    Kind::Instance(class) if !self.may_fail() => Kind::Objects(class),
                    _ => Kind::Ints,
                };
                format!("...{}", self.outside(|this| this.nested(source, 1)))
            }
            4 if body.amends && may_match => {
                body.used.push("[[".to_owned());
                let predicate = if kind == Kind::Int { "this > 1".to_owned() } else { self.predicate() };
                let value = if kind.is_object() && self.choices.chance(60) {
                    self.body(kind, true, depth)
                } else {
                    format!("= {}", self.nested(kind, depth))
                };
                format!("[[{predicate}]] {value}")
            }
            5 if kind.is_object() && !body.used.contains(&"default".to_owned()) => {
                body.used.push("default".to_owned());
                format!("default {}", self.body(kind, true, depth))
            }
            _ => self.plain_element(kind, depth),
        }
    }

    fn plain_element(&mut self, kind: Kind, depth: usize) -> String {
        let text = match kind {
            Kind::Instance(_) if self.choices.chance(60) => format!("new {}", self.body(kind, true, depth)),
            _ => self.nested(kind, depth),
        };
        if let Some(count) = self.scopes.stack.last_mut().and_then(|scope| scope.elements.as_mut()) {
            *count += 1;
        }
        text
    }

    /// From here on it isn't known how many elements come before.
    fn forget_elements(&mut self) {
        if let Some(scope) = self.scopes.stack.last_mut() {
            scope.elements = None;
        }
    }

    fn generated(&mut self, kind: Kind, depth: usize) -> String {
        let name = self.variable();
        let source = self.choices.pick(&[Kind::Ints, Kind::IntListing, Kind::IntSet, Kind::Table]);
        let iterable = self.outside(|this| this.nested(source, 1));
        let inner = self.with_items(&[(name, Kind::Int)], |this| this.plain_element(kind, depth));
        format!("for ({name} in {iterable}) {{ {inner} }}")
    }

    /// Whether a predicate may be written: a member that it matches must not be defined in another way.
    fn may_match(&self, body: &Body) -> bool {
        !self.is_careful() || !body.used.iter().any(|used| used.starts_with('[') || used == "...")
    }

    fn entry(&mut self, body: &mut Body, kind: Kind) -> Option<String> {
        let depth = body.depth.saturating_sub(1);
        let may_match = self.may_match(body);
        let spread = body.used.iter().any(|used| used == "..." || used == "[[");
        let has_entries = body.used.iter().any(|used| used.starts_with('['));
        let (may_generate, may_spread) = if self.is_careful() {
            (!spread && !body.used.iter().any(|used| used == "[for]"), !spread && !has_entries)
        } else {
            (true, true)
        };
        match self.choices.below(8) {
            0 if may_generate => {
                body.used.push("[for]".to_owned());
                let table = self.outside(|this| this.nested(Kind::Table, 1));
                let inner = self.with_items(&[("x", Kind::Text), ("y", Kind::Int)], |this| {
                    this.keyed("[\"k\" + x]", kind, depth, false)
                });
                Some(format!("for (x, y in {table}) {{ {inner} }}"))
            }
            1 if kind == Kind::Int && may_spread => {
                body.used.push("...".to_owned());
                Some(format!("...{}", self.outside(|this| this.nested(Kind::IntMapping, 1))))
            }
            2 if kind.is_object() && !body.used.contains(&"default".to_owned()) => {
                body.used.push("default".to_owned());
                let parameter = if self.choices.chance(40) { "x -> " } else { "" };
                let inner = if parameter.is_empty() {
                    self.body(kind, true, depth)
                } else {
                    self.with_variables(&[("x", Kind::Text)], |this| this.body(kind, true, depth))
                };
                Some(format!("default {}", inner.replacen('{', &format!("{{ {parameter}"), 1)))
            }
            3 if body.amends && kind == Kind::Int && may_match => {
                body.used.push("[[".to_owned());
                Some(format!("[[this > 1]] = {}", self.nested(Kind::Int, depth)))
            }
            _ => {
                let key = format!("[{}]", self.key());
                let conflicts = body.used.contains(&key) || (self.is_careful() && spread);
                if conflicts && !(self.choices.chance(3) && self.may_fail()) {
                    return None;
                }
                body.used.push(key.clone());
                let known = body.known.keys.iter().any(|known| key == format!("[{known}]"));
                let may_be = body.amends && (known || self.may_fail());
                let text = self.keyed(&key, kind, depth, may_be);
                Some(self.perhaps_when(text))
            }
        }
    }

    /// A member under a key, as a value or a body.
    fn keyed(&mut self, key: &str, kind: Kind, depth: usize, amends: bool) -> String {
        if kind.is_object() && self.choices.chance(60) {
            return format!("{key} {}", self.body(kind, true, depth));
        }
        if amends && kind == Kind::Int && self.choices.chance(30) {
            return format!("{key} = super{key} + {}", self.nested(kind, depth));
        }
        format!("{key} = {}", self.nested(kind, depth))
    }
}
