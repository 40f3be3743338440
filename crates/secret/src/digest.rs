//! Keyed digests: how two secrets are compared when neither plaintext is kept.

use std::{
    cmp::Ordering,
    fmt,
    hash::{Hash, Hasher},
};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

use crate::{InstanceKey, KeyId, constant_time_eq, hex};

/// What an instance key makes of a value: equal for equal values, and of no use without the key.
///
/// Serialised as `{"key_id": "…", "mac": "…"}` in hexadecimal. `==` takes constant time over the
/// MAC. Digests under two keys differ even for one value, so compare `key_id` first to tell a
/// changed value from a changed key.
#[derive(Clone, Copy, Eq, Serialize, Deserialize)]
pub struct Digest {
    /// The key it was made under.
    pub key_id: KeyId,
    #[serde(serialize_with = "serialize_mac", deserialize_with = "deserialize_mac")]
    mac: [u8; 32],
}

impl InstanceKey {
    /// The digest of a value in its canonical spelling: HMAC-SHA-256 under the subkey for digests.
    pub fn digest(&self, canonical: &[u8]) -> Digest {
        Digest { key_id: self.id(), mac: self.digest_mac(canonical) }
    }
}

impl Digest {
    /// The MAC in hexadecimal: what a value that was digested can be found by.
    pub fn hex(&self) -> String {
        hex(&self.mac)
    }

    /// The first half of the MAC in hexadecimal: a name for the value that tells nothing about it.
    pub fn short(&self) -> String {
        hex(&self.mac[..16])
    }
}

impl PartialEq for Digest {
    fn eq(&self, other: &Self) -> bool {
        self.key_id == other.key_id && constant_time_eq(&self.mac, &other.mac)
    }
}

impl Hash for Digest {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key_id.hash(state);
        self.mac.hash(state);
    }
}

/// By key id, then by MAC. For the order of maps; it does not take constant time.
impl Ord for Digest {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.key_id, self.mac).cmp(&(other.key_id, other.mac))
    }
}

impl PartialOrd for Digest {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Digest({}, {})", self.key_id, hex(&self.mac))
    }
}

fn serialize_mac<S: Serializer>(mac: &[u8; 32], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&hex(mac))
}

fn deserialize_mac<'de, D: Deserializer<'de>>(deserializer: D) -> Result<[u8; 32], D::Error> {
    hex::decode(String::deserialize(deserializer)?).map_err(D::Error::custom)
}
