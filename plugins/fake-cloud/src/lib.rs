//! A provider that is none, as a plugin's process: what there is and what was asked are lines of a file in the
//! directory that the target names, and a file beside it says what goes wrong.
//!
//! ```text
//! <directory>/log.jsonl     every call, effect and answer; the objects are what comes of its lines
//! <directory>/script.json   which calls go how ([`Script`])
//! <directory>/lock          held while a line is written
//! ```
//!
//! **Architecture invariant:** an effect is on disk before its call is answered, and nothing of it is anywhere else:
//! a process that is killed forgets nothing, and several at once see the same cloud.

mod cloud;
mod kinds;
mod line;
mod plugin;
mod script;
mod state;

pub use cloud::{Cloud, CloudError};
pub use kinds::{
    CHILD, GRAND_CHILD, Kind, NAMED, NAMESPACE, RESOURCE, SETTLE_MILLIS, TIMEOUT_MILLIS, kind, kinds,
};
pub use line::{Caller, Event, Line, Write};
pub use plugin::FakeCloudProcess;
pub use script::{Outcome, Pause, Rule, Script, Told};
pub use state::{Object, State};
