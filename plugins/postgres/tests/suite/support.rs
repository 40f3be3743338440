//! A throw-away PostgreSQL server, with passwords and TLS, and calls to the plugin.

use formwork_model::{Json, NativeId, Secret, Timestamp};
use formwork_plugin::{
    CallContext, CreateRequest, DeleteRequest, ListRequest, OperationErrorCode, OperationStatus, PluginError,
    ProgressResult, ReadRequest, ReadResult, ResourcePlugin, UpdateRequest,
};
use formwork_plugin_postgres::PostgresPlugin;
use serde_json::json;
use std::collections::BTreeMap;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use tokio_postgres::NoTls;

/// The password of the superuser `admin` over TCP; on the socket nobody asks.
pub(crate) const PASSWORD: &str = "correct horse ☂ battery";

/// Runs the server until the test process closes the pipe, however it ends; then the directory goes,
/// unless the server is to start again.
const KEEPER: &str = r#"
"$0/postgres" -D "$1/data" -k "$1" -p "$2" -c listen_addresses=127.0.0.1 -c fsync=off -c max_connections=200 \
    -c ssl=on -c ssl_cert_file="$1/server.pem" -c ssl_key_file="$1/server.key" -c wal_level=logical \
    -c log_statement=all >>"$1/log" 2>&1 </dev/null &
server=$!
read _
kill -QUIT "$server"
wait "$server"
[ -e "$1/again" ] || rm -rf "$1"
"#;

pub(crate) struct Server {
    binaries: PathBuf,
    pub(crate) directory: PathBuf,
    pub(crate) port: u16,
    user: Option<(u32, u32)>,
    keeper: Option<Child>,
}

impl Server {
    /// The server that the tests share; `None`, with the reason printed, if there is none.
    pub(crate) fn shared() -> Option<&'static Self> {
        static SHARED: OnceLock<Option<Server>> = OnceLock::new();
        SHARED.get_or_init(Self::start).as_ref()
    }

    /// A server of one's own.
    pub(crate) fn start() -> Option<Self> {
        Self::try_start()
            .inspect_err(|reason| {
                assert!(std::env::var_os("FORMWORK_TEST_REQUIRE_ALL").is_none(), "{reason}");
                eprintln!("skipped: {reason}");
            })
            .ok()
    }

    fn try_start() -> Result<Self, String> {
        let binaries = binaries().ok_or("PostgreSQL is not installed")?;
        let directory =
            tempfile::Builder::new().prefix("formwork-plugin-pg-").tempdir().map_err(text)?.keep();
        let user = user_for(&directory)?;
        let port =
            std::net::TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr()).map_err(text)?;
        let mut server = Self { binaries, directory, port: port.port(), user, keeper: None };
        server.initialise()?;
        server.run();
        server.wait_until_ready()?;
        Ok(server)
    }

    fn initialise(&self) -> Result<(), String> {
        let mut initdb = Command::new(self.binaries.join("initdb"));
        initdb.args(["--no-sync", "--auth=trust", "--username=admin", "--encoding=UTF8", "--locale=C"]);
        initdb.arg("-D").arg(self.directory.join("data"));
        let password = self.directory.join("password");
        std::fs::write(&password, PASSWORD).map_err(text)?;
        initdb.arg("--pwfile").arg(password);
        succeed(as_user(&mut initdb, self.user))?;
        let rules = "local all all trust\nhost all all 127.0.0.1/32 scram-sha-256\n";
        std::fs::write(self.directory.join("data/pg_hba.conf"), rules).map_err(text)?;
        certify(&self.directory, self.user)
    }

    fn run(&mut self) {
        let mut keeper = Command::new("sh");
        keeper.arg("-c").arg(KEEPER).arg(&self.binaries).arg(&self.directory).arg(self.port.to_string());
        keeper.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
        self.keeper = Some(as_user(&mut keeper, self.user).spawn().expect("a shell"));
    }

    /// Stops the server in the middle of whatever it does.
    pub(crate) fn stop(&mut self) {
        std::fs::write(self.directory.join("again"), "").expect("a file");
        self.end();
    }

    /// Starts the server again.
    pub(crate) fn start_again(&mut self) {
        self.run();
        std::fs::remove_file(self.directory.join("again")).expect("the file");
        self.wait_until_ready().expect("the server comes back");
    }

    fn end(&mut self) {
        if let Some(mut keeper) = self.keeper.take() {
            drop(keeper.stdin.take());
            drop(keeper.wait());
        }
    }

    fn wait_until_ready(&self) -> Result<(), String> {
        let started = Instant::now();
        let socket = self.directory.join(format!(".s.PGSQL.{}", self.port));
        loop {
            let mut ready = Command::new(self.binaries.join("pg_isready"));
            ready.arg("-h").arg(&self.directory).arg("-p").arg(self.port.to_string()).stdout(Stdio::null());
            if socket.exists() && ready.status().is_ok_and(|status| status.success()) {
                return Ok(());
            }
            if started.elapsed() > Duration::from_secs(60) {
                return Err(format!("PostgreSQL did not start: {}", self.log()));
            }
            std::thread::sleep(Duration::from_millis(30));
        }
    }

    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(self.directory.join("log")).unwrap_or_default()
    }

    pub(crate) fn authority(&self) -> String {
        std::fs::read_to_string(self.directory.join("ca.pem")).expect("a certificate")
    }

    /// The target by its socket.
    pub(crate) fn socket(&self) -> Json {
        json!({
            "Type": "POSTGRES", "Host": self.directory.display().to_string(), "Port": self.port, "User": "admin",
        })
    }

    /// A connection beside the plugin.
    pub(crate) async fn client(&self, database: &str) -> tokio_postgres::Client {
        let mut config = tokio_postgres::Config::new();
        config.host_path(&self.directory).port(self.port).user("admin").dbname(database);
        let (client, connection) = config.connect(NoTls).await.expect("a connection");
        tokio::spawn(async move { drop(connection.await) });
        client
    }

    /// Runs statements beside the plugin.
    pub(crate) async fn sql(&self, database: &str, sql: &str) {
        self.client(database)
            .await
            .batch_execute(sql)
            .await
            .unwrap_or_else(|error| panic!("{sql}: {error:?}"));
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.end();
    }
}

#[expect(clippy::needless_pass_by_value, reason = "it stands where a closure takes an error")]
fn text(error: impl ToString) -> String {
    error.to_string()
}

fn succeed(command: &mut Command) -> Result<(), String> {
    let output = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!("{command:?}: {}", String::from_utf8_lossy(&output.stderr)))
}

fn as_user(command: &mut Command, user: Option<(u32, u32)>) -> &mut Command {
    command.current_dir("/");
    match user {
        Some((uid, gid)) => command.uid(uid).gid(gid),
        None => command,
    }
}

fn binaries() -> Option<PathBuf> {
    let versions = std::fs::read_dir("/usr/lib/postgresql").ok()?;
    let number = |path: &PathBuf| path.file_name()?.to_str()?.parse::<u32>().ok();
    let newest = versions.flatten().map(|version| version.path()).max_by_key(number)?;
    Some(newest.join("bin")).filter(|bin| bin.join("initdb").is_file())
}

/// PostgreSQL does not run as root.
fn user_for(directory: &Path) -> Result<Option<(u32, u32)>, String> {
    use std::os::unix::fs::{MetadataExt, chown};
    if std::fs::metadata(directory).map_err(text)?.uid() != 0 {
        return Ok(None);
    }
    let users = std::fs::read_to_string("/etc/passwd").map_err(text)?;
    let fields =
        users.lines().map(|line| line.split(':').collect::<Vec<_>>()).find(|user| user[0] == "postgres");
    let fields = fields.ok_or("there is no user `postgres`")?;
    let (uid, gid) = (fields[2].parse().map_err(text)?, fields[3].parse().map_err(text)?);
    chown(directory, Some(uid), Some(gid)).map_err(text)?;
    Ok(Some((uid, gid)))
}

/// An authority, and a certificate of it for `localhost`.
fn certify(directory: &Path, user: Option<(u32, u32)>) -> Result<(), String> {
    let openssl = |arguments: &[&str]| {
        let mut command = Command::new("openssl");
        command.args(arguments);
        succeed(as_user(&mut command, user).current_dir(directory))
    };
    let key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
    let authority = ["-keyout", "ca.key", "-out", "ca.pem", "-subj", "/CN=authority", "-days", "2"];
    openssl(&[&["req", "-x509"], &key[..], &authority].concat())?;
    openssl(
        &[&["req"], &key[..], &["-keyout", "server.key", "-out", "server.csr", "-subj", "/CN=x"]].concat(),
    )?;
    std::fs::write(directory.join("names"), "subjectAltName=DNS:localhost\n").map_err(text)?;
    openssl(&[
        "x509",
        "-req",
        "-in",
        "server.csr",
        "-CA",
        "ca.pem",
        "-CAkey",
        "ca.key",
        "-CAcreateserial",
        "-days",
        "2",
        "-extfile",
        "names",
        "-out",
        "server.pem",
    ])
}

/// A database of one test, and the plugin.
pub(crate) struct Fixture {
    pub(crate) server: &'static Server,
    pub(crate) plugin: PostgresPlugin,
    pub(crate) target: Json,
    pub(crate) database: String,
}

impl Fixture {
    /// A fixture with a database that has the schema `app`.
    pub(crate) async fn new() -> Option<Self> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let server = tokio::task::spawn_blocking(Server::shared).await.expect("it does not panic")?;
        let database = format!("case {}", NUMBER.fetch_add(1, Ordering::SeqCst));
        server.sql("postgres", &format!("CREATE DATABASE \"{database}\" TEMPLATE template0")).await;
        server.sql(&database, "CREATE SCHEMA app").await;
        Some(Self { server, plugin: PostgresPlugin::new(), target: server.socket(), database })
    }

    pub(crate) async fn sql(&self, sql: &str) {
        self.server.sql(&self.database, sql).await;
    }

    /// The text that a query answers.
    pub(crate) async fn ask(&self, sql: &str) -> String {
        let client = self.server.client(&self.database).await;
        client.query_one(sql, &[]).await.unwrap_or_else(|error| panic!("{sql}: {error:?}")).get(0)
    }

    pub(crate) async fn create(&self, kind: &str, properties: Json) -> ProgressResult {
        self.try_create(kind, properties, &context(30_000)).await.expect("an answer")
    }

    pub(crate) async fn try_create(
        &self,
        kind: &str,
        properties: Json,
        context: &CallContext,
    ) -> Result<ProgressResult, PluginError> {
        let request = CreateRequest {
            resource_type: kind.into(),
            properties: Secret::new(properties),
            target_config: Secret::new(self.target.clone()),
            secret_paths: Vec::new(),
        };
        self.plugin.create(context, request).await
    }

    /// Creates, and answers id and properties.
    pub(crate) async fn made(&self, kind: &str, properties: Json) -> (NativeId, Json) {
        let made = self.create(kind, properties).await;
        assert_eq!(made.operation_status, OperationStatus::Success, "{:?}", made.status_message);
        (made.native_id.expect("an id"), made.resource_properties.expect("properties"))
    }

    pub(crate) async fn read(&self, kind: &str, id: &NativeId, prior: Option<&Json>) -> ReadResult {
        let request = ReadRequest {
            resource_type: kind.into(),
            native_id: id.clone(),
            target_config: Secret::new(self.target.clone()),
            redact_sensitive: true,
            prior_properties: prior.cloned(),
        };
        self.plugin.read(&context(30_000), request).await.expect("an answer")
    }

    /// The properties of what is there.
    pub(crate) async fn seen(&self, kind: &str, id: &NativeId, prior: Option<&Json>) -> Json {
        let found = self.read(kind, id, prior).await;
        found.resource_properties.unwrap_or_else(|| panic!("{id}: {:?}", found.error_code))
    }

    /// Updates as the engine does, from what was declared to what is.
    pub(crate) async fn update(&self, kind: &str, id: &NativeId, from: &Json, to: &Json) -> ProgressResult {
        let removed = from.as_object().expect("an object").keys().filter(|name| to.get(*name).is_none());
        let patch = removed.map(|name| json!({ "op": "remove", "path": format!("/{name}") })).collect();
        let request = UpdateRequest {
            resource_type: kind.into(),
            native_id: id.clone(),
            prior_properties: from.clone(),
            desired_properties: Secret::new(to.clone()),
            patch_document: Secret::new(patch),
            target_config: Secret::new(self.target.clone()),
            secret_paths: Vec::new(),
            kept_paths: Vec::new(),
        };
        self.plugin.update(&context(30_000), request).await.expect("an answer")
    }

    pub(crate) async fn delete(&self, kind: &str, id: &NativeId) -> ProgressResult {
        let request = DeleteRequest {
            resource_type: kind.into(),
            native_id: id.clone(),
            target_config: Secret::new(self.target.clone()),
        };
        self.plugin.delete(&context(30_000), request).await.expect("an answer")
    }

    /// All ids of a type, by pages of two.
    pub(crate) async fn list(&self, kind: &str, parameters: &[(&str, &str)]) -> Vec<String> {
        let mut ids = Vec::new();
        let mut page_token = None;
        loop {
            let request = ListRequest {
                resource_type: kind.into(),
                target_config: Secret::new(self.target.clone()),
                page_token,
                page_size: 2,
                list_parameters: parameters
                    .iter()
                    .map(|(name, value)| ((*name).to_owned(), Json::from(*value)))
                    .collect::<BTreeMap<_, _>>(),
            };
            let page = self.plugin.list(&context(30_000), request).await.expect("a page");
            ids.extend(page.native_ids.iter().map(ToString::to_string));
            page_token = page.next_page_token;
            if page_token.is_none() {
                return ids;
            }
        }
    }
}

pub(crate) fn context(millis: u64) -> CallContext {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970");
    let deadline = Timestamp(i64::try_from(now.as_millis()).expect("before the end of time")).plus(millis);
    CallContext::observing("project".into(), "tests".into(), deadline)
}

/// The code of a failure, with its words.
pub(crate) fn failure(result: &ProgressResult) -> (OperationErrorCode, String) {
    assert_eq!(result.operation_status, OperationStatus::Failure, "it succeeded: {result:?}");
    (result.error_code.expect("a code"), result.status_message.clone().unwrap_or_default())
}
