//! One request and its answer.

use super::{AnswerBody, ApiError, Client, ClientError, TransportError, encode};
use crate::{ErrorBody, WARNING, json};
use bytes::{Bytes, BytesMut};
use formwork_model::Json;
use http_body_util::{BodyExt, Full};
use hyper::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HOST, HeaderName, HeaderValue, USER_AGENT};
use hyper::{Method, Request, Response};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::time::Duration;
use tower::ServiceExt;

/// Where all routes but `/health` are.
pub(super) const BASE: &str = "/api/v1";

/// The methods that the API uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HttpMethod {
    /// Reads.
    Get,
    /// Creates, or asks for something to be done.
    Post,
    /// Replaces.
    Put,
    /// Changes in part.
    Patch,
    /// Deletes.
    Delete,
}

impl From<HttpMethod> for Method {
    fn from(method: HttpMethod) -> Self {
        match method {
            HttpMethod::Get => Self::GET,
            HttpMethod::Post => Self::POST,
            HttpMethod::Put => Self::PUT,
            HttpMethod::Patch => Self::PATCH,
            HttpMethod::Delete => Self::DELETE,
        }
    }
}

/// A successful answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The HTTP status, 200 to 299.
    pub status: u16,
    /// The body; `None` where it is empty.
    pub body: Option<Json>,
    /// What the server warns of: that a formation owns what was changed.
    pub warning: Option<String>,
}

/// A request, as the client's methods build it.
pub(super) struct Call<'a> {
    method: HttpMethod,
    path: String,
    query: String,
    body: Option<Result<Vec<u8>, serde_json::Error>>,
    headers: Vec<(HeaderName, String)>,
    timeout: Option<Duration>,
    client: &'a Client,
}

impl Client {
    /// Sends any request: `path` is below `/api/v1`, each of its segments already encoded
    /// ([`segment`](Self::segment)).
    ///
    /// # Errors
    /// [`ClientError::Api`] for any status that is not a success.
    pub async fn request(
        &self,
        method: HttpMethod,
        path: &str,
        query: &[(&str, &str)],
        body: Option<&Json>,
    ) -> Result<Answer, ClientError> {
        let mut call = self.call(method, path).query(query.iter().copied());
        if let Some(body) = body {
            call = call.body(body);
        }
        call.answer().await
    }

    /// A text as one segment of a path.
    pub fn segment(text: &str) -> String {
        encode::component(text)
    }

    pub(super) fn call(&self, method: HttpMethod, path: impl Into<String>) -> Call<'_> {
        Call {
            method,
            path: path.into(),
            query: String::new(),
            body: None,
            headers: Vec::new(),
            timeout: self.timeout,
            client: self,
        }
    }
}

impl Call<'_> {
    pub(super) fn query<'q>(mut self, pairs: impl IntoIterator<Item = (&'q str, &'q str)>) -> Self {
        self.query = encode::query(pairs);
        self
    }

    pub(super) fn body(mut self, body: &impl Serialize) -> Self {
        self.body = Some(serde_json::to_vec(body));
        self
    }

    pub(super) fn header(mut self, name: HeaderName, value: String) -> Self {
        self.headers.push((name, value));
        self
    }

    /// Waits as long as it takes: for a deploy, which has its own bounds.
    pub(super) fn patient(mut self) -> Self {
        self.timeout = None;
        self
    }

    /// Sends it and reads the whole answer. What only reads is sent once more if the connection
    /// breaks: a server that goes down or a proxy that closes in between must not fail a look.
    pub(super) async fn answer(self) -> Result<Answer, ClientError> {
        let (timeout, again) = (self.timeout, self.again());
        let exchange = async {
            match (self.exchange().await, again) {
                (Err(ClientError::Transport(TransportError::Broken { .. })), Some(again)) => {
                    again.exchange().await
                }
                (answered, _) => answered,
            }
        };
        let (status, bytes, warning) = within(timeout, exchange).await?;
        Ok(Answer { warning, ..understand(status, &bytes)? })
    }

    /// The same request, if it may be sent twice.
    fn again(&self) -> Option<Self> {
        let reads = self.method == HttpMethod::Get && self.body.is_none();
        reads.then(|| Self {
            method: self.method,
            path: self.path.clone(),
            query: self.query.clone(),
            body: None,
            headers: self.headers.clone(),
            timeout: self.timeout,
            client: self.client,
        })
    }

    async fn exchange(self) -> Result<(u16, Bytes, Option<String>), ClientError> {
        let (limit, endpoint) = (self.client.max_answer, self.client.authority.clone());
        let response = self.send().await?;
        let status = response.status().as_u16();
        let warning = response.headers().get(WARNING).and_then(|value| value.to_str().ok());
        let warning = warning.map(str::to_owned);
        let bytes = collect(response.into_body(), limit, &endpoint).await?;
        Ok((status, bytes, warning))
    }

    /// Sends it and decodes the answer.
    pub(super) async fn decoded<T: DeserializeOwned>(self) -> Result<T, ClientError> {
        let Answer { status, body, .. } = self.answer().await?;
        let unexpected = |source| TransportError::Unexpected { status, source: Some(source) };
        Ok(serde_json::from_value(body.unwrap_or_default()).map_err(unexpected)?)
    }

    /// Sends it and leaves the answer's body to be read.
    pub(super) async fn send(self) -> Result<Response<AnswerBody>, ClientError> {
        let client = self.client;
        let request = self.into_request().map_err(|source| TransportError::Unsendable { source })?;
        Ok(client.transport.clone().oneshot(request).await?)
    }

    fn into_request(self) -> Result<Request<Full<Bytes>>, hyper::http::Error> {
        let base = if self.path == "/health" { "" } else { BASE };
        let uri = format!("{}{base}{}{}", self.client.prefix, self.path, self.query);
        let mut request = Request::builder()
            .method(Method::from(self.method))
            .uri(uri)
            .header(HOST, &self.client.authority)
            .header(USER_AGENT, concat!("formwork/", env!("CARGO_PKG_VERSION")));
        if let Some(token) = &self.client.bearer {
            let mut value = HeaderValue::try_from(format!("Bearer {}", token.expose()))?;
            value.set_sensitive(true);
            request = request.header(AUTHORIZATION, value);
        }
        if !self.headers.iter().any(|(name, _)| *name == ACCEPT) {
            request = request.header(ACCEPT, "application/json");
        }
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        let body = match self.body {
            Some(body) => {
                request = request.header(CONTENT_TYPE, "application/json");
                // A body of ours has string keys only and always serialises.
                Bytes::from(body.unwrap_or_default())
            }
            None => Bytes::new(),
        };
        request.body(Full::new(body))
    }
}

/// Bounds the time of an exchange.
pub(super) async fn within<T>(
    timeout: Option<Duration>,
    exchange: impl Future<Output = Result<T, ClientError>>,
) -> Result<T, ClientError> {
    let Some(after) = timeout else { return exchange.await };
    tokio::time::timeout(after, exchange)
        .await
        .unwrap_or_else(|_| Err(TransportError::Timeout { after }.into()))
}

/// Reads a body of at most `limit` bytes.
pub(super) async fn collect(
    mut body: AnswerBody,
    limit: usize,
    endpoint: &str,
) -> Result<Bytes, TransportError> {
    let mut bytes = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let frame =
            frame.map_err(|source| TransportError::Broken { endpoint: endpoint.to_owned(), source })?;
        let Ok(data) = frame.into_data() else { continue };
        if bytes.len() + data.len() > limit {
            return Err(TransportError::TooLarge { limit });
        }
        bytes.extend_from_slice(&data);
    }
    Ok(bytes.freeze())
}

/// Turns status and body into an answer or the server's error.
pub(super) fn understand(status: u16, bytes: &[u8]) -> Result<Answer, ClientError> {
    let succeeded = (200..300).contains(&status);
    if bytes.is_empty() && succeeded {
        return Ok(Answer { status, body: None, warning: None });
    }
    let body = json::parse(bytes, json::ANSWER_DEPTH)
        .map_err(|source| TransportError::NotJson { status, source })?;
    if succeeded {
        return Ok(Answer { status, body: Some(body), warning: None });
    }
    match serde_json::from_value::<ErrorBody>(body) {
        Ok(body) if status >= 400 => Err(ApiError { status, body: body.error }.into()),
        Ok(_) => Err(TransportError::Unexpected { status, source: None }.into()),
        Err(source) => Err(TransportError::Unexpected { status, source: Some(source) }.into()),
    }
}
