//! Expressions of the plain kinds.

use super::names::{Kind, class_name};
use super::{DEPTH, Generator};

impl Generator<'_> {
    /// An expression of a kind.
    pub(super) fn expression(&mut self, kind: Kind) -> String {
        self.nested(kind, DEPTH)
    }

    /// An expression of a kind, nested at most `depth` deep.
    pub(super) fn nested(&mut self, kind: Kind, depth: usize) -> String {
        let begin = self.choices.part_begins();
        let text = self.any_expression(kind, depth);
        self.choices.part_ends(begin);
        text
    }

    fn any_expression(&mut self, kind: Kind, depth: usize) -> String {
        let simple = depth == 0 || !self.choices.chance(75);
        if simple {
            return self.simple(kind, depth);
        }
        if self.choices.chance(12) {
            return self.control(kind, depth - 1);
        }
        if self.choices.chance(2) && self.may_fail() {
            return self.wild(depth - 1);
        }
        if self.choices.chance(25)
            && let Some(call) = self.library(kind, depth - 1)
        {
            return call;
        }
        match kind {
            Kind::Int => self.int(depth - 1),
            Kind::Float => self.float(depth - 1),
            Kind::Text => self.text(depth - 1),
            Kind::Bool => self.bool(depth - 1),
            Kind::Maybe => self.maybe(depth - 1),
            Kind::Duration => self.duration(depth - 1),
            Kind::Function => self.function(depth - 1),
            _ => self.collection(kind, depth - 1),
        }
    }

    /// A name, or a literal.
    fn simple(&mut self, kind: Kind, depth: usize) -> String {
        let references = self.scopes.references(kind);
        if references.is_empty() || self.choices.chance(25) {
            return self.literal(kind, depth);
        }
        let chosen = self.choices.below(references.len());
        references[chosen].clone()
    }

    pub(super) fn literal(&mut self, kind: Kind, depth: usize) -> String {
        match kind {
            Kind::Int | Kind::Maybe => {
                let negative = if self.is_careful() { "(-4)" } else { "-4" };
                self.choices.pick(&["0", "1", "2", "3", "7", negative, "12", "100"]).to_owned()
            }
            Kind::Float => {
                let negative = if self.is_careful() { "(-2.25)" } else { "-2.25" };
                self.choices.pick(&["0.5", "1.0", negative, "1e3", "3.75", "0.1"]).to_owned()
            }
            Kind::Text => self
                .choices
                .pick(&["\"a\"", "\"\"", "\"bc\"", "\"x y\"", "\"é😀\"", "\"two\\nlines\""])
                .to_owned(),
            Kind::Bool => self.choices.pick(&["true", "false"]).to_owned(),
            Kind::Duration => self.choices.pick(&["1.s", "5.min", "1.5.h", "250.ms"]).to_owned(),
            Kind::Ints => {
                self.choices.pick(&["List()", "List(1)", "List(3, 1, 2)", "IntSeq(1, 4).toList()"]).to_owned()
            }
            Kind::Texts => {
                self.choices.pick(&["List()", "List(\"a\")", "List(\"b\", \"a\", \"b\")"]).to_owned()
            }
            Kind::IntSet => self.choices.pick(&["Set()", "Set(1)", "Set(3, 1, 3)"]).to_owned(),
            Kind::Table => self
                .choices
                .pick(&["Map()", "Map(\"a\", 1)", "Map(\"b\", 2, \"a\", 1, \"b\", 5)", "Map(\"c\", 3)"])
                .to_owned(),
            Kind::Function => format!("((x) -> {})", self.choices.pick(&["x", "x + 1", "x * 2"])),
            _ => self.new_object(kind, depth.min(1)),
        }
    }

    /// What there is for values of every kind.
    fn control(&mut self, kind: Kind, depth: usize) -> String {
        match self.choices.below(6) {
            0 => {
                let (condition, yes) = (self.nested(Kind::Bool, depth), self.nested(kind, depth));
                format!("(if ({condition}) {yes} else {})", self.nested(kind, depth))
            }
            1 => {
                let of = self.choices.pick(&[Kind::Int, Kind::Text, Kind::Ints]);
                let (name, value) = (self.variable(), self.nested(of, depth));
                let annotation =
                    if self.choices.chance(30) { format!(": {}", of.type_name()) } else { String::new() };
                let inner = self.with_variables(&[(name, of)], |this| this.nested(kind, depth));
                format!("(let ({name}{annotation} = {value}) {inner})")
            }
            2 if kind != Kind::Function => format!("({} as {})", self.nested(kind, depth), kind.type_name()),
            3 => {
                let (name, value) = (self.variable(), self.nested(Kind::Int, depth));
                let inner = self.with_variables(&[(name, Kind::Int)], |this| this.nested(kind, depth));
                format!("({value} |> (({name}) -> {inner}))")
            }
            4 => self.member_of_object(kind, depth),
            _ => format!("({} ?? {})", self.nested(kind, depth), self.nested(kind, depth)),
        }
    }

    /// Something that is likely an error.
    fn wild(&mut self, depth: usize) -> String {
        match self.choices.below(5) {
            0 => format!("throw(\"thrown \\({})\")", self.nested(Kind::Int, depth)),
            1 => format!("({} as String(length > 2))", self.nested(Kind::Text, depth)),
            2 => format!("({} + {})", self.nested(Kind::Int, depth), self.nested(Kind::Text, depth)),
            3 => format!("{}.absent", self.nested(Kind::Dynamic, depth)),
            _ => format!("{}[{}]", self.nested(Kind::Ints, depth), self.nested(Kind::Int, depth)),
        }
    }

    fn int(&mut self, depth: usize) -> String {
        match self.choices.below(16) {
            0 | 1 => {
                let operator = self.choices.pick(&["+", "-", "+"]);
                format!("({} {operator} {})", self.nested(Kind::Int, depth), self.nested(Kind::Int, depth))
            }
            2 => {
                let (operator, literal) =
                    self.choices.pick(&[("*", 2), ("~/", 3), ("%", 5), ("*", -3), ("%", -2), ("~/", -2)]);
                format!("({} {operator} {literal})", self.nested(Kind::Int, depth))
            }
            3 => format!("{}.length", self.nested(Kind::Text, depth)),
            4 => {
                let of = self.choices.pick(&[
                    Kind::Ints,
                    Kind::Texts,
                    Kind::IntSet,
                    Kind::Table,
                    Kind::IntListing,
                ]);
                format!("{}.length", self.nested(of, depth))
            }
            5 => {
                let (list, start) = (self.nested(Kind::Ints, depth), self.nested(Kind::Int, depth));
                let inner = self.with_variables(&[("acc", Kind::Int), ("x", Kind::Int)], |this| {
                    this.nested(Kind::Int, depth)
                });
                format!("{list}.fold({start}, (acc, x) -> {inner})")
            }
            6 => format!(
                "({}.getOrNull({}) ?? {})",
                self.nested(Kind::Table, depth),
                self.key(),
                self.nested(Kind::Int, depth)
            ),
            7 => {
                let (mapping, key) = (self.nested(Kind::IntMapping, depth), self.key());
                if self.may_fail() {
                    format!("{mapping}[{key}]")
                } else {
                    format!("({mapping}.getOrNull({key}) ?? {})", self.nested(Kind::Int, 0))
                }
            }
            8 => {
                let listing = self.nested(Kind::IntListing, depth);
                let index = self.choices.pick(&["0", "0", "1", "2"]);
                if self.may_fail() {
                    format!("{listing}[{index}]")
                } else {
                    format!("(let (g = {listing}) if (g.length > {index}) g[{index}] else {index})")
                }
            }
            9 => format!("{}.apply({})", self.nested(Kind::Function, depth), self.nested(Kind::Int, depth)),
            10 => self.call(depth),
            11 => format!("({} ?? {})", self.nested(Kind::Maybe, depth), self.nested(Kind::Int, depth)),
            12 => {
                let list = self.nested(Kind::Ints, depth);
                let member = self.choices.pick(&["first", "last", "max", "min"]);
                if self.may_fail() {
                    format!("{list}.{member}")
                } else {
                    format!("({list}.{member}OrNull ?? {})", self.nested(Kind::Int, 0))
                }
            }
            13 => self.this_element().unwrap_or_else(|| format!("-{}", self.nested(Kind::Int, 0))),
            14 => format!(
                "{} {} {}",
                self.nested(Kind::Int, 0),
                self.choices.pick(&["+ 2 *", "- 1 -", "* 2 +"]),
                self.nested(Kind::Int, 0)
            ),
            _ => self.member_of_object(Kind::Int, depth),
        }
    }

    /// An earlier element of the listing around, by `this[…]`.
    fn this_element(&mut self) -> Option<String> {
        let before = self.scopes.this()?.elements.filter(|count| *count > 0)?;
        Some(format!("this[{}]", self.choices.below(before)))
    }

    fn float(&mut self, depth: usize) -> String {
        match self.choices.below(5) {
            0 => format!(
                "({} / {})",
                self.nested(Kind::Int, depth),
                self.choices.pick(&["2", "4", "3", "0.5"])
            ),
            1 => {
                let operator = self.choices.pick(&["+", "-", "*"]);
                format!(
                    "({} {operator} {})",
                    self.nested(Kind::Float, depth),
                    self.nested(Kind::Float, depth)
                )
            }
            2 => format!("{}.toFloat()", self.nested(Kind::Int, depth)),
            3 => format!("{}.round()", self.nested(Kind::Float, depth)),
            _ => format!("({} + {})", self.nested(Kind::Float, depth), self.nested(Kind::Int, depth)),
        }
    }

    fn text(&mut self, depth: usize) -> String {
        match self.choices.below(10) {
            0 | 1 => {
                let of = self.choices.pick(&[
                    Kind::Int,
                    Kind::Text,
                    Kind::Bool,
                    Kind::Float,
                    Kind::Maybe,
                    Kind::Ints,
                    Kind::Table,
                    Kind::Duration,
                ]);
                format!("\"<\\({})>\"", self.nested(of, depth))
            }
            2 => format!("({} + {})", self.nested(Kind::Text, depth), self.nested(Kind::Text, depth)),
            3 => {
                let method = self.choices.pick(&[
                    "toUpperCase()",
                    "reverse()",
                    "take(2)",
                    "drop(1)",
                    "trim()",
                    "capitalize()",
                ]);
                format!("{}.{method}", self.nested(Kind::Text, depth))
            }
            4 => {
                format!("{}.join({})", self.nested(Kind::Texts, depth), self.choices.pick(&["\",\"", "\"\""]))
            }
            5 => format!("{}.toString()", self.nested(Kind::Int, depth)),
            6 => {
                let kind = self.object_kind();
                format!("\"\\({})\"", self.nested(kind, depth))
            }
            7 => format!(
                "{}.replaceAll({}, \"-\")",
                self.nested(Kind::Text, depth),
                self.choices.pick(&["\"a\"", "Regex(\"[a-c]\")"])
            ),
            8 => {
                format!("{}.repeat({})", self.nested(Kind::Text, depth), self.choices.pick(&["2", "0", "3"]))
            }
            _ => self.member_of_object(Kind::Text, depth),
        }
    }

    fn bool(&mut self, depth: usize) -> String {
        match self.choices.below(9) {
            0 => {
                let operator = self.choices.pick(&["<", ">", "<=", ">=", "==", "!="]);
                format!("({} {operator} {})", self.nested(Kind::Int, depth), self.nested(Kind::Int, depth))
            }
            1 => {
                let operator = self.choices.pick(&["&&", "||"]);
                format!("({} {operator} {})", self.nested(Kind::Bool, depth), self.nested(Kind::Bool, depth))
            }
            2 => format!("!({})", self.nested(Kind::Bool, depth)),
            3 | 4 => {
                let kind = self.object_kind();
                let operator = self.choices.pick(&["==", "!="]);
                format!("({} {operator} {})", self.nested(kind, depth), self.nested(kind, depth))
            }
            5 => {
                let kind = self.any_kind();
                let tested = self.tested_type();
                format!("({} is {tested})", self.nested(kind, depth))
            }
            6 => {
                let list = self.nested(Kind::Ints, depth);
                let inner = self.with_variables(&[("x", Kind::Int)], |this| this.nested(Kind::Bool, depth));
                format!("{list}.{}((x) -> {inner})", self.choices.pick(&["every", "any"]))
            }
            7 => format!("{}.contains({})", self.nested(Kind::Ints, depth), self.nested(Kind::Int, depth)),
            _ => format!(
                "({} {} {})",
                self.nested(Kind::Text, depth),
                self.choices.pick(&["==", "<"]),
                self.nested(Kind::Text, depth)
            ),
        }
    }

    fn tested_type(&mut self) -> String {
        let plain = self.choices.pick(&[
            "Int",
            "String",
            "Number",
            "Int(this > 2)",
            "Listing<Int>",
            "Mapping<String, Int>",
            "Null",
            "Any",
            "Object",
            "List<Int>",
            "Dynamic",
            "Typed",
            "\"a\"|\"bc\"",
            "Int|String",
            "Int?",
        ]);
        if self.class_limit > 0 && self.choices.chance(40) {
            class_name(self.choices.pick(&[0, self.class_limit - 1]))
        } else {
            plain.to_owned()
        }
    }

    fn maybe(&mut self, depth: usize) -> String {
        match self.choices.below(4) {
            0 => "null".to_owned(),
            1 => format!("{}.getOrNull({})", self.nested(Kind::IntMapping, depth), self.key()),
            2 => format!("{}?.length", self.choices.pick(&["null", "\"abc\""])),
            _ => self.nested(Kind::Int, depth),
        }
    }

    fn duration(&mut self, depth: usize) -> String {
        match self.choices.below(3) {
            0 => format!("({} + {})", self.nested(Kind::Duration, depth), self.nested(Kind::Duration, depth)),
            1 => format!("({} * {})", self.nested(Kind::Duration, depth), self.choices.pick(&["2", "1.5"])),
            _ => format!("{}.{}", self.nested(Kind::Int, 0), self.choices.pick(&["s", "min", "h"])),
        }
    }

    fn function(&mut self, depth: usize) -> String {
        let name = self.variable();
        let annotation = self.pick_by_risk(&["", ": Int", ": Wide"], &["", ": Int", ": Int(this < 50)"]);
        let inner = self.with_variables(&[(name, Kind::Int)], |this| this.nested(Kind::Int, depth));
        format!("(({name}{annotation}) -> {inner})")
    }

    /// A key of tables and mappings.
    pub(super) fn key(&mut self) -> &'static str {
        self.choices.pick(&["\"a\"", "\"b\"", "\"c\"", "\"d\""])
    }

    /// Some kind of object, with classes if there are any.
    pub(super) fn object_kind(&mut self) -> Kind {
        let classes = self.class_limit;
        let mut kinds = vec![Kind::IntListing, Kind::Dynamic, Kind::IntMapping];
        if classes > 0 {
            let class = self.some_class();
            kinds.extend([
                Kind::Instance(class),
                Kind::Instance(class),
                Kind::Objects(class),
                Kind::ObjectMapping(class),
            ]);
        }
        self.choices.pick(&kinds)
    }

    /// Some kind.
    pub(super) fn any_kind(&mut self) -> Kind {
        if self.choices.chance(40) { self.object_kind() } else { self.choices.pick(&Kind::PLAIN) }
    }
}
