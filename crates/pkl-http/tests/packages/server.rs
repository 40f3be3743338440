//! A server of packages on this machine.

use pkl_project::{Metadata, Sha256, archive};
use std::collections::HashMap;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// What is answered at a path.
#[derive(Clone)]
pub(crate) enum Page {
    Body(Vec<u8>),
    /// The connection ends after half of the body.
    Half(Vec<u8>),
    /// A byte now and then.
    Slow(Vec<u8>),
    Redirect(String),
}

/// Packages as somebody publishes them.
#[derive(Clone, Default)]
pub(crate) struct Server {
    port: u16,
    pages: Arc<Mutex<HashMap<String, Page>>>,
    asked: Arc<Mutex<Vec<String>>>,
    /// What the metadata of published packages hashes to, by `name@version`.
    hashes: Arc<Mutex<HashMap<String, Sha256>>>,
}

impl Server {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let server = Self { port: listener.local_addr().unwrap().port(), ..Self::default() };
        let serving = server.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let serving = serving.clone();
                std::thread::spawn(move || serving.answer(stream));
            }
        });
        server
    }

    /// Where requests for `https://example.com/` go.
    pub(crate) fn address(&self) -> String {
        format!("http://127.0.0.1:{}/", self.port)
    }

    pub(crate) fn page(&self, path: &str, page: Page) {
        self.pages.lock().unwrap().insert(path.to_owned(), page);
    }

    /// What was asked for since this was last called.
    pub(crate) fn asked(&self) -> Vec<String> {
        std::mem::take(&mut self.asked.lock().unwrap())
    }

    /// Publishes a package, after those that it needs, and tells what its metadata hashes to.
    pub(crate) fn publish(&self, name: &str, needs: &[&str], files: &[(&str, &str)]) -> Sha256 {
        let zip = archive::pack(files.iter().map(|(path, text)| (*path, text.as_bytes()))).unwrap();
        self.publish_archive(name, needs, zip)
    }

    pub(crate) fn publish_archive(&self, name: &str, needs: &[&str], zip: Vec<u8>) -> Sha256 {
        let known = self.hashes.lock().unwrap().clone();
        let needs: Vec<_> = needs.iter().map(|need| (*need, known[*need].clone())).collect();
        let metadata = metadata(name, &needs, &Sha256::of(&zip));
        self.page(&format!("/files/{name}.zip"), Page::Body(zip));
        self.page(&format!("/{name}"), Page::Body(metadata.clone()));
        let hash = Sha256::of(&metadata);
        self.hashes.lock().unwrap().insert(name.to_owned(), hash.clone());
        hash
    }

    fn answer(&self, mut stream: TcpStream) {
        let mut request = Vec::new();
        let mut buffer = [0; 1024];
        while !request.windows(4).any(|end| end == b"\r\n\r\n") {
            match stream.read(&mut buffer) {
                Ok(0) | Err(_) => return,
                Ok(length) => request.extend_from_slice(&buffer[..length]),
            }
        }
        let request = String::from_utf8_lossy(&request).into_owned();
        let path = request.split(' ').nth(1).unwrap_or_default().to_owned();
        self.asked.lock().unwrap().push(path.clone());
        let page = self.pages.lock().unwrap().get(&path).cloned();
        let head = |status: &str, more: &str, length: usize| {
            format!("HTTP/1.1 {status}\r\ncontent-length: {length}\r\nconnection: close\r\n{more}\r\n")
        };
        // Whoever asked may have gone.
        let _ = match page {
            None => stream.write_all(head("404 Not Found", "", 0).as_bytes()),
            Some(Page::Redirect(to)) => {
                stream.write_all(head("302 Found", &format!("location: {to}\r\n"), 0).as_bytes())
            }
            Some(Page::Body(body)) => {
                stream.write_all(&[head("200 OK", "", body.len()).as_bytes(), &body].concat())
            }
            Some(Page::Half(body)) => {
                let half = &body[..body.len() / 2];
                stream.write_all(&[head("200 OK", "", body.len()).as_bytes(), half].concat())
            }
            Some(Page::Slow(body)) => {
                stream.write_all(head("200 OK", "", body.len()).as_bytes()).and_then(|()| {
                    body.chunks(64).try_for_each(|chunk| {
                        std::thread::sleep(Duration::from_millis(20));
                        stream.write_all(chunk)
                    })
                })
            }
        };
    }
}

/// The metadata of a package at `example.com`.
pub(crate) fn metadata(name: &str, needs: &[(&str, Sha256)], zip: &Sha256) -> Vec<u8> {
    let (short, version) = name.split_once('@').unwrap();
    let dependency = |(need, hash): &(&str, Sha256)| {
        let uri = format!("package://example.com/{need}");
        let checksums = Some(pkl_project::Checksums { sha256: hash.clone() });
        (need.split('@').next().unwrap().to_owned(), pkl_project::Dependency { uri, checksums })
    };
    let metadata = Metadata {
        name: short.to_owned(),
        package_uri: format!("package://example.com/{name}"),
        version: version.to_owned(),
        package_zip_url: format!("https://example.com/files/{name}.zip"),
        package_zip_checksums: pkl_project::Checksums { sha256: zip.clone() },
        dependencies: needs.iter().map(dependency).collect(),
        source_code_url_scheme: None,
        source_code: None,
        documentation: None,
        license: None,
        license_text: None,
        authors: Vec::new(),
        issue_tracker: None,
        description: None,
        annotations: Vec::new(),
    };
    metadata.to_json().into_bytes()
}
