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
/// The most failures of one user within that.
const MOST_OF_USER: u32 = 10;
/// The most failures from one source within that.
const MOST_OF_SOURCE: u32 = 50;
/// The most users and sources that are remembered.
const MOST_REMEMBERED: usize = 20_000;

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
    /// # Errors
    /// `RATE_LIMITED` if there were too many already.
    pub(crate) fn attempt(&self, username: &str, source: &str, now: Timestamp) -> Result<(), ControlError> {
        let wait = self.locked(|limiter| limiter.attempt(&self.places(username, source), now));
        let Some(millis) = wait else { return Ok(()) };
        let seconds = millis.div_euclid(1_000) + 1;
        Err(ControlError::new(
            WireCode::RateLimited,
            format!("Too many attempts to log in. Try again in {seconds} seconds."),
        )
        .with_meta(serde_json::json!({ "retry_after_seconds": seconds })))
    }

    /// Takes an attempt that succeeded back, and the user's failures with it.
    pub(crate) fn succeeded(&self, username: &str, source: &str) {
        let [user, source] = self.places(username, source).map(|(place, _)| place);
        self.locked(|limiter| {
            limiter.failures.remove(&user);
            if let Some(window) = limiter.failures.get_mut(&source) {
                window.count = window.count.saturating_sub(1);
            }
        });
    }

    /// Who counts an attempt, with the most of each.
    fn places(&self, username: &str, source: &str) -> [(Place, u32); 2] {
        let place = |kind: &[u8], text: &str| {
            let digest = self.places.token(&[b"login attempts", kind, text.as_bytes()]);
            let mut short = [0; 16];
            short.copy_from_slice(&digest[..16]);
            Place(short)
        };
        [(place(b"user", username), MOST_OF_USER), (place(b"source", source), MOST_OF_SOURCE)]
    }

    fn locked<T>(&self, change: impl FnOnce(&mut Limiter) -> T) -> T {
        // Counters are valid after every single change.
        change(&mut self.limiter.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// A user or a source, as a keyed digest: of one size however long the name is that somebody tries,
/// and of a value that nobody can choose.
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
}

impl Limiter {
    /// Counts an attempt everywhere, or answers for how many milliseconds there may be none.
    fn attempt(&mut self, places: &[(Place, u32)], now: Timestamp) -> Option<i64> {
        for (place, _) in places {
            if let Some(window) = self.failures.get(place).filter(|window| !window.is_over(now))
                && window.is_exhausted()
            {
                return Some(WINDOW_MILLIS - (now.0 - window.since.0));
            }
        }
        self.make_room(now);
        for (place, most) in places {
            let empty = Window { since: now, count: 0, most: *most };
            let window = self.failures.entry(*place).or_insert(empty);
            if window.is_over(now) {
                *window = empty;
            }
            window.count += 1;
        }
        None
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
    fn a_user_has_so_many_attempts_and_then_waits() {
        let logins = logins();
        for source in 0..10 {
            logins.attempt("ada", &format!("10.0.0.{source}"), NOW).expect("one of ten");
        }
        let error = logins.attempt("ada", "elsewhere", NOW.plus(60_000)).expect_err("one too many");
        assert_eq!(error.to_string(), "RATE_LIMITED: Too many attempts to log in. Try again in 841 seconds.");
        assert_eq!(error.meta, Some(serde_json::json!({ "retry_after_seconds": 841 })));
        logins.attempt("bob", "elsewhere", NOW).expect("somebody else");
        logins.attempt("ada", "elsewhere", NOW.plus(15 * 60_000)).expect("the window is over");
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
            logins.succeeded("ada", "10.0.0.1");
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
        for source in 0..10 {
            logins.attempt("ada", &format!("10.0.0.{source}"), NOW).expect("one of ten");
        }
        for number in 0..60_000 {
            let at = NOW.plus(1 + number / 100);
            logins.attempt(&format!("user{number}"), &format!("source{number}"), at).expect("the first");
        }
        assert!(logins.attempt("ada", "elsewhere", NOW.plus(1_000)).is_err());
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
