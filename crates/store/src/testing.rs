//! A throw-away PostgreSQL server for tests.

use postgres::{Client, NoTls};
use std::ffi::OsStr;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Set (to anything) where every test must run: a missing server is a failure then.
pub const REQUIRE_ALL: &str = "FORMWORK_TEST_REQUIRE_ALL";

/// How long the server may take until it answers.
const PATIENCE: Duration = Duration::from_secs(60);

/// Runs the server and waits until the test process closes the pipe, however it ends; then the
/// server stops and its directory goes.
const KEEPER: &str = r#"
"$0/postgres" -D "$1/data" -k "$1" -c listen_addresses='' -c fsync=on -c max_connections=300 \
    >"$1/log" 2>&1 </dev/null &
server=$!
read _
kill -QUIT "$server"
wait "$server"
rm -rf "$1"
"#;

/// A PostgreSQL server on a Unix socket in a directory of its own, with fsync on. It stops when
/// this is dropped or the process ends, even by SIGKILL.
#[derive(Debug)]
pub struct TestPostgres {
    directory: PathBuf,
    keeper: Child,
    databases: AtomicU32,
}

/// Why there is no server.
#[derive(Clone, Debug, thiserror::Error)]
pub enum SkipReason {
    /// PostgreSQL is not installed.
    #[error("PostgreSQL is not installed: no `initdb` in PATH or /usr/lib/postgresql/*/bin")]
    NotInstalled,
    /// This is root, which PostgreSQL refuses, and there is no user `postgres` to run it as.
    #[error("PostgreSQL does not run as root, and there is no user `postgres`")]
    NoUser,
    /// It did not start.
    #[error("PostgreSQL did not start: {0}")]
    Failed(String),
}

impl From<io::Error> for SkipReason {
    fn from(error: io::Error) -> Self {
        Self::Failed(error.to_string())
    }
}

/// Who runs the server, where this is root.
#[derive(Clone, Copy)]
struct User {
    uid: u32,
    gid: u32,
}

impl TestPostgres {
    /// Starts a server.
    ///
    /// # Errors
    /// [`SkipReason`].
    ///
    /// # Panics
    /// Instead of an error, if [`REQUIRE_ALL`] is set.
    pub fn start() -> Result<Self, SkipReason> {
        Self::try_start().inspect_err(|reason| {
            assert!(std::env::var_os(REQUIRE_ALL).is_none(), "{reason}");
        })
    }

    /// The server that the tests of one binary share, started by the first that asks; `None`, with
    /// the reason printed, if there is none.
    pub fn shared() -> Option<&'static Self> {
        static SHARED: OnceLock<Result<TestPostgres, SkipReason>> = OnceLock::new();
        match SHARED.get_or_init(Self::start) {
            Ok(server) => Some(server),
            Err(reason) => {
                eprintln!("skipped: {reason}");
                None
            }
        }
    }

    fn try_start() -> Result<Self, SkipReason> {
        let binaries = binaries().ok_or(SkipReason::NotInstalled)?;
        let made = tempfile::Builder::new().prefix("formwork-pg-").tempdir()?;
        let user = user_for(made.path())?;
        let mut initdb = Command::new(binaries.join("initdb"));
        initdb.args(["--no-sync", "--auth=trust", "--username=postgres", "--encoding=UTF8", "--locale=C"]);
        let made_cluster = run_as(&mut initdb, user).arg("-D").arg(made.path().join("data")).output()?;
        if !made_cluster.status.success() {
            let reason = String::from_utf8_lossy(&made_cluster.stderr).into_owned();
            return Err(SkipReason::Failed(reason));
        }
        let mut keeper = Command::new("sh");
        keeper.arg("-c").arg(KEEPER).arg(&binaries).arg(made.path());
        keeper.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        // A signal to the group of the tests must not reach the one that cleans up after them.
        keeper.process_group(0);
        let keeper = run_as(&mut keeper, user).spawn()?;
        let server = Self { directory: made.keep(), keeper, databases: AtomicU32::new(0) };
        server.wait_until_ready()?;
        Ok(server)
    }

    fn wait_until_ready(&self) -> Result<(), SkipReason> {
        let started = Instant::now();
        loop {
            match self.run("SELECT 1") {
                Ok(()) => return Ok(()),
                Err(error) if started.elapsed() > PATIENCE => {
                    let log = std::fs::read_to_string(self.directory.join("log")).unwrap_or_default();
                    return Err(SkipReason::Failed(format!("{error}\n{log}")));
                }
                Err(_) => thread::sleep(Duration::from_millis(20)),
            }
        }
    }

    /// Runs statements in the server's own database.
    fn run(&self, statements: &str) -> Result<(), postgres::Error> {
        let address = self.address("postgres");
        // The client blocks, which it must not do on a thread of an async runtime.
        let run = || Client::connect(&address, NoTls).and_then(|mut client| client.batch_execute(statements));
        thread::scope(|scope| scope.spawn(run).join())
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }

    /// The directory of its socket.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// The one text that a query answers in a database.
    ///
    /// # Panics
    /// If the server does not answer so.
    pub fn ask(&self, database: &str, query: &str) -> String {
        let address = self.address(database);
        let ask = || Client::connect(&address, NoTls)?.query_one(query, &[])?.try_get(0);
        let answer = thread::scope(|scope| scope.spawn(ask).join());
        answer
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            .unwrap_or_else(|error: postgres::Error| panic!("{query}: {error:?}"))
    }

    /// Lets a role in by its password alone, where everybody else just gets in.
    ///
    /// # Panics
    /// If the server's rules can't be written.
    pub fn require_password(&self, role: &str) {
        let path = self.directory.join("data/pg_hba.conf");
        let rules = std::fs::read_to_string(&path).unwrap_or_default();
        let rules = format!("local all {role} scram-sha-256\n{rules}");
        let written = std::fs::write(&path, rules);
        assert!(written.is_ok(), "{written:?}");
        self.ask("postgres", "SELECT pg_reload_conf()::text");
    }

    /// Whether a role gets in with a password.
    pub fn logs_in(&self, role: &str, password: &str) -> bool {
        let mut config = postgres::Config::new();
        config.host_path(&self.directory).user(role).password(password).dbname("postgres");
        let connect = || config.connect(NoTls).is_ok();
        thread::scope(|scope| scope.spawn(connect).join())
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }

    /// The address of a database of the server.
    pub fn address(&self, database: &str) -> String {
        format!("host='{}' user=postgres dbname='{database}'", self.directory.display())
    }

    /// Makes a database that nobody has used and answers its address as a URL, as people write it.
    ///
    /// # Panics
    /// If the server does not answer.
    pub fn fresh_url(&self) -> String {
        let address = self.fresh_database();
        let name = address.rsplit('\'').nth(1).unwrap_or_default();
        // The directory is the host; in a URL it must not look like a path.
        let host = self.directory.display().to_string().replace('/', "%2F");
        format!("postgresql://postgres@{host}/{name}")
    }

    /// Makes a database that nobody has used and answers its address.
    ///
    /// # Panics
    /// If the server does not answer.
    pub fn fresh_database(&self) -> String {
        let name = format!("case_{}", self.databases.fetch_add(1, Ordering::SeqCst));
        let made = self.run(&format!("CREATE DATABASE {name}"));
        assert!(made.is_ok(), "the server did not make a database: {made:?}");
        self.address(&name)
    }
}

impl Drop for TestPostgres {
    fn drop(&mut self) {
        // The keeper reads the end of the pipe, stops the server and removes the directory.
        drop(self.keeper.stdin.take());
        drop(self.keeper.wait());
    }
}

/// The newest directory with the server's binaries.
fn binaries() -> Option<PathBuf> {
    let has_both =
        |directory: &PathBuf| ["initdb", "postgres"].iter().all(|name| directory.join(name).is_file());
    let path = std::env::var_os("PATH").unwrap_or_default();
    if let Some(found) = std::env::split_paths(&path).find(has_both) {
        return Some(found);
    }
    let versions = std::fs::read_dir("/usr/lib/postgresql").ok()?;
    let mut versions: Vec<_> = versions.flatten().map(|version| version.path()).collect();
    versions.sort_by_key(|path| {
        path.file_name().and_then(OsStr::to_str).and_then(|name| name.parse::<u32>().ok())
    });
    versions.into_iter().rev().map(|version| version.join("bin")).find(has_both)
}

/// As whom to run, who then owns the directory; `None` is as oneself.
fn user_for(directory: &Path) -> Result<Option<User>, SkipReason> {
    use std::os::unix::fs::{MetadataExt, chown};
    // Who made the directory is who we are.
    if std::fs::metadata(directory)?.uid() != 0 {
        return Ok(None);
    }
    let users = std::fs::read_to_string("/etc/passwd")?;
    let user = users.lines().find_map(|line| {
        let fields: Vec<_> = line.split(':').collect();
        let [name, _, uid, gid, ..] = fields[..] else { return None };
        (name == "postgres").then_some(User { uid: uid.parse().ok()?, gid: gid.parse().ok()? })
    });
    let user = user.ok_or(SkipReason::NoUser)?;
    chown(directory, Some(user.uid), Some(user.gid))?;
    Ok(Some(user))
}

fn run_as(command: &mut Command, user: Option<User>) -> &mut Command {
    // Wherever the tests run, the other user may not enter it.
    command.current_dir("/");
    match user {
        Some(User { uid, gid }) => command.uid(uid).gid(gid),
        None => command,
    }
}
