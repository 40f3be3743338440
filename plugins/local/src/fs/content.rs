//! What is in a file, and in which of three ways it is declared.

use crate::confined::{FilePath, Found, Root};
use crate::fault::Fault;
use crate::fields::{Fields, text};
use crate::records::{Record, Shelf};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use formwork_model::{Json, Secret, sha256_hex};
use serde_json::{Map, json};
use sha2::{Digest as _, Sha256};
use std::fs::File;
use std::io::Read as _;

/// The largest content that is declared or shown, in bytes: it must fit into an answer, however it is
/// spelled there.
pub(super) const MOST: u64 = 2 << 20;
/// The largest file of which a digest is made, in bytes: more takes longer than a call has.
const MOST_DIGESTED: u64 = 256 << 20;

/// How content is declared: the property it stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spelling {
    /// As text.
    Text,
    /// As bytes.
    Base64,
    /// As text that nobody may see.
    Secret,
}

/// Declared content.
pub(super) struct Content {
    pub(super) spelling: Spelling,
    pub(super) bytes: Secret<Vec<u8>>,
}

impl Spelling {
    const ALL: [Self; 3] = [Self::Text, Self::Base64, Self::Secret];

    fn property(self) -> &'static str {
        match self {
            Self::Text => "content",
            Self::Base64 => "contentBase64",
            Self::Secret => "secretContent",
        }
    }

    /// Which one a caller knew.
    fn known_to(prior: Option<&Json>) -> Option<Self> {
        let prior = prior?.as_object()?;
        Self::ALL.into_iter().find(|spelling| prior.contains_key(spelling.property()))
    }
}

impl Content {
    /// The one of the three that is declared.
    pub(super) fn declared(fields: &mut Fields<'_>) -> Option<Self> {
        let mut declared: Vec<(Spelling, Secret<Vec<u8>>)> = Vec::new();
        let mut was_wrong = false;
        for spelling in Spelling::ALL {
            let mut is_there = false;
            let bytes = fields.optional(spelling.property(), |value| {
                is_there = true;
                bytes_of(spelling, value)
            });
            was_wrong |= is_there && bytes.is_none();
            declared.extend(bytes.map(|bytes| (spelling, bytes)));
        }
        if declared.len() > 1 {
            fields
                .report("content", "excludes `contentBase64` and `secretContent`, of which one is declared");
        } else if declared.is_empty() && !was_wrong && fields.is_whole() {
            fields.report("content", "is required, or else `contentBase64` or `secretContent`");
        }
        declared.pop().map(|(spelling, bytes)| Self { spelling, bytes })
    }

    /// Whether the file alone does not tell how it was declared.
    fn needs_note(&self) -> bool {
        match self.spelling {
            Spelling::Text => false,
            Spelling::Base64 => std::str::from_utf8(self.bytes.expose()).is_ok(),
            Spelling::Secret => true,
        }
    }
}

fn bytes_of(spelling: Spelling, value: &Json) -> Result<Secret<Vec<u8>>, String> {
    let text = text(value)?;
    let bytes = match spelling {
        Spelling::Text | Spelling::Secret => text.as_bytes().to_vec(),
        Spelling::Base64 => STANDARD.decode(text).map_err(|_| {
            "must be Base64 of RFC 4648, section 4, on one line and with its padding".to_owned()
        })?,
    };
    let bytes = Secret::new(bytes);
    if bytes.expose().len() as u64 > MOST {
        return Err(format!("must have at most {MOST} bytes"));
    }
    Ok(bytes)
}

/// What must be remembered of files: which are secret, and which texts were declared as bytes. Anything
/// else is seen from the file.
pub(super) struct Spellings<'a>(Shelf<'a>);

impl<'a> Spellings<'a> {
    pub(super) fn new(root: &'a Root) -> Self {
        Self(Shelf::new(root, "files"))
    }

    /// What is remembered of a file.
    pub(super) fn get(&self, path: &FilePath) -> Result<Option<Spelling>, Fault> {
        let record = self.0.get(&id_of(path))?;
        Ok(record.and_then(|record| Spelling::known_to(Some(&record.outputs))))
    }

    /// Writes a file, and remembers what is needed of it: before, so that a secret is never shown as
    /// anything else, or after, if what was there before is a secret and what comes is none. What is
    /// remembered of a file that never came harms nothing.
    pub(super) fn around(
        &self,
        path: &FilePath,
        content: &Content,
        write: impl FnOnce() -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        let discloses = content.spelling != Spelling::Secret && self.get(path)? == Some(Spelling::Secret);
        if !discloses && content.needs_note() {
            self.note(path, content.spelling)?;
        }
        write()?;
        if !content.needs_note() {
            return self.forget(path);
        }
        if discloses { self.note(path, content.spelling) } else { Ok(()) }
    }

    fn note(&self, path: &FilePath, spelling: Spelling) -> Result<(), Fault> {
        self.0.put(
            &id_of(path),
            &Record {
                declared: json!({ "path": path.as_str() }),
                outputs: json!({ spelling.property(): true }),
                secrets: Secret::new(Json::Null),
            },
        )
    }

    /// Forgets a file.
    pub(super) fn forget(&self, path: &FilePath) -> Result<(), Fault> {
        self.0.remove(&id_of(path))
    }
}

fn id_of(path: &FilePath) -> String {
    sha256_hex(path.as_str().as_bytes())
}

/// Adds what is shown of a file's content. Of a secret nothing is, not even a digest or a length, which
/// tell much of a short one.
pub(super) fn show(
    found: Found,
    noted: Option<Spelling>,
    prior: Option<&Json>,
    shown: &mut Map<String, Json>,
) -> Result<(), Fault> {
    if noted == Some(Spelling::Secret) {
        return Ok(());
    }
    let Found { mut file, status } = found;
    let size = status.size;
    shown.insert("size".to_owned(), size.into());
    if size > MOST {
        if size <= MOST_DIGESTED {
            shown.insert("sha256".to_owned(), digest_of(&mut file)?.into());
        }
        return Ok(());
    }
    let mut bytes = Vec::new();
    file.take(MOST + 1).read_to_end(&mut bytes).map_err(|error| Fault::io(&error, "read the file"))?;
    shown.insert("sha256".to_owned(), sha256_hex(&bytes).into());
    let wanted = noted.or_else(|| Spelling::known_to(prior)).unwrap_or(Spelling::Text);
    let (spelling, value) = match (wanted, String::from_utf8(bytes)) {
        (Spelling::Base64, Ok(text)) => (Spelling::Base64, STANDARD.encode(text)),
        (wanted, Ok(text)) => (wanted, text),
        (_, Err(not_text)) => (Spelling::Base64, STANDARD.encode(not_text.as_bytes())),
    };
    shown.insert(spelling.property().to_owned(), value.into());
    Ok(())
}

fn digest_of(file: &mut File) -> Result<String, Fault> {
    let (mut digest, mut chunk) = (Sha256::new(), vec![0; 64 << 10]);
    let mut file = file.take(MOST_DIGESTED);
    loop {
        match file.read(&mut chunk).map_err(|error| Fault::io(&error, "read the file"))? {
            0 => return Ok(formwork_secret::hex(&digest.finalize())),
            length => digest.update(&chunk[..length]),
        }
    }
}
