//! Users, logins, and who may administer them.

use crate::people::{PASSWORD, allow};
use crate::world::{ADMIN, World};
use formwork_server::{Exposure, Listeners, ServerOptions, Shutdown, run};
use serde_json::json;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

fn ada() -> serde_json::Value {
    json!({ "username": "ada", "password": PASSWORD })
}

#[tokio::test]
async fn the_first_user_is_an_admin_and_is_made_once() {
    let world = World::new().await;
    let owner = world.bearing("");
    let made = owner.post("/users/bootstrap", ada()).await;
    assert_eq!(made.status, 201, "{}", made.text);
    assert_eq!((&made.body["username"], &made.body["role"]), (&json!("ada"), &json!("admin")));
    let again = owner.post("/users/bootstrap", json!({ "username": "eve", "password": PASSWORD })).await;
    assert_eq!(again.outcome(), (409, "BOOTSTRAP_ALREADY_COMPLETED"));
    let login = owner.post("/users/login", ada()).await;
    assert_eq!((login.status, &login.body["id"]), (200, &made.body["id"]));
    let ada = world.bearing(login.body["token"].as_str().expect("a token"));
    assert_eq!(ada.get("/users/me").await.body, made.body);
    assert_eq!(ada.get("/users").await.body["total"], 1);
    assert_eq!(ada.post("/projects", json!({ "name": "p" })).await.status, 201);
}

#[tokio::test]
async fn over_the_network_only_the_admin_token_makes_the_first_user() {
    let world = World::new().await;
    let (shutdown, mut listeners) = (Shutdown::new(), Listeners::new());
    let any = "0.0.0.0:0".parse().expect("an address");
    let bound = listeners.tcp(any, Exposure::Network).await.expect("users may come in");
    let options = ServerOptions { shutdown: shutdown.clone(), ..ServerOptions::default() };
    let server = tokio::spawn(run(world.control.clone(), listeners, options, Duration::from_secs(1)));
    let endpoint: formwork_api::Endpoint =
        format!("http://127.0.0.1:{}", bound.port()).parse().expect("a URL");
    let client = |token: Option<&str>| {
        let bearer = token.map(|token| formwork_model::Secret::new(token.to_owned()));
        formwork_api::Client::new(&endpoint).with_bearer(bearer)
    };
    let credentials = formwork_api::Credentials { username: "ada".to_owned(), password: PASSWORD.to_owned() };
    for stranger in [None, Some("sk_guess")] {
        let refused = client(stranger).bootstrap_user(&credentials).await.expect_err("refused");
        assert!(refused.to_string().contains("UNAUTHORIZED"), "{refused}");
    }
    client(Some(ADMIN)).bootstrap_user(&credentials).await.expect("made");
    let login = client(None).login_user(&credentials).await.expect("logged in");
    assert_eq!(client(Some(&login.token)).get_current_user().await.expect("ada").username, "ada");
    shutdown.trigger();
    server.await.expect("no panic");
}

#[tokio::test]
async fn a_wrong_password_and_a_wrong_name_are_refused_alike() {
    let world = World::new().await;
    world.person("ada", &[]).await;
    let stranger = world.bearing("");
    let mut texts = Vec::new();
    for (username, password) in [("ada", "wrong horse"), ("eve", PASSWORD), ("ada", ""), ("", "")] {
        let reply =
            stranger.post("/users/login", json!({ "username": username, "password": password })).await;
        assert_eq!(reply.outcome(), (401, "UNAUTHORIZED"), "{username}");
        texts.push(reply.text);
    }
    texts.dedup();
    assert_eq!(texts.len(), 1, "nothing tells which of the two was wrong: {texts:?}");
}

#[tokio::test]
async fn logins_are_limited_per_source_and_account_and_say_when_to_try_again() {
    let world = World::new().await;
    let stranger = world.bearing("");
    let wrong = json!({ "username": "ada", "password": "wrong horse" });
    for _ in 0..10 {
        assert_eq!(stranger.post("/users/login", wrong.clone()).await.status, 401);
    }
    let limited = stranger.post("/users/login", wrong).await;
    assert_eq!(limited.outcome(), (429, "RATE_LIMITED"));
    let seconds = limited.meta()["retry_after_seconds"].as_u64().expect("a number");
    assert!((1..=901).contains(&seconds), "{seconds}");
    assert_eq!(limited.headers["retry-after"], seconds.to_string().as_str());
    let other = json!({ "username": "bob", "password": "wrong horse" });
    assert_eq!(stranger.post("/users/login", other).await.status, 401, "others may still try");
}

#[tokio::test]
async fn administration_is_for_admins_before_anything_is_said_of_the_body() {
    let world = World::new().await;
    let everything = [allow(&["*"], &["*"])];
    let ada = world.person("ada", &everything).await;
    let path = format!("/users/{}", ada.id);
    for (method, path) in [
        ("POST", "/users".to_owned()),
        ("GET", "/users".to_owned()),
        ("GET", path.clone()),
        ("DELETE", path.clone()),
        ("PUT", format!("{path}/policies")),
        ("POST", "/projects".to_owned()),
    ] {
        let body = (method == "POST" || method == "PUT").then(|| json!({ "nonsense": 1 }));
        let reply = ada.world.send(method, &path, body.as_ref()).await;
        assert_eq!(reply.outcome(), (403, "FORBIDDEN"), "{method} {path}");
    }
    let tokens = ada.world.post("/tokens", json!({ "name": "t" })).await;
    assert_eq!(tokens.outcome(), (403, "FORBIDDEN"), "a token gives everything");
    assert_eq!(ada.world.get("/tokens").await.body["total"], 0);
}

#[tokio::test]
async fn users_are_made_listed_and_deleted_and_no_answer_has_a_password() {
    let world = World::new().await;
    let made = world.post("/users", json!({ "username": "ada", "password": PASSWORD })).await;
    assert_eq!((made.status, &made.body["role"]), (201, &json!("user")), "{}", made.text);
    let path = format!("/users/{}", made.id());
    assert_eq!(world.get(&path).await.body, made.body);
    assert_eq!(world.get("/users").await.body["data"], json!([made.body]));
    let again = world.post("/users", json!({ "username": "ada", "password": "another horse" })).await;
    assert_eq!(again.outcome(), (409, "NAME_CONFLICT"));
    for text in [&made.text, &again.text, &world.get("/users").await.text] {
        assert!(!text.contains("horse") && !text.contains("argon2"), "{text}");
    }
    let login = world.post("/users/login", json!({ "username": "ada", "password": PASSWORD })).await;
    let ada = world.bearing(login.body["token"].as_str().expect("a token"));
    assert_eq!(ada.get("/users/me").await.status, 200);
    assert_eq!(world.send("DELETE", &path, None).await.status, 204);
    assert_eq!(ada.get("/users/me").await.status, 401, "who is gone is gone at once");
    assert_eq!(world.send("DELETE", &path, None).await.outcome(), (404, "RESOURCE_NOT_FOUND"));
    assert_eq!(world.get("/users/me").await.outcome(), (404, "RESOURCE_NOT_FOUND"), "a token is nobody's");
}

#[tokio::test]
async fn what_is_no_good_name_or_password_is_refused_in_words() {
    let world = World::new().await;
    for (username, password, message) in [
        ("ada", "short", "`password` must have at least 8 characters"),
        ("ada", "with\u{7}bell!", "`password` must not have control characters"),
        ("ada-lovelace", "Ada-Lovelace", "`password` must not be the user's name"),
        (" ada", PASSWORD, "`username` must not begin or end with white space (character 1)"),
        (
            "a\u{202e}da",
            PASSWORD,
            "`username` must not have control or invisible characters (U+202E, character 2)",
        ),
        (" ", PASSWORD, "`username` must have 1 to 64 characters"),
    ] {
        let reply = world.post("/users", json!({ "username": username, "password": password })).await;
        assert_eq!((reply.outcome(), reply.message()), ((400, "VALIDATION_FAILED"), message));
    }
    let reply = world.post("/users", json!({ "username": "a", "password": PASSWORD, "role": "root" })).await;
    assert!(reply.message().starts_with("`role` must be"), "{}", reply.text);
    assert_eq!(world.get("/users").await.body["total"], 0);
}

#[tokio::test]
async fn only_policies_that_exist_are_attached() {
    let world = World::new().await;
    let ada = world.person("ada", &[]).await;
    let path = format!("/users/{}/policies", ada.id);
    let put = |ids: serde_json::Value| {
        let (world, path) = (&world, &path);
        async move { world.send("PUT", path, Some(&json!({ "policy_ids": ids }))).await }
    };
    let missing = put(json!([ada.policy, "pol_missing"])).await;
    assert_eq!(
        (missing.outcome(), missing.message()),
        ((400, "POLICY_NOT_FOUND"), "Policy not found: pol_missing")
    );
    let (other, project) =
        (world.policy(&[allow(&["projects:GetProject"], &["*"])]).await, world.default_project().await);
    assert_eq!(ada.world.get(&format!("/projects/{project}")).await.status, 404);
    assert_eq!(put(json!([other])).await.status, 204);
    assert_eq!(ada.world.get(&format!("/projects/{project}")).await.status, 200, "it counts at once");
    assert_eq!(ada.world.get("/users/me").await.body["policy_ids"], json!([other]));
    assert_eq!(put(json!([])).await.status, 204);
    assert_eq!(ada.world.get(&format!("/projects/{project}")).await.status, 404);
}

/// The status of a login over TCP, as a proxy passes it on.
async fn login_through(address: SocketAddr, client: &str, password: &str) -> String {
    let body = json!({ "username": "ada", "password": password }).to_string();
    let head = format!(
        "POST /api/v1/users/login HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n\
         x-forwarded-for: {client}\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    let mut stream = TcpStream::connect(address).await.expect("connected");
    stream.write_all((head + &body).as_bytes()).await.expect("sent");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.expect("an answer");
    answer.split(' ').nth(1).expect("a status").to_owned()
}

#[tokio::test]
async fn behind_a_proxy_that_is_trusted_each_client_is_a_source_and_behind_any_other_none_is() {
    for (trusted, elsewhere) in
        [(vec!["127.0.0.0/8".parse().expect("a network")], "200"), (Vec::new(), "429")]
    {
        let world = World::new().await;
        world.person("ada", &[]).await;
        let (shutdown, mut listeners) = (Shutdown::new(), Listeners::new());
        let any = "127.0.0.1:0".parse().expect("an address");
        let bound = listeners.tcp(any, Exposure::Loopback).await.expect("bound");
        let options = ServerOptions {
            shutdown: shutdown.clone(),
            trusted_proxies: trusted,
            ..ServerOptions::default()
        };
        let server = tokio::spawn(run(world.control.clone(), listeners, options, Duration::from_secs(1)));
        for _ in 0..10 {
            assert_eq!(login_through(bound, "203.0.113.5", "wrong horse").await, "401");
        }
        assert_eq!(login_through(bound, "203.0.113.5", PASSWORD).await, "429");
        assert_eq!(login_through(bound, "203.0.113.6", PASSWORD).await, elsewhere);
        // Whatever the client wrote before what the proxy adds.
        assert_eq!(login_through(bound, "203.0.113.9, 203.0.113.5", PASSWORD).await, "429");
        shutdown.trigger();
        server.await.expect("no panic");
    }
}
