//! Futures that are ready at once.

use std::pin::pin;
use std::task::{Context, Poll, Waker};

/// The result of a future that never waits.
///
/// # Panics
/// If it waits. The simulator's store is in memory and answers at once, so a future that waits is
/// a mistake of the simulator.
pub fn ready<T>(future: impl Future<Output = T>) -> T {
    let mut context = Context::from_waker(Waker::noop());
    match pin!(future).poll(&mut context) {
        Poll::Ready(result) => result,
        Poll::Pending => unreachable!("a store in memory answers at once"),
    }
}
