//! One cache and one `PklProject.deps.json` for us and for the official evaluator.

use super::server::Server;
use super::{evaluate, id, packages, project};
use pkl_corpus::named_oracle;
use pkl_project::{Cache, LOCKFILE, Offline, Packages};
use std::path::Path;
use std::process::{Command, Output};
use std::sync::Arc;

fn official(binary: &Path, directory: &Path, cache: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(binary);
    command.current_dir(directory).args(arguments).arg("--cache-dir").arg(cache);
    command.output().unwrap()
}

fn text(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn publish(server: &Server) {
    server.publish("alpha@1.0.0", &[], &[("m.pkl", "v = \"alpha 1.0.0\"")]);
    server.publish("alpha@1.1.0", &[], &[("m.pkl", "v = \"alpha 1.1.0\"")]);
    server.publish("alpha@2.0.0", &[], &[("m.pkl", "v = \"alpha 2.0.0\"")]);
    server.publish("beta@1.0.0", &["alpha@1.1.0"], &[("m.pkl", "import \"@alpha/m.pkl\"\nv = m.v")]);
    server.publish("zeta@0.1.0", &[], &[("m.pkl", "v = 1")]);
    server.publish("gamma@0.1.0", &["zeta@0.1.0", "beta@1.0.0", "alpha@2.0.0"], &[("m.pkl", "v = 1")]);
    server.publish("eta@1.0.0-beta.1", &[], &[("m.pkl", "v = 1")]);
    server.publish("theta@1.2.3+build.5", &[], &[("m.pkl", "v = 1")]);
}

const PROJECT: &str = r#"amends "pkl:Project"
dependencies {
  ["gamma"] { uri = "package://example.com/gamma@0.1.0" }
  ["beta"] { uri = "package://example.com/beta@1.0.0" }
  ["al"] { uri = "package://example.com/alpha@1.0.0" }
  ["eta"] { uri = "package://example.com/eta@1.0.0-beta.1" }
  ["theta"] { uri = "package://example.com/theta@1.2.3+build.5" }
}
"#;

#[test]
fn the_same_dependencies_are_chosen_in_the_same_file() {
    let Some(binary) = named_oracle() else { return };
    let (server, cache, app) = (Server::start(), tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    publish(&server);
    std::fs::write(app.path().join("PklProject"), PROJECT).unwrap();
    let rewrite = format!("https://example.com/={}", server.address());
    let arguments = ["project", "resolve", "--http-rewrite", &rewrite];
    text(&official(&binary, app.path(), cache.path(), &arguments));
    let theirs = std::fs::read_to_string(app.path().join(LOCKFILE)).unwrap();
    let packages = Arc::new(packages(&server, cache.path()));
    let ours = pkl_project::resolve_with(&packages, &project(&packages, app.path())).unwrap();
    assert_eq!(ours.to_json(), theirs);
}

#[test]
fn what_one_keeps_the_other_reads() {
    let Some(binary) = named_oracle() else { return };
    let module = "a = import(\"package://example.com/beta@1.0.0#/m.pkl\").v\n";
    let expected = "a = \"alpha 1.1.0\"\n";
    let (server, directory) = (Server::start(), tempfile::tempdir().unwrap());
    publish(&server);
    std::fs::write(directory.path().join("m.pkl"), module).unwrap();

    let ours = tempfile::tempdir().unwrap();
    for name in ["beta@1.0.0", "alpha@1.1.0"] {
        packages(&server, ours.path()).package(&id(name), None).unwrap();
    }
    let read = official(&binary, directory.path(), ours.path(), &["eval", "m.pkl"]);
    assert_eq!(text(&read), expected);

    let theirs = tempfile::tempdir().unwrap();
    let rewrite = format!("https://example.com/={}", server.address());
    let arguments = ["download-package", "package://example.com/beta@1.0.0", "--http-rewrite", &rewrite];
    text(&official(&binary, directory.path(), theirs.path(), &arguments));
    let offline = Packages::new(Arc::new(Offline), Some(Cache::new(theirs.path())));
    assert_eq!(evaluate(Arc::new(offline), None, module).unwrap(), expected);
    let names = |root: &Path| {
        let below = |path: std::path::PathBuf| path.strip_prefix(root).unwrap().to_owned();
        super::files(root).into_iter().map(below).collect::<Vec<_>>()
    };
    assert_eq!(names(ours.path()), names(theirs.path()));
}
