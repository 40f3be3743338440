//! Whole programs.

use super::names::{INDICES, Kind, Name};
use super::scope::{Scope, ScopeKind};
use super::{Generator, Program};
use std::fmt::Write as _;

/// What a program begins with, after its first clause.
const HEAD: &str = "\ntypealias Small = Int(this < 60)\ntypealias Wide = Int(this < 1000000000000)\n";

/// How a module is built on another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Clause {
    Extends,
    Amends,
}

impl Generator<'_> {
    /// Writes a program whose output has a part for each of its values, an error's message if it fails.
    pub(super) fn program(&mut self) -> Program {
        self.scopes.limit = INDICES;
        self.scopes.stack.push(Scope::new(ScopeKind::Module));
        let renderer = self.choices.pick(&["PcfRenderer", "PcfRenderer", "JsonRenderer", "YamlRenderer"]);
        self.plain_objects = self.is_careful() && renderer != "PcfRenderer";
        let clause = if self.choices.chance(30) {
            Some(self.choices.pick(&[Clause::Extends, Clause::Amends]))
        } else {
            None
        };
        let Some(clause) = clause else {
            let main = format!(
                "module t\n\nimport \"pkl:math\"\nimport \"pkl:test\"\n{HEAD}{}",
                self.members_and_output(renderer, None)
            );
            return Program { base: None, main };
        };
        let mut base = format!("open module b\n\nimport \"pkl:math\"\n{HEAD}");
        self.definitions(&mut base);
        self.values(&mut base, 5);
        let mut scope = Scope::new(ScopeKind::Module);
        scope.inherited = std::mem::take(&mut self.scopes.stack[0].names);
        self.scopes.stack[0] = scope;
        self.inherited_functions = std::mem::take(&mut self.functions);
        let word = if clause == Clause::Extends { "extends" } else { "amends" };
        self.base_classes = self.class_limit;
        let import = if self.is_careful() { "import \"base.pkl\"\n" } else { "" };
        let head =
            format!("module t\n\n{word} \"base.pkl\"\n\nimport \"pkl:math\"\nimport \"pkl:test\"\n{import}");
        Program { base: Some(base), main: head + &self.members_and_output(renderer, Some(clause)) }
    }

    fn members_and_output(&mut self, renderer: &str, clause: Option<Clause>) -> String {
        let mut text = String::new();
        let inherited = self.scopes.stack[0].inherited.clone();
        let mut probes: Vec<String> = Vec::new();
        for name in &inherited {
            if !name.is_const && self.choices.chance(35) {
                self.overridden_value(&mut text, *name);
            }
            if name.kind != Kind::Function {
                probes.push(format!("module.{name}"));
            }
        }
        if clause != Some(Clause::Amends) {
            self.definitions(&mut text);
            probes.extend(self.values(&mut text, 10));
        }
        // Members of their own, so that `this` is the module in them.
        let modifier = if clause == Some(Clause::Amends) { "local" } else { "hidden" };
        self.several(0, 2, |this, number| {
            let kind = this.any_kind();
            let kind = if kind == Kind::Function { Kind::Int } else { kind };
            let value = this.expression(kind);
            let _ = writeln!(text, "{modifier} probe{number} = () -> {value}");
            probes.push(format!("probe{number}.apply()"));
        });
        text + &self.output(renderer, &probes)
    }

    /// Constants and classes.
    fn definitions(&mut self, text: &mut String) {
        self.several(0, 2, |this, _| this.constant(text));
        self.several(0, 3, |this, _| text.push_str(&this.class()));
    }

    /// Properties and methods; the names of those that can be shown.
    fn values(&mut self, text: &mut String, most: usize) -> Vec<String> {
        let mut shown = Vec::new();
        self.several(0, most, |this, _| this.value(text, &mut shown));
        shown
    }

    fn overridden_value(&mut self, text: &mut String, name: Name) {
        let line = if name.kind.is_object() && self.choices.chance(60) {
            format!("{name} {}", self.value_of(name, true, |this| this.body(name.kind, true, 3)))
        } else {
            format!("{name} = {}", self.value_of(name, true, |this| this.expression(name.kind)))
        };
        text.push_str(&line);
        text.push('\n');
        self.define(name);
    }

    fn constant(&mut self, text: &mut String) {
        let kind = self.choices.pick(&[Kind::Int, Kind::Text, Kind::Ints, Kind::Function, Kind::Dynamic]);
        let name = Name { is_const: true, ..Name::new(kind, self.index_for(kind)) };
        if self.is_defined(name) {
            return;
        }
        let inherited = self.scopes.stack[0].inherited.clone();
        if self.is_careful() {
            self.scopes.stack[0].inherited.retain(|name| name.is_const);
        }
        let value = self.value_of(name, false, |this| this.nested(kind, 1));
        self.scopes.stack[0].inherited = inherited;
        let hidden = if kind == Kind::Function { "hidden " } else { "" };
        let _ = writeln!(text, "const {hidden}{name} = {value}");
        self.define(name);
    }

    fn is_defined(&self, name: Name) -> bool {
        let module = &self.scopes.stack[0];
        module.names.contains(&name) || module.inherited.contains(&name)
    }

    fn define(&mut self, name: Name) {
        self.scopes.stack[0].names.push(name);
    }

    fn value(&mut self, text: &mut String, probes: &mut Vec<String>) {
        if self.choices.chance(10) {
            let index = u8::try_from(self.choices.below(INDICES.into())).unwrap_or(0);
            if !self.functions.contains(&index) {
                text.push_str(&self.method("", index, None));
                self.functions.push(index);
            }
            return;
        }
        let kind = if self.choices.chance(60) { self.object_kind() } else { self.any_kind() };
        let name = Name::new(kind, self.index_for(kind));
        if self.is_defined(name) {
            return;
        }
        let hidden = if kind == Kind::Function || self.choices.chance(10) { "hidden " } else { "" };
        let typed = !matches!(kind, Kind::Dynamic) && self.choices.chance(40);
        let annotation = if typed { format!(": {}", self.annotation(kind)) } else { String::new() };
        let line = if kind == Kind::Dynamic && self.choices.chance(50) {
            format!("{hidden}{name} {}", self.value_of(name, false, |this| this.body(kind, false, 3)))
        } else {
            let value = self.value_of(name, false, |this| this.expression(kind));
            format!("{hidden}{name}{annotation} = {value}")
        };
        text.push_str(&line);
        text.push('\n');
        self.define(name);
        if kind != Kind::Function {
            probes.push(name.to_string());
        }
    }

    fn output(&mut self, renderer: &str, probes: &[String]) -> String {
        let mut text = format!("\nlocal const shown = new {renderer} {}\n", self.converters());
        text.push_str("local const function show(value) =\n");
        text.push_str("  let (message = test.catchOrNull(() -> shown.renderValue(value.apply())))\n");
        text.push_str("    if (message == null) shown.renderValue(value.apply()) else \"!! \" + message\n");
        let calls: Vec<String> = probes.iter().map(|probe| format!("show(() -> {probe})")).collect();
        let calls = if calls.is_empty() { "\"\"".to_owned() } else { calls.join(" + between\n    + ") };
        text.push_str("local const between = \"\\n--\\n\"\n");
        let _ = writeln!(text, "output {{\n  text = {calls}\n}}");
        text
    }

    fn converters(&mut self) -> String {
        let mut converters = Vec::new();
        if self.plain_objects {
            converters.push("[Duration] = (v) -> v.toString()".to_owned());
        }
        if self.choices.chance(25) {
            for class in 0..self.class_limit {
                if self.choices.chance(40) {
                    let value = self.choices.pick(&[
                        "v.toDynamic()",
                        "\"converted\"",
                        "v.toMap()",
                        "new Dynamic { inner = v.getClass().simpleName }",
                    ]);
                    // A module doesn't see the classes of the one it is built on as values.
                    let qualifier = if class < self.base_classes && self.is_careful() { "base." } else { "" };
                    let class = super::names::class_name(class);
                    converters.push(format!("[{qualifier}{class}] = (v) -> {value}"));
                }
            }
            for (pattern, value) in [
                ("Int", "v + 1"),
                ("[\"i0\"]", "\"path\""),
                ("String", "v.length"),
                ("[\"*.i1\"]", "-1"),
                ("[\"^i2\"]", "-2"),
                ("[\"o5.*\"]", "-3"),
                ("Dynamic", "v.toMap()"),
                ("Listing", "v.toList().reverse()"),
            ] {
                if self.choices.chance(15) && !(self.plain_objects && pattern == "String") {
                    let key =
                        if pattern.starts_with('[') { pattern.to_owned() } else { format!("[{pattern}]") };
                    converters.push(format!("{key} = (v) -> {value}"));
                }
            }
        }
        if converters.is_empty() {
            "{}".to_owned()
        } else {
            format!("{{ converters {{ {} }} }}", converters.join("; "))
        }
    }
}
