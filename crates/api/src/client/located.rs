//! A client whose server is found anew for each request.

use super::call::collect;
use super::{AnswerBody, BoxError, Client, Transport, TransportError};
use crate::ErrorBody;
use bytes::Bytes;
use formwork_model::WireCode;
use http_body_util::{BodyExt, Full};
use hyper::{Request, Response, StatusCode};
use std::pin::Pin;
use std::sync::Arc;
use tower::util::BoxCloneSyncService;
use tower::{ServiceExt, service_fn};

/// How many times, for one request, a server is looked for.
const TRIES: usize = 5;
/// The most bytes of a refusal that may say that the server stops.
const MAX_REFUSAL: usize = 64 << 10;

/// What [`Locate::locate`] gives.
pub type Located<'a> = Pin<Box<dyn Future<Output = Result<Client, TransportError>> + Send + 'a>>;

/// Knows who answers the next request: a server that may leave at any time, or whoever took its place.
pub trait Locate: Send + Sync + 'static {
    /// A client of the server that answers now.
    ///
    /// # Errors
    /// There is none: [`TransportError::Locate`].
    fn locate(&self) -> Located<'_>;
}

impl Client {
    /// A client that asks before each request who answers it, and asks again if that server is gone
    /// before the request reached it, or stops and says that it began nothing. A request that may have had
    /// an effect is not sent twice.
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
    for _ in 1..TRIES {
        let client = locate.locate().await?;
        match client.transport.clone().oneshot(request.clone()).await {
            Err(TransportError::Connect { .. }) => {}
            Ok(response) if response.status() == StatusCode::SERVICE_UNAVAILABLE => {
                let (stops, response) = read_refusal(response, &client.authority).await?;
                if !stops {
                    return Ok(response);
                }
            }
            answered => return answered,
        }
    }
    locate.locate().await?.transport.oneshot(request).await
}

/// Whether a refusal says that the server stops; and the refusal, to be read again.
async fn read_refusal(
    response: Response<AnswerBody>,
    authority: &str,
) -> Result<(bool, Response<AnswerBody>), TransportError> {
    let (head, body) = response.into_parts();
    let bytes = collect(body, MAX_REFUSAL, authority).await?;
    let told = serde_json::from_slice::<ErrorBody>(&bytes);
    let stops = told.is_ok_and(|told| told.error.code == WireCode::ShuttingDown.as_str());
    let body = Full::new(bytes).map_err(BoxError::from).boxed_unsync();
    Ok((stops, Response::from_parts(head, body)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::{ClientError, Endpoint, HttpMethod};
    use std::convert::Infallible;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// Gives servers that answer nothing at first.
    struct After {
        client: Client,
        until: usize,
        asked: AtomicUsize,
    }

    impl Locate for After {
        fn locate(&self) -> Located<'_> {
            let asked = self.asked.fetch_add(1, Ordering::Relaxed);
            let here = answering(StatusCode::OK, "{}");
            let client = if asked < self.until { self.client.clone() } else { here };
            Box::pin(async { Ok(client) })
        }
    }

    fn answering(status: StatusCode, text: &'static str) -> Client {
        Client::in_process(service_fn(move |_: Request<Full<Bytes>>| async move {
            let mut response = Response::new(Full::new(Bytes::from_static(text.as_bytes())));
            *response.status_mut() = status;
            Ok::<_, Infallible>(response)
        }))
    }

    /// What a write is answered if the first servers are like this one, and how many were asked.
    async fn answered(client: Client, until: usize) -> (Result<u16, ClientError>, usize) {
        let locate = Arc::new(After { client, until, asked: AtomicUsize::new(0) });
        let answer = Client::located(locate.clone()).request(HttpMethod::Post, "/things", &[], None).await;
        (answer.map(|answer| answer.status), locate.asked.load(Ordering::Relaxed))
    }

    const STOPS: &str = r#"{"error":{"code":"SHUTTING_DOWN","message":"it stops"}}"#;
    const BUSY: &str = r#"{"error":{"code":"REQUEST_TIMEOUT","message":"it is busy"}}"#;

    #[tokio::test]
    async fn a_request_goes_to_whoever_took_the_place_of_a_server_that_is_gone() {
        let gone = Client::new(&Endpoint::unix("/nonexistent/agent.sock"));
        for client in [gone, answering(StatusCode::SERVICE_UNAVAILABLE, STOPS)] {
            let (answer, asked) = answered(client, 2).await;
            assert_eq!((answer.expect("an answer"), asked), (200, 3));
        }
    }

    #[tokio::test]
    async fn a_request_that_may_have_had_an_effect_is_not_sent_twice() {
        let (answer, asked) = answered(answering(StatusCode::SERVICE_UNAVAILABLE, BUSY), 2).await;
        let refused = answer.expect_err("busy");
        assert_eq!((refused.api().expect("an answer").body.message.as_str(), asked), ("it is busy", 1));
    }

    #[tokio::test]
    async fn nobody_is_looked_for_without_end() {
        let gone = Client::new(&Endpoint::unix("/nonexistent/agent.sock"));
        let (refused, asked) = answered(gone, usize::MAX).await;
        assert!(matches!(refused, Err(ClientError::Transport(TransportError::Connect { .. }))));
        assert_eq!(asked, TRIES);
    }
}
