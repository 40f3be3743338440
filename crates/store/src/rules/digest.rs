//! The logical digest: what must not change when something only reads (INV-5).

use crate::tables::{Stored, Tables};
use sha2::{Digest as _, Sha256};

/// SHA-256 over every record, each field with its length so that no two ledgers share a text.
pub(crate) fn logical_digest(tables: &mut dyn Tables) -> Stored<String> {
    let mut hasher = Sha256::new();
    let mut field = |text: &str| {
        hasher.update((text.len() as u64).to_be_bytes());
        hasher.update(text);
    };
    tables.dump(&mut |table, fields| {
        field(table);
        fields.iter().copied().for_each(&mut field);
    })?;
    Ok(formwork_model::PlanHash(hasher.finalize().into()).to_string())
}
