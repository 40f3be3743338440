//! `...value` in an object body.

use super::Vm;
use super::amend::{Building, ObjectKind};
use crate::error::{ErrorCode, Failure, Raised, Result};
use crate::heap::PropertyKey;
use crate::ir::Member;
use crate::mutants::mutant;
use crate::value::{ClassId, Value};

/// One member that a spread adds.
pub(crate) enum Spread {
    Element(Value),
    Entry(Value, Value),
    Property(pkl_parser::Symbol, Value),
}

impl<'ir> Vm<'ir> {
    pub(super) fn spread(
        &mut self,
        building: &mut Building<'ir>,
        member: &'ir Member,
        value: Value,
    ) -> Result<()> {
        let allowed = |elements: bool, entries: bool, properties: bool| match building.kind {
            ObjectKind::Dynamic => true,
            ObjectKind::Listing => !entries && !properties,
            ObjectKind::Mapping => !elements && !properties,
            ObjectKind::Typed => !elements && !entries,
        };
        let members = self.spread_members(value)?;
        let has = |wanted: fn(&Spread) -> bool| members.iter().any(wanted);
        let elements = has(|member| matches!(member, Spread::Element(_)));
        let entries = has(|member| matches!(member, Spread::Entry(..)));
        let properties = has(|member| matches!(member, Spread::Property(..)));
        if !allowed(elements, entries, properties) {
            return Err(self.cannot_spread(building.class, value, properties)?);
        }
        let mut members = members;
        if mutant!(SpreadReversed) {
            members.reverse();
        }
        for spread in members {
            match spread {
                Spread::Element(value) => {
                    let slot = self.given_by(member, building.object, value);
                    self.add_element(building, slot).map_err(|error| spread_over(error, "entry key "))?;
                }
                Spread::Entry(key, value) => {
                    let slot = self.given_by(member, building.object, value);
                    self.put_entry(building, key, slot).map_err(|error| spread_over(error, "entry key "))?;
                }
                Spread::Property(name, value) => {
                    if building.kind == ObjectKind::Typed {
                        self.check_assignable(building.class, name, false)?;
                    }
                    let slot = self.given_by(member, building.object, value);
                    let key = PropertyKey::Named(name);
                    if building.property_keys.contains(&key) {
                        let name = self.text_of(name);
                        let message = format!(
                            "Cannot spread object because the enclosing object already has a declaration of property `{name}`."
                        );
                        return Err(Raised::new(ErrorCode::DuplicateMember, message));
                    }
                    self.push_property(building, key, slot);
                }
            }
        }
        Ok(())
    }

    fn cannot_spread(&mut self, class: ClassId, value: Value, properties: bool) -> Result<Failure> {
        if properties && let Value::Object(_) = value {
            let into = self.class_name(class);
            let message = format!("Cannot spread object containing properties into object of type `{into}`.");
            return Ok(Raised::new(ErrorCode::InvalidMember, message));
        }
        let from = self.class_of(value)?;
        let (from, into, shown) = (self.class_name(from), self.class_name(class), self.show_shallow(value)?);
        let message =
            format!("Cannot spread value of type `{from}` into object of type `{into}`.\nValue: {shown}");
        let hint = match value {
            Value::Map(_) => "`Map` can only be spread into objects of type `Dynamic` and `Mapping`.",
            Value::List(_) | Value::Set(_) => {
                "`List` and `Set` can only be spread into objects of type `Dynamic` and `Listing`."
            }
            Value::IntSeq(_) => "`IntSeq` can only be spread into objects of type `Dynamic` and `Listing`.",
            Value::Bytes(_) => "`Bytes` can only be spread into objects of type `Dynamic` and `Listing`.",
            _ => return Ok(Raised::new(ErrorCode::InvalidMember, message)),
        };
        Ok(Raised::new(ErrorCode::InvalidMember, message).with_hint(hint))
    }
}

/// A duplicate that a spread makes.
fn spread_over(mut error: Failure, what: &str) -> Failure {
    if error.code == ErrorCode::DuplicateMember
        && let Some(name) = error
            .message
            .strip_prefix("Duplicate definition of member ")
            .and_then(|rest| rest.strip_suffix('.'))
    {
        error.message = format!(
            "Cannot spread object because the enclosing object already has a declaration of {what}{name}."
        );
    }
    error
}
