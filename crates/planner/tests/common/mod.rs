//! What the planner's tests share: a small notation for requests, a catalog, and plans as text.
#![allow(dead_code, unreachable_pub, missing_docs, reason = "each test file uses a part of it")]

pub mod catalog;
pub mod ledger;
pub mod notation;
pub mod render;
pub mod table;

use formwork_model::{Desired, Diagnostics, InstanceKey, Observation, OperationKind, Row, RowId};
use formwork_planner::{Imports, PlanRequest, Planning, check, plan};
use std::collections::BTreeMap;

/// The key of all tests.
pub fn key() -> InstanceKey {
    InstanceKey::from_bytes([7; 32])
}

/// A request that owns its parts.
pub struct Request {
    pub kind: OperationKind,
    pub desired: Desired,
    pub rows: Vec<Row>,
    pub observations: BTreeMap<RowId, Observation>,
    pub imports: Imports,
    pub incomplete: bool,
}

impl Request {
    /// The plan, checked by the plan checker.
    pub fn plan(&self) -> Result<Planning, Diagnostics> {
        let catalog = catalog::TestCatalog::new();
        let key = key();
        let planning = plan(&PlanRequest {
            kind: self.kind,
            desired: &self.desired,
            rows: &self.rows,
            known: &BTreeMap::new(),
            observations: &self.observations,
            imports: &self.imports,
            catalog: &catalog,
            key: &key,
            incomplete: self.incomplete,
        })?;
        assert_eq!(check(&planning.plan), Ok(()), "the checker accepts every plan");
        Ok(planning)
    }
}
