//! Where a request comes from.

use crate::failure::ApiFailure;
use crate::forwarded;
use crate::router::App;
use axum::Router;
use axum::extract::{FromRequestParts, Request};
use axum::http::request::Parts;
use axum::middleware::{Next, from_fn};
use axum::response::Response;
use std::net::IpAddr;

/// Where a request comes from: the other end of its connection. Whoever takes a request off a
/// connection says which that is; of a request that nobody says it of nothing is believed.
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
}

/// The same routes for clients in this process, which act for the data directory's owner.
pub(crate) fn of_owner(router: Router) -> Router {
    router.layer(from_fn(async |mut request: Request, next: Next| -> Response {
        // What came over a socket stays what it is.
        if request.extensions().get::<Peer>().is_none() {
            request.extensions_mut().insert(Peer::Owner);
        }
        next.run(request).await
    }))
}

impl<S: Sync> FromRequestParts<S> for Peer {
    type Rejection = ApiFailure;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, ApiFailure> {
        let peer = parts.extensions.get::<Self>().copied();
        peer.ok_or_else(|| ApiFailure::internal("nobody said where the request comes from"))
    }
}

/// Who a request is counted for: the client, also behind proxies that are trusted to name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Source(pub(crate) String);

impl FromRequestParts<App> for Source {
    type Rejection = ApiFailure;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiFailure> {
        let peer = Peer::from_request_parts(parts, app).await?;
        let client = match peer {
            Peer::Owner => None,
            Peer::Address(address) => {
                Some(forwarded::client(address, &parts.headers, &app.options.trusted_proxies))
            }
        };
        Ok(Self(client.map_or_else(|| "local".to_owned(), counted)))
    }
}

/// An address as it is counted and logged.
fn counted(address: IpAddr) -> String {
    match address.to_canonical() {
        // Whoever has one IPv6 address has a network of them.
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            format!("{a:x}:{b:x}:{c:x}:{d:x}::/64")
        }
        IpAddr::V4(address) => address.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_is_an_address_or_the_network_of_one() {
        let source = |address: &str| counted(address.parse().expect("an address"));
        assert_eq!(source("10.0.0.1"), "10.0.0.1");
        assert_eq!(source("::ffff:10.0.0.1"), "10.0.0.1");
        assert_eq!(source("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::/64");
        assert!(Peer::Owner.is_owner());
        assert!(!Peer::Address("127.0.0.1".parse().expect("an address")).is_owner());
    }

    #[tokio::test]
    async fn a_request_that_comes_from_nowhere_is_not_the_owners() {
        let mut parts = Request::new(()).into_parts().0;
        assert!(Peer::from_request_parts(&mut parts, &()).await.is_err());
        parts.extensions.insert(Peer::Owner);
        assert!(Peer::from_request_parts(&mut parts, &()).await.is_ok_and(Peer::is_owner));
    }
}
