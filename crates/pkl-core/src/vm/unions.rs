//! Unions: which of its types a value has, and what is said if it has none of them.

use super::amend::ObjectKind;
use super::types::{Mode, is_negative};
use super::{Frame, Resolved, Vm};
use crate::error::{ErrorCode, Failure, Raised, Result};
use crate::ir::{Code, Ty, TyIx};
use crate::mutants::mutant;
use crate::value::{ClassId, Value};

impl<'ir> Vm<'ir> {
    /// The value as the first type of a union that it has.
    pub(super) fn check_union(
        &mut self,
        value: Value,
        code: &'ir Code,
        ty: TyIx,
        members: &'ir [TyIx],
        frame: &Frame<'ir>,
        mode: Mode,
    ) -> Result<Value> {
        let decided_by_members = matches!(value, Value::Object(_))
            && matches!(mode, Mode::Lazy { .. })
            && self.is_ambiguous(code, members)?;
        let tried = if decided_by_members { Mode::Eager } else { mode };
        let mut reasons = Vec::new();
        for &member in if mutant!(UnionFirstOnly) { &members[..1] } else { members } {
            let (depth, top) = (self.depth, self.stack.len());
            match self.check_in(value, code, member, frame, tried) {
                Ok(_) if decided_by_members => return self.check_in(value, code, member, frame, mode),
                Ok(checked) => return Ok(checked),
                Err(error) if is_negative(&error) => {
                    self.depth = depth;
                    self.stack.truncate(top);
                    reasons.push(error);
                }
                Err(error) => return Err(error),
            }
        }
        let class = self.class_of(value)?;
        if reasons.len() == members.len() && members.iter().any(|&member| !self.is_plain(code, member, class))
        {
            return self.union_reasons(value, code, ty, members, &reasons);
        }
        Err(self.union_mismatch(value, code, ty)?)
    }

    /// Whether only the members of a listing or mapping tell which of a union's types it has.
    fn is_ambiguous(&mut self, code: &'ir Code, members: &'ir [TyIx]) -> Result<bool> {
        let (mut listings, mut mappings) = (0, 0);
        for &member in members {
            if !matches!(&code.types[member as usize], Ty::Named { args, .. } if !args.is_empty()) {
                continue;
            }
            if let Some(Resolved::Class(class)) = self.resolve_type(code, member)? {
                match self.object_kind(class)? {
                    ObjectKind::Listing => listings += 1,
                    ObjectKind::Mapping => mappings += 1,
                    ObjectKind::Dynamic | ObjectKind::Typed => {}
                }
            }
        }
        Ok(listings > 1 || mappings > 1)
    }

    /// None of a union's types, where the value's class alone doesn't say why.
    fn union_reasons(
        &mut self,
        value: Value,
        code: &'ir Code,
        ty: TyIx,
        members: &[TyIx],
        reasons: &[Failure],
    ) -> Result<Value> {
        let source = &self.store.module(code.module).source;
        let text = code.type_spans[ty as usize].text(source);
        let class = self.class_of(value)?;
        let (name, shown) = (self.class_name(class), self.show_shallow(value)?);
        let message =
            format!("Expected value of type `{text}`, but got a different `{name}`.\nValue: {shown}");
        let told: Vec<String> = members
            .iter()
            .zip(reasons)
            .filter(|(member, _)| !self.is_plain(code, **member, class))
            .map(|(&member, error)| {
                let text = code.type_spans[member as usize].text(source);
                let reason = error.message.replace('\n', "\n  ");
                format!("* Value is not of type `{text}` because:\n  {reason}")
            })
            .collect();
        Err(Raised::new(ErrorCode::TypeMismatch, message).with_hint(told.join("\n\n")))
    }

    /// A value of a union or of a string literal's type was expected.
    pub(super) fn union_mismatch(&mut self, value: Value, code: &'ir Code, ty: TyIx) -> Result<Failure> {
        if let Some(text) = literal_union_text(code, ty) {
            if !matches!(value, Value::String(_)) {
                return self.mismatch_text(&text, value);
            }
            let shown = self.show_shallow(value)?;
            let message = format!("Expected value of type `{text}`, but got `{shown}`.");
            return Ok(Raised::new(ErrorCode::TypeMismatch, message));
        }
        let module = self.store.module(code.module);
        let text = code.type_spans[ty as usize].text(&module.source).to_owned();
        let class = self.class_of(value)?;
        let (name, shown) = (self.class_name(class), self.show_shallow(value)?);
        let got = match &code.types[ty as usize] {
            Ty::Union { .. } if value.is_null() => "`null`".to_owned(),
            _ => format!("type `{name}`"),
        };
        let message = format!("Expected value of type `{text}`, but got {got}.\nValue: {shown}");
        Ok(Raised::new(ErrorCode::TypeMismatch, message))
    }

    /// Whether a value isn't of a type because of its class, or of which string it is: no reason to tell.
    fn is_plain(&mut self, code: &'ir Code, ty: TyIx, class: ClassId) -> bool {
        match &code.types[ty as usize] {
            Ty::StringLiteral(_)
            | Ty::Union { literals: Some(_), .. }
            | Ty::Function { .. }
            | Ty::Module(_) => true,
            Ty::Named { .. } => match self.resolve_type(code, ty) {
                Ok(Some(Resolved::Class(wanted))) => !self.is_subclass(class, wanted),
                _ => false,
            },
            _ => false,
        }
    }
}

/// A union of string literals as messages show it.
fn literal_union_text(code: &Code, ty: TyIx) -> Option<String> {
    let Ty::Union { members, literals: Some(_), .. } = &code.types[ty as usize] else { return None };
    let literals = members.iter().map(|&member| match &code.types[member as usize] {
        Ty::StringLiteral(text) => pkl_data::literal::plain(text),
        other => unreachable!("a member of a union of literals is one, not {other:?}"),
    });
    Some(literals.collect::<Vec<_>>().join("|"))
}
