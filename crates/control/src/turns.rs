//! Turns at calling handlers on behalf of requests that deploy nothing: validating, planning, looking.
//! A handler is somebody else's server, so how much of it one caller, and all of them together, can
//! take at once is bounded, and so is how many requests wait for it.

use crate::ControlError;
use formwork_model::{ActorId, WireCode};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::Semaphore;

/// The most calls at once, and the most of one caller.
const CALLS: usize = 32;
const CALLS_EACH: usize = 8;
/// The most formations that are looked at at once, and the most of one caller. Each look makes
/// several calls.
const LOOKS: usize = 8;
const LOOKS_EACH: usize = 2;
/// The most requests of one caller that take turns, waiting ones included.
const REQUESTS_EACH: usize = 32;

/// Everybody's turns.
#[derive(Debug)]
pub(crate) struct Turns {
    of_all: Share,
    callers: Mutex<HashMap<ActorId, Caller>>,
}

/// What may run at once.
#[derive(Clone, Debug)]
struct Share {
    calls: Arc<Semaphore>,
    looks: Arc<Semaphore>,
}

#[derive(Debug)]
struct Caller {
    share: Share,
    requests: usize,
}

impl Share {
    fn new(calls: usize, looks: usize) -> Self {
        Self { calls: Arc::new(Semaphore::new(calls)), looks: Arc::new(Semaphore::new(looks)) }
    }
}

impl Default for Turns {
    fn default() -> Self {
        Self { of_all: Share::new(CALLS, LOOKS), callers: Mutex::default() }
    }
}

impl Turns {
    /// A request's place among those of its caller: whoever stands behind the credential.
    ///
    /// # Errors
    /// `RATE_LIMITED` if the caller has too many.
    pub(crate) fn enter(self: &Arc<Self>, who: &ActorId) -> Result<Visit, ControlError> {
        let mut callers = self.callers.lock().unwrap_or_else(PoisonError::into_inner);
        let caller = callers
            .entry(who.clone())
            .or_insert_with(|| Caller { share: Share::new(CALLS_EACH, LOOKS_EACH), requests: 0 });
        if caller.requests >= REQUESTS_EACH {
            return Err(ControlError::new(
                WireCode::RateLimited,
                format!("{REQUESTS_EACH} requests of yours wait for handlers already. Try again later."),
            )
            .with_meta(serde_json::json!({ "retry_after_seconds": 1 })));
        }
        caller.requests += 1;
        Ok(Visit { turns: Arc::clone(self), who: who.clone(), share: caller.share.clone() })
    }
}

/// A request that takes turns.
#[derive(Debug)]
pub(crate) struct Visit {
    turns: Arc<Turns>,
    who: ActorId,
    share: Share,
}

impl Visit {
    /// Makes a call to a handler when it is its turn.
    pub(crate) async fn call<T>(&self, call: impl Future<Output = T>) -> T {
        // One's own turn first: who waits for it holds nothing that others wait for. Neither is ever
        // closed.
        let _own = self.share.calls.acquire().await;
        let _of_all = self.turns.of_all.calls.acquire().await;
        call.await
    }

    /// Looks at a formation's objects when it is its turn.
    pub(crate) async fn look<T>(&self, look: impl Future<Output = T>) -> T {
        let _own = self.share.looks.acquire().await;
        let _of_all = self.turns.of_all.looks.acquire().await;
        look.await
    }
}

impl Drop for Visit {
    fn drop(&mut self) {
        let mut callers = self.turns.callers.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(caller) = callers.get_mut(&self.who) else { return };
        caller.requests -= 1;
        if caller.requests == 0 {
            callers.remove(&self.who);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::future::join_all;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// How many of so many calls for each of these callers run at once, at most.
    async fn at_once(callers: &[&str], calls: usize) -> usize {
        let turns = Arc::new(Turns::default());
        let (running, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let visits: Vec<_> =
            callers.iter().map(|who| turns.enter(&(*who).into()).expect("there is room")).collect();
        let call = || async {
            most.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            tokio::task::yield_now().await;
            running.fetch_sub(1, Ordering::SeqCst);
        };
        join_all(visits.iter().flat_map(|visit| (0..calls).map(|_| visit.call(call())))).await;
        most.load(Ordering::SeqCst)
    }

    #[tokio::test]
    async fn one_caller_and_all_together_are_bounded() {
        assert_eq!(at_once(&["ada"], 100).await, CALLS_EACH);
        assert_eq!(at_once(&["ada", "ada"], 100).await, CALLS_EACH, "however many requests it makes");
        assert_eq!(at_once(&["a", "b", "c", "d", "e", "f", "g"], 100).await, CALLS);
    }

    #[test]
    fn requests_are_bounded_and_forgotten() {
        let turns = Arc::new(Turns::default());
        let who = ActorId::from("ada");
        let visits: Vec<_> = (0..REQUESTS_EACH).map(|_| turns.enter(&who).expect("one of them")).collect();
        assert_eq!(turns.enter(&who).expect_err("too many").code, WireCode::RateLimited);
        assert!(turns.enter(&"bob".into()).is_ok(), "somebody else");
        drop(visits);
        assert!(turns.callers.lock().expect("no panic").is_empty());
        assert!(turns.enter(&who).is_ok());
    }
}
