//! Whole programs.

use super::Generator;
use super::names::{INDICES, Kind, Name};
use super::scope::{Scope, ScopeKind};
use std::fmt::Write as _;

/// What every program begins with.
const HEAD: &str = "module t\n\nimport \"pkl:test\"\n\ntypealias Small = Int(this < 60)\n";

impl Generator<'_> {
    /// Writes a program whose output has a part for each of its values, an error's message if it fails.
    pub(super) fn module(&mut self) -> String {
        self.scopes.limit = INDICES;
        let mut text = HEAD.to_owned();
        let mut probes: Vec<String> = Vec::new();
        self.scopes.stack.push(Scope::new(ScopeKind::Module));
        for _ in 0..self.choices.below(3) {
            self.constant(&mut text);
        }
        for _ in 0..self.choices.below(4) {
            let class = self.class();
            text.push_str(&class);
        }
        for _ in 0..2 + self.choices.below(8) {
            self.value(&mut text, &mut probes);
        }
        for number in 0..self.choices.below(3) {
            let kind = self.any_kind();
            let kind = if kind == Kind::Function { Kind::Int } else { kind };
            // A member of its own, so that `this` is the module there.
            let (name, value) = (format!("probe{number}"), self.expression(kind));
            let _ = writeln!(text, "hidden {name} = () -> {value}");
            probes.push(format!("{name}.apply()"));
        }
        text.push_str(&self.output(&probes));
        text
    }

    fn constant(&mut self, text: &mut String) {
        let kind = self.choices.pick(&[Kind::Int, Kind::Text, Kind::Ints, Kind::Function, Kind::Dynamic]);
        let name = Name { is_const: true, ..Name::new(kind, self.index_for(kind)) };
        if self.is_defined(name) {
            return;
        }
        let value = self.value_of(name, false, |this| this.nested(kind, 1));
        let hidden = if kind == Kind::Function { "hidden " } else { "" };
        let _ = writeln!(text, "const {hidden}{name} = {value}");
        self.define(name);
    }

    fn is_defined(&self, name: Name) -> bool {
        self.scopes.stack[0].names.contains(&name)
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

    fn output(&mut self, probes: &[String]) -> String {
        let renderer = self.choices.pick(&["PcfRenderer", "PcfRenderer", "JsonRenderer", "YamlRenderer"]);
        let mut text = format!("\nlocal const shown = new {renderer} {}\n", self.converters());
        text.push_str("local const function show(value) =\n");
        text.push_str("  let (message = test.catchOrNull(() -> shown.renderValue(value.apply())))\n");
        text.push_str("    if (message == null) shown.renderValue(value.apply()) else \"!! \" + message\n");
        text.push_str("output {\n  text = new Listing<String> {\n");
        for probe in probes {
            let _ = writeln!(text, "    show(() -> {probe})");
        }
        text + "  }.toList().join(\"\\n--\\n\")\n}\n"
    }

    fn converters(&mut self) -> String {
        let mut converters = Vec::new();
        if self.choices.chance(25) {
            for class in 0..self.class_limit {
                if self.choices.chance(40) {
                    let value = self.choices.pick(&[
                        "v.toDynamic()",
                        "\"converted\"",
                        "v.toMap()",
                        "new Dynamic { inner = v.getClass().simpleName }",
                    ]);
                    converters.push(format!("[{}] = (v) -> {value}", super::names::class_name(class)));
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
                if self.choices.chance(15) {
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
