//! Classes.

use super::Generator;
use super::names::{ClassId, INDICES, Kind, Name, class_name};
use super::scope::{Scope, ScopeKind};
use std::fmt::Write as _;

/// What the rest of a program needs to know of a class.
#[derive(Debug, Default)]
pub(super) struct Class {
    pub(super) parent: Option<ClassId>,
    pub(super) is_abstract: bool,
    is_open: bool,
    pub(super) properties: Vec<Property>,
    /// Indices of its methods `m…`.
    pub(super) methods: Vec<u8>,
}

/// A property of a class.
#[derive(Debug, Clone, Copy)]
pub(super) struct Property {
    pub(super) name: Name,
    pub(super) is_fixed: bool,
    pub(super) is_local: bool,
    is_hidden: bool,
}

impl Generator<'_> {
    /// Writes the next class.
    pub(super) fn class(&mut self) -> String {
        let id = u8::try_from(self.classes.len()).unwrap_or(u8::MAX);
        let open: Vec<ClassId> = (0..id).filter(|other| self.is_extensible(*other)).collect();
        let parent = (!open.is_empty() && self.choices.chance(60)).then(|| self.choices.pick(&open));
        let is_abstract = self.choices.chance(6) && !self.is_careful();
        let is_open = !is_abstract && self.choices.chance(70);
        let mut text = match (is_abstract, is_open) {
            (true, _) => "abstract class ",
            (_, true) => "open class ",
            _ => "class ",
        }
        .to_owned();
        text.push_str(&class_name(id));
        if let Some(parent) = parent {
            let _ = write!(text, " extends {}", class_name(parent));
        }
        text.push_str(" {\n");
        let mut scope = Scope::new(ScopeKind::Class);
        scope.inherited = parent.map(|parent| self.members_of(parent)).unwrap_or_default();
        self.class_limit = id;
        let class = Class { parent, is_abstract, is_open, ..Class::default() };
        let (class, body) = self.within(scope, |this| this.class_body(class));
        self.classes.push(class);
        self.class_limit = id + 1;
        text + &body + "}\n"
    }

    fn is_extensible(&self, class: ClassId) -> bool {
        let class = &self.classes[usize::from(class)];
        class.is_open || class.is_abstract
    }

    fn class_body(&mut self, mut class: Class) -> (Class, String) {
        let mut text = String::new();
        let inherited = class.parent.map(|parent| self.properties_of(parent)).unwrap_or_default();
        self.several(0, 6, |this, _| {
            let overridden = !inherited.is_empty() && this.choices.chance(40);
            let property = if overridden {
                Property { is_local: false, ..this.choices.pick(&inherited) }
            } else {
                this.new_property()
            };
            let known = |other: &Property| other.name == property.name;
            if class.properties.iter().any(known) || (!overridden && inherited.iter().any(known)) {
                return;
            }
            text.push_str(&this.property(property, overridden));
            class.properties.push(property);
            if let Some(scope) = this.scopes.stack.last_mut() {
                scope.names.push(property.name);
                if property.is_local && this.risk != super::Risk::Careless {
                    scope.locals.push(property.name);
                }
            }
        });
        self.several(0, 2, |this, _| {
            let index = u8::try_from(this.choices.below(INDICES.into())).unwrap_or(0);
            if !class.methods.contains(&index) {
                text.push_str(&this.method("  ", index, class.parent));
                class.methods.push(index);
            }
        });
        if self.choices.chance(8) {
            let name = Name::new(Kind::Text, INDICES);
            let value = self.value_of(name, false, |this| this.expression(Kind::Text));
            let _ = writeln!(text, "  function toString() = {value}");
        }
        (class, text)
    }

    fn new_property(&mut self) -> Property {
        let kind = self.any_kind();
        let index = self.index_for(kind);
        let is_local = self.choices.chance(8);
        Property {
            name: Name::new(kind, index),
            is_fixed: !is_local && self.choices.chance(8),
            is_local,
            is_hidden: !is_local && (kind == Kind::Function || self.choices.chance(12)),
        }
    }

    /// An index: objects tend to have higher ones, so that what is in them can use more names.
    pub(super) fn index_for(&mut self, kind: Kind) -> u8 {
        let index = self.choices.below(INDICES.into());
        let index = u8::try_from(index).unwrap_or(0);
        if kind.is_object() { index.max(INDICES - 1 - index) } else { index }
    }

    fn property(&mut self, property: Property, overridden: bool) -> String {
        let Property { name, is_fixed, is_local, is_hidden } = property;
        let mut text = "  ".to_owned();
        for (is, modifier) in [(is_fixed, "fixed "), (is_local, "local "), (is_hidden, "hidden ")] {
            if is {
                text.push_str(modifier);
            }
        }
        let _ = write!(text, "{name}");
        let amended =
            name.kind.is_object() && overridden && !is_fixed && self.is_careful() && self.choices.chance(60);
        if amended {
            return format!("{text} {}\n", self.value_of(name, true, |this| this.body(name.kind, true, 2)));
        }
        let typed = if overridden { self.choices.chance(15) } else { self.choices.chance(70) };
        if typed {
            let _ = write!(text, ": {}", self.annotation(name.kind));
        }
        let has_default = matches!(
            name.kind,
            Kind::IntListing | Kind::IntMapping | Kind::Objects(_) | Kind::ObjectMapping(_)
        );
        if typed && has_default && !is_local && !overridden && self.choices.chance(30) {
            return text + "\n";
        }
        if name.kind.is_object() && overridden && !is_fixed && !self.is_careful() && self.choices.chance(60) {
            let body = self.value_of(name, true, |this| this.body(name.kind, true, 2));
            return format!("{text} {body}\n").replace(&format!(": {}", name.kind.type_name()), "");
        }
        let value = self.value_of(name, overridden, |this| this.expression(name.kind));
        format!("{text} = {value}\n")
    }

    /// A type for values of a kind: exact, wider, or narrower.
    pub(super) fn annotation(&mut self, kind: Kind) -> String {
        let exact = kind.type_name();
        if !self.may_fail() {
            return match kind {
                Kind::Int => self.choices.pick(&["Int", "Number", "Wide", "Int|String", "Int(isFinite)"]),
                Kind::Text => self.choices.pick(&["String", "String(length < 100000)", "Any", "String|Int"]),
                Kind::Bool => self.choices.pick(&["Boolean", "Boolean|Int"]),
                Kind::Ints => {
                    self.choices.pick(&["List<Int>", "Collection<Int>", "List<Number>", "List(length >= 0)"])
                }
                Kind::IntListing => self.choices.pick(&["Listing<Int>", "Listing<Wide>", "Listing<Number>"]),
                Kind::IntMapping => {
                    self.choices.pick(&["Mapping<String, Int>", "Mapping<String, Wide>", "Mapping<Any, Int>"])
                }
                Kind::Instance(_) if self.choices.chance(15) => return format!("{exact}?"),
                _ => return exact,
            }
            .to_owned();
        }
        match kind {
            Kind::Int => self
                .choices
                .pick(&[
                    "Int",
                    "Int",
                    "Number",
                    "Int(this > -50)",
                    "Int|String",
                    "Small",
                    "Int(isBetween(-100, 100))",
                ])
                .to_owned(),
            Kind::Text => self
                .choices
                .pick(&["String", "String", "String(length < 40)", "Any", "String|Int"])
                .to_owned(),
            Kind::Bool => self.choices.pick(&["Boolean", "Boolean|Int"]).to_owned(),
            Kind::Ints => self
                .choices
                .pick(&["List<Int>", "Collection<Int>", "List<Number>", "List<Int>(length < 6)", "List"])
                .to_owned(),
            Kind::IntListing => self
                .choices
                .pick(&["Listing<Int>", "Listing<Int>", "Listing<Int(this < 100)>", "Listing<Number>"])
                .to_owned(),
            Kind::IntMapping => self
                .choices
                .pick(&["Mapping<String, Int>", "Mapping<String, Int>", "Mapping<String(length < 3), Int>"])
                .to_owned(),
            Kind::Instance(_) if self.choices.chance(15) => format!("{exact}?"),
            _ => exact,
        }
    }

    /// A method `m…` of one integer.
    pub(super) fn method(&mut self, indent: &str, index: u8, parent: Option<ClassId>) -> String {
        let overrides = parent.is_some_and(|parent| self.methods_of(parent).contains(&index));
        let name = Name::new(Kind::Function, index);
        let mut body = self.value_of(name, false, |this| {
            this.with_items(&[("x", Kind::Int)], |this| this.expression(Kind::Int))
        });
        if overrides && self.choices.chance(50) {
            body = format!("super.m{index}(x) + {body}");
        }
        let result = self.choices.pick(&["", ": Int", ": Int|String"]);
        format!(
            "{indent}function m{index}(x{}){result} = {body}\n",
            self.pick_by_risk(&["", ": Int", ": Wide"], &["", ": Int", ": Int(this < 1000)"])
        )
    }
}
