//! `FakeCloud`: a scriptable provider behind a Unix socket, and the record tests judge by.

mod log;
mod record;
mod script;
mod server;
mod types;
pub(crate) mod wire;

pub use log::{LogLine, Moment};
pub use record::{CloudObject, Snapshot};
pub use script::{Answering, Behaviour, Outcome, Pause, Rule};
pub use server::FakeCloud;
pub use types::CloudType;
