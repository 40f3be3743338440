//! The client against a scripted server: what it sends and how it takes answers.

use super::*;
use crate::{CreateProject, ErrorDetail};
use std::convert::Infallible;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, UnixListener};

/// Answers each request with the next answer, and keeps what it was sent.
#[derive(Clone, Default)]
struct Script {
    answers: Arc<Mutex<Vec<(u16, String)>>>,
    seen: Arc<Mutex<Vec<String>>>,
}

impl Script {
    fn of(answers: &[(u16, &str)]) -> Self {
        let answers = answers.iter().rev().map(|(status, body)| (*status, (*body).to_owned())).collect();
        Self { answers: Arc::new(Mutex::new(answers)), seen: Arc::default() }
    }

    fn client(&self) -> Client {
        let script = self.clone();
        Client::in_process(tower::service_fn(move |request: Request<Full<Bytes>>| {
            let script = script.clone();
            async move {
                let mut seen = format!("{} {}", request.method(), request.uri());
                for name in ["authorization", "last-event-id", "content-type"] {
                    if let Some(value) = request.headers().get(name) {
                        let _ = write!(seen, " {name}={}", value.to_str().unwrap_or("?"));
                    }
                }
                script.seen.lock().expect("no panic").push(seen);
                let (status, body) =
                    script.answers.lock().expect("no panic").pop().unwrap_or((500, String::new()));
                let response = Response::builder().status(status).body(Full::new(Bytes::from(body)));
                Ok::<_, Infallible>(response.expect("a valid status"))
            }
        }))
    }

    fn seen(&self) -> Vec<String> {
        self.seen.lock().expect("no panic").clone()
    }
}

const PROJECT: &str = r#"{"id":"proj_1","name":"p","created_at":"2026-01-01T00:00:00.000Z","updated_at":"2026-01-01T00:00:00.000Z"}"#;

#[tokio::test]
async fn requests_name_method_path_and_token() {
    let script = Script::of(&[(200, PROJECT), (201, PROJECT), (204, "")]);
    let client = script.client().with_bearer(Some(Secret::new("t0ken".to_owned())));
    assert_eq!(client.get_project("a/b").await.expect("answered").id, "proj_1");
    client.create_project(&CreateProject { name: "p".to_owned() }).await.expect("answered");
    client.delete_resource("agents", "agent_1", true).await.expect("answered");
    assert_eq!(
        script.seen(),
        [
            "GET /api/v1/projects/a%2Fb authorization=Bearer t0ken",
            "POST /api/v1/projects authorization=Bearer t0ken content-type=application/json",
            "DELETE /api/v1/agents/agent_1?force=true authorization=Bearer t0ken",
        ]
    );
    assert!(!format!("{client:?}").contains("t0ken"));
}

#[tokio::test]
async fn an_error_answer_is_data() {
    let body = r#"{"error":{"code":"NAME_CONFLICT","message":"taken","meta":{"by":"x"}}}"#;
    let error = Script::of(&[(409, body)]).client().get_project("p").await.expect_err("refused");
    let expected = ErrorDetail {
        code: "NAME_CONFLICT".to_owned(),
        message: "taken".to_owned(),
        meta: Some(serde_json::json!({"by": "x"})),
    };
    assert_eq!(error.api(), Some(&ApiError { status: 409, body: expected }));
}

#[tokio::test]
async fn answers_of_something_else_are_transport_errors() {
    let answers =
        [(200, "<html>"), (502, "Bad Gateway"), (200, "{}"), (302, PROJECT), (404, "{\"message\":\"no\"}")];
    let client = Script::of(&answers).client();
    let mut shown = Vec::new();
    for _ in answers {
        shown.push(client.get_project("p").await.expect_err("not understood").to_string());
    }
    insta::assert_snapshot!(shown.join("\n"), @r"
    the answer (HTTP 200) is not JSON: is this a Formwork server?
    the answer (HTTP 502) is not JSON: is this a Formwork server?
    the answer (HTTP 200) does not have the expected shape
    the answer (HTTP 302) does not have the expected shape
    the answer (HTTP 404) does not have the expected shape
    ");
}

#[tokio::test]
async fn an_answer_beyond_the_limit_is_refused() {
    let client = Script::of(&[(200, PROJECT)]).client().with_max_answer(PROJECT.len() - 1);
    let error = client.get_project("p").await.expect_err("too large");
    assert!(matches!(error, ClientError::Transport(TransportError::TooLarge { .. })));
}

#[tokio::test]
async fn a_token_that_no_header_can_hold_is_not_sent() {
    let client = Script::default().client().with_bearer(Some(Secret::new("a\nb".to_owned())));
    let error = client.get_project("p").await.expect_err("unsendable");
    assert!(matches!(error, ClientError::Transport(TransportError::Unsendable { .. })));
}

#[tokio::test]
async fn a_server_that_is_not_there_is_named() {
    let error = Client::new(&Endpoint::unix("/nowhere/agent.sock")).health().await.expect_err("not there");
    assert_eq!(error.to_string(), "cannot connect to `unix:/nowhere/agent.sock`");
}

const RAW: &[u8] =
    b"HTTP/1.1 200 OK\r\ncontent-length: 15\r\ncontent-type: application/json\r\n\r\n{\"status\":\"ok\"}";

#[tokio::test]
async fn a_unix_socket_serves_the_same_requests() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("agent.sock");
    let listener = UnixListener::bind(&path).expect("bound");
    let server = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.expect("a client");
        let mut request = vec![0; 4096];
        let read = stream.read(&mut request).await.expect("a request");
        stream.write_all(RAW).await.expect("answered");
        String::from_utf8_lossy(&request[..read]).into_owned()
    });
    let answer = Client::new(&Endpoint::unix(&path)).health().await.expect("answered");
    assert_eq!(answer["status"], "ok");
    let request = server.await.expect("no panic");
    assert!(request.starts_with("GET /health HTTP/1.1\r\nhost: localhost\r\n"), "{request}");
}

/// A server that breaks the first connections, each after its request came and so many bytes of the
/// answer went, and answers the next. It counts the connections.
async fn breaking(cuts: &'static [usize]) -> (Client, Arc<Mutex<usize>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("bound");
    let endpoint: Endpoint =
        format!("http://{}", listener.local_addr().expect("an address")).parse().expect("an endpoint");
    let counted = Arc::new(Mutex::new(0));
    let count = Arc::clone(&counted);
    tokio::spawn(async move {
        for cut in cuts.iter().copied().chain([RAW.len()]) {
            let (mut stream, _) = listener.accept().await.expect("a client");
            *count.lock().expect("no panic") += 1;
            let read = stream.read(&mut [0; 4096]).await.expect("a request");
            assert!(read > 0, "a request came");
            stream.write_all(&RAW[..cut]).await.expect("it still listens");
        }
    });
    (Client::new(&endpoint), counted)
}

#[tokio::test]
async fn a_read_whose_connection_breaks_is_sent_once_more_and_no_oftener() {
    const NEARLY_ALL: usize = RAW.len() - 1;
    for cuts in [&[0], &[NEARLY_ALL]] {
        let (client, connections) = breaking(cuts).await;
        assert_eq!(client.health().await.expect("the second is answered")["status"], "ok");
        assert_eq!(*connections.lock().expect("no panic"), 2);
    }
    let (client, connections) = breaking(&[0, 0]).await;
    let error = client.health().await.expect_err("broken twice");
    assert!(matches!(error, ClientError::Transport(TransportError::Broken { .. })), "{error:?}");
    assert_eq!(*connections.lock().expect("no panic"), 2);
}

#[tokio::test]
async fn what_may_have_an_effect_is_sent_once() {
    for method in [HttpMethod::Post, HttpMethod::Put, HttpMethod::Patch, HttpMethod::Delete] {
        let (client, connections) = breaking(&[0]).await;
        let error = client.request(method, "/x", &[], None).await.expect_err("broken");
        assert!(matches!(error, ClientError::Transport(TransportError::Broken { .. })), "{error:?}");
        assert_eq!(*connections.lock().expect("no panic"), 1, "{method:?}");
    }
}

#[tokio::test]
async fn a_tcp_server_that_stays_silent_is_given_up() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("bound");
    let endpoint: Endpoint =
        format!("http://{}", listener.local_addr().expect("an address")).parse().expect("an endpoint");
    let client = Client::new(&endpoint).with_timeout(Some(Duration::from_millis(50)));
    let error = client.health().await.expect_err("silent");
    assert!(matches!(error, ClientError::Transport(TransportError::Timeout { .. })), "{error:?}");
}

fn event(sequence: u64) -> String {
    let data = serde_json::json!({
        "sequence": sequence, "timestamp": "2026-01-01T00:00:00.000Z", "operation_id": "form_op_1",
        "formation_id": "form_1", "action": "create", "status": "succeeded",
    });
    format!("id: {sequence}\ndata: {data}\n\n")
}

const END: &str = "event: end\ndata: {\"operation_id\":\"form_op_1\",\"status\":\"succeeded\"}\n\n";

#[tokio::test(start_paused = true)]
async fn a_broken_stream_goes_on_where_it_broke_off() {
    let first = format!("{}{}data: {{\"cut", event(1), event(2));
    let second = format!("{}{}event: waiting\ndata: []\n\n{END}", event(2), event(3));
    let script = Script::of(&[(200, &first), (502, "oops"), (200, &second)]);
    let mut stream = script.client().follow_operation("form_op_1", 0);
    let mut seen = Vec::new();
    while let Some(item) = stream.next().await.expect("it recovers") {
        seen.push(match item {
            StreamItem::Event(event) => event.sequence.to_string(),
            StreamItem::Waiting(_) => "waiting".to_owned(),
            StreamItem::End(_) => "end".to_owned(),
        });
    }
    assert_eq!(seen, ["1", "2", "3", "waiting", "end"]);
    assert_eq!(stream.after(), 3);
    let cursors: Vec<_> =
        script.seen().iter().filter_map(|it| it.split("last-event-id=").nth(1).map(str::to_owned)).collect();
    assert_eq!(cursors, ["0", "2", "2"]);
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_never_recovers_ends_in_an_error() {
    let mut stream = Script::default().client().follow_operation("form_op_1", 0);
    assert!(matches!(stream.next().await, Err(ClientError::Transport(_))));
}

#[tokio::test]
async fn a_refused_stream_is_the_servers_error() {
    let body = r#"{"error":{"code":"RESOURCE_NOT_FOUND","message":"no"}}"#;
    let script = Script::of(&[(404, body)]);
    let error = script.client().follow_operation("x", 0).next().await.expect_err("refused");
    assert_eq!(error.api().map(|error| error.status), Some(404));
    assert_eq!(script.seen().len(), 1, "a refusal is not tried again");
}
