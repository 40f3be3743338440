//! Owner marks: which formation has a resource, so that its own routes can say so.

use crate::{Control, ControlError};
use formwork_model::{Label, NativeId, Row, StackId, TypeName};
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
        let owners = self.owners(type_name, &id.into()).await?;
        let first = owners.into_iter().next();
        Ok(first.map(|row| Owner { formation: row.stack, logical_id: row.label }))
    }

    /// The rows, of whichever formation, that have an object.
    pub(crate) async fn owners(
        &self,
        type_name: &TypeName,
        native_id: &NativeId,
    ) -> Result<Vec<Row>, ControlError> {
        let object = OwnedObject { native_id: native_id.clone(), type_name: type_name.clone() };
        let mut owners = Vec::new();
        for row in self.reader.owners(&object).await? {
            // One is found by what it was about to take over, too, which it may never have taken.
            owners.extend(self.reader.row(&row).await?.filter(|row| row.has(type_name, native_id)));
        }
        Ok(owners)
    }
}
