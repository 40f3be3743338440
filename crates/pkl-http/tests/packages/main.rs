//! Packages over HTTP: downloaded, kept, read, and shared with the official evaluator.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod faults;
mod official;
mod processes;
mod server;

use pkl_core::reader::FileReader;
use pkl_core::{Error, Evaluator, ModuleSource};
use pkl_http::{HttpClient, Options};
use pkl_project::{
    Cache, Client, FetchError, Mirror, Mirrored, Note, Offline, PackageError, PackageId, PackageUri,
    Packages, Project, ProjectDependencies, Rewriting,
};
use server::{Page, Server};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

fn client(server: &Server) -> Arc<dyn Client> {
    let rewrites = vec![("https://example.com/".to_owned(), server.address())];
    Arc::new(Rewriting::new(Arc::new(HttpClient::new(&Options::default()).unwrap()), rewrites))
}

fn packages(server: &Server, cache: &Path) -> Packages {
    Packages::new(client(server), Some(Cache::new(cache)))
}

fn id(name: &str) -> PackageId {
    PackageUri::parse(&format!("package://example.com/{name}")).unwrap().id
}

/// All files below a directory.
fn files(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut pending = vec![directory.to_owned()];
    while let Some(directory) = pending.pop() {
        for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() { pending.push(path) } else { found.push(path) }
        }
    }
    found.sort();
    found
}

/// What an expression comes to where packages, and perhaps a project, can be used.
#[expect(clippy::needless_pass_by_value, reason = "most callers make the packages for one call")]
fn evaluate(packages: Arc<Packages>, project: Option<Project>, text: &str) -> Result<String, Error> {
    let dependencies = Arc::new(ProjectDependencies::new(Arc::clone(&packages), project));
    let builder = Evaluator::builder().files(FileReader::new());
    let evaluator = pkl_project::attach(builder, dependencies, &packages, FileReader::new()).build();
    evaluator.output_text(&ModuleSource::text(text))
}

/// The project in a directory.
fn project(packages: &Arc<Packages>, directory: &Path) -> Project {
    let dependencies = Arc::new(ProjectDependencies::new(Arc::clone(packages), None));
    let builder = Evaluator::builder().files(FileReader::new());
    let evaluator = pkl_project::attach(builder, dependencies, packages, FileReader::new()).build();
    pkl_project::load(&evaluator, &ModuleSource::file(directory.join("PklProject")).unwrap()).unwrap()
}

#[test]
fn a_package_is_downloaded_once_and_then_read_from_the_cache() {
    let (server, cache) = (Server::start(), tempfile::tempdir().unwrap());
    server.publish("birds@1.0.0", &[], &[("bird.pkl", "name = \"Dodo\""), ("a b.txt", "x")]);
    let text = "a = import(\"package://example.com/birds@1.0.0#/bird.pkl\").name\n\
                b = read(\"package://example.com/birds@1.0.0#/a%20b.txt\").text\n\
                c = import*(\"package://example.com/birds@1.0.0#/*.pkl\").keys.length\n";
    let first = evaluate(Arc::new(packages(&server, cache.path())), None, text).unwrap();
    assert_eq!(first, "a = \"Dodo\"\nb = \"x\"\nc = 1\n");
    assert_eq!(server.asked(), ["/birds@1.0.0", "/files/birds@1.0.0.zip"]);
    let offline = Packages::new(Arc::new(Offline), Some(Cache::new(cache.path())));
    assert_eq!(evaluate(Arc::new(offline), None, text).unwrap(), first);
    let in_memory = Packages::new(client(&server), None);
    assert_eq!(evaluate(Arc::new(in_memory), None, text).unwrap(), first);
    assert_eq!(server.asked().len(), 2);
    let unreachable = Packages::new(Arc::new(Offline), None);
    assert!(
        evaluate(Arc::new(unreachable), None, text).unwrap_err().message.contains("no access to the network")
    );
}

#[test]
fn packages_see_their_own_dependencies() {
    let (server, cache) = (Server::start(), tempfile::tempdir().unwrap());
    server.publish("fruit@1.0.0", &[], &[("fruit.pkl", "name = \"apple\"")]);
    server.publish(
        "birds@1.0.0",
        &["fruit@1.0.0"],
        &[("bird.pkl", "import \"@fruit/fruit.pkl\"\nfood = fruit.name")],
    );
    let packages = Arc::new(packages(&server, cache.path()));
    let text = "a = import(\"package://example.com/birds@1.0.0#/bird.pkl\").food";
    assert_eq!(evaluate(Arc::clone(&packages), None, text).unwrap(), "a = \"apple\"\n");
    let error = evaluate(packages, None, "a = import(\"@fruit/fruit.pkl\")").unwrap_err();
    assert!(error.message.contains("there is no project found"), "{error}");
}

#[test]
fn redirects_are_followed_but_not_for_ever() {
    let (server, cache) = (Server::start(), tempfile::tempdir().unwrap());
    server.publish("birds@1.0.0", &[], &[("bird.pkl", "name = \"Dodo\"")]);
    server.page("/moved@1.0.0", Page::Redirect("/birds@1.0.0".to_owned()));
    server.page("/loop", Page::Redirect("/loop".to_owned()));
    let fetched = client(&server).get("https://example.com/moved@1.0.0", 10_000);
    assert_eq!(fetched, client(&server).get("https://example.com/birds@1.0.0", 10_000));
    let error = client(&server).get("https://example.com/loop", 10).unwrap_err();
    assert!(error.to_string().contains("too many redirects"), "{error}");
    let error = packages(&server, cache.path()).package(&id("moved@1.0.0"), None).err().unwrap();
    assert!(matches!(error, PackageError::Metadata { .. }), "the metadata of another package: {error}");
    assert_eq!(files(cache.path()), [""; 0].map(PathBuf::from));
}

#[test]
fn answers_are_bounded_in_size_and_time() {
    let server = Server::start();
    server.page("/long", Page::Body(vec![b'x'; 1001]));
    server.page("/slow", Page::Slow(vec![b'x'; 100_000]));
    let fetched = client(&server).get("https://example.com/long", 1000);
    assert!(matches!(fetched, Err(FetchError::TooLong { limit: 1000, .. })), "{fetched:?}");
    assert_eq!(client(&server).get("https://example.com/long", 1001).unwrap().len(), 1001);
    let options = Options { timeout: Some(Duration::from_millis(200)), ..Options::default() };
    let start = Instant::now();
    let fetched = HttpClient::new(&options).unwrap().get(&format!("{}slow", server.address()), 1 << 20);
    assert!(matches!(fetched, Err(FetchError::Failed { .. })), "{fetched:?}");
    assert!(start.elapsed() < Duration::from_secs(20));
}

/// Answers for everything called `name`.
struct Shelf {
    name: &'static str,
    local: bool,
}

impl Mirror for Shelf {
    fn find(&self, id: &PackageId) -> Option<Mirrored> {
        let contents = pkl_project::MemoryContents::new([("bird.pkl", &b"name = \"of the mirror\""[..])]);
        (id.name() == self.name).then(|| Mirrored::new(contents))
    }

    fn replaces_local(&self, name: &str, _id: &PackageId) -> bool {
        self.local && name == self.name
    }
}

#[test]
fn a_mirror_answers_unchecked_and_leaves_no_trace() {
    let (server, cache) = (Server::start(), tempfile::tempdir().unwrap());
    server.publish("fruit@1.0.0", &[], &[("fruit.pkl", "name = \"apple\"")]);
    let notes = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&notes);
    let packages = packages(&server, cache.path())
        .mirror(Arc::new(Shelf { name: "birds", local: false }))
        .notes(Arc::new(move |note: &Note| sink.lock().unwrap().push(note.clone())));
    let packages = Arc::new(packages);
    let text = "a = import(\"package://example.com/birds@9.0.0::sha256:00#/bird.pkl\").name";
    assert_eq!(evaluate(Arc::clone(&packages), None, text).unwrap(), "a = \"of the mirror\"\n");
    assert_eq!(*notes.lock().unwrap(), [Note::Mirrored(id("birds@9.0.0"))]);
    assert_eq!(server.asked(), [""; 0]);
    assert_eq!(files(cache.path()), [""; 0].map(PathBuf::from));

    let app = tempfile::tempdir().unwrap();
    let declares = "amends \"pkl:Project\"\n\
                    dependencies {\n\
                    ['birds'] { uri = 'package://example.com/birds@9.0.0'; checksums { sha256 = '00' } }\n\
                    ['fruit'] { uri = 'package://example.com/fruit@1.0.0' }\n}";
    std::fs::write(app.path().join("PklProject"), declares.replace('\'', "\"")).unwrap();
    let project = project(&packages, app.path());
    let lockfile = pkl_project::resolve_with(&packages, &project).unwrap();
    let keys: Vec<&str> = lockfile.resolved.keys().map(String::as_str).collect();
    assert_eq!(keys, ["package://example.com/fruit@1"]);
    std::fs::write(app.path().join("PklProject.deps.json"), lockfile.to_json()).unwrap();
    let text = "a = import(\"@birds/bird.pkl\").name\nb = import(\"@fruit/fruit.pkl\").name";
    let answer = evaluate(packages, Some(project), text).unwrap();
    assert_eq!(answer, "a = \"of the mirror\"\nb = \"apple\"\n");
}

#[test]
fn a_mirror_may_answer_for_a_local_dependency() {
    let (server, cache, app) = (Server::start(), tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let birds = app.path().join("birds");
    std::fs::create_dir(&birds).unwrap();
    std::fs::write(birds.join("bird.pkl"), "name = \"of the directory\"").unwrap();
    let package = "amends 'pkl:Project'\npackage { name = 'birds'; version = '1.0.0'\n\
                   baseUri = 'package://example.com/birds'; packageZipUrl = 'https://example.com/x.zip' }";
    std::fs::write(birds.join("PklProject"), package.replace('\'', "\"")).unwrap();
    let declares = "amends \"pkl:Project\"\ndependencies { [\"birds\"] = import(\"birds/PklProject\") }";
    std::fs::write(app.path().join("PklProject"), declares).unwrap();
    let text = "a = import(\"@birds/bird.pkl\").name";
    for (local, expected) in [(true, "of the mirror"), (false, "of the directory")] {
        let mirrored =
            packages(&server, cache.path()).mirror(Arc::new(Shelf { name: "parrots", local: false }));
        let packages = Arc::new(if local {
            mirrored.mirror(Arc::new(Shelf { name: "birds", local: true }))
        } else {
            mirrored
        });
        let project = project(&packages, app.path());
        let lockfile = pkl_project::resolve_with(&packages, &project).unwrap();
        std::fs::write(app.path().join("PklProject.deps.json"), lockfile.to_json()).unwrap();
        let warnings = Arc::new(Mutex::new(Vec::new()));
        let sink = Arc::clone(&warnings);
        let dependencies = ProjectDependencies::new(Arc::clone(&packages), Some(project))
            .warnings(Arc::new(move |name: &str| sink.lock().unwrap().push(name.to_owned())));
        let builder = Evaluator::builder();
        let evaluator =
            pkl_project::attach(builder, Arc::new(dependencies), &packages, FileReader::new()).build();
        let answer = evaluator.output_text(&ModuleSource::text(text)).unwrap();
        assert_eq!(answer, format!("a = \"{expected}\"\n"));
        assert_eq!(warnings.lock().unwrap().len(), usize::from(local));
    }
}
