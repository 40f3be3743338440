//! Owner marks: which formation has a resource, so that its own routes can say so.

use crate::{Control, ControlError};
use formwork_model::{Label, StackId, TypeName};
use formwork_store::OwnedObject;

/// The resource of a formation that an object belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    /// The formation.
    pub formation: StackId,
    /// The resource's logical id there.
    pub logical_id: Label,
}

impl Control {
    /// Who owns an object: what a deploy made, adopted, or still has to clean up. What was given up
    /// (retained, released) is nobody's.
    ///
    /// # Errors
    /// Faults of the store.
    pub async fn owner_of(&self, type_name: &TypeName, id: &str) -> Result<Option<Owner>, ControlError> {
        let object = OwnedObject { native_id: id.into(), type_name: type_name.clone() };
        for row in self.reader.owners(&object).await? {
            let Some(row) = self.reader.row(&row).await? else { continue };
            let mut has = row.current.iter().chain(&row.deposed);
            if has.any(|had| had.native_id == object.native_id && had.type_name == object.type_name) {
                return Ok(Some(Owner { formation: row.stack, logical_id: row.label }));
            }
        }
        Ok(None)
    }
}
