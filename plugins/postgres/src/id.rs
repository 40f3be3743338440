//! Native ids: the names that lead to an object, with slashes between them.

use crate::failure::Failure;
use formwork_model::NativeId;
use std::fmt::Write as _;

/// The parts of a native id. Roles and databases have one, which is their name as it is; for all
/// others it is the database's name followed by what leads on from there, each percent-encoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Id(pub(crate) Vec<String>);

impl Id {
    pub(crate) fn of<const N: usize>(parts: [&str; N]) -> Self {
        Self(parts.map(str::to_owned).to_vec())
    }

    /// Reads an id of so many parts.
    pub(crate) fn parse(id: &NativeId, parts: usize) -> Result<Self, Failure> {
        if parts == 1 {
            return Ok(Self::of([id.as_str()]));
        }
        let found: Option<Vec<_>> = id.as_str().split('/').map(decode).collect();
        match found {
            Some(found) if found.len() == parts => Ok(Self(found)),
            _ => Err(Failure::invalid(format!("`{id}` is not a native id of this type"))),
        }
    }

    pub(crate) fn native(&self) -> NativeId {
        match &self.0[..] {
            [name] => NativeId::new(name.as_str()),
            parts => NativeId::new(parts.iter().map(|part| encode(part)).collect::<Vec<_>>().join("/")),
        }
    }

    /// A part; empty if there is none.
    pub(crate) fn part(&self, at: usize) -> &str {
        self.0.get(at).map_or("", String::as_str)
    }
}

fn encode(part: &str) -> String {
    let mut encoded = String::with_capacity(part.len());
    for character in part.chars() {
        let plain = character.is_ascii_alphanumeric() || !character.is_ascii() || "-_.~".contains(character);
        if plain {
            encoded.push(character);
        } else {
            // Writing to a string does not fail.
            let _ = write!(encoded, "%{:02X}", u32::from(character));
        }
    }
    encoded
}

fn decode(part: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(part.len());
    let mut rest = part.as_bytes();
    while let [first, after @ ..] = rest {
        if *first == b'%' {
            let digits = after.get(..2).and_then(|digits| std::str::from_utf8(digits).ok())?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
            rest = &after[2..];
        } else {
            bytes.push(*first);
            rest = after;
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_come_back_as_they_were() {
        let id = Id::of(["shop", "a/b%c", "f", "integer, \"Zürich\""]);
        assert_eq!(id.native().as_str(), "shop/a%2Fb%25c/f/integer%2C%20%22Zürich%22");
        assert_eq!(Id::parse(&id.native(), 4), Ok(id));
        let role = Id::of(["a/b %41"]);
        assert_eq!((role.native().as_str(), Id::parse(&role.native(), 1)), ("a/b %41", Ok(role.clone())));
        let with_nothing = Id::of(["d", "", "x"]);
        assert_eq!(Id::parse(&with_nothing.native(), 3), Ok(with_nothing));
    }

    #[test]
    fn what_is_no_id_is_refused() {
        for id in ["a", "a/b/c", "a/%4", "a/%zz", "a/%ff"] {
            assert!(Id::parse(&NativeId::new(id), 2).is_err(), "{id}");
        }
    }
}
