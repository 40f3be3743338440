//! `LOCAL::TLS::PrivateKey`.

use super::failed;
use crate::fault::Fault;
use crate::fields::{self, Extent, Fields, one_of, whole};
use crate::kept::{Made, Maker, keepers};
use crate::local_type::Site;
use crate::records::Shelf;
use formwork_model::{Json, Secret, sha256_hex};
use formwork_plugin::PropertyProblem;
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng as _;
use rcgen::{KeyPair, PublicKeyData as _};
use rsa::pkcs8::{EncodePrivateKey as _, LineEnding};
use serde_json::Map;

/// The sizes of RSA keys.
const SIZES: [u64; 3] = [2_048, 3_072, 4_096];

/// What stands before the 32 bytes of an Ed25519 key in PKCS #8 (RFC 8410, section 7).
const ED25519_BEGIN: [u8; 16] =
    [0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20];

pub(crate) struct PrivateKeyMaker;

#[derive(Clone, Copy)]
enum Algorithm {
    Rsa(usize),
    P256,
    P384,
    Ed25519,
}

struct Declared {
    algorithm: Algorithm,
    /// What was left to us.
    defaults: Map<String, Json>,
}

fn declared(fields: &mut Fields<'_>) -> Option<Declared> {
    let mut defaults = Map::new();
    let name = fields.optional("algorithm", |value| one_of(value, &["ECDSA", "RSA", "ED25519"]));
    let curve = fields.optional("curve", |value| one_of(value, &["P-256", "P-384"]));
    let size = fields.optional("rsaBits", rsa_size);
    fields.optional("keepers", keepers);
    if name.is_none() {
        defaults.insert("algorithm".to_owned(), "ECDSA".into());
    }
    let name = name.unwrap_or("ECDSA");
    if curve.is_some() && name != "ECDSA" {
        fields.report("curve", "is for `ECDSA` only");
    }
    if size.is_some() && name != "RSA" {
        fields.report("rsaBits", "is for `RSA` only");
    }
    let algorithm = match name {
        "RSA" => {
            defaults.extend(size.is_none().then(|| ("rsaBits".to_owned(), SIZES[1].into())));
            Algorithm::Rsa(usize::try_from(size.unwrap_or(SIZES[1])).ok()?)
        }
        "ED25519" => Algorithm::Ed25519,
        _ => {
            defaults.extend(curve.is_none().then(|| ("curve".to_owned(), "P-256".into())));
            if curve == Some("P-384") { Algorithm::P384 } else { Algorithm::P256 }
        }
    };
    Some(Declared { algorithm, defaults })
}

fn rsa_size(value: &Json) -> Result<u64, String> {
    let wrong = || "must be 2048, 3072 or 4096".to_owned();
    whole(value, SIZES[0], SIZES[2]).ok().filter(|size| SIZES.contains(size)).ok_or_else(wrong)
}

fn generate(algorithm: Algorithm) -> Result<KeyPair, Fault> {
    let pair = match algorithm {
        Algorithm::P256 => KeyPair::generate_for(&rcgen::PKCS_ECDSA_P256_SHA256),
        Algorithm::P384 => KeyPair::generate_for(&rcgen::PKCS_ECDSA_P384_SHA384),
        Algorithm::Ed25519 => return ed25519(),
        Algorithm::Rsa(bits) => return rsa(bits),
    };
    pair.map_err(|error| failed("make a key", &error))
}

/// The library for certificates signs with RSA keys but does not make them.
fn rsa(bits: usize) -> Result<KeyPair, Fault> {
    let mut random = ChaCha20Rng::from_seed(formwork_secret::random_bytes());
    let key = rsa::PrivateKey::new(&mut random, bits).map_err(|error| failed("make a key", &error))?;
    let pem = key.to_pkcs8_pem(LineEnding::LF).map_err(|error| failed("write a key", &error))?;
    read(&pem)
}

/// In the form that all readers know. The library for certificates writes such a key together with its
/// public one (RFC 5958), which OpenSSL and others refuse.
fn ed25519() -> Result<KeyPair, Fault> {
    let der = Secret::new([&ED25519_BEGIN[..], &formwork_secret::random_bytes::<32>()].concat());
    KeyPair::try_from(der.expose().as_slice()).map_err(|error| failed("make a key", &error))
}

fn read(pem: &str) -> Result<KeyPair, Fault> {
    KeyPair::from_pem(pem).map_err(|error| failed("read a key", &error))
}

impl Maker for PrivateKeyMaker {
    const NOUN: &'static str = "private key";
    const SHELF: &'static str = "private-keys";
    const PREFIX: &'static str = "key";
    const CHANGES: bool = false;
    const OUTPUTS: &'static [&'static str] = &["publicKeyPem", "publicKeySha256"];
    const SECRETS: &'static [&'static str] = &["privateKeyPem"];

    fn problems(&self, properties: &Json, extent: Extent) -> Vec<PropertyProblem> {
        fields::problems(properties, extent, declared)
    }

    fn make(&self, _: &Site, properties: &Json) -> Result<Made, Fault> {
        let Declared { algorithm, defaults: mut outputs } =
            fields::read("a private key", properties, declared)?;
        let pair = generate(algorithm)?;
        outputs.insert("publicKeyPem".to_owned(), pair.public_key_pem().into());
        let digest = sha256_hex(&pair.subject_public_key_info());
        outputs.insert("publicKeySha256".to_owned(), digest.into());
        let mut secrets = Map::new();
        secrets.insert("privateKeyPem".to_owned(), pair.serialize_pem().into());
        Ok(Made { outputs, secrets })
    }
}

/// A key that was made before, by its id.
///
/// # Errors
/// `INVALID_REQUEST` if there is none.
pub(super) fn find(site: &Site, id: &str) -> Result<KeyPair, Fault> {
    let record = Shelf::new(&site.root, PrivateKeyMaker::SHELF).get(id)?;
    let pem = record.and_then(|record| {
        record.secrets.expose().get("privateKeyPem")?.as_str().map(|pem| Secret::new(pem.to_owned()))
    });
    let missing =
        || Fault::invalid(format!("`keyId` names no `LOCAL::TLS::PrivateKey` of this target: `{id}`"));
    read(pem.ok_or_else(missing)?.expose())
}
