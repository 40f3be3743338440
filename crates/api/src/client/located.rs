//! A client whose server is found anew for each request.

use super::{AnswerBody, Client, Transport, TransportError};
use bytes::Bytes;
use http_body_util::Full;
use hyper::{Request, Response};
use std::pin::Pin;
use std::sync::Arc;
use tower::util::BoxCloneSyncService;
use tower::{ServiceExt, service_fn};

/// How often a server is looked for that is gone when a request reaches it.
const TRIES: usize = 5;

/// What [`Locate::locate`] gives.
pub type Located<'a> = Pin<Box<dyn Future<Output = Result<Client, TransportError>> + Send + 'a>>;

/// Knows who answers the next request: a server that may leave at any time, or whoever took its place.
pub trait Locate: Send + Sync + 'static {
    /// A client of the server that answers now. `lost` counts how often, for this request, one that
    /// was given could not be connected to.
    fn locate(&self, lost: usize) -> Located<'_>;
}

impl Client {
    /// A client that asks before each request who answers it, and asks again if that server is gone
    /// before the request reached it. A request that may have reached a server is not sent twice.
    pub fn located(locate: Arc<dyn Locate>) -> Self {
        Self::over(transport(locate), "localhost".to_owned(), String::new())
    }
}

fn transport(locate: Arc<dyn Locate>) -> Transport {
    BoxCloneSyncService::new(service_fn(move |request: Request<Full<Bytes>>| {
        let locate = locate.clone();
        async move { send(&*locate, request).await }
    }))
}

async fn send(
    locate: &dyn Locate,
    request: Request<Full<Bytes>>,
) -> Result<Response<AnswerBody>, TransportError> {
    let mut lost = 0;
    loop {
        let client = locate.locate(lost).await?;
        lost += 1;
        match client.transport.oneshot(request.clone()).await {
            Err(TransportError::Connect { .. }) if lost < TRIES => {}
            answered => return answered,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::{Endpoint, HttpMethod};
    use std::convert::Infallible;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// Gives a server that is gone until the given try.
    struct After(usize, AtomicUsize);

    impl Locate for After {
        fn locate(&self, lost: usize) -> Located<'_> {
            self.1.fetch_add(1, Ordering::Relaxed);
            let gone = Client::new(&Endpoint::unix("/nonexistent/agent.sock"));
            let here = Client::in_process(service_fn(async |_: Request<Full<Bytes>>| {
                Ok::<_, Infallible>(Response::new(Full::new(Bytes::from_static(b"{}"))))
            }));
            let client = if lost < self.0 { gone } else { here };
            Box::pin(async { Ok(client) })
        }
    }

    #[tokio::test]
    async fn a_request_goes_to_whoever_took_the_place_of_a_server_that_is_gone() {
        let locate = Arc::new(After(2, AtomicUsize::new(0)));
        let client = Client::located(locate.clone());
        let answer = client.request(HttpMethod::Post, "/things", &[], None).await.expect("an answer");
        assert_eq!((answer.status, locate.1.load(Ordering::Relaxed)), (200, 3));
    }

    #[tokio::test]
    async fn nobody_is_looked_for_without_end() {
        let locate = Arc::new(After(usize::MAX, AtomicUsize::new(0)));
        let refused = Client::located(locate.clone()).request(HttpMethod::Post, "/things", &[], None).await;
        assert!(matches!(refused, Err(crate::ClientError::Transport(TransportError::Connect { .. }))));
        assert_eq!(locate.1.load(Ordering::Relaxed), TRIES);
    }
}
