//! Logging in: how often it may be tried, and what a login's token is signed with.

use crate::passwords::Passwords;
use crate::{ControlError, Role, jwt};
use formwork_model::{ActorId, InstanceKey, Secret, Timestamp, WireCode};
use std::collections::HashMap;
use std::sync::{Mutex, OnceLock, PoisonError};

/// How long a login lasts: a working day. Whatever it permits is looked up anew at each request.
const LIFETIME_SECONDS: i64 = 12 * 60 * 60;
/// How long a failure counts.
const WINDOW_MILLIS: i64 = 15 * 60 * 1_000;
/// The most failures of one source with one account within that.
const MOST_OF_PAIR: u32 = 10;
/// The most failures of one source within that, whichever accounts it tries.
const MOST_OF_SOURCE: u32 = 50;
/// The most sources, with and without accounts, that are remembered to have failed.
const MOST_REMEMBERED: usize = 20_000;
/// How long a source is known to be where somebody logs in from.
const KNOWN_MILLIS: i64 = 30 * 24 * 60 * 60 * 1_000;
/// The most that are known.
const MOST_KNOWN: usize = 20_000;

/// What logging in needs, beside the users.
#[derive(Debug)]
pub(crate) struct Logins {
    pub(crate) passwords: Passwords,
    limiter: Mutex<Limiter>,
    /// Under which names and sources are remembered.
    places: InstanceKey,
    own_key: Secret<Vec<u8>>,
    /// In place of the own key, where the deployment has one for all its processes.
    given_key: OnceLock<Secret<Vec<u8>>>,
}

impl Logins {
    /// Logins whose tokens are signed with a key drawn from the instance's.
    pub(crate) fn new(key: &InstanceKey) -> Self {
        Self {
            passwords: Passwords::default(),
            limiter: Mutex::default(),
            places: key.clone(),
            own_key: Secret::new(key.token(&[b"login"]).to_vec()),
            given_key: OnceLock::new(),
        }
    }

    /// Signs with this key from now on. The first one that is given stays.
    pub(crate) fn sign_with(&self, key: Secret<Vec<u8>>) {
        let _ = self.given_key.set(key);
    }

    fn key(&self) -> &[u8] {
        self.given_key.get().unwrap_or(&self.own_key).expose()
    }

    /// The token of somebody who logged in.
    pub(crate) fn token(&self, user: &ActorId, role: Role, now: Timestamp) -> Secret<String> {
        let iat = now.0.div_euclid(1_000);
        let claims = jwt::Claims { sub: user.clone(), role, iat, exp: iat + LIFETIME_SECONDS };
        Secret::new(jwt::sign(self.key(), &claims))
    }

    /// Who logged in to get this token.
    pub(crate) fn verify(&self, token: &str, now: Timestamp) -> Option<ActorId> {
        jwt::verify(self.key(), token, now).map(|claims| claims.sub)
    }

    /// Counts an attempt as a failure before it is known to be none, so that attempts at the same
    /// time count too.
    ///
    /// Failures count for where they come from, never for an account alone: whoever tries passwords
    /// elsewhere can't lock its owner out. Where somebody logged in before, only their own failures
    /// count against them, not what others at the same source do with other accounts.
    ///
    /// # Errors
    /// `RATE_LIMITED` if there were too many already.
    pub(crate) fn attempt(&self, username: &str, source: &str, now: Timestamp) -> Result<(), ControlError> {
        let (pair, source) = self.places(username, source);
        let wait = self.locked(|limiter| limiter.attempt(pair, source, now));
        let Some(millis) = wait else { return Ok(()) };
        let seconds = millis.div_euclid(1_000) + 1;
        Err(ControlError::new(
            WireCode::RateLimited,
            format!("Too many attempts to log in. Try again in {seconds} seconds."),
        )
        .with_meta(serde_json::json!({ "retry_after_seconds": seconds })))
    }

    /// Takes an attempt that succeeded back, with the failures of that source with that account, and
    /// knows the source from then on.
    pub(crate) fn succeeded(&self, username: &str, source: &str, now: Timestamp) {
        let (pair, source) = self.places(username, source);
        self.locked(|limiter| {
            limiter.failures.remove(&pair);
            if let Some(window) = limiter.failures.get_mut(&source) {
                window.count = window.count.saturating_sub(1);
            }
            limiter.know(pair, now);
        });
    }

    /// What counts an attempt: the source with the account, and the source.
    fn places(&self, username: &str, source: &str) -> (Place, Place) {
        let place = |kind: &[u8], account: &str| {
            let digest = self.places.token(&[b"login attempts", kind, account.as_bytes(), source.as_bytes()]);
            let mut short = [0; 16];
            short.copy_from_slice(&digest[..16]);
            Place(short)
        };
        (place(b"pair", username), place(b"source", ""))
    }

    fn locked<T>(&self, change: impl FnOnce(&mut Limiter) -> T) -> T {
        // Counters are valid after every single change.
        change(&mut self.limiter.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// A source, with an account or without, as a keyed digest: of one size however long the name is that
/// somebody tries, and of a value that nobody can choose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Place([u8; 16]);

/// Failures since a moment.
#[derive(Clone, Copy, Debug)]
struct Window {
    since: Timestamp,
    count: u32,
    /// As many as there may be.
    most: u32,
}

impl Window {
    fn is_exhausted(&self) -> bool {
        self.count >= self.most
    }

    fn is_over(&self, now: Timestamp) -> bool {
        now.0 - self.since.0 >= WINDOW_MILLIS
    }
}

#[derive(Debug, Default)]
struct Limiter {
    failures: HashMap<Place, Window>,
    /// The pairs of sources and accounts that logins came from, with the last one. Only who has a
    /// password gets in here, so nobody can crowd others out.
    known: HashMap<Place, Timestamp>,
}

impl Limiter {
    /// Counts an attempt everywhere, or answers for how many milliseconds there may be none.
    fn attempt(&mut self, pair: Place, source: Place, now: Timestamp) -> Option<i64> {
        let known = self.known.get(&pair).is_some_and(|last| now.0 - last.0 < KNOWN_MILLIS);
        let limits = std::iter::once(pair).chain((!known).then_some(source));
        for place in limits {
            if let Some(window) = self.failures.get(&place).filter(|window| !window.is_over(now))
                && window.is_exhausted()
            {
                return Some(WINDOW_MILLIS - (now.0 - window.since.0));
            }
        }
        self.make_room(now);
        for (place, most) in [(pair, MOST_OF_PAIR), (source, MOST_OF_SOURCE)] {
            let empty = Window { since: now, count: 0, most };
            let window = self.failures.entry(place).or_insert(empty);
            if window.is_over(now) {
                *window = empty;
            }
            window.count = window.count.saturating_add(1);
        }
        None
    }

    /// Remembers that a login came from there; if there are too many, the older half is forgotten.
    fn know(&mut self, pair: Place, now: Timestamp) {
        if self.known.len() >= MOST_KNOWN && !self.known.contains_key(&pair) {
            let mut ages: Vec<_> = self.known.values().map(|last| last.0).collect();
            let middle = ages.len() / 2;
            let (_, median, _) = ages.select_nth_unstable(middle);
            let median = *median;
            self.known.retain(|_, last| last.0 > median);
        }
        self.known.insert(pair, now);
    }

    /// Forgets what is over, and if that is not enough, the older half: nobody can take the
    /// server's memory by trying names. Who may not try any more is forgotten after all others, so
    /// that trying other names does not buy more attempts.
    fn make_room(&mut self, now: Timestamp) {
        if self.failures.len() < MOST_REMEMBERED {
            return;
        }
        self.failures.retain(|_, window| !window.is_over(now));
        if self.failures.len() < MOST_REMEMBERED {
            return;
        }
        let rank = |window: &Window| (window.is_exhausted(), window.since.0);
        let mut ranks: Vec<_> = self.failures.values().map(rank).collect();
        let middle = ranks.len() / 2;
        let (_, median, _) = ranks.select_nth_unstable(middle);
        let median = *median;
        self.failures.retain(|_, window| rank(window) > median);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp(1_750_000_000_000);

    fn logins() -> Logins {
        Logins::new(&InstanceKey::from_bytes([7; 32]))
    }

    #[test]
    fn a_source_has_so_many_attempts_with_an_account_and_then_waits() {
        let logins = logins();
        for _ in 0..10 {
            logins.attempt("ada", "10.0.0.1", NOW).expect("one of ten");
        }
        let error = logins.attempt("ada", "10.0.0.1", NOW.plus(60_000)).expect_err("one too many");
        assert_eq!(error.to_string(), "RATE_LIMITED: Too many attempts to log in. Try again in 841 seconds.");
        assert_eq!(error.meta, Some(serde_json::json!({ "retry_after_seconds": 841 })));
        logins.attempt("bob", "10.0.0.1", NOW).expect("somebody else");
        logins.attempt("ada", "10.0.0.1", NOW.plus(15 * 60_000)).expect("the window is over");
    }

    #[test]
    fn failures_elsewhere_do_not_lock_the_owner_out() {
        let logins = logins();
        for source in 0..200 {
            for _ in 0..11 {
                let _ = logins.attempt("ada", &format!("10.0.0.{source}"), NOW);
            }
        }
        logins.attempt("ada", "192.0.2.1", NOW).expect("the owner, from where nobody failed");
    }

    #[test]
    fn where_somebody_logs_in_the_failures_of_others_do_not_count() {
        let logins = logins();
        logins.attempt("ada", "10.0.0.1", NOW).expect("the first");
        logins.succeeded("ada", "10.0.0.1", NOW);
        for user in 0..60 {
            let _ = logins.attempt(&format!("user{user}"), "10.0.0.1", NOW);
        }
        assert!(logins.attempt("bob", "10.0.0.1", NOW).is_err(), "the source has tried too much");
        logins.attempt("ada", "10.0.0.1", NOW.plus(60_000)).expect("known there");
        assert!(logins.attempt("ada", "10.0.0.2", NOW).is_ok());
        for _ in 0..9 {
            logins.attempt("ada", "10.0.0.1", NOW.plus(60_000)).expect("one of ten");
        }
        assert!(logins.attempt("ada", "10.0.0.1", NOW.plus(60_000)).is_err(), "their own failures count");
        let later = NOW.plus(31 * 24 * 3_600_000);
        for user in 0..50 {
            let _ = logins.attempt(&format!("user{user}"), "10.0.0.1", later);
        }
        assert!(logins.attempt("ada", "10.0.0.1", later).is_err(), "it was long ago");
    }

    #[test]
    fn no_account_and_source_read_like_others() {
        let logins = logins();
        assert_ne!(logins.places("ab", "c").0, logins.places("a", "bc").0);
        assert_ne!(logins.places("", "c").0, logins.places("", "c").1);
    }

    #[test]
    fn what_is_known_is_bounded() {
        let logins = logins();
        for number in 0..50_000 {
            logins.succeeded("ada", &format!("source{number}"), NOW.plus(number));
        }
        assert!(logins.locked(|limiter| limiter.known.len()) <= MOST_KNOWN);
        assert!(logins.locked(|limiter| limiter.known.len()) >= MOST_KNOWN / 2 - 1);
    }

    #[test]
    fn a_source_has_so_many_attempts_whoever_it_tries() {
        let logins = logins();
        for user in 0..50 {
            logins.attempt(&format!("user{user}"), "10.0.0.1", NOW).expect("one of fifty");
        }
        assert!(logins.attempt("ada", "10.0.0.1", NOW).is_err());
        assert!(logins.attempt("ada", "10.0.0.2", NOW).is_ok());
    }

    #[test]
    fn success_forgives_the_user_and_does_not_count_for_the_source() {
        let logins = logins();
        for _ in 0..200 {
            logins.attempt("ada", "10.0.0.1", NOW).expect("never too many");
            logins.succeeded("ada", "10.0.0.1", NOW);
        }
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let logins = logins();
        for number in 0..60_000 {
            let at = NOW.plus(number / 100);
            logins.attempt(&format!("user{number}"), &format!("source{number}"), at).expect("the first");
        }
        assert!(logins.locked(|limiter| limiter.failures.len()) <= MOST_REMEMBERED + 1);
    }

    #[test]
    fn who_may_not_try_any_more_is_not_forgotten_for_others() {
        let logins = logins();
        for _ in 0..10 {
            logins.attempt("ada", "10.0.0.1", NOW).expect("one of ten");
        }
        for number in 0..60_000 {
            let at = NOW.plus(1 + number / 100);
            logins.attempt(&format!("user{number}"), &format!("source{number}"), at).expect("the first");
        }
        assert!(logins.attempt("ada", "10.0.0.1", NOW.plus(1_000)).is_err());
    }

    #[test]
    fn a_long_name_is_remembered_in_as_little_as_a_short_one() {
        let logins = logins();
        let name = "x".repeat(1 << 20);
        for _ in 0..10 {
            logins.attempt(&name, "here", NOW).expect("one of ten");
        }
        assert!(logins.attempt(&name, "here", NOW).is_err());
        assert!(logins.attempt(&name[1..], "here", NOW).is_ok(), "another name");
        assert_eq!(size_of::<(Place, Window)>(), 32, "all that is kept of it");
    }

    #[test]
    fn a_token_of_another_key_is_none() {
        let (ours, theirs) = (logins(), Logins::new(&InstanceKey::from_bytes([8; 32])));
        let token = ours.token(&"user_1".into(), Role::Admin, NOW);
        assert_eq!(ours.verify(token.expose(), NOW), Some("user_1".into()));
        assert_eq!(theirs.verify(token.expose(), NOW), None);
        let shared = || Secret::new(b"a secret that all processes share".to_vec());
        ours.sign_with(shared());
        theirs.sign_with(shared());
        assert_eq!(ours.verify(token.expose(), NOW), None);
        let token = ours.token(&"user_1".into(), Role::Admin, NOW);
        assert_eq!(theirs.verify(token.expose(), NOW), Some("user_1".into()));
        assert_eq!(ours.verify(token.expose(), NOW.plus(12 * 3_600_000)), None);
    }
}
