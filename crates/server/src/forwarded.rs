//! What proxies say of their clients: `Forwarded` (RFC 7239) and `X-Forwarded-For`. Only proxies
//! that the operator trusts are believed, and each only as far as what it was told by the next.

use axum::http::header::FORWARDED;
use axum::http::{HeaderMap, HeaderName};
use ipnet::IpNet;
use std::net::{IpAddr, SocketAddr};

const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
/// The most hops that are followed.
const MOST_HOPS: usize = 32;

/// The client of a request: the nearest hop that is no trusted proxy.
///
/// A proxy that knows one of the two headers passes the other on as the client wrote it. So both are
/// believed only where they agree, and a hop that names no address ends the trail at the proxy that
/// said so.
pub(crate) fn client(peer: IpAddr, headers: &HeaderMap, trusted: &[IpNet]) -> IpAddr {
    let peer = peer.to_canonical();
    if !is_trusted(peer, trusted) {
        return peer;
    }
    let standard = hops(headers, &FORWARDED, forwarded_for);
    let usual = hops(headers, &X_FORWARDED_FOR, address);
    let named = |hops: Option<Vec<Option<IpAddr>>>| hops.map(|hops| follow(peer, &hops, trusted));
    match (named(standard), named(usual)) {
        (Some(client), None) | (None, Some(client)) => client,
        (Some(one), Some(other)) if one == other => one,
        (Some(_), Some(_)) | (None, None) => peer,
    }
}

/// Whether an address is one of a trusted proxy.
fn is_trusted(address: IpAddr, trusted: &[IpNet]) -> bool {
    trusted.iter().any(|network| network.contains(&address))
}

/// Goes from the proxy that is nearest to the first that is not trusted. `hops` are nearest first.
fn follow(peer: IpAddr, hops: &[Option<IpAddr>], trusted: &[IpNet]) -> IpAddr {
    let mut nearest = peer;
    for hop in hops.iter().take(MOST_HOPS) {
        let Some(address) = hop else { return nearest };
        nearest = *address;
        if !is_trusted(nearest, trusted) {
            return nearest;
        }
    }
    nearest
}

/// The hops that a header names, nearest first; `None` if there is no such header.
fn hops(
    headers: &HeaderMap,
    name: &HeaderName,
    read: fn(&str) -> Option<IpAddr>,
) -> Option<Vec<Option<IpAddr>>> {
    let lines: Vec<_> = headers.get_all(name).iter().collect();
    if lines.is_empty() {
        return None;
    }
    let hops = lines.iter().rev().flat_map(|line| match line.to_str() {
        Ok(line) => line.rsplit(',').map(read).collect(),
        Err(_) => vec![None],
    });
    Some(hops.take(MOST_HOPS).collect())
}

/// The client of one element of `Forwarded`: `for="[2001:db8::1]:4711";proto=https`. A comma within
/// quotes stands in no address, so that an element cut there names none.
fn forwarded_for(element: &str) -> Option<IpAddr> {
    let mut found = None;
    for pair in element.split(';').filter(|pair| !pair.trim().is_empty()) {
        let (name, value) = pair.split_once('=')?;
        if name.trim().eq_ignore_ascii_case("for") {
            if found.is_some() {
                return None;
            }
            found = Some(value.trim());
        }
    }
    let value = found?;
    let unquoted = value.strip_prefix('"').and_then(|value| value.strip_suffix('"')).unwrap_or(value);
    address(unquoted)
}

/// An address, with or without a port: `192.0.2.1`, `192.0.2.1:80`, `2001:db8::1`, `[2001:db8::1]:80`.
fn address(text: &str) -> Option<IpAddr> {
    let text = text.trim();
    let bare = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
    let parsed = bare.parse().ok().or_else(|| text.parse::<SocketAddr>().ok().map(|socket| socket.ip()));
    parsed.map(|address: IpAddr| address.to_canonical())
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROXY: &str = "10.0.0.1";

    fn from(peer: &str, lines: &[(&'static str, &str)]) -> String {
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            headers.append(HeaderName::from_static(name), value.parse().expect("a value"));
        }
        let trusted: Vec<IpNet> =
            ["10.0.0.0/8", "fd00::/8"].map(|network| network.parse().expect("a network")).to_vec();
        client(peer.parse().expect("an address"), &headers, &trusted).to_string()
    }

    #[test]
    fn a_stranger_is_not_believed() {
        let says = [("x-forwarded-for", "192.0.2.7"), ("forwarded", "for=192.0.2.7")];
        assert_eq!(from("203.0.113.5", &says), "203.0.113.5");
    }

    #[test]
    fn a_trusted_proxy_names_its_client() {
        for (name, value, expected) in [
            ("x-forwarded-for", "192.0.2.7", "192.0.2.7"),
            ("x-forwarded-for", "192.0.2.7:4711", "192.0.2.7"),
            ("x-forwarded-for", "2001:db8::7", "2001:db8::7"),
            ("x-forwarded-for", "[2001:db8::7]:80", "2001:db8::7"),
            ("x-forwarded-for", "::ffff:192.0.2.7", "192.0.2.7"),
            ("forwarded", "for=192.0.2.7;proto=https;by=10.0.0.1", "192.0.2.7"),
            ("forwarded", "proto=https; For=\"[2001:db8::7]:4711\"", "2001:db8::7"),
        ] {
            assert_eq!(from(PROXY, &[(name, value)]), expected, "{name}: {value}");
        }
        assert_eq!(from("::ffff:10.0.0.1", &[("x-forwarded-for", "192.0.2.7")]), "192.0.2.7");
        assert_eq!(from(PROXY, &[]), PROXY);
    }

    #[test]
    fn what_the_client_wrote_itself_is_not_believed() {
        // Each proxy adds the address it was called from at the end.
        let chain = "192.0.2.99, 203.0.113.5, 10.1.1.1";
        assert_eq!(from(PROXY, &[("x-forwarded-for", chain)]), "203.0.113.5");
        let lines = [("x-forwarded-for", "192.0.2.99"), ("x-forwarded-for", "203.0.113.5")];
        assert_eq!(from(PROXY, &lines), "203.0.113.5");
        // The proxy knows only one of the headers: the other is the client's.
        let both = [("forwarded", "for=192.0.2.99"), ("x-forwarded-for", "203.0.113.5")];
        assert_eq!(from(PROXY, &both), PROXY);
        let agreeing = [("forwarded", "for=203.0.113.5"), ("x-forwarded-for", "203.0.113.5")];
        assert_eq!(from(PROXY, &agreeing), "203.0.113.5");
    }

    #[test]
    fn a_hop_without_an_address_ends_the_trail() {
        for (name, value) in [
            ("forwarded", "for=unknown"),
            ("forwarded", "for=_hidden, for=10.2.2.2;for=192.0.2.7"),
            ("forwarded", "for=192.0.2.7, nonsense"),
            ("forwarded", "for=\"192.0.2.7, for=192.0.2.8\""),
            ("x-forwarded-for", ""),
            ("x-forwarded-for", "192.0.2.7, not an address"),
        ] {
            assert_eq!(from(PROXY, &[(name, value)]), PROXY, "{name}: {value}");
        }
        assert_eq!(from(PROXY, &[("x-forwarded-for", "192.0.2.7, junk, 10.2.2.2")]), "10.2.2.2");
    }

    #[test]
    fn a_long_trail_is_followed_only_so_far() {
        let chain = format!("192.0.2.7{}", ", 10.3.3.3".repeat(100));
        assert_eq!(from(PROXY, &[("x-forwarded-for", &chain)]), "10.3.3.3");
    }
}
