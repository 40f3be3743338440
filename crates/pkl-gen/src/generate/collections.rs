//! Expressions of collections and objects, and of members read from objects.

use super::Generator;
use super::body::Known;
use super::names::{ClassId, Kind, Name, class_name};

impl Generator<'_> {
    pub(super) fn collection(&mut self, kind: Kind, depth: usize) -> String {
        match kind {
            Kind::Ints => self.ints(depth),
            Kind::Texts => self.texts(depth),
            Kind::IntSet => format!("{}.toSet()", self.nested(Kind::Ints, depth)),
            Kind::Table => self.table(depth),
            _ => self.object(kind, depth),
        }
    }

    fn ints(&mut self, depth: usize) -> String {
        match self.choices.below(9) {
            0 => format!("List({}, {})", self.nested(Kind::Int, depth), self.nested(Kind::Int, depth)),
            1 => self.over_ints("map", Kind::Int, depth),
            2 => self.over_ints("filter", Kind::Bool, depth),
            3 => format!("({} + {})", self.nested(Kind::Ints, depth), self.nested(Kind::Ints, depth)),
            4 => format!(
                "{}.{}",
                self.nested(Kind::Ints, depth),
                self.choices.pick(&["reverse()", "sort()", "distinct", "take(2)", "drop(1)"])
            ),
            5 => format!("{}.toList()", self.nested(Kind::IntListing, depth)),
            6 => format!("{}.values", self.nested(Kind::Table, depth)),
            7 => format!("{}.map((x) -> x.length)", self.nested(Kind::Texts, depth)),
            _ => format!("{}.toMap().values", self.nested(Kind::IntMapping, depth)),
        }
    }

    fn over_ints(&mut self, method: &str, result: Kind, depth: usize) -> String {
        let list = self.nested(Kind::Ints, depth);
        let name = self.variable();
        let inner = self.with_variables(&[(name, Kind::Int)], |this| this.nested(result, depth));
        format!("{list}.{method}(({name}) -> {inner})")
    }

    fn texts(&mut self, depth: usize) -> String {
        match self.choices.below(5) {
            0 => format!("List({}, {})", self.nested(Kind::Text, depth), self.nested(Kind::Text, depth)),
            1 => self.over_ints("map", Kind::Text, depth),
            2 => format!(
                "{}.split({})",
                self.nested(Kind::Text, depth),
                self.choices.pick(&["\",\"", "\" \"", "\"b\""])
            ),
            3 => format!("{}.keys.toList()", self.nested(Kind::Table, depth)),
            _ => format!(
                "{}.{}",
                self.nested(Kind::Texts, depth),
                self.choices.pick(&["reverse()", "sort()", "distinct"])
            ),
        }
    }

    fn table(&mut self, depth: usize) -> String {
        match self.choices.below(5) {
            0 => format!("Map({}, {})", self.key(), self.nested(Kind::Int, depth)),
            1 => format!("({} + {})", self.nested(Kind::Table, depth), self.nested(Kind::Table, depth)),
            2 => {
                let table = self.nested(Kind::Table, depth);
                let inner = self.with_variables(&[("x", Kind::Text), ("y", Kind::Int)], |this| {
                    this.nested(Kind::Int, depth)
                });
                format!("{table}.mapValues((x, y) -> {inner})")
            }
            3 => format!("{}.toMap()", self.nested(Kind::IntMapping, depth)),
            _ => format!(
                "{}.put({}, {})",
                self.nested(Kind::Table, depth),
                self.key(),
                self.nested(Kind::Int, depth)
            ),
        }
    }

    /// An object: a new one, or one that amends.
    fn object(&mut self, kind: Kind, depth: usize) -> String {
        match self.choices.below(6) {
            0 | 1 => self.new_object(kind, depth),
            2 if kind == Kind::IntListing => format!("{}.toListing()", self.nested(Kind::Ints, depth)),
            2 if kind == Kind::IntMapping => format!("{}.toMapping()", self.nested(Kind::Table, depth)),
            2 if kind == Kind::Dynamic && self.class_limit > 0 => {
                let class = self.some_class();
                let instance = self.nested(Kind::Instance(class), depth);
                if self.may_fail() {
                    return format!("{instance}.toDynamic()");
                }
                // Dynamic objects of ours have these two.
                let [number, text] = [Kind::Int, Kind::Text].map(|kind| self.literal(kind, 0));
                format!("({instance}.toDynamic()) {{ i0 = {number}; s0 = {text} }}")
            }
            2 if !matches!(kind, Kind::Dynamic | Kind::Instance(_)) => self.amended_literal(kind, depth),
            3 => format!(
                "({}) {} {}",
                self.nested(kind, depth),
                self.body(kind, true, depth),
                self.body(kind, true, 0)
            ),
            _ => format!("({}) {}", self.nested(kind, depth), self.body(kind, true, depth)),
        }
    }

    /// `new …` with some members, amended by a body that knows of them.
    fn amended_literal(&mut self, kind: Kind, depth: usize) -> String {
        let (item, is_listing) = match kind {
            Kind::IntListing => (Kind::Int, true),
            Kind::IntMapping => (Kind::Int, false),
            Kind::Objects(class) => (Kind::Instance(class), true),
            Kind::ObjectMapping(class) => (Kind::Instance(class), false),
            _ => return self.new_object(kind, depth),
        };
        let values: Vec<String> = (0..2).map(|_| self.nested(item, depth.min(1))).collect();
        let (members, known) = if is_listing {
            (values.join("; "), Known { elements: values.len(), keys: &[] })
        } else {
            let members = format!("[\"a\"] = {}; [\"b\"] = {}", values[0], values[1]);
            (members, Known { elements: 0, keys: &["\"a\"", "\"b\""] })
        };
        let body = self.body_of(kind, Some(known), depth);
        format!("(new {} {{ {members} }}) {body}", kind.type_name())
    }

    /// `new …` with a body.
    pub(super) fn new_object(&mut self, kind: Kind, depth: usize) -> String {
        let type_name = match kind {
            Kind::Instance(class) => class_name(self.subclass(class)),
            Kind::Dynamic => "Dynamic".to_owned(),
            Kind::Objects(_) | Kind::ObjectMapping(_) if self.is_careful() => kind.type_name(),
            kind if self.choices.chance(30) => {
                kind.type_name().split('<').next().unwrap_or_default().to_owned()
            }
            kind => kind.type_name(),
        };
        let kind = match kind {
            Kind::Instance(_) => Kind::Instance(type_name.as_bytes()[0] - b'A'),
            kind => kind,
        };
        // A listing or mapping without a type has no default of the class, and needs one of its own.
        let untyped = !type_name.contains('<');
        match kind {
            Kind::Objects(class) | Kind::ObjectMapping(class) if untyped => {
                let default = format!("default = (x) -> new {} {{}}", class_name(self.subclass(class)));
                format!("new {type_name} {{ {default} }} {}", self.body(kind, true, depth))
            }
            _ => format!("new {type_name} {}", self.body(kind, false, depth)),
        }
    }

    /// The class itself, or a class below it that may be used here and is not abstract.
    fn subclass(&mut self, class: ClassId) -> ClassId {
        let below: Vec<ClassId> = (0..self.class_limit)
            .filter(|other| self.is_below(*other, class) && !self.classes[usize::from(*other)].is_abstract)
            .collect();
        if below.is_empty() { class } else { self.choices.pick(&below) }
    }

    fn is_below(&self, class: ClassId, above: ClassId) -> bool {
        class == above
            || self.classes[usize::from(class)].parent.is_some_and(|parent| self.is_below(parent, above))
    }

    pub(super) fn some_class(&mut self) -> ClassId {
        u8::try_from(self.choices.below(self.class_limit.into())).unwrap_or(0)
    }

    /// A member of some object.
    pub(super) fn member_of_object(&mut self, kind: Kind, depth: usize) -> String {
        if self.class_limit > 0 && self.choices.chance(60) {
            let class = self.some_class();
            let members: Vec<Name> = self
                .members_of(class)
                .into_iter()
                .filter(|name| name.kind == kind && self.scopes.allows(*name))
                .collect();
            if !members.is_empty() {
                let member = self.choices.pick(&members);
                let dot = if self.choices.chance(5) { "?." } else { "." };
                return format!("{}{dot}{member}", self.nested(Kind::Instance(class), depth));
            }
        }
        if self.scopes.limit > 0 && matches!(kind, Kind::Int | Kind::Text) {
            let member = Name::new(kind, 0);
            return format!("{}.{member}", self.nested(Kind::Dynamic, depth));
        }
        self.nested(kind, 0)
    }

    /// A call of a method of the module or of an instance.
    pub(super) fn call(&mut self, depth: usize) -> String {
        let argument = self.nested(Kind::Int, depth);
        let limit = self.scopes.limit;
        let module: Vec<u8> = self.functions.iter().copied().filter(|index| *index < limit).collect();
        if !self.scopes.in_class() && !module.is_empty() && self.choices.chance(40) {
            return format!("m{}({argument})", self.choices.pick(&module));
        }
        let inherited: Vec<u8> =
            self.inherited_functions.iter().copied().filter(|index| *index < limit).collect();
        if !self.scopes.in_class() && !inherited.is_empty() && self.choices.chance(40) {
            return format!("module.m{}({argument})", self.choices.pick(&inherited));
        }
        if self.class_limit > 0 && limit > 0 {
            let class = self.some_class();
            let methods: Vec<u8> =
                self.methods_of(class).into_iter().filter(|index| *index < limit).collect();
            if !methods.is_empty() {
                let method = self.choices.pick(&methods);
                return format!("{}.m{method}({argument})", self.nested(Kind::Instance(class), depth));
            }
        }
        argument
    }
}
