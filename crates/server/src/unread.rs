//! What the HTTP library answers by itself, in the one shape of errors.
//!
//! A request that is no HTTP, or whose head is too large, reaches no route: the library answers with a
//! bare status and closes. Such an answer is known by when it is written, not by what it looks like:
//! nobody has been asked for an answer, or the last one has left. What is written then is written anew,
//! with the body that all errors have.

use axum::body::{Body, Bytes};
use axum::http::StatusCode;
use axum::response::Response;
use formwork_api::{ErrorBody, ErrorDetail};
use formwork_model::WireCode;
use hyper::body::{Frame, SizeHint};
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Nobody answers: what is written is the library's.
const SILENT: u8 = 0;
/// A request is being answered.
const ANSWERING: u8 = 1;
/// The whole answer is with the library, which may still be writing it.
const ANSWERED: u8 = 2;

/// Who speaks on a connection.
#[derive(Clone, Debug, Default)]
pub(crate) struct Turn(Arc<AtomicU8>);

impl Turn {
    /// A request arrived whole, and is going to be answered.
    pub(crate) fn begin(&self) {
        self.0.store(ANSWERING, Ordering::Relaxed);
    }

    /// The answer, which ends the turn when the library has taken all of it.
    pub(crate) fn ending_with(&self, response: Response) -> Response {
        let turn = Self(Arc::clone(&self.0));
        response.map(|body| Body::new(Spoken { body, turn }))
    }

    fn is_silent(&self) -> bool {
        self.0.load(Ordering::Relaxed) == SILENT
    }

    /// Everything that was said is on its way.
    fn flushed(&self) {
        let _ = self.0.compare_exchange(ANSWERED, SILENT, Ordering::Relaxed, Ordering::Relaxed);
    }
}

/// A body that tells when it is gone.
struct Spoken {
    body: Body,
    turn: Turn,
}

impl Drop for Spoken {
    fn drop(&mut self) {
        self.turn.0.store(ANSWERED, Ordering::Relaxed);
    }
}

impl hyper::body::Body for Spoken {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// A connection on which the library's own answers have a body.
pub(crate) struct Worded<S> {
    stream: S,
    turn: Turn,
    /// What is written in place of the library's answer, as far as it has not left.
    instead: Bytes,
    /// How many bytes of the library's answer it stands for.
    taken: usize,
}

impl<S> Worded<S> {
    pub(crate) fn new(stream: S, turn: Turn) -> Self {
        Self { stream, turn, instead: Bytes::new(), taken: 0 }
    }
}

impl<S: AsyncWrite + Unpin> Worded<S> {
    /// Writes what stands for an answer of the library's, all of it.
    fn write_instead(&mut self, context: &mut Context<'_>) -> Poll<io::Result<usize>> {
        while !self.instead.is_empty() {
            let written = ready!(Pin::new(&mut self.stream).poll_write(context, &self.instead))?;
            if written == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            let _ = self.instead.split_to(written);
        }
        Poll::Ready(Ok(std::mem::take(&mut self.taken)))
    }

    /// Whether these bytes are an answer of the library's, whose turn it then is.
    fn takes(&mut self, bytes: &[u8]) -> bool {
        if self.taken == 0
            && self.turn.is_silent()
            && let Some(worded) = worded(bytes)
        {
            (self.instead, self.taken) = (worded, bytes.len());
        }
        self.taken > 0
    }
}

/// The library's answer with a body; `None` for what is no error.
fn worded(head: &[u8]) -> Option<Bytes> {
    let status = head.strip_prefix(b"HTTP/1.1 ")?.get(..3)?;
    let status = StatusCode::from_bytes(status).ok().filter(StatusCode::is_client_error)?;
    let message = match status {
        StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE => "The head of the request is too large",
        StatusCode::URI_TOO_LONG => "The path and query of the request are too long",
        _ => "The request is not HTTP/1.1 as it should be",
    };
    let error = ErrorDetail {
        code: WireCode::RequestRejected.as_str().to_owned(),
        message: message.into(),
        meta: None,
    };
    let body = serde_json::to_string(&ErrorBody { error }).ok()?;
    let reason = status.canonical_reason().unwrap_or_default();
    let length = body.len();
    let code = status.as_u16();
    Some(Bytes::from(format!(
        "HTTP/1.1 {code} {reason}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\
         connection: close\r\nx-content-type-options: nosniff\r\ncache-control: no-store\r\n\r\n{body}"
    )))
}

impl<S: AsyncRead + Unpin> AsyncRead for Worded<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Worded<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        if self.takes(bytes) {
            return self.write_instead(context);
        }
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let first = slices.iter().find(|slice| !slice.is_empty());
        if first.is_some_and(|first| self.takes(first)) {
            return self.write_instead(context);
        }
        Pin::new(&mut self.stream).poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(Pin::new(&mut self.stream).poll_flush(context))?;
        // The library flushes only when it has written everything.
        self.turn.flushed();
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
