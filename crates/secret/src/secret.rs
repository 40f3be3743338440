//! The wrapper that keeps a secret value from being printed, stored or compared by accident.

use std::fmt;

use crate::{AsBytes, Wipe, constant_time_eq};

/// A value nobody may print, serialise or compare with `==`, wiped when it is dropped.
///
/// Reading it takes a call whose name says so, [`expose`](Self::expose) or
/// [`into_exposed`](Self::into_exposed), so that every place where plaintext comes out can be
/// found by searching for `expos`.
///
/// ```
/// use formwork_secret::Secret;
///
/// let password = Secret::new(String::from("correct horse"));
/// assert_eq!(format!("{password:?}"), "Secret(…)");
/// assert_eq!(password.expose(), "correct horse");
/// ```
///
/// It has no `Display`:
///
/// ```compile_fail,E0277
/// let password = formwork_secret::Secret::new(String::from("correct horse"));
/// println!("{password}");
/// ```
///
/// no `Serialize`:
///
/// ```compile_fail,E0277
/// let password = formwork_secret::Secret::new(String::from("correct horse"));
/// let _ = serde_json::to_string(&password);
/// ```
///
/// and no `PartialEq`; [`same_as`](Self::same_as) compares in constant time:
///
/// ```compile_fail,E0369
/// let password = formwork_secret::Secret::new(String::from("correct horse"));
/// let _ = password == password.clone();
/// ```
#[derive(Clone)]
pub struct Secret<T: Wipe>(
    /// `None` only once `into_exposed` has consumed the secret, which leaves `drop` nothing to wipe.
    Option<T>,
);

impl<T: Wipe> Secret<T> {
    /// Takes a value into keeping. Copies made of it before are not wiped.
    pub fn new(value: T) -> Self {
        Self(Some(value))
    }

    /// The plaintext, to look at.
    pub fn expose(&self) -> &T {
        self.0.as_ref().expect("only `into_exposed` takes the value, and it consumes the secret")
    }

    /// The plaintext, out of keeping: nothing will wipe it any more.
    pub fn into_exposed(mut self) -> T {
        self.0.take().expect("only `into_exposed` takes the value, and it consumes the secret")
    }
}

impl<T: Wipe + AsBytes> Secret<T> {
    /// Whether both hold the same bytes, in a time that depends only on their lengths.
    pub fn same_as(&self, other: &Self) -> bool {
        constant_time_eq(self.expose().as_bytes(), other.expose().as_bytes())
    }
}

impl<T: Wipe> Drop for Secret<T> {
    fn drop(&mut self) {
        if let Some(value) = &mut self.0 {
            value.wipe();
        }
    }
}

impl<T: Wipe> fmt::Debug for Secret<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Secret(…)")
    }
}

#[cfg(test)]
mod tests {
    use std::{cell::Cell, rc::Rc};

    use super::*;

    /// Counts how often it was wiped.
    #[derive(Clone)]
    struct Witness(Rc<Cell<u32>>);

    impl Wipe for Witness {
        fn wipe(&mut self) {
            self.0.set(self.0.get() + 1);
        }
    }

    #[test]
    fn debug_shows_nothing_in_either_form() {
        let secret = Secret::new(String::from("correct horse"));
        assert_eq!(format!("{secret:?}"), "Secret(…)");
        assert_eq!(format!("{secret:#?}"), "Secret(…)");
    }

    #[test]
    fn dropping_wipes_each_clone_once() {
        let wiped = Rc::new(Cell::new(0));
        let secret = Secret::new(Witness(Rc::clone(&wiped)));
        drop(secret.clone());
        assert_eq!(wiped.get(), 1);
        drop(secret);
        assert_eq!(wiped.get(), 2);
    }

    #[test]
    fn an_exposed_value_is_handed_over_unwiped() {
        let wiped = Rc::new(Cell::new(0));
        let value = Secret::new(Witness(Rc::clone(&wiped))).into_exposed();
        assert_eq!(value.0.get(), 0);
    }

    #[test]
    fn strings_and_bytes_compare_by_content() {
        let secret = Secret::new(String::from("correct horse"));
        assert!(secret.same_as(&secret.clone()));
        assert!(!secret.same_as(&Secret::new(String::from("correct house"))));
        assert!(!secret.same_as(&Secret::new(String::new())));
        assert!(Secret::new(vec![1, 2]).same_as(&Secret::new(vec![1, 2])));
        assert!(!Secret::new(vec![1, 2]).same_as(&Secret::new(vec![1, 3])));
    }
}
