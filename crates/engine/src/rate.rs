//! How fast a provider may be called: one token bucket per namespace, for all operations.
//!
//! A bucket gives out reservations in the order of the asking. An operation holds at most one
//! that is not yet due, so operations take turns.

use formwork_plugin::ResourcePlugin;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// No pace is slower than this, in calls per second.
const SLOWEST: f64 = 0.2;
/// A provider that throttles is given this long to feel the slower pace before it is slowed again.
const REACTION: Duration = Duration::from_secs(1);

/// The buckets, by namespace.
#[derive(Debug, Default)]
pub(crate) struct Rates(Mutex<BTreeMap<String, Arc<Bucket>>>);

impl Rates {
    /// The bucket of a plugin's namespace.
    pub(crate) fn of(&self, plugin: &dyn ResourcePlugin) -> Arc<Bucket> {
        let mut buckets = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(bucket) = buckets.get(plugin.namespace()) {
            return Arc::clone(bucket);
        }
        let limit = plugin.rate_limit().max_requests_per_second_for_namespace;
        let bucket = Arc::new(Bucket::new((limit > 0).then(|| f64::from(limit)), Instant::now()));
        buckets.insert(plugin.namespace().to_owned(), Arc::clone(&bucket));
        bucket
    }
}

/// The pace of one namespace.
#[derive(Debug)]
pub(crate) struct Bucket(Mutex<Pace>);

#[derive(Debug)]
struct Pace {
    /// What the plugin declares, in calls per second; `None` is no limit.
    declared: Option<f64>,
    /// What is allowed now; `None` is no limit.
    allowed: Option<Allowed>,
    /// When the second began in which calls are counted, and how many there were.
    counting_since: Instant,
    counted: f64,
}

#[derive(Clone, Copy, Debug)]
struct Allowed {
    /// Calls per second.
    rate: f64,
    /// Where it rises to.
    ceiling: f64,
    /// When the next call is due.
    next: Instant,
    /// Until when it was raised for the time that passed.
    raised: Instant,
    /// When it was last lowered.
    lowered: Option<Instant>,
}

impl Bucket {
    fn new(declared: Option<f64>, now: Instant) -> Self {
        let allowed = declared.map(|rate| Allowed::new(rate, rate, now));
        Self(Mutex::new(Pace { declared, allowed, counting_since: now, counted: 0.0 }))
    }

    /// Reserves the next call: `None` if it may be made at once, otherwise when.
    pub(crate) fn reserve(&self, now: Instant) -> Option<Instant> {
        let mut pace = self.lock();
        pace.count(now);
        pace.recover(now);
        let allowed = pace.allowed.as_mut()?;
        let interval = Duration::from_secs_f64(1.0 / allowed.rate);
        // A pause earns at most a tenth of a second's calls, so that no second has many too many.
        let burst = interval.mul_f64((allowed.rate / 10.0 - 1.0).max(0.0));
        let due = allowed.next.max(now.checked_sub(burst).unwrap_or(now));
        allowed.next = due + interval;
        (due > now).then_some(due)
    }

    /// Waits for the next call.
    pub(crate) async fn acquire(&self) {
        if let Some(due) = self.reserve(Instant::now()) {
            tokio::time::sleep_until(due).await;
        }
    }

    /// The provider said THROTTLING: halves the rate. It recovers a twentieth per second.
    pub(crate) fn throttled(&self, now: Instant) {
        let mut pace = self.lock();
        let observed = pace.counted.max(1.0);
        let ceiling = pace.declared.unwrap_or(observed);
        let allowed = pace.allowed.get_or_insert_with(|| Allowed::new(observed, ceiling, now));
        if allowed.lowered.is_some_and(|lowered| now.duration_since(lowered) < REACTION) {
            return;
        }
        allowed.rate = (allowed.rate / 2.0).max(SLOWEST);
        allowed.lowered = Some(now);
        allowed.raised = now;
        tracing::warn!(calls_per_second = allowed.rate, "the provider throttles; calling it more slowly");
    }

    fn lock(&self) -> MutexGuard<'_, Pace> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Allowed {
    fn new(rate: f64, ceiling: f64, now: Instant) -> Self {
        Self { rate, ceiling, next: now, raised: now, lowered: None }
    }
}

impl Pace {
    fn count(&mut self, now: Instant) {
        if now.duration_since(self.counting_since) >= Duration::from_secs(1) {
            self.counting_since = now;
            self.counted = 0.0;
        }
        self.counted += 1.0;
    }

    fn recover(&mut self, now: Instant) {
        let Some(allowed) = self.allowed.as_mut() else { return };
        if allowed.rate >= allowed.ceiling {
            return;
        }
        let seconds = now.duration_since(allowed.raised).as_secs_f64();
        allowed.rate = (allowed.rate + seconds * allowed.ceiling / 20.0).min(allowed.ceiling);
        allowed.raised = now;
        if allowed.rate >= allowed.ceiling && self.declared.is_none() {
            self.allowed = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many calls a bucket allows within some seconds, asked one after the other.
    fn calls_within(bucket: &Bucket, start: Instant, seconds: f64) -> u32 {
        let end = start + Duration::from_secs_f64(seconds);
        let (mut now, mut calls) = (start, 0);
        while now <= end {
            now = bucket.reserve(now).unwrap_or(now).max(now + Duration::from_micros(1));
            calls += u32::from(now <= end);
        }
        calls
    }

    #[test]
    fn a_declared_limit_holds_over_any_time() {
        let start = Instant::now();
        let bucket = Bucket::new(Some(10.0), start);
        let calls = calls_within(&bucket, start, 5.0);
        assert!((49..=52).contains(&calls), "{calls}");
    }

    #[test]
    fn without_a_limit_every_call_is_made_at_once() {
        let start = Instant::now();
        let bucket = Bucket::new(None, start);
        assert!((0..10_000).all(|_| bucket.reserve(start).is_none()));
    }

    #[test]
    fn throttling_halves_the_rate_once_per_reaction_time() {
        let start = Instant::now();
        let bucket = Bucket::new(Some(100.0), start);
        bucket.throttled(start);
        bucket.throttled(start + Duration::from_millis(10));
        let calls = calls_within(&bucket, start, 1.0);
        assert!((50..=60).contains(&calls), "{calls}");
    }

    #[test]
    fn the_rate_recovers_to_the_declared_limit_and_no_further() {
        let start = Instant::now();
        let bucket = Bucket::new(Some(100.0), start);
        bucket.throttled(start);
        calls_within(&bucket, start, 60.0);
        let calls = calls_within(&bucket, start + Duration::from_secs(60), 10.0);
        assert!((990..=1020).contains(&calls), "{calls}");
    }

    #[test]
    fn an_unlimited_provider_that_throttles_is_slowed_and_later_unlimited_again() {
        let start = Instant::now();
        let bucket = Bucket::new(None, start);
        for _ in 0..100 {
            assert!(bucket.reserve(start).is_none());
        }
        bucket.throttled(start);
        let calls = calls_within(&bucket, start, 1.0);
        assert!((45..=60).contains(&calls), "{calls}");
        let later = start + Duration::from_secs(60);
        bucket.reserve(later);
        assert!((0..1000).all(|_| bucket.reserve(later).is_none()));
    }

    #[test]
    fn no_amount_of_throttling_stops_all_calls() {
        let start = Instant::now();
        let bucket = Bucket::new(Some(1.0), start);
        for second in 0..20 {
            bucket.throttled(start + Duration::from_secs(second * 2));
        }
        let now = start + Duration::from_secs(40);
        let due = bucket.reserve(now).unwrap_or(now);
        assert!(due <= now + Duration::from_secs(6));
    }
}
