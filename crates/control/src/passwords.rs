//! Passwords: kept as Argon2id hashes, and compared at the same cost whether or not there is
//! something to compare with.

use crate::ControlError;
use argon2::Argon2;
use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher as _, PasswordVerifier as _};
use formwork_model::{Secret, WireCode};
use std::sync::{Arc, OnceLock};
use tokio::sync::Semaphore;

/// The fewest characters of a password.
const LEAST: usize = 8;
/// The most bytes of one: hashing takes time in proportion.
const MOST: usize = 1024;
/// How many are hashed at once: each takes 19 MiB and a core.
const AT_ONCE: usize = 2;

/// What hashes and compares.
#[derive(Debug)]
pub(crate) struct Passwords {
    places: Arc<Semaphore>,
    /// What an unknown user's password is compared with.
    dummy: OnceLock<Arc<str>>,
}

impl Default for Passwords {
    fn default() -> Self {
        Self { places: Arc::new(Semaphore::new(AT_ONCE)), dummy: OnceLock::new() }
    }
}

/// Refuses a password that is not good enough for a user of this name.
///
/// Length is what counts (NIST SP 800-63B §3.1.1.2); rules about kinds of characters only make
/// people choose the same few patterns.
///
/// # Errors
/// `VALIDATION_FAILED`; the password is not quoted.
pub(crate) fn check(username: &str, password: &Secret<String>) -> Result<(), ControlError> {
    let password = password.expose();
    let problem = if password.chars().count() < LEAST {
        format!("must have at least {LEAST} characters")
    } else if password.len() > MOST {
        format!("must have at most {MOST} bytes")
    } else if password.chars().any(char::is_control) {
        "must not have control characters".to_owned()
    } else if password.to_lowercase() == username.to_lowercase() {
        "must not be the user's name".to_owned()
    } else {
        return Ok(());
    };
    Err(ControlError::new(WireCode::ValidationFailed, format!("`password` {problem}")))
}

impl Passwords {
    /// The hash to keep of a password.
    ///
    /// # Errors
    /// `INTERNAL_ERROR` if the operating system has no random source.
    pub(crate) async fn hash(&self, password: Secret<String>) -> Result<String, ControlError> {
        self.work(move || hash(&password)).await?.ok_or_else(cannot_hash)
    }

    /// Whether this is the password of a hash; `None`: of nobody's, which takes as long to tell.
    ///
    /// # Errors
    /// As [`hash`](Self::hash).
    pub(crate) async fn verify(
        &self,
        password: Secret<String>,
        kept: Option<Arc<str>>,
    ) -> Result<bool, ControlError> {
        let known = kept.is_some();
        let kept = match kept {
            Some(kept) => kept,
            None => self.dummy().await?,
        };
        let same = self.work(move || verify(&password, &kept)).await?;
        Ok(known && same)
    }

    async fn dummy(&self) -> Result<Arc<str>, ControlError> {
        if let Some(dummy) = self.dummy.get() {
            return Ok(dummy.clone());
        }
        let random = Secret::new(formwork_secret::hex(&formwork_secret::random_bytes::<16>()));
        let made = Arc::from(self.hash(random).await?);
        Ok(self.dummy.get_or_init(|| made).clone())
    }

    /// Runs what takes a core for a while, away from the threads that serve requests.
    async fn work<T: Send + 'static>(
        &self,
        job: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, ControlError> {
        // The semaphore is never closed. The place is the job's: it goes on when whoever waits for
        // it goes away, and holds its memory and its core until it is done.
        let place = self.places.clone().acquire_owned().await;
        let job = move || {
            let done = job();
            drop(place);
            done
        };
        tokio::task::spawn_blocking(job).await.map_err(|_| cannot_hash())
    }
}

fn cannot_hash() -> ControlError {
    ControlError::new(WireCode::InternalError, "a password could not be hashed")
}

fn hash(password: &Secret<String>) -> Option<String> {
    let salt: [u8; 16] = formwork_secret::random_bytes();
    let made = Argon2::default().hash_password_with_salt(password.expose().as_bytes(), &salt);
    made.ok().map(|made: PasswordHash| made.to_string())
}

fn verify(password: &Secret<String>, kept: &str) -> bool {
    let Ok(kept) = PasswordHash::new(kept) else { return false };
    Argon2::default().verify_password(password.expose().as_bytes(), &kept).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secret(text: &str) -> Secret<String> {
        Secret::new(text.to_owned())
    }

    #[test]
    fn a_password_is_long_enough_and_not_the_name() {
        let problem =
            |password: &str| check("Ada-Lovelace", &secret(password)).err().map(|error| error.message);
        assert_eq!(problem("correct horse"), None);
        assert_eq!(problem("ünïcödé€"), None, "characters are counted, not bytes");
        assert_eq!(problem("short").as_deref(), Some("`password` must have at least 8 characters"));
        assert_eq!(problem(&"x".repeat(1025)).as_deref(), Some("`password` must have at most 1024 bytes"));
        assert_eq!(problem("with\nnewline").as_deref(), Some("`password` must not have control characters"));
        assert_eq!(problem("ADA-LOVELACE").as_deref(), Some("`password` must not be the user's name"));
    }

    #[tokio::test]
    async fn a_hash_knows_its_password_and_no_other() {
        let passwords = Passwords::default();
        let kept: Arc<str> = passwords.hash(secret("correct horse")).await.expect("hashed").into();
        assert!(kept.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{kept}");
        assert!(!kept.contains("correct horse"));
        let is = |password: &str, kept: Option<Arc<str>>| passwords.verify(secret(password), kept);
        assert!(is("correct horse", Some(kept.clone())).await.expect("compared"));
        assert!(!is("correct house", Some(kept)).await.expect("compared"));
        assert!(!is("correct horse", None).await.expect("compared"));
        assert!(!is("correct horse", Some("not a hash".into())).await.expect("compared"));
    }

    #[tokio::test]
    async fn what_nobody_waits_for_any_more_still_has_its_place() {
        let passwords = Passwords::default();
        let (started, is_started) = std::sync::mpsc::channel();
        let (finish, is_finished) = std::sync::mpsc::channel::<()>();
        let job = passwords.work(move || {
            started.send(()).expect("somebody listens");
            is_finished.recv().ok()
        });
        let waiting = std::time::Duration::from_millis(50);
        assert!(tokio::time::timeout(waiting, job).await.is_err(), "given up while it runs");
        is_started.recv().expect("it runs");
        assert_eq!(passwords.places.available_permits(), AT_ONCE - 1);
        drop(finish);
        let all = u32::try_from(AT_ONCE).expect("a few");
        drop(passwords.places.acquire_many(all).await.expect("free once it is done"));
    }
}
