//! When a call fails in a way the protocol has no code for.

use formwork_model::{Json, WireCode};

/// The unexpected: unless it says otherwise, whether the call had an effect is not known.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PluginError {
    /// The plugin is not there: nothing was sent, so that the call certainly had no effect.
    #[error("the plugin `{namespace}` is not available: {reason}")]
    Unavailable {
        /// Which plugin.
        namespace: String,
        /// Why.
        reason: String,
    },
    /// The plugin died during the call, or is not there and nobody knows whether the call reached it.
    #[error("the plugin `{namespace}` is not available: {reason}")]
    Lost {
        /// Which plugin.
        namespace: String,
        /// Why.
        reason: String,
    },
    /// The plugin did not answer in time.
    #[error("the plugin `{namespace}` did not answer within {millis} ms")]
    Deadline {
        /// Which plugin.
        namespace: String,
        /// How long it had.
        millis: u64,
    },
    /// The plugin answered something that is not an answer.
    #[error("the plugin `{namespace}` gave an answer that makes no sense: {reason}")]
    Nonsense {
        /// Which plugin.
        namespace: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The plugin says itself what failed, where the call's result has no room for it.
    #[error("{message}")]
    Failed {
        /// The code to show a person.
        code: WireCode,
        /// What failed, in words.
        message: String,
        /// Facts to show with it.
        meta: Json,
    },
    /// The caller's lease is gone: nothing was done.
    #[error("the lease that the call was made under is no longer held")]
    Fenced,
}
