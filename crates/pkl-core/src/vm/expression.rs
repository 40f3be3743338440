//! Expressions that a host evaluates in the scope of a module.

use super::{Frame, Vm};
use crate::error::Result;
use crate::ir::Code;
use crate::store::EXPRESSION_URI;
use crate::value::{ModuleId, ObjectId, Value};

impl<'ir> Vm<'ir> {
    /// An expression in the scope of a module, whose object is `this`.
    pub(crate) fn evaluate_expression(
        &mut self,
        module: ModuleId,
        object: ObjectId,
        text: &str,
    ) -> Result<Value> {
        self.readers.check_module(EXPRESSION_URI)?;
        let ir = self.store.add_expression(text, self.module(module).ir)?;
        self.adopt(ir.id, module);
        let code = ir.expression.get().expect("a module made of an expression has its code");
        self.eval_in_module(code, module, object).map_err(|error| error.leave(String::new))
    }

    /// Evaluates code that stands at a module's top level, with the module's object, or an amendment of
    /// it, as `this`.
    pub(super) fn eval_in_module(
        &mut self,
        code: &'ir Code,
        module: ModuleId,
        object: ObjectId,
    ) -> Result<Value> {
        let owner = self.module(module).definer.unwrap_or(object);
        let base = self.push_frame(code.frame_size);
        let frame = Frame {
            this: Value::Object(object),
            owner,
            env: None,
            base,
            key: Value::NULL,
            member: None,
            alias: None,
        };
        let result = self.eval(code, code.root, &frame);
        self.stack.truncate(base);
        result
    }
}
