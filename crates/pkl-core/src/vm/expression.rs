//! Expressions that a host evaluates in the scope of a module.

use super::{Frame, Vm};
use crate::error::Result;
use crate::value::{ModuleId, ObjectId, Value};

impl Vm<'_> {
    /// An expression in the scope of a module, whose object is `this`.
    pub(crate) fn evaluate_expression(
        &mut self,
        module: ModuleId,
        object: ObjectId,
        text: &str,
    ) -> Result<Value> {
        let ir = self.store.add_expression(text, self.module(module).ir)?;
        self.adopt(ir.id, module);
        let code = ir.expression.get().expect("a module made of an expression has its code");
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
        result.map_err(|error| error.leave(String::new))
    }
}
