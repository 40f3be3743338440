//! Public ids: a prefix and 16 random base-62 characters (`formations-behaviour.md` §1.4).

use rand::RngExt as _;

/// An id with this prefix (`form`, `form_res`, …).
pub(crate) fn mint(prefix: &str) -> String {
    const DIGITS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    let mut random = rand::rng();
    let mut id = String::with_capacity(prefix.len() + 17);
    id.push_str(prefix);
    id.push('_');
    id.extend((0..16).map(|_| char::from(DIGITS[random.random_range(0..DIGITS.len())])));
    id
}

#[cfg(test)]
mod tests {
    #[test]
    fn an_id_has_its_prefix_and_sixteen_digits() {
        let id = super::mint("form_res");
        assert_eq!(id.len(), 25);
        assert!(id.starts_with("form_res_"));
        assert_ne!(id, super::mint("form_res"));
    }
}
