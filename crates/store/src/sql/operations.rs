//! Leases and operations in SQL.

use super::{SqlRow, SqlTables, decode, encode, params, unseal};
use crate::tables::{Holder, Lease, LeaseTables, OperationTables, Stored};
use crate::{Page, SavedPlan};
use formwork_model::{
    Fence, JournalEntry, OperationId, OperationRecord, Plan, PlanHash, Sealed, SlotId, StackId, Timestamp,
};
use std::sync::Arc;

fn lease(row: &dyn SqlRow) -> Stored<Lease> {
    let holder = match row.maybe_text(2)? {
        None => None,
        Some(operation) => Some(Holder {
            operation: operation.into(),
            owner: row.text(3)?.into(),
            since: row.time(4)?,
            expires_at: row.time(5)?,
        }),
    };
    Ok(Lease { stack: row.text(0)?.into(), fence: Fence(row.number(1)?), holder })
}

impl LeaseTables for SqlTables<'_> {
    fn now(&mut self) -> Stored<Timestamp> {
        if let Some(now) = self.now {
            return Ok(now);
        }
        let now = self.tx.now()?;
        self.now = Some(now);
        Ok(now)
    }

    fn lease(&mut self, stack: &StackId) -> Stored<Option<Lease>> {
        self.one(
            "SELECT stack, fence, operation, owner, since, expires_at FROM leases WHERE stack = $1",
            params![stack.as_str()],
            lease,
        )
    }

    fn leases_of(&mut self, operation: &OperationId) -> Stored<Vec<Lease>> {
        self.all(
            "SELECT stack, fence, operation, owner, since, expires_at FROM leases WHERE operation = $1 \
             ORDER BY stack",
            params![operation.as_str()],
            lease,
        )
    }

    fn put_lease(&mut self, lease: &Lease) -> Stored<()> {
        let holder = lease.holder.as_ref();
        self.execute(
            "INSERT INTO leases (stack, fence, operation, owner, since, expires_at) \
             VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (stack) DO UPDATE SET fence = excluded.fence, \
             operation = excluded.operation, owner = excluded.owner, since = excluded.since, \
             expires_at = excluded.expires_at",
            params![
                lease.stack.as_str(),
                lease.fence.0,
                holder.map(|holder| holder.operation.as_str()),
                holder.map(|holder| holder.owner.as_str()),
                holder.map(|holder| holder.since),
                holder.map(|holder| holder.expires_at),
            ],
        )?;
        Ok(())
    }
}

fn record(row: &dyn SqlRow) -> Stored<OperationRecord> {
    decode("operation", row.text(0)?, row.text(1)?)
}

fn slot(row: &dyn SqlRow) -> Stored<(SlotId, Sealed)> {
    let id = row.text(0)?;
    Ok((id.into(), unseal("slot", id, row.text(1)?)?))
}

impl OperationTables for SqlTables<'_> {
    fn operation(&mut self, id: &OperationId) -> Stored<Option<OperationRecord>> {
        self.one("SELECT id, body FROM operations WHERE id = $1", params![id.as_str()], record)
    }

    fn insert_operation(&mut self, record: &OperationRecord, plan: &Arc<Plan>) -> Stored<()> {
        let id = record.id.as_str();
        self.execute(
            "INSERT INTO operations (id, number, finished_at, compacted, body) \
             VALUES ($1, (SELECT COALESCE(MAX(number), 0) + 1 FROM operations), NULL, 0, $2)",
            params![id, &encode("operation", id, record)?],
        )?;
        for stack in &record.stacks {
            self.execute(
                "INSERT INTO operation_stacks (stack, number, operation) \
                 VALUES ($1, (SELECT number FROM operations WHERE id = $2), $2) ON CONFLICT DO NOTHING",
                params![stack.as_str(), id],
            )?;
        }
        self.execute(
            "INSERT INTO plans (operation, body) VALUES ($1, $2)",
            params![id, &encode("plan", id, plan)?],
        )?;
        Ok(())
    }

    fn close_operation(&mut self, record: &OperationRecord) -> Stored<()> {
        let id = record.id.as_str();
        self.execute(
            "UPDATE operations SET finished_at = $1, body = $2 WHERE id = $3",
            params![record.finished_at, &encode("operation", id, record)?, id],
        )?;
        Ok(())
    }

    fn operations(&mut self, stack: &StackId, limit: usize, offset: usize) -> Stored<Page<OperationRecord>> {
        let total =
            self.count("SELECT COUNT(*) FROM operation_stacks WHERE stack = $1", params![stack.as_str()])?;
        let items = self.all(
            "SELECT o.id, o.body FROM operation_stacks s JOIN operations o ON o.id = s.operation \
             WHERE s.stack = $1 ORDER BY s.number LIMIT $2 OFFSET $3",
            params![stack.as_str(), limit, offset],
            record,
        )?;
        Ok(Page { items, total })
    }

    fn open_operations(&mut self) -> Stored<Vec<(OperationId, Stored<OperationRecord>)>> {
        self.all("SELECT id, body FROM operations WHERE finished_at IS NULL ORDER BY number", &[], |row| {
            Ok((row.text(0)?.into(), record(row)))
        })
    }

    fn compactable(&mut self, before: Timestamp, most: usize) -> Stored<Vec<OperationId>> {
        self.all(
            "SELECT id FROM operations WHERE compacted = 0 AND finished_at < $1 \
             ORDER BY finished_at, id LIMIT $2",
            params![before, most],
            |row| Ok(row.text(0)?.into()),
        )
    }

    fn drop_history(&mut self, operation: &OperationId) -> Stored<()> {
        let id = operation.as_str();
        self.execute("DELETE FROM journal WHERE operation = $1", params![id])?;
        self.wipe_slots(operation)?;
        self.execute("UPDATE operations SET compacted = 1 WHERE id = $1", params![id])?;
        Ok(())
    }

    fn plan(&mut self, operation: &OperationId) -> Stored<Option<Arc<Plan>>> {
        let id = operation.as_str();
        self.one("SELECT body FROM plans WHERE operation = $1", params![id], |row| {
            decode("plan", id, row.text(0)?).map(Arc::new)
        })
    }

    fn saved_plan(&mut self, hash: &PlanHash) -> Stored<Option<SavedPlan>> {
        let id = hash.to_string();
        self.one(
            "SELECT project, created_at, plan, slots, request FROM saved_plans WHERE hash = $1",
            params![&id],
            |row| {
                Ok(SavedPlan {
                    hash: *hash,
                    project: row.text(0)?.into(),
                    created_at: row.time(1)?,
                    plan: Arc::new(decode("saved plan", &id, row.text(2)?)?),
                    slots: decode("saved plan", &id, row.text(3)?)?,
                    request: decode("saved plan", &id, row.text(4)?)?,
                })
            },
        )
    }

    fn save_plan(&mut self, plan: &SavedPlan) -> Stored<()> {
        let id = plan.hash.to_string();
        self.execute(
            "INSERT INTO saved_plans (hash, project, created_at, plan, slots, request) \
             VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (hash) DO UPDATE SET project = excluded.project, \
             created_at = excluded.created_at, plan = excluded.plan, slots = excluded.slots, \
             request = excluded.request",
            params![
                &id,
                plan.project.as_str(),
                plan.created_at,
                &encode("saved plan", &id, &plan.plan)?,
                &encode("saved plan", &id, &plan.slots)?,
                &encode("saved plan", &id, &plan.request)?,
            ],
        )?;
        Ok(())
    }

    fn forget_plans(&mut self, before: Timestamp, keep: usize, most: usize) -> Stored<()> {
        self.execute(
            "DELETE FROM saved_plans WHERE hash IN (SELECT hash FROM saved_plans WHERE created_at < $1 \
             ORDER BY created_at, hash LIMIT $2)",
            params![before, most],
        )?;
        self.execute(
            "DELETE FROM saved_plans WHERE hash IN (SELECT hash FROM saved_plans \
             ORDER BY created_at DESC, hash DESC LIMIT $1 OFFSET $2)",
            params![most, keep],
        )?;
        Ok(())
    }

    fn next_sequence(&mut self, operation: &OperationId) -> Stored<u64> {
        let next = self.one(
            "SELECT COALESCE(MAX(sequence) + 1, 0) FROM journal WHERE operation = $1",
            params![operation.as_str()],
            |row| row.number(0),
        )?;
        Ok(next.unwrap_or_default())
    }

    fn append_entry(&mut self, entry: &JournalEntry) -> Stored<()> {
        let id = entry.operation.as_str();
        self.execute(
            "INSERT INTO journal (operation, sequence, body) VALUES ($1, $2, $3)",
            params![id, entry.sequence, &encode("journal of", id, entry)?],
        )?;
        Ok(())
    }

    fn journal(&mut self, operation: &OperationId) -> Stored<Vec<JournalEntry>> {
        let id = operation.as_str();
        self.all("SELECT body FROM journal WHERE operation = $1 ORDER BY sequence", params![id], |row| {
            decode("journal of", id, row.text(0)?)
        })
    }

    fn slots(&mut self, operation: &OperationId) -> Stored<Vec<(SlotId, Sealed)>> {
        self.all(
            "SELECT slot, sealed FROM slots WHERE operation = $1 ORDER BY slot",
            params![operation.as_str()],
            slot,
        )
    }

    fn insert_slot(&mut self, operation: &OperationId, slot: &SlotId, sealed: &Sealed) -> Stored<()> {
        self.execute(
            "INSERT INTO slots (operation, slot, sealed) VALUES ($1, $2, $3)",
            params![operation.as_str(), slot.as_str(), sealed.as_str()],
        )?;
        Ok(())
    }

    fn wipe_slots(&mut self, operation: &OperationId) -> Stored<()> {
        self.execute("DELETE FROM slots WHERE operation = $1", params![operation.as_str()])?;
        Ok(())
    }
}
