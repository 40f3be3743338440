//! The public name of an instance key.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

use crate::hex::{self, HexError};

/// Tells instance keys apart without revealing anything of them.
///
/// Written everywhere as 16 hexadecimal characters.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct KeyId([u8; Self::LENGTH]);

impl KeyId {
    pub(crate) const LENGTH: usize = 8;

    pub(crate) fn from_bytes(bytes: [u8; Self::LENGTH]) -> Self {
        Self(bytes)
    }
}

impl fmt::Display for KeyId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(&hex::hex(&self.0))
    }
}

impl fmt::Debug for KeyId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "KeyId({self})")
    }
}

impl FromStr for KeyId {
    type Err = HexError;

    fn from_str(text: &str) -> Result<Self, HexError> {
        hex::decode(text).map(Self)
    }
}

impl Serialize for KeyId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for KeyId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_the_same_hexadecimal_everywhere() {
        let id = KeyId::from_bytes([0, 1, 2, 3, 4, 5, 0xfe, 0xff]);
        assert_eq!(id.to_string(), "000102030405feff");
        assert_eq!(format!("{id:?}"), "KeyId(000102030405feff)");
        assert_eq!(serde_json::to_string(&id).unwrap(), r#""000102030405feff""#);
        assert_eq!(serde_json::from_str::<KeyId>(r#""000102030405feff""#).unwrap(), id);
        assert!(serde_json::from_str::<KeyId>(r#""0001""#).is_err());
    }
}
