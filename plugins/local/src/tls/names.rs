//! Whom a certificate is for.

use crate::fields::{Fields, short_text, texts};
use formwork_model::Json;
use rcgen::string::Ia5String;
use rcgen::{DistinguishedName, DnType, SanType};
use std::net::IpAddr;

/// The parts of a subject by their names, with their longest value (RFC 5280, appendix A.1).
const PARTS: [(&str, DnType, usize); 6] = [
    ("commonName", DnType::CommonName, 64),
    ("organization", DnType::OrganizationName, 64),
    ("organizationalUnit", DnType::OrganizationalUnitName, 64),
    ("locality", DnType::LocalityName, 128),
    ("province", DnType::StateOrProvinceName, 128),
    ("country", DnType::CountryName, 2),
];
/// The most names of each kind.
const MOST: usize = 100;

/// Reads a name of one kind.
type ReadName = fn(&str) -> Result<SanType, String>;

/// The subject, and the names beside it.
pub(super) struct Names {
    pub(super) subject: DistinguishedName,
    pub(super) alternatives: Vec<SanType>,
}

pub(super) fn declared(fields: &mut Fields<'_>) -> Names {
    let subject = fields.object("subject", |fields| Some(subject(fields))).unwrap_or_default();
    let mut alternatives = Vec::new();
    let kinds: [(&'static str, ReadName); 4] = [
        ("dnsNames", dns_name),
        ("ipAddresses", ip_address),
        ("emailAddresses", |text| Ok(SanType::Rfc822Name(ascii(text, '@')?))),
        ("uris", |text| Ok(SanType::URI(ascii(text, ':')?))),
    ];
    for (name, read) in kinds {
        let found = fields.optional(name, |value| {
            let texts = texts(value)?;
            if texts.len() > MOST {
                return Err(format!("must have at most {MOST} elements"));
            }
            texts.into_iter().map(read).collect::<Result<Vec<_>, _>>()
        });
        alternatives.extend(found.into_iter().flatten());
    }
    if fields.is_whole() && alternatives.is_empty() && subject.iter().next().is_none() {
        fields.report("subject", "must say something, unless there are `dnsNames` or other names");
    }
    Names { subject, alternatives }
}

fn subject(fields: &mut Fields<'_>) -> DistinguishedName {
    let mut subject = DistinguishedName::new();
    for (name, part, longest) in PARTS {
        let value = match part {
            DnType::CountryName => fields.optional(name, country),
            _ => fields.optional(name, |value| short_text(value, longest)),
        };
        if let Some(value) = value {
            subject.push(part, value);
        }
    }
    subject
}

fn country(value: &Json) -> Result<String, String> {
    match short_text(value, 2) {
        Ok(text) if text.len() == 2 && text.bytes().all(|letter| letter.is_ascii_uppercase()) => Ok(text),
        _ => Err("must be two capital letters (ISO 3166)".to_owned()),
    }
}

/// A name of the DNS, which may begin with `*.`.
fn dns_name(text: &str) -> Result<SanType, String> {
    let name = text.strip_prefix("*.").unwrap_or(text);
    let is_label = |label: &str| {
        (1..=63).contains(&label.len())
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
    };
    if text.len() > 253 || !name.split('.').all(is_label) {
        return Err(format!(
            "has `{text}`, which is not a DNS name (those with other letters are written in punycode)"
        ));
    }
    ascii(text, '\0').map(SanType::DnsName)
}

fn ip_address(text: &str) -> Result<SanType, String> {
    match text.parse::<IpAddr>() {
        // Otherwise what is read back would not be what was declared.
        Ok(address) if address.to_string() == text => Ok(SanType::IpAddress(address)),
        Ok(address) => Err(format!("has `{text}`, which is written `{address}`")),
        Err(_) => Err(format!("has `{text}`, which is not an IP address")),
    }
}

/// A text of ASCII letters with a mark in it; `\0` for none.
fn ascii(text: &str, mark: char) -> Result<Ia5String, String> {
    let is_fit = text.len() <= 2_048
        && text.bytes().all(|byte| byte.is_ascii_graphic())
        && (mark == '\0' || text.trim_matches(mark).contains(mark));
    match Ia5String::try_from(text) {
        Ok(found) if is_fit => Ok(found),
        _ => Err(format!("has `{}`, which is not of its kind", text.escape_debug())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_of_their_kind() {
        for good in
            ["example.org", "*.example.org", "localhost", "xn--bcher-kva.example", "_acme.example.org"]
        {
            assert!(dns_name(good).is_ok(), "{good}");
        }
        for bad in ["", ".", "a..b", "-a.org", "bücher.example", "a b", "*.", "a.*.b", &"a.".repeat(200)] {
            assert!(dns_name(bad).is_err(), "{bad}");
        }
        assert!(ip_address("127.0.0.1").is_ok() && ip_address("::1").is_ok());
        assert!(ip_address("0:0:0:0:0:0:0:1").unwrap_err().contains("written `::1`"));
        assert!(ip_address("127.0.0.1/8").is_err());
        assert!(ascii("a@b", '@').is_ok() && ascii("@b", '@').is_err() && ascii("a b@c", '@').is_err());
        assert!(ascii("https://a/", ':').is_ok() && ascii("https", ':').is_err());
    }
}
