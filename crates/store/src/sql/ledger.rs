//! The ledger's rows in SQL.

use super::{SqlRow, SqlTables, decode, encode, params, unseal};
use crate::tables::{RowHead, RowTables, Standing, Stored, is_going};
use crate::{OwnedObject, Referrer};
use formwork_model::{Row, RowId, Sealed, SlotId, StackId};

pub(super) fn row(found: &dyn SqlRow) -> Stored<Row> {
    decode("row", found.text(0)?, found.text(1)?)
}

fn head(found: &dyn SqlRow) -> Stored<RowHead> {
    Ok(RowHead {
        id: found.text(0)?.into(),
        stack: found.text(1)?.into(),
        label: found.text(2)?.into(),
        position: u32::try_from(found.number(3)?).unwrap_or(u32::MAX),
        revision: found.number(4)?,
        going: found.flag(5)?,
        refers: found.flag(6)?,
    })
}

impl SqlTables<'_> {
    fn put_row(&mut self, sql: &str, row: &Row) -> Stored<()> {
        let id = row.id.as_str();
        self.execute(
            sql,
            params![
                row.stack.as_str(),
                row.label.as_str(),
                u64::from(row.position),
                row.revision,
                row.is_live(),
                is_going(row),
                !row.references.is_empty(),
                &encode("row", id, row)?,
                id,
            ],
        )?;
        Ok(())
    }
}

impl RowTables for SqlTables<'_> {
    fn row(&mut self, id: &RowId) -> Stored<Option<Row>> {
        self.one("SELECT id, body FROM rows WHERE id = $1", params![id.as_str()], row)
    }

    fn rows(&mut self, stack: &StackId) -> Stored<Vec<Row>> {
        self.all(
            "SELECT id, body FROM rows WHERE stack = $1 ORDER BY position, id",
            params![stack.as_str()],
            row,
        )
    }

    fn row_head(&mut self, id: &RowId) -> Stored<Option<RowHead>> {
        self.one(
            "SELECT id, stack, label, position, revision, going, refers FROM rows WHERE id = $1",
            params![id.as_str()],
            head,
        )
    }

    fn row_heads(&mut self, stack: &StackId) -> Stored<Vec<RowHead>> {
        self.all(
            "SELECT id, stack, label, position, revision, going, refers FROM rows WHERE stack = $1",
            params![stack.as_str()],
            head,
        )
    }

    fn insert_row(&mut self, row: &Row) -> Stored<()> {
        self.put_row(
            "INSERT INTO rows (stack, label, position, revision, live, going, refers, body, id) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
            row,
        )
    }

    fn update_row(&mut self, row: &Row, standing: Standing) -> Stored<()> {
        match standing {
            // SQLite writes an index again whose columns are named here, whatever their values are.
            Standing::Kept => {
                let id = row.id.as_str();
                self.execute(
                    "UPDATE rows SET label = $1, revision = $2, live = $3, going = $4, refers = $5, \
                     body = $6 WHERE id = $7",
                    params![
                        row.label.as_str(),
                        row.revision,
                        row.is_live(),
                        is_going(row),
                        !row.references.is_empty(),
                        &encode("row", id, row)?,
                        id,
                    ],
                )?;
                Ok(())
            }
            Standing::Moved => self.put_row(
                "UPDATE rows SET stack = $1, label = $2, position = $3, revision = $4, live = $5, \
                 going = $6, refers = $7, body = $8 WHERE id = $9",
                row,
            ),
        }
    }

    fn set_references(&mut self, from: &RowId, to: &[RowId]) -> Stored<()> {
        self.execute("DELETE FROM row_refs WHERE from_row = $1", params![from.as_str()])?;
        for to in to {
            self.execute(
                "INSERT INTO row_refs (from_row, to_row) VALUES ($1, $2)",
                params![from.as_str(), to.as_str()],
            )?;
        }
        Ok(())
    }

    fn references(&mut self, from: &RowId) -> Stored<Vec<RowId>> {
        self.all(
            "SELECT to_row FROM row_refs WHERE from_row = $1 ORDER BY to_row",
            params![from.as_str()],
            |found| Ok(found.text(0)?.into()),
        )
    }

    fn inbound(&mut self, stack: &StackId) -> Stored<Vec<(RowId, RowId)>> {
        self.all(
            "SELECT f.from_row, f.to_row FROM rows t JOIN row_refs f ON f.to_row = t.id \
             JOIN rows s ON s.id = f.from_row WHERE t.stack = $1 AND s.stack <> $1 AND s.live = 1 \
             ORDER BY f.from_row, f.to_row",
            params![stack.as_str()],
            |found| Ok((found.text(0)?.into(), found.text(1)?.into())),
        )
    }

    fn foreign_referrers(&mut self, row: &RowId, stack: &StackId, most: usize) -> Stored<Vec<Referrer>> {
        self.all(
            "SELECT s.stack, s.label, s.id FROM row_refs f JOIN rows s ON s.id = f.from_row \
             WHERE f.to_row = $1 AND s.stack <> $2 AND s.live = 1 ORDER BY s.stack, s.label, s.id LIMIT $3",
            params![row.as_str(), stack.as_str(), most],
            |found| {
                let (stack, label) = (found.text(0)?.into(), found.text(1)?.into());
                Ok(Referrer { stack, label, row: found.text(2)?.into() })
            },
        )
    }

    fn objects_of(&mut self, row: &RowId) -> Stored<Vec<OwnedObject>> {
        self.all(
            "SELECT native_id, type FROM row_objects WHERE row_id = $1 ORDER BY native_id, type",
            params![row.as_str()],
            |found| Ok(OwnedObject { native_id: found.text(0)?.into(), type_name: found.text(1)?.into() }),
        )
    }

    fn set_objects(&mut self, row: &RowId, objects: &[OwnedObject]) -> Stored<()> {
        self.execute("DELETE FROM row_objects WHERE row_id = $1", params![row.as_str()])?;
        for object in objects {
            self.execute(
                "INSERT INTO row_objects (row_id, native_id, type) VALUES ($1, $2, $3)",
                params![row.as_str(), object.native_id.as_str(), object.type_name.as_str()],
            )?;
        }
        Ok(())
    }

    fn owners(&mut self, object: &OwnedObject) -> Stored<Vec<RowId>> {
        self.all(
            "SELECT row_id FROM row_objects WHERE native_id = $1 AND type = $2 ORDER BY row_id",
            params![object.native_id.as_str(), object.type_name.as_str()],
            |found| Ok(found.text(0)?.into()),
        )
    }

    fn row_slots(&mut self, row: &RowId) -> Stored<Vec<(SlotId, Sealed)>> {
        self.all(
            "SELECT slot, sealed FROM row_slots WHERE row_id = $1 ORDER BY slot",
            params![row.as_str()],
            |found| {
                let id = found.text(0)?;
                Ok((id.into(), unseal("slot", id, found.text(1)?)?))
            },
        )
    }

    fn put_row_slot(&mut self, row: &RowId, slot: &SlotId, sealed: Option<&Sealed>) -> Stored<()> {
        match sealed {
            Some(sealed) => self.execute(
                "INSERT INTO row_slots (row_id, slot, sealed) VALUES ($1, $2, $3) \
                 ON CONFLICT (row_id, slot) DO UPDATE SET sealed = excluded.sealed",
                params![row.as_str(), slot.as_str(), sealed.as_str()],
            )?,
            None => self.execute(
                "DELETE FROM row_slots WHERE row_id = $1 AND slot = $2",
                params![row.as_str(), slot.as_str()],
            )?,
        };
        Ok(())
    }
}
