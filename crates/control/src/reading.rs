//! Work that takes the processor for long, such as reading a template that was sent: beside the
//! tasks that answer others, and no more of it at once than there are processors.

use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::sync::Semaphore;

/// Who may read something large now.
#[derive(Debug)]
pub(crate) struct Reading(Semaphore);

impl Default for Reading {
    fn default() -> Self {
        Self(Semaphore::new(std::thread::available_parallelism().map_or(1, usize::from)))
    }
}

impl Reading {
    /// Does the work once it is its turn, while others are answered.
    pub(crate) async fn run<T>(&self, work: impl FnOnce() -> T) -> T {
        let _place = self.0.acquire().await;
        match Handle::current().runtime_flavor() {
            RuntimeFlavor::MultiThread => tokio::task::block_in_place(work),
            // A runtime of one thread serves one command; there is nobody else.
            _ => work(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    #[tokio::test(flavor = "multi_thread", worker_threads = 1)]
    async fn others_are_answered_while_something_is_read() {
        let (ask, asked) = std::sync::mpsc::channel();
        let (answer, answered) = std::sync::mpsc::channel();
        let reading = tokio::spawn(async move {
            let ask_and_wait = move || {
                ask.send(()).expect("somebody listens");
                answered.recv_timeout(Duration::from_secs(20)).is_ok()
            };
            Reading::default().run(ask_and_wait).await
        });
        asked.recv_timeout(Duration::from_secs(20)).expect("it began");
        tokio::spawn(async move { answer.send(()) });
        assert!(reading.await.expect("it ends"), "the only worker was held up");
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn no_more_is_read_at_once_than_there_are_processors() {
        let reading = Arc::new(Reading(Semaphore::new(2)));
        let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let tasks: Vec<_> = (0..8)
            .map(|_| {
                let (reading, now, most) = (reading.clone(), now.clone(), most.clone());
                tokio::spawn(async move {
                    let work = || {
                        most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                        std::thread::sleep(Duration::from_millis(5));
                        now.fetch_sub(1, Ordering::SeqCst);
                    };
                    reading.run(work).await;
                })
            })
            .collect();
        for task in tasks {
            task.await.expect("it ends");
        }
        assert!((1..=2).contains(&most.load(Ordering::SeqCst)));
    }
}
