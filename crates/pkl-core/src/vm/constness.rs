//! Where only const members may be used.

use pkl_parser::ast::ModifierKind;

use super::Vm;
use crate::error::{ErrorCode, Failure, Raised, Result};
use crate::ir::{Barrier, NotConst};
use crate::value::Value;

impl Vm<'_> {
    /// Fails if a receiver has a member that isn't const; whether it has it at all is seen when it is used.
    pub(super) fn check_const(&mut self, receiver: Value, member: NotConst) -> Result<()> {
        let class = self.class_of(receiver)?;
        let class = self.heap.class(class);
        let modifiers = match member {
            NotConst::Property(name) => class.properties.get(&name).map(|property| property.modifiers),
            NotConst::Method(name) => class.methods.get(&name).map(|found| found.method.modifiers),
            NotConst::This | NotConst::Outer | NotConst::Module(_) => None,
        };
        match modifiers {
            Some(modifiers) if !modifiers.contains(ModifierKind::Const) => Err(self.not_const(member)),
            _ => Ok(()),
        }
    }

    pub(super) fn not_const(&self, what: NotConst) -> Failure {
        let (verb, kind, name) = match what {
            NotConst::Property(name) => ("reference", "property", self.text_of(name)),
            NotConst::Method(name) => ("call", "method", self.text_of(name)),
            NotConst::This => {
                let message = "Cannot reference `this` from here because it is not `const`.";
                return Raised::new(ErrorCode::NotConst, message);
            }
            NotConst::Outer => {
                let message = "Cannot reference `outer` from here because it's not `const`.";
                return Raised::new(ErrorCode::NotConst, message);
            }
            NotConst::Module(barrier) => {
                let place = match barrier {
                    Barrier::Const(name) | Barrier::Alias(name) => {
                        format!("from const property `{}`", self.text_of(name))
                    }
                    Barrier::Class => "within a class body".to_owned(),
                    Barrier::Annotation => "within an annotation body".to_owned(),
                };
                return Raised::new(ErrorCode::NotConst, format!("Cannot reference `module` {place}."));
            }
        };
        let message = format!("Cannot {verb} {kind} `{name}` from here because it is not `const`.");
        let hint = format!(
            "To fix, do either of:\n1. Add modifier `const` to {kind} `{name}`\n2. Self-import this module, and reference this {kind} from the import."
        );
        Raised::new(ErrorCode::NotConst, message).with_hint(hint)
    }
}
