//! Sealing: plaintext that must live on, encrypted and bound to the record it belongs to.

use std::fmt;

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use chacha20poly1305::{
    KeyInit, XChaCha20Poly1305, XNonce,
    aead::{Aead, Payload},
};
use serde::{Deserialize, Serialize};

use crate::{InstanceKey, KeyId, Secret, random_bytes};

const VERSION: u32 = 1;
const NONCE_LENGTH: usize = 24;
const TAG_LENGTH: usize = 16;

/// A sealed value as text: `v1.<key id>.<nonce and ciphertext in base64url>`.
///
/// Its length gives away the plaintext's; `Debug` shows nothing else of it.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct Sealed(String);

/// Why a sealed value cannot be opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OpenError {
    /// It was sealed under another instance key.
    #[error("sealed under instance key `{found}`, but this instance has key `{expected}`")]
    OtherKey {
        /// The key that was asked to open it.
        expected: KeyId,
        /// The key it names as its own.
        found: KeyId,
    },
    /// It was changed, cut, or belongs to another record.
    #[error("the sealed value is damaged or belongs to another record")]
    Corrupt,
    /// A newer Formwork sealed it, in a form this one does not know.
    #[error("sealed in form v{found}, but this version of Formwork knows only v{VERSION}")]
    Version {
        /// The form's number.
        found: u32,
    },
}

impl Sealed {
    /// A sealed value from its text. Only the form is checked; [`InstanceKey::open`] does the rest.
    ///
    /// # Errors
    /// [`OpenError::Version`] for a newer form, [`OpenError::Corrupt`] for anything that has none.
    pub fn parse(text: impl Into<String>) -> Result<Self, OpenError> {
        let text = text.into();
        Parts::of(&text)?;
        Ok(Self(text))
    }

    /// The text to store.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for Sealed {
    type Error = OpenError;

    fn try_from(text: String) -> Result<Self, OpenError> {
        Self::parse(text)
    }
}

impl fmt::Debug for Sealed {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Sealed({} bytes)", self.0.len())
    }
}

impl InstanceKey {
    /// Encrypts a value so that only this key, given the same `aad`, opens it again.
    ///
    /// `aad` says where the value belongs, such as a record's id and version: a blob moved to
    /// another record does not open. XChaCha20-Poly1305 with a random nonce.
    ///
    /// # Panics
    /// When the plaintext exceeds 256 GiB, or the operating system has no random source.
    pub fn seal(&self, aad: &[u8], plaintext: &[u8]) -> Sealed {
        let header = format!("v{VERSION}.{}.", self.id());
        let nonce = random_bytes::<NONCE_LENGTH>();
        let bound = bound_data(&header, aad);
        let ciphertext = self
            .cipher()
            .encrypt(&XNonce::from(nonce), Payload { msg: plaintext, aad: &bound })
            .expect("a plaintext in memory is shorter than the 256 GiB the cipher takes");
        let body = BASE64_URL_SAFE_NO_PAD.encode([&nonce[..], &ciphertext].concat());
        Sealed(header + &body)
    }

    /// The plaintext of what [`seal`](Self::seal) made with the same `aad`.
    ///
    /// # Errors
    /// [`OpenError::OtherKey`] when it names another key, [`OpenError::Corrupt`] when anything in
    /// it was changed or the `aad` differs.
    pub fn open(&self, aad: &[u8], sealed: &Sealed) -> Result<Secret<Vec<u8>>, OpenError> {
        let parts = Parts::of(&sealed.0)?;
        if parts.key_id != self.id() {
            return Err(OpenError::OtherKey { expected: self.id(), found: parts.key_id });
        }
        let bound = bound_data(parts.header, aad);
        self.cipher()
            .decrypt(&XNonce::from(parts.nonce), Payload { msg: &parts.ciphertext, aad: &bound })
            .map(Secret::new)
            .map_err(|_| OpenError::Corrupt)
    }

    fn cipher(&self) -> XChaCha20Poly1305 {
        XChaCha20Poly1305::new(self.sealing_key().into())
    }
}

/// What the cipher authenticates besides the ciphertext. The header has a fixed length, so header
/// and `aad` cannot be taken for another pair.
fn bound_data(header: &str, aad: &[u8]) -> Vec<u8> {
    [header.as_bytes(), aad].concat()
}

/// A sealed text taken apart.
struct Parts<'a> {
    /// The text up to and with the second dot, as it is spelled.
    header: &'a str,
    key_id: KeyId,
    nonce: [u8; NONCE_LENGTH],
    ciphertext: Vec<u8>,
}

impl<'a> Parts<'a> {
    fn of(text: &'a str) -> Result<Self, OpenError> {
        let (version, rest) = text.split_once('.').ok_or(OpenError::Corrupt)?;
        match version_number(version) {
            Some(VERSION) => {}
            Some(found) => return Err(OpenError::Version { found }),
            None => return Err(OpenError::Corrupt),
        }
        let (key_id, body) = rest.split_once('.').ok_or(OpenError::Corrupt)?;
        let header = &text[..text.len() - body.len()];
        let key_id = key_id.parse().map_err(|_| OpenError::Corrupt)?;
        let body = BASE64_URL_SAFE_NO_PAD.decode(body).map_err(|_| OpenError::Corrupt)?;
        let (nonce, ciphertext) = body.split_first_chunk().ok_or(OpenError::Corrupt)?;
        if ciphertext.len() < TAG_LENGTH {
            return Err(OpenError::Corrupt);
        }
        Ok(Self { header, key_id, nonce: *nonce, ciphertext: ciphertext.to_vec() })
    }
}

/// The number in `v<number>`, in its only spelling and of at most four digits, so that a text that
/// is no sealed value at all is not repeated in an error.
fn version_number(text: &str) -> Option<u32> {
    let digits = text.strip_prefix('v')?;
    let plain = matches!(digits.len(), 1..=4) && digits.bytes().all(|byte| byte.is_ascii_digit());
    if !plain || digits.starts_with('0') {
        return None;
    }
    digits.parse().ok()
}
