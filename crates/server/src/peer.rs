//! Where a request comes from.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use std::convert::Infallible;
use std::net::IpAddr;

/// Where a request comes from: the other end of its connection. What a proxy in front says of the
/// client is not believed; all its clients are one source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Peer {
    /// This process, or a Unix socket that only the data directory's owner can use.
    Owner,
    /// An address.
    Address(IpAddr),
}

impl Peer {
    /// Whether only the data directory's owner can have sent it.
    pub(crate) fn is_owner(self) -> bool {
        self == Self::Owner
    }

    /// The source as it is counted and logged.
    pub(crate) fn source(self) -> String {
        match self {
            Self::Owner => "local".to_owned(),
            // Whoever has one IPv6 address has a network of them.
            Self::Address(IpAddr::V6(address)) if address.to_ipv4_mapped().is_none() => {
                let [a, b, c, d, ..] = address.segments();
                format!("{a:x}:{b:x}:{c:x}:{d:x}::/64")
            }
            Self::Address(address) => address.to_canonical().to_string(),
        }
    }
}

impl<S: Sync> FromRequestParts<S> for Peer {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Infallible> {
        // A socket adds its own; what has none never left the process.
        Ok(parts.extensions.get::<Self>().copied().unwrap_or(Self::Owner))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_is_an_address_or_the_network_of_one() {
        let source = |address: &str| Peer::Address(address.parse().expect("an address")).source();
        assert_eq!(source("10.0.0.1"), "10.0.0.1");
        assert_eq!(source("::ffff:10.0.0.1"), "10.0.0.1");
        assert_eq!(source("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::/64");
        assert_eq!(Peer::Owner.source(), "local");
        assert!(Peer::Owner.is_owner());
        assert!(!Peer::Address("127.0.0.1".parse().expect("an address")).is_owner());
    }
}
