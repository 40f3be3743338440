//! `Bytes`, and the encodings and digests that strings have too.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// `base64`.
pub fn to_base64(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}
