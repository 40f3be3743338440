//! Random bytes from the operating system.

/// `N` bytes fit for keys and nonces.
///
/// # Panics
/// When the operating system has no random source: nothing here is safe to do without one.
pub fn random_bytes<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).expect("the operating system provides random bytes");
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_draws_differ() {
        assert_ne!(random_bytes::<32>(), random_bytes::<32>());
    }
}
