//! The instance key and the subkeys drawn from it, one for each use.

use std::{fmt, sync::Arc};

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use zeroize::Zeroizing;

use crate::{KeyError, KeyId, Secret, hex, random_bytes};

/// Bytes of a key and of every subkey.
pub(crate) const KEY_LENGTH: usize = 32;

/// The key of one Formwork installation: it makes the digests, tokens and sealed blobs.
///
/// It comes from a file or an environment variable and is never in the database (architecture §6).
/// Clones share one copy, wiped when the last of them is dropped.
#[derive(Clone)]
pub struct InstanceKey(Arc<Keys>);

struct Keys {
    root: Zeroizing<[u8; KEY_LENGTH]>,
    id: KeyId,
    digest: Zeroizing<[u8; KEY_LENGTH]>,
    token: Zeroizing<[u8; KEY_LENGTH]>,
    seal: Zeroizing<[u8; KEY_LENGTH]>,
}

impl InstanceKey {
    /// The key with these bytes, which should be random. The caller's own copy is not wiped.
    pub fn from_bytes(bytes: [u8; KEY_LENGTH]) -> Self {
        let root = Zeroizing::new(bytes);
        let id_bytes = subkey(&root, b"formwork/v1/key-id");
        let mut id = [0; KeyId::LENGTH];
        id.copy_from_slice(&id_bytes[..KeyId::LENGTH]);
        Self(Arc::new(Keys {
            id: KeyId::from_bytes(id),
            digest: subkey(&root, b"formwork/v1/digest"),
            token: subkey(&root, b"formwork/v1/token"),
            seal: subkey(&root, b"formwork/v1/seal"),
            root,
        }))
    }

    /// The key spelled by exactly 64 hexadecimal characters of either case.
    ///
    /// # Errors
    /// [`KeyError::Malformed`] for anything else; the error does not quote the text.
    pub fn from_hex(text: &str) -> Result<Self, KeyError> {
        let bytes = hex::decode(text).map(Zeroizing::new).map_err(|source| KeyError::Malformed { source })?;
        Ok(Self::from_bytes(*bytes))
    }

    /// A new random key.
    ///
    /// # Panics
    /// When the operating system has no random source.
    pub fn generate() -> Self {
        Self::from_bytes(*Zeroizing::new(random_bytes()))
    }

    /// The key as 64 lower-case hexadecimal characters, for [`from_hex`](Self::from_hex).
    pub fn to_hex(&self) -> Secret<String> {
        Secret::new(hex(&*self.0.root))
    }

    /// The key's public name. Nothing of the key can be computed from it.
    pub fn id(&self) -> KeyId {
        self.0.id
    }

    /// Names a piece of work: the same parts always give the same token, other parts another one.
    ///
    /// HMAC-SHA-256 over the parts, each preceded by its length as eight bytes, most significant
    /// first, so that `["ab", "c"]` and `["a", "bc"]` differ.
    pub fn token(&self, parts: &[&[u8]]) -> [u8; 32] {
        let mut mac = mac_under(&self.0.token);
        for part in parts {
            mac.update(&(part.len() as u64).to_be_bytes());
            mac.update(part);
        }
        mac.finalize().into_bytes().into()
    }

    pub(crate) fn digest_mac(&self, canonical: &[u8]) -> [u8; 32] {
        let mut mac = mac_under(&self.0.digest);
        mac.update(canonical);
        mac.finalize().into_bytes().into()
    }

    pub(crate) fn sealing_key(&self) -> &[u8; KEY_LENGTH] {
        &self.0.seal
    }
}

impl fmt::Debug for InstanceKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "InstanceKey({}, …)", self.id())
    }
}

/// HKDF-Expand (RFC 5869 §2.3) for one block: the root key is already uniformly random, so the
/// extraction step has nothing to add.
fn subkey(root: &[u8; KEY_LENGTH], label: &[u8]) -> Zeroizing<[u8; KEY_LENGTH]> {
    let mut mac = mac_under(root);
    mac.update(label);
    mac.update(&[1]);
    Zeroizing::new(mac.finalize().into_bytes().into())
}

fn mac_under(key: &[u8; KEY_LENGTH]) -> Hmac<Sha256> {
    Hmac::new_from_slice(key).expect("HMAC takes a key of any length")
}
