//! How many parameters and arguments there may be.

use super::Checker;
use crate::ast::{ExprId, ExprKind, List, Name};
use crate::{DiagnosticCode, Span};

/// The most parameters of a function literal.
const MAX_FUNCTION_PARAMETERS: usize = 5;

impl Checker<'_> {
    /// Looks at all expressions.
    pub(super) fn expressions(&mut self) {
        let ast = self.ast;
        for expr in ast.exprs() {
            match expr.kind {
                ExprKind::Function { params, .. } if params.len() > MAX_FUNCTION_PARAMETERS => {
                    let text = "Function literals can have at most five parameters.";
                    self.report(DiagnosticCode::NotAllowedHere, expr.span, text);
                }
                ExprKind::Call { name, args } => self.map_arguments(name, args, expr.span),
                _ => {}
            }
        }
    }

    /// `Map` takes keys and values by turns, unless it is a method of this text.
    fn map_arguments(&mut self, name: Name, args: List<ExprId>, span: Span) {
        let is_map = args.len() % 2 == 1 && self.interner.get("Map") == Some(name.symbol);
        if is_map && !self.ast.methods().iter().any(|method| method.name.symbol == name.symbol) {
            let text = "Number of `Map()` arguments must be a multiple of two: `Map(key1, value1, key2, value2, ..., \
                        keyN, valueN)`";
            self.report(DiagnosticCode::NotAllowedHere, span, text);
        }
    }
}
