//! Identifiers: newtypes, never bare strings.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;

macro_rules! text_id {
    ($(#[$meta:meta])* $name:ident) => {
        $(#[$meta])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(Arc<str>);

        impl $name {
            /// Wraps a text as this kind of identifier.
            pub fn new(text: impl Into<Arc<str>>) -> Self {
                Self(text.into())
            }

            /// The text of the identifier.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}({})", stringify!($name), &self.0)
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self::new(text)
            }
        }

        impl From<String> for $name {
            fn from(text: String) -> Self {
                Self::new(text)
            }
        }

        impl std::borrow::Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }
    };
}

text_id! {
    /// A project: the boundary of names, references and authorisation (`proj_…`).
    ProjectId
}
text_id! {
    /// The opaque id of a stack, minted once (a formation's `form_…`). Its name is an attribute.
    StackId
}
text_id! {
    /// The opaque id of a ledger row, minted once (a formation's `form_res_…`).
    RowId
}
text_id! {
    /// The id of one run of one plan (a formation's `form_op_…`).
    OperationId
}
text_id! {
    /// The author's name for a resource within its stack (formations: logical id).
    Label
}
text_id! {
    /// A resource type, spelled as its front end spells it (`agent`, `AWS::EC2::VPC`).
    TypeName
}
text_id! {
    /// The provider's own id for an object (formations: physical id).
    NativeId
}
text_id! {
    /// The name of a target: where a resource lives.
    TargetName
}
text_id! {
    /// The name of a formation, unique in its project among those not deleted.
    FormationName
}
text_id! {
    /// Names a sealed secret kept outside the value that uses it.
    SlotId
}
text_id! {
    /// Who asked for an operation: a user or key id.
    ActorId
}
text_id! {
    /// A running process that can hold leases: pid and boot id, or a host's own name.
    OwnerId
}

/// A stack's unique name: project and name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct StackKey {
    /// The project that owns the stack.
    pub project: ProjectId,
    /// The stack's name within its project.
    pub name: Arc<str>,
}

impl StackKey {
    /// A key from its two parts.
    pub fn new(project: ProjectId, name: impl Into<Arc<str>>) -> Self {
        Self { project, name: name.into() }
    }
}

/// The number of a step: its index in [`Plan::steps`](crate::Plan).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct StepId(pub u32);

impl StepId {
    /// The index into a plan's steps.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Debug for StepId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{}", self.0)
    }
}

impl fmt::Display for StepId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{}", self.0)
    }
}

/// Counts the effects on a row that a client token must tell apart. It rises when an effect settles
/// as succeeded, undo and cleanup included, and when a second one in a row is in doubt, so a client
/// token made from it can never serve twice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Generation(pub u64);

impl Generation {
    /// The generation after one more settled effect.
    #[must_use]
    pub fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

/// A fencing token: rises with every acquisition of a lease; a store rejects a write under an
/// older one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Fence(pub u64);

/// Milliseconds since the Unix epoch, UTC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Timestamp(pub i64);

impl Timestamp {
    /// This moment, `millis` later.
    #[must_use]
    pub fn plus(self, millis: u64) -> Self {
        Self(self.0.saturating_add(i64::try_from(millis).unwrap_or(i64::MAX)))
    }

    /// Milliseconds from `earlier` to this moment; 0 if `earlier` is later.
    pub fn since(self, earlier: Self) -> u64 {
        u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0)
    }
}

macro_rules! hash_id {
    ($(#[$meta:meta])* $name:ident) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub [u8; 32]);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}({self})", stringify!($name))
            }
        }

        impl std::str::FromStr for $name {
            type Err = NotHex;

            fn from_str(text: &str) -> Result<Self, NotHex> {
                let mut bytes = [0; 32];
                if text.len() != 64 || !text.is_ascii() {
                    return Err(NotHex);
                }
                for (byte, pair) in bytes.iter_mut().zip(text.as_bytes().chunks(2)) {
                    let pair = std::str::from_utf8(pair).map_err(|_| NotHex)?;
                    *byte = u8::from_str_radix(pair, 16).map_err(|_| NotHex)?;
                }
                Ok(Self(bytes))
            }
        }

        impl Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}

/// A text that should be 64 hexadecimal digits and is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected 64 hexadecimal digits")]
pub struct NotHex;

hash_id! {
    /// SHA-256 over a plan's canonical bytes: what a person approves.
    PlanHash
}
hash_id! {
    /// What makes a repeated call the same call: `HMAC(instance key, row id ‖ generation ‖ action ‖
    /// digest(sent))`. Providers that know it answer a repetition with the first outcome.
    ClientToken
}
