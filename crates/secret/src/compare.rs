//! Comparing bytes without telling, by the time taken, where they differ.

use subtle::ConstantTimeEq;

/// Whether two byte strings are equal, in a time that depends only on their lengths.
///
/// Lengths are not hidden: unequal lengths return at once.
pub fn constant_time_eq(left: &[u8], right: &[u8]) -> bool {
    left.ct_eq(right).into()
}

/// A value that is its bytes, and so can be compared in constant time.
pub trait AsBytes {
    /// The whole value as bytes.
    fn as_bytes(&self) -> &[u8];
}

impl AsBytes for String {
    fn as_bytes(&self) -> &[u8] {
        str::as_bytes(self)
    }
}

impl AsBytes for Vec<u8> {
    fn as_bytes(&self) -> &[u8] {
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_bytes_are_equal_and_others_are_not() {
        assert!(constant_time_eq(b"", b""));
        assert!(constant_time_eq(b"abc", b"abc"));
        assert!(!constant_time_eq(b"abc", b"abd"));
        assert!(!constant_time_eq(b"abc", b"abcd"));
    }
}
