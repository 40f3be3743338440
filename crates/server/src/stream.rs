//! An operation's events as server-sent events.
//!
//! The stream is pulled: it reads the next events only once the connection took the last ones, so
//! a slow client costs no memory.

use crate::failure::ApiFailure;
use crate::router::App;
use crate::routes::operations::is_end;
use crate::views;
use axum::response::sse::{Event, Sse};
use axum::response::{IntoResponse, Response};
use formwork_api::OperationEnd;
use formwork_control::{ControlError, Principal};
use formwork_model::OperationId;
use serde::Serialize;
use std::collections::VecDeque;
use std::convert::Infallible;
use tokio::sync::{OwnedSemaphorePermit, watch};
use tokio::time::Instant;

/// How many events are read at once.
const BATCH: usize = 256;

/// Answers with the events after a cursor, and then with those to come, until the operation is
/// over.
pub(crate) async fn follow(
    app: App,
    principal: Principal,
    operation: OperationId,
    after: u64,
) -> Result<Response, ApiFailure> {
    let place = app.streams.clone().try_acquire_owned().map_err(|_| ApiFailure::busy())?;
    // Whether it is there, and theirs, is answered before the stream begins.
    app.control.operation_events(&principal, &operation, after, 1).await?;
    let now = Instant::now();
    let follower = Follower {
        signal: app.control.event_signal(),
        heartbeat_at: now + app.options.heartbeat,
        ends_at: now + app.options.stream_lifetime,
        principal,
        operation,
        after,
        queue: VecDeque::new(),
        may_be_over: true,
        ended: false,
        app,
        _place: place,
    };
    let events = futures_util::stream::unfold(follower, |mut follower| async move {
        let event = follower.next().await?;
        Some((Ok::<_, Infallible>(event), follower))
    });
    Ok(Sse::new(events).into_response())
}

struct Follower {
    app: App,
    principal: Principal,
    operation: OperationId,
    after: u64,
    queue: VecDeque<Event>,
    signal: watch::Receiver<u64>,
    heartbeat_at: Instant,
    ends_at: Instant,
    /// Whether to look at the operation itself once there are no more events.
    may_be_over: bool,
    ended: bool,
    _place: OwnedSemaphorePermit,
}

impl Follower {
    async fn next(&mut self) -> Option<Event> {
        loop {
            if let Some(event) = self.queue.pop_front() {
                return Some(event);
            }
            if self.ended || self.app.options.shutdown.is_triggered() || Instant::now() >= self.ends_at {
                return None;
            }
            // Marked before it reads, so that an event stored meanwhile wakes it.
            self.signal.borrow_and_update();
            if let Err(error) = self.read().await {
                tracing::warn!(error = &error as &dyn std::error::Error, "an event stream broke off");
                return None;
            }
            if self.queue.is_empty() && !self.ended {
                self.rest().await;
            }
        }
    }

    /// Queues the next events, or the end.
    async fn read(&mut self) -> Result<(), ControlError> {
        let (control, principal) = (&self.app.control, &self.principal);
        let events = control.operation_events(principal, &self.operation, self.after, BATCH).await?;
        if events.is_empty() && self.may_be_over {
            let record = control.operation_record(principal, &self.operation).await?;
            if record.status.is_final() {
                return self.end(record).await;
            }
        }
        for event in events {
            self.after = event.sequence;
            self.may_be_over |= is_end(event.action, event.status);
            let id = event.sequence.to_string();
            self.queue.extend(encoded(Event::default().id(id), &views::operation_event(event)));
        }
        Ok(())
    }

    /// Queues what was written just before the operation ended, and then the end.
    async fn end(&mut self, record: formwork_model::OperationRecord) -> Result<(), ControlError> {
        let (control, principal) = (&self.app.control, &self.principal);
        let late = control.operation_events(principal, &self.operation, self.after, BATCH).await?;
        if !late.is_empty() {
            // They are read by the next round; the operation is over in any case.
            return Ok(());
        }
        let end = OperationEnd {
            operation_id: record.id.to_string(),
            status: record.status,
            error: record.failure.map(Into::into),
        };
        self.queue.extend(encoded(Event::default().event("end"), &end));
        self.ended = true;
        Ok(())
    }

    /// Waits for an event, and says so from time to time.
    async fn rest(&mut self) {
        let poll_at = Instant::now() + self.app.options.poll;
        let wake_at = poll_at.min(self.heartbeat_at).min(self.ends_at);
        tokio::select! {
            _ = self.signal.changed() => {}
            () = tokio::time::sleep_until(wake_at) => {}
            () = self.app.options.shutdown.triggered() => {}
        }
        if Instant::now() >= self.heartbeat_at {
            self.heartbeat_at = Instant::now() + self.app.options.heartbeat;
            self.may_be_over = true;
            let waiting = self.app.control.waiting(&self.operation);
            let waiting: Vec<_> = waiting.iter().map(views::waiting).collect();
            self.queue.push_back(Event::default().comment("heartbeat"));
            self.queue.extend(encoded(Event::default().event("waiting"), &waiting));
        }
    }
}

fn encoded(event: Event, data: &impl Serialize) -> Option<Event> {
    let encoded = event.json_data(data);
    if encoded.is_err() {
        tracing::error!("an event cannot be written");
    }
    encoded.ok()
}
