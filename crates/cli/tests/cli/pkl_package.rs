//! `formwork pkl project package`.

use crate::common::{Home, Ran};
use pkl_corpus::named_oracle as oracle;
use pkl_project::archive::Archive;
use pkl_project::{Contents as _, Sha256};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::process::Command;

fn package(home: &Home, arguments: &[&str]) -> Ran {
    home.run(&[&["pkl", "project", "package"], arguments].concat())
}

/// A package that depends on a project beside it.
fn home() -> Home {
    let home = Home::new();
    for directory in ["birds/sub/.hidden", "birds/extra", "fruit"] {
        fs::create_dir_all(home.path().join(directory)).expect("made");
    }
    let project = |name: &str, version: &str, more: &str, after: &str| {
        format!(
            "@Deprecated {{ message = \"old\" }}\namends \"pkl:Project\"\n\npackage {{\n  name = \"{name}\"\n  \
             baseUri = \"package://example.com/{name}\"\n  version = \"{version}\"\n  \
             packageZipUrl = \"https://example.com/\\(name)@\\(version).zip\"\n{more}}}\n{after}"
        )
    };
    let birds = "  description = \"Birds: \\\"é\\\"\\nall\"\n  authors { \"Ana <ana@example.com>\" }\n  \
                 license = \"MIT\"\n  licenseText = \"Do.\"\n  documentation = \"https://example.com/d\"\n  \
                 sourceCode = \"https://example.com/s\"\n  sourceCodeUrlScheme = \"https://example.com/s%{path}\"\n  \
                 issueTracker = \"https://example.com/i\"\n  website = \"https://example.com\"\n  \
                 exclude { \"*.tmp\"; \"extra/**\" }\n";
    let needs = "dependencies { [\"fruit\"] = import(\"../fruit/PklProject\") }\n";
    home.write("birds/PklProject", project("birds", "1.2.3-rc.1+b", birds, needs));
    home.write("birds/bird.pkl", "import \"@fruit/fruit.pkl\"\nimport \"sub/a.pkl\"\n\nfood = fruit.name\n");
    home.write("birds/sub/a.pkl", "n = read(\"../data.txt\")\n");
    home.write("birds/sub/.hidden/b.pkl", "n = 1\n");
    home.write("birds/sub/scratch.tmp", "1");
    home.write("birds/extra/c.pkl", "import \"../../out.pkl\"\n");
    home.write("birds/data.txt", "sings");
    home.write("birds/.dot", "1");
    home.write("fruit/PklProject", project("fruit", "1.0.0", "", ""));
    home.write("fruit/fruit.pkl", "name = \"apple\"\n");
    home.run(&["pkl", "project", "resolve", "birds", "fruit"]).ok();
    home
}

/// The files of an archive by their paths.
fn entries(bytes: Vec<u8>) -> BTreeMap<String, Vec<u8>> {
    fn collect(archive: &Archive, directory: &str, found: &mut BTreeMap<String, Vec<u8>>) {
        for listed in archive.list(directory).expect("listed") {
            let path = format!("{directory}{}", listed.name);
            if listed.is_directory {
                collect(archive, &format!("{path}/"), found);
            } else {
                found.insert(path.clone(), archive.read(&path).expect("read"));
            }
        }
    }
    let archive = Archive::open(bytes.into()).expect("an archive");
    archive.verify().expect("it is sound");
    let mut found = BTreeMap::new();
    collect(&archive, "/", &mut found);
    found
}

#[test]
fn four_files_are_written_for_each_package() {
    let home = home();
    let ran = package(&home, &["--skip-publish-check", "birds", "fruit"]).ok();
    let (birds, fruit) = (".out/birds@1.2.3-rc.1+b/birds@1.2.3-rc.1+b", ".out/fruit@1.0.0/fruit@1.0.0");
    let names = |base: &str| format!("{base}.zip\n{base}.zip.sha256\n{base}\n{base}.sha256\n");
    assert_eq!(ran.stdout, names(birds) + &names(fruit));
    for base in [birds, fruit] {
        for (file, sum) in [("", ".sha256"), (".zip", ".zip.sha256")] {
            let file = home.path().join(format!("{base}{file}"));
            let sum = fs::read_to_string(home.path().join(format!("{base}{sum}"))).expect("written");
            assert_eq!(Sha256::of(&fs::read(file).expect("written")).as_str(), sum);
        }
    }
    let archive = fs::read(home.path().join(format!("{birds}.zip"))).expect("written");
    let files: Vec<String> = entries(archive.clone()).into_keys().collect();
    assert_eq!(files, ["/bird.pkl", "/data.txt", "/sub/.hidden/b.pkl", "/sub/a.pkl"]);
    package(&home, &["--skip-publish-check", "birds", "fruit", "--output-path", "again/%{name}"]).ok();
    let again = fs::read(home.path().join("again/birds/birds@1.2.3-rc.1+b.zip")).expect("written");
    assert_eq!(again, archive, "the same project gives the same bytes");
}

/// Metadata with what depends on how an archive is packed taken out.
fn unpacked(text: &str) -> Value {
    let mut metadata: Value = serde_json::from_str(text).expect("JSON");
    metadata["packageZipChecksums"]["sha256"] = Value::Null;
    for dependency in metadata["dependencies"].as_object_mut().expect("a map").values_mut() {
        dependency["checksums"]["sha256"] = Value::Null;
    }
    metadata
}

#[test]
fn the_official_command_makes_the_same_files() {
    let Some(official) = oracle() else { return };
    let home = home();
    package(&home, &["--skip-publish-check", "birds", "fruit", "--output-path", "ours"]).ok();
    let line = ["project", "package", "--skip-publish-check", "birds", "fruit", "--output-path", "theirs"];
    let ran = Command::new(official).args(line).current_dir(home.path()).output().expect("it runs");
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    for name in ["birds@1.2.3-rc.1+b", "fruit@1.0.0"] {
        let read = |side: &str, ending: &str| {
            fs::read(home.path().join(format!("{side}/{name}{ending}"))).expect("written")
        };
        assert_eq!(entries(read("ours", ".zip")), entries(read("theirs", ".zip")));
        let (ours, theirs) = (read("ours", ""), read("theirs", ""));
        let (ours, theirs) = (String::from_utf8_lossy(&ours), String::from_utf8_lossy(&theirs));
        // Apart from hashes, which have one length, to the byte.
        assert_eq!(unpacked(&ours).to_string(), unpacked(&theirs).to_string());
        let shape = |text: &str| {
            text.lines().filter(|line| !line.contains("\"sha256\"")).collect::<Vec<_>>().join("\n")
        };
        assert_eq!(shape(&ours), shape(&theirs));
        assert_eq!(ours.len(), theirs.len());
    }
}

#[test]
fn what_cannot_be_published_is_said_and_nothing_is_written() {
    let home = home();
    let refused = |line: &[&str], told: &str| {
        let ran = package(&home, &[&["--skip-publish-check"], line].concat()).exits(1);
        assert!(ran.stderr.contains(told), "{line:?}: {}", ran.stderr);
        assert!(!home.path().join(".out").exists(), "{line:?}");
    };
    refused(&["birds"], "which is not included for packaging");
    refused(&["nowhere"], "does not contain a PklProject file");
    home.write("birds/out.pkl", "x = import(\"../fruit/fruit.pkl\")\n");
    refused(
        &["birds", "fruit"],
        "Path `../fruit/fruit.pkl` includes path segments that are outside the project root directory.\n\n1 | x = import(",
    );
    home.write("birds/out.pkl", "x = \n");
    refused(&["birds", "fruit"], "birds/out.pkl, line");
    fs::remove_file(home.path().join("birds/out.pkl")).expect("removed");
    fs::remove_file(home.path().join("birds/PklProject.deps.json")).expect("removed");
    refused(&["birds", "fruit"], "Run `pkl project resolve`");
    std::os::unix::fs::symlink("/etc/hostname", home.path().join("fruit/link")).expect("linked");
    refused(&["fruit"], "is a link that leads out of the project");
    home.write("PklProject", "amends \"pkl:Project\"\n");
    refused(&[], "No package was declared in project");
}

#[test]
fn tests_of_a_package_must_hold() {
    let home = home();
    let text = fs::read_to_string(home.path().join("fruit/PklProject")).expect("read");
    home.write("fruit/PklProject", text.replace("version =", "apiTests { \"t.pkl\" }\n  version ="));
    home.write("fruit/t.pkl", "amends \"pkl:test\"\nfacts { [\"sum\"] { 1 + 1 == 3 } }\n");
    let line = ["--skip-publish-check", "fruit"];
    let ran = package(&home, &line).exits(1);
    assert!(ran.stdout.contains("✘ sum"), "{}", ran.stdout);
    assert!(
        ran.stderr.contains(
            "Failed to create package `package://example.com/fruit@1.0.0`, because its API tests are failing."
        ),
        "{}",
        ran.stderr
    );
    home.write("fruit/t.pkl", "amends \"pkl:test\"\nfacts { [\"sum\"] { 1 + 1 == 2 } }\n");
    assert!(package(&home, &line).ok().stdout.contains("✔ sum"));
}

/// Answers one request with a file, or that there is none; the flag that asks there instead.
fn answering(file: Option<Vec<u8>>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a request");
        let _ = stream.read(&mut [0; 4096]).expect("it is read");
        let status = if file.is_some() { "200 OK" } else { "404 Not Found" };
        let body = file.unwrap_or_default();
        let head = format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\n\r\n", body.len());
        stream.write_all(&[head.as_bytes(), &body].concat()).expect("answered");
    });
    format!("--http-rewrite=https://example.com/=http://{address}/")
}

#[test]
fn a_version_is_published_once() {
    let home = home();
    package(&home, &["fruit", &answering(None)]).ok();
    let metadata = fs::read(home.path().join(".out/fruit@1.0.0/fruit@1.0.0")).expect("written");
    package(&home, &["fruit", &answering(Some(metadata.clone()))]).ok();
    home.write("fruit/fruit.pkl", "name = \"pear\"\n");
    let ran = package(&home, &["fruit", &answering(Some(metadata))]).exits(1);
    assert!(ran.stderr.contains("was already published with different contents"), "{}", ran.stderr);
    let ran = package(&home, &["fruit", "--http-rewrite=https://example.com/=http://127.0.0.1:1/"]).exits(1);
    assert!(ran.stderr.contains("Error connecting to host `127.0.0.1`."), "{}", ran.stderr);
}
