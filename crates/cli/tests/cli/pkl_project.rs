//! `formwork pkl` in projects, and with packages.

use crate::common::{Home, Ran};
use pkl_corpus::named_oracle as oracle;
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::process::Command;

fn pkl(home: &Home, arguments: &[&str]) -> Ran {
    home.run(&[&["pkl"], arguments].concat())
}

fn read(home: &Home, name: &str) -> String {
    fs::read_to_string(home.path().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// An application that depends on a project beside it, which depends on another.
fn home() -> Home {
    let home = Home::new();
    for directory in ["app/deep", "birds/sub", "fruit"] {
        fs::create_dir_all(home.path().join(directory)).expect("made");
    }
    let project = |name: &str, more: &str| {
        let base = format!("package://example.com/{name}");
        format!(
            "amends \"pkl:Project\"\n\npackage {{\n  name = \"{name}\"\n  baseUri = \"{base}\"\n  version = \"1.2.3\"\n  \
             packageZipUrl = \"https://example.com/{name}.zip\"\n}}\n{more}"
        )
    };
    let needs_fruit = "dependencies { [\"fruit\"] = import(\"../fruit/PklProject\") }\n";
    home.write("fruit/PklProject", project("fruit", ""));
    home.write("fruit/fruit.pkl", "name = \"apple\"\n");
    home.write("birds/PklProject", project("birds", needs_fruit));
    home.write("birds/bird.pkl", "import \"@fruit/fruit.pkl\"\n\nfood = fruit.name\n");
    home.write("birds/sub/a.pkl", "n = 1\n");
    home.write("birds/data.txt", "sings");
    home.write(
        "app/PklProject",
        "amends \"pkl:Project\"\n\ndependencies { [\"birds\"] = import(\"../birds/PklProject\") }\n\n\
         evaluatorSettings { externalProperties { [\"size\"] = \"3\" }; modulePath { \"deep\" } }\n",
    );
    home.write(
        "app/main.pkl",
        "import \"@birds/bird.pkl\"\n\nfood = bird.food\nnames = import*(\"@birds/**.pkl\").keys\n\
         text = read(\"@birds/data.txt\").text\nsize = read?(\"prop:size\")\n\
         project = import(\"PklProject\").dependencies.keys\n",
    );
    home.write("app/deep/m.pkl", "m = 1\n");
    home
}

const PUT_OUT: &str = "food = \"apple\"\nnames = Set(\"@birds/bird.pkl\", \"@birds/sub/a.pkl\")\ntext = \"sings\"\n\
                       size = \"3\"\nproject = Set(\"birds\")\n";

#[test]
fn modules_are_evaluated_in_their_project() {
    let home = home();
    let ran = pkl(&home, &["eval", "-w", "app", "main.pkl"]).exits(1);
    assert!(ran.stderr.contains("PklProject.deps.json"), "it isn't resolved: {}", ran.stderr);
    let ran = pkl(&home, &["project", "resolve", "app", "birds"]).ok();
    let lockfile = |name: &str| format!("{}/{name}/PklProject.deps.json\n", home.path().display());
    assert_eq!(ran.stdout, lockfile("app") + &lockfile("birds"));
    assert_eq!(pkl(&home, &["eval", "-w", "app", "main.pkl"]).ok().stdout, PUT_OUT);
    assert_eq!(pkl(&home, &["eval", "--project-dir", "app", "app/main.pkl"]).ok().stdout, PUT_OUT);
    assert_eq!(pkl(&home, &["eval", "-w", "app", "@birds/bird.pkl"]).ok().stdout, "food = \"apple\"\n");
    let size = |flags: &[&str]| {
        let line = [&["eval", "-w", "app", "main.pkl", "-x", "size"], flags].concat();
        pkl(&home, &line).ok().stdout
    };
    assert_eq!(size(&["-p", "size=5"]), "5", "flags win");
    assert_eq!(size(&["--omit-project-settings"]), "null");
    assert_eq!(pkl(&home, &["eval", "-w", "app", "modulepath:/m.pkl"]).ok().stdout, "m = 1\n");
    let ran = pkl(&home, &["eval", "-w", "app", "--no-project", "main.pkl"]).exits(1);
    assert!(ran.stderr.contains("there is no project found"), "{}", ran.stderr);
    let ran = pkl(&home, &["eval", "-w", "app", "@fish/x.pkl"]).exits(1);
    assert!(ran.stderr.contains("Cannot find a dependency named `fish`"), "{}", ran.stderr);
}

#[test]
fn the_official_command_writes_and_prints_the_same() {
    let Some(official) = oracle() else { return };
    let home = home();
    pkl(&home, &["project", "resolve", "app"]).ok();
    let ours = read(&home, "app/PklProject.deps.json");
    let run = |arguments: &[&str]| {
        let ran = Command::new(&official).args(arguments).current_dir(home.path().join("app")).output();
        String::from_utf8_lossy(&ran.expect("it runs").stdout).into_owned()
    };
    assert_eq!(run(&["eval", "main.pkl"]), PUT_OUT, "with the file that we wrote");
    run(&["project", "resolve"]);
    assert_eq!(read(&home, "app/PklProject.deps.json"), ours);
}

#[test]
fn what_is_no_project_is_told() {
    let home = home();
    for (line, told) in [
        ("project resolve nowhere", "does not contain a PklProject file."),
        ("project resolve -w app/deep", ""),
        ("eval --project-dir nowhere app/deep/m.pkl", "Cannot find module"),
    ] {
        let ran = pkl(&home, &line.split(' ').collect::<Vec<_>>());
        assert!(ran.stderr.contains(told), "{line}: {}", ran.stderr);
    }
    home.write("app/PklProject", "x = 1\n");
    let ran = pkl(&home, &["eval", "-w", "app", "deep/m.pkl"]).exits(1);
    assert!(ran.stderr.contains("to be of type `pkl.Project`, but got type `PklProject`."), "{}", ran.stderr);
    home.write("birds/PklProject", read(&home, "birds/PklProject").replace("fruit/", "fruit/../birds/"));
    let ran = pkl(&home, &["project", "resolve", "birds"]).exits(1);
    assert!(ran.stderr.contains("cannot be circular"), "{}", ran.stderr);
}

#[test]
fn packages_are_downloaded_into_the_cache() {
    let home = home();
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let rewrite = format!("https://example.com/=http://{}/", listener.local_addr().expect("an address"));
    let zip = pkl_project::archive::pack([("bird.pkl", &b"name = \"Dodo\""[..])]).expect("packed");
    let metadata = format!(
        "{{\"name\":\"dodo\",\"packageUri\":\"package://example.com/dodo@1.0.0\",\"version\":\"1.0.0\",\
         \"packageZipUrl\":\"https://example.com/dodo.zip\",\"packageZipChecksums\":{{\"sha256\":\"{}\"}},\
         \"dependencies\":{{}},\"authors\":[]}}",
        pkl_project::Sha256::of(&zip)
    );
    let serving = std::thread::spawn(move || {
        for body in [metadata.into_bytes(), zip] {
            let (mut stream, _) = listener.accept().expect("a request");
            let mut request = [0; 4096];
            let _ = stream.read(&mut request).expect("it is read");
            let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", body.len());
            stream.write_all(&[head.as_bytes(), &body].concat()).expect("answered");
        }
    });
    let package = "package://example.com/dodo@1.0.0";
    let flags = ["--cache-dir", "cache", "--http-rewrite", &rewrite];
    pkl(&home, &[&["download-package", package], &flags[..]].concat()).ok();
    serving.join().expect("both were asked for");
    assert!(home.path().join("cache/package-2/example.com/dodo@1.0.0/dodo@1.0.0.zip").is_file());
    let module = format!("{package}#/bird.pkl");
    let ran = pkl(&home, &["eval", "--cache-dir", "cache", &module]).ok();
    assert_eq!(ran.stdout, "name = \"Dodo\"\n", "without a network");
    pkl(&home, &["download-package", package, "--cache-dir", "cache"]).ok();
    pkl(&home, &["download-package", package, "--no-cache"]).exits(1);
    let gone = ["--http-rewrite", "https://example.com/=http://127.0.0.1:1/", "--cache-dir", "empty"];
    let ran = pkl(&home, &[&["eval", module.as_str()], &gone[..]].concat()).exits(1);
    assert!(ran.stderr.contains("Error connecting to host `127.0.0.1`."), "{}", ran.stderr);
    pkl(&home, &["eval", "--http-rewrite", "nonsense", "app/deep/m.pkl"]).exits(1);
}
