//! Values as text: what interpolations, `toString` and messages show.

use pkl_data::{identifier, literal};
use std::fmt::Write as _;
use std::sync::Arc;

use super::Vm;
use super::force::Undefined;
use super::iterate::MemberKey;
use crate::error::{ErrorCode, Raised, Result};
use crate::heap::ClassKind;
use crate::value::{ObjectId, Value};

/// How members of objects are laid out.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Layout {
    OneLine,
    Lines,
}

struct Writer {
    out: String,
    layout: Layout,
    depth: usize,
    limit: usize,
}

impl Vm<'_> {
    /// A value as `\(value)` shows it: by its `toString`.
    pub(crate) fn display_text(&mut self, value: Value) -> Result<String> {
        let Value::Object(_) = value else { return self.library_text(value) };
        let name = self.words.to_string;
        match self.call_method(value, name, &[])? {
            Value::String(id) => Ok(self.heap.text(id).to_owned()),
            other => self.show(other),
        }
    }

    /// A value as the library's own `toString` shows it.
    pub(crate) fn library_text(&mut self, value: Value) -> Result<String> {
        match value {
            Value::String(id) => Ok(self.heap.text(id).to_owned()),
            Value::List(_) | Value::Set(_) => self.write(value, Layout::Lines),
            Value::Object(_) | Value::Pair(_) => self.show(value),
            other => self.write(other, Layout::OneLine),
        }
    }

    /// A value as it would be written on one line, all of its members evaluated.
    pub(crate) fn show(&mut self, value: Value) -> Result<String> {
        self.force_deep(value, Undefined::Allowed)?;
        self.write(value, Layout::OneLine)
    }

    /// A value with a line for each member of an object, all of its members evaluated.
    pub(crate) fn show_lines(&mut self, value: Value) -> Result<String> {
        self.force_deep(value, Undefined::Allowed)?;
        self.write(value, Layout::Lines)
    }

    /// A value as messages show it: what isn't evaluated is `?`, and what is long is cut.
    pub(crate) fn show_shallow(&mut self, value: Value) -> Result<String> {
        let shown = self.write(value, Layout::OneLine)?;
        Ok(pkl_data::display::truncated(shown))
    }

    fn write(&mut self, value: Value, layout: Layout) -> Result<String> {
        let mut writer = Writer { out: String::new(), layout, depth: 0, limit: self.limits().output };
        writer.value(self, value)?;
        Ok(writer.out)
    }
}

/// What an expression is equal to: on the same line, or on lines of their own where they take several.
pub(super) fn equation(source: &str, value: &str) -> String {
    let indented = |text: &str| format!("\n  {}\n", text.replace('\n', "\n  "));
    let left = if source.contains('\n') { indented(source) } else { format!("{source} ") };
    let right = if value.contains('\n') { indented(value) } else { format!(" {value}\n") };
    format!("{left}={right}")
}

impl Writer {
    fn value(&mut self, vm: &mut Vm<'_>, value: Value) -> Result<()> {
        if self.out.len() > self.limit {
            return Err(Raised::new(ErrorCode::LimitExceeded, "The text of a value is too long."));
        }
        match value {
            Value::Null(_) => self.out.push_str("null"),
            Value::Bool(value) => self.out.push_str(if value { "true" } else { "false" }),
            Value::Int(value) => self.out.push_str(&value.to_string()),
            Value::Float(value) => self.out.push_str(&pkl_data::number::float_to_string(value)),
            Value::String(id) => self.out.push_str(&literal::plain(vm.heap.text(id))),
            Value::Duration(id) => self.out.push_str(&vm.heap.duration(id).to_string()),
            Value::DataSize(id) => self.out.push_str(&vm.heap.data_size(id).to_string()),
            Value::Regex(id) => {
                let tree = pkl_data::tree::Tree::Regex(vm.heap.regex(id).pattern().into());
                self.out.push_str(&pkl_data::display::one_line(&tree));
            }
            Value::IntSeq(id) => {
                let sequence = *vm.heap.int_seq(id);
                let _infallible = write!(self.out, "IntSeq({}, {})", sequence.start, sequence.end);
                if sequence.step != 1 {
                    let _infallible = write!(self.out, ".step({})", sequence.step);
                }
            }
            Value::Bytes(id) => {
                let shown: Vec<String> = vm.heap.bytes_of(id).iter().map(u8::to_string).collect();
                let _infallible = write!(self.out, "Bytes({})", shown.join(", "));
            }
            Value::Class(id) => self.out.push_str(&vm.class_name(id)),
            Value::TypeAlias(id) => {
                let name = Arc::clone(&vm.heap.alias(id).display_name);
                self.out.push_str(&name);
            }
            Value::Function(id) => {
                let _infallible = write!(self.out, "new Function{} {{}}", vm.heap.function(id).arity);
            }
            Value::Pair(id) => {
                let (first, second) = *vm.heap.pair(id);
                self.call(vm, "Pair", &[first, second])?;
            }
            Value::List(id) => {
                let items = vm.heap.list(id).to_vec();
                self.call(vm, "List", &items)?;
            }
            Value::Set(id) => {
                let items = vm.heap.set(id).to_vec();
                self.call(vm, "Set", &items)?;
            }
            Value::Map(id) => {
                let keys = vm.heap.map_keys(id).to_vec();
                let values = vm.heap.map_values(id).to_vec();
                let items: Vec<Value> =
                    keys.into_iter().zip(values).flat_map(|(key, value)| [key, value]).collect();
                self.call(vm, "Map", &items)?;
            }
            Value::Object(object) => {
                let class = vm.heap.object(object).class;
                let name = match vm.heap.class(class).kind {
                    ClassKind::Module => "ModuleClass".into(),
                    ClassKind::Declared => vm.text_of(vm.heap.class(class).name),
                };
                let _infallible = write!(self.out, "new {name} ");
                self.body(vm, object)?;
            }
        }
        Ok(())
    }

    fn call(&mut self, vm: &mut Vm<'_>, name: &str, items: &[Value]) -> Result<()> {
        vm.check_stack()?;
        self.out.push_str(name);
        self.out.push('(');
        for (position, &item) in items.iter().enumerate() {
            if position > 0 {
                self.out.push_str(", ");
            }
            self.value(vm, item)?;
        }
        self.out.push(')');
        Ok(())
    }

    /// The members of an object in braces.
    fn body(&mut self, vm: &mut Vm<'_>, object: ObjectId) -> Result<()> {
        vm.check_stack()?;
        self.out.push('{');
        self.depth += 1;
        let members = vm.members_of(object);
        for (position, &(key, place)) in members.iter().enumerate() {
            match self.layout {
                Layout::OneLine => self.out.push_str(if position == 0 { " " } else { "; " }),
                Layout::Lines => self.start_line(),
            }
            let value = vm.known_value(object, place);
            match key {
                MemberKey::Property(name) => {
                    let name = vm.text_of(name);
                    self.out.push_str(&identifier::quoted(&name));
                    self.assigned(vm, value)?;
                }
                MemberKey::Entry(key) => {
                    self.out.push('[');
                    self.value(vm, key)?;
                    self.out.push(']');
                    self.assigned(vm, value)?;
                }
                MemberKey::Element(_) => match value {
                    Some(value) => self.value(vm, value)?,
                    None => self.out.push('?'),
                },
            }
        }
        self.depth -= 1;
        match self.layout {
            _ if members.is_empty() => {}
            Layout::OneLine => self.out.push(' '),
            Layout::Lines => self.start_line(),
        }
        self.out.push('}');
        Ok(())
    }

    fn assigned(&mut self, vm: &mut Vm<'_>, value: Option<Value>) -> Result<()> {
        match value {
            Some(Value::Object(object)) => {
                self.out.push(' ');
                self.body(vm, object)
            }
            Some(Value::Function(_)) => {
                self.out.push_str(" {}");
                Ok(())
            }
            Some(value) => {
                self.out.push_str(" = ");
                self.value(vm, value)
            }
            None => {
                self.out.push_str(" = ?");
                Ok(())
            }
        }
    }

    fn start_line(&mut self) {
        self.out.push('\n');
        for _ in 0..self.depth {
            self.out.push_str("  ");
        }
    }
}
