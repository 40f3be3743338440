//! What a store promises, written once over [`Tables`](crate::tables::Tables): memory, SQLite and
//! PostgreSQL only keep and find records.

mod begin;
mod commit;
mod digest;
mod domain;
mod lease;
mod objects;
mod plans;
mod rows;

pub(crate) use begin::begin;
pub(crate) use commit::{commit, compact};
pub(crate) use digest::logical_digest;
pub(crate) use domain::domain;
pub(crate) use lease::{holder_of, renew, take_over};
pub(crate) use objects::find as find_object;
pub(crate) use plans::save_plan;
pub(crate) use rows::{objects_of, observe};
