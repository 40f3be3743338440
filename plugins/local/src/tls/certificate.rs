//! `LOCAL::TLS::SelfSignedCert`. It changes in place: another certificate under the same id.

use super::names::{self, Names};
use super::{failed, private_key};
use crate::fault::Fault;
use crate::fields::{self, Extent, Fields, flag, text, texts, whole};
use crate::kept::{Made, Maker};
use crate::local_type::Site;
use formwork_model::{Json, sha256_hex};
use formwork_plugin::{OperationErrorCode, PropertyProblem};
use jiff::Timestamp;
use rcgen::{
    BasicConstraints, CertificateParams, ExtendedKeyUsagePurpose, IsCa, KeyUsagePurpose, SerialNumber,
};
use serde_json::Map;
use std::time::{Duration, SystemTime};

/// The longest validity, in hours: a hundred years.
const LONGEST: u64 = 876_600;
const HOUR: u64 = 3_600;

pub(crate) struct CertificateMaker;

struct Declared<'a> {
    key: &'a str,
    names: Names,
    valid_hours: u64,
    is_ca: bool,
    usages: Vec<Usage>,
    /// What was left to us.
    defaults: Map<String, Json>,
}

#[derive(Clone, Copy)]
enum Usage {
    Key(KeyUsagePurpose),
    Extended(fn() -> ExtendedKeyUsagePurpose),
}

/// What a certificate is for, by name.
const USAGES: [(&str, Usage); 11] = [
    ("digitalSignature", Usage::Key(KeyUsagePurpose::DigitalSignature)),
    ("contentCommitment", Usage::Key(KeyUsagePurpose::ContentCommitment)),
    ("keyEncipherment", Usage::Key(KeyUsagePurpose::KeyEncipherment)),
    ("keyAgreement", Usage::Key(KeyUsagePurpose::KeyAgreement)),
    ("keyCertSign", Usage::Key(KeyUsagePurpose::KeyCertSign)),
    ("crlSign", Usage::Key(KeyUsagePurpose::CrlSign)),
    ("serverAuth", Usage::Extended(|| ExtendedKeyUsagePurpose::ServerAuth)),
    ("clientAuth", Usage::Extended(|| ExtendedKeyUsagePurpose::ClientAuth)),
    ("codeSigning", Usage::Extended(|| ExtendedKeyUsagePurpose::CodeSigning)),
    ("emailProtection", Usage::Extended(|| ExtendedKeyUsagePurpose::EmailProtection)),
    ("timeStamping", Usage::Extended(|| ExtendedKeyUsagePurpose::TimeStamping)),
];

fn declared<'a>(fields: &mut Fields<'a>) -> Option<Declared<'a>> {
    let mut defaults = Map::new();
    let key = fields.required("keyId", text);
    let names = names::declared(fields);
    let valid_hours = fields.required("validityHours", |value| whole(value, 1, LONGEST));
    let renew_hours = fields.optional("renewBeforeHours", |value| whole(value, 0, LONGEST));
    if renew_hours.unwrap_or(0) >= valid_hours.unwrap_or(LONGEST + 1) {
        fields.report("renewBeforeHours", "must be less than `validityHours`");
    }
    defaults.extend(renew_hours.is_none().then(|| ("renewBeforeHours".to_owned(), 0.into())));
    let is_ca = fields.optional("isCa", flag).unwrap_or_else(|| {
        defaults.insert("isCa".to_owned(), false.into());
        false
    });
    let usages = fields.optional("usages", usages).unwrap_or_else(|| {
        let names: &[&str] =
            if is_ca { &["keyCertSign", "crlSign"] } else { &["digitalSignature", "serverAuth"] };
        defaults.insert("usages".to_owned(), Json::from(names));
        names.iter().filter_map(|name| usage(name)).collect()
    });
    fields.optional("readyForRenewal", |value| {
        if flag(value)? {
            return Err("must be false: it is seen to be true when the certificate is due".to_owned());
        }
        Ok(())
    });
    Some(Declared { key: key?, names, valid_hours: valid_hours?, is_ca, usages, defaults })
}

fn usages(value: &Json) -> Result<Vec<Usage>, String> {
    let known = USAGES.map(|(name, _)| name).join("`, `");
    let found = texts(value)?.into_iter().map(usage).collect::<Option<Vec<_>>>();
    found.ok_or_else(|| format!("must be a list of `{known}`"))
}

fn usage(name: &str) -> Option<Usage> {
    USAGES.iter().find(|(known, _)| *known == name).map(|(_, usage)| *usage)
}

/// The period from now on, in whole seconds as certificates have them.
fn period(now: SystemTime, hours: u64) -> Result<(SystemTime, SystemTime), Fault> {
    let wrong = || Fault::new(OperationErrorCode::InternalFailure, "the system's clock is not set");
    let since = now.duration_since(SystemTime::UNIX_EPOCH).map_err(|_| wrong())?;
    let begin = SystemTime::UNIX_EPOCH + Duration::from_secs(since.as_secs());
    let end = begin.checked_add(Duration::from_secs(hours * HOUR)).ok_or_else(wrong)?;
    Ok((begin, end))
}

fn shown(time: SystemTime) -> Result<Json, Fault> {
    let time = Timestamp::try_from(time).map_err(|error| failed("tell a time", &error))?;
    Ok(time.to_string().into())
}

/// A serial number: positive, and different each time (RFC 5280, section 4.1.2.2).
fn serial() -> [u8; 16] {
    let mut bytes: [u8; 16] = formwork_secret::random_bytes();
    bytes[0] = bytes[0] & 0x7f | 0x40;
    bytes
}

impl Maker for CertificateMaker {
    const NOUN: &'static str = "certificate";
    const SHELF: &'static str = "certificates";
    const PREFIX: &'static str = "cert";
    const CHANGES: bool = true;
    const OUTPUTS: &'static [&'static str] =
        &["certPem", "notBefore", "notAfter", "serialNumber", "fingerprintSha256", "readyForRenewal"];
    const SECRETS: &'static [&'static str] = &[];

    fn problems(&self, properties: &Json, extent: Extent) -> Vec<PropertyProblem> {
        fields::problems(properties, extent, declared)
    }

    fn make(&self, site: &Site, properties: &Json) -> Result<Made, Fault> {
        let declared = fields::read("a certificate", properties, declared)?;
        let key = private_key::find(site, declared.key)?;
        let (begin, end) = period(site.now, declared.valid_hours)?;
        let serial = serial();
        let mut params = CertificateParams::default();
        params.not_before = begin.into();
        params.not_after = end.into();
        params.serial_number = Some(SerialNumber::from_slice(&serial));
        params.distinguished_name = declared.names.subject;
        params.subject_alt_names = declared.names.alternatives;
        params.is_ca =
            if declared.is_ca { IsCa::Ca(BasicConstraints::Unconstrained) } else { IsCa::ExplicitNoCa };
        for usage in declared.usages {
            match usage {
                Usage::Key(purpose) => params.key_usages.push(purpose),
                Usage::Extended(purpose) => params.extended_key_usages.push(purpose()),
            }
        }
        let certificate = params.self_signed(&key).map_err(|error| failed("sign a certificate", &error))?;
        let mut outputs = declared.defaults;
        outputs.insert("certPem".to_owned(), certificate.pem().into());
        outputs.insert("notBefore".to_owned(), shown(begin)?);
        outputs.insert("notAfter".to_owned(), shown(end)?);
        outputs.insert("serialNumber".to_owned(), formwork_secret::hex(&serial).into());
        outputs.insert("fingerprintSha256".to_owned(), sha256_hex(certificate.der()).into());
        Ok(Made { outputs, secrets: Map::new() })
    }

    /// A certificate is due some time before it ends: declared is that it isn't, so that a plan sees the
    /// difference and the update makes another.
    fn observe(&self, site: &Site, shown: &mut Map<String, Json>) {
        let end =
            shown.get("notAfter").and_then(Json::as_str).and_then(|text| text.parse::<Timestamp>().ok());
        let hours = shown.get("renewBeforeHours").and_then(Json::as_u64).unwrap_or(0);
        let then = site.now.checked_add(Duration::from_secs(hours * HOUR));
        let then = then.and_then(|then| Timestamp::try_from(then).ok());
        let is_due = end.zip(then).is_none_or(|(end, then)| then >= end);
        shown.insert("readyForRenewal".to_owned(), is_due.into());
    }
}
