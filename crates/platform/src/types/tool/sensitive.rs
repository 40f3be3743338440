//! Where a tool holds credentials by their place: header values and signing keys. A value that is
//! nothing but tokens and the name of a scheme holds none: `Bearer {{secret:sec_…}}` is shown as
//! it stands (seed 4, "Sub Expressions").

use super::{auth, pipeline, tokens};
use crate::Node;
use formwork_model::Path;

/// Words that may stand before a token in an authorization header.
const SCHEMES: &[&str] = &["", "bearer", "basic", "token", "apikey", "bot", "key"];

/// The paths of all credentials in a tool, its inline tools included.
pub(super) fn places(tool: Node<'_>) -> Vec<Path> {
    let mut paths = Vec::new();
    pipeline::for_each_tool(tool, &mut |at, tool| {
        for part in ["execute", "mcp"] {
            let Some(request) = tool.member(part) else { continue };
            let path = at.key(part);
            if let Some(headers) = request.member("headers") {
                collect(headers, &path.key("headers"), &[], &mut paths);
            }
            if let Some(auth) = request.member("auth") {
                collect(auth, &path.key("auth"), auth::PUBLIC, &mut paths);
            }
        }
    });
    paths
}

fn collect(bag: Node<'_>, at: &Path, public: &[&str], paths: &mut Vec<Path>) {
    let members = bag.members().into_iter().filter(|(name, _)| !public.contains(name));
    paths.extend(members.filter(|(_, value)| is_credential(*value)).map(|(name, _)| at.key(name)));
}

fn is_credential(value: Node<'_>) -> bool {
    if value.is_null() {
        return false;
    }
    let Some(text) = value.known_text() else {
        // A whole reference or parameter says for itself whether it is secret.
        return !value.is_expression();
    };
    let parsed = tokens::parse(&text);
    parsed.tokens.is_empty() || !SCHEMES.contains(&parsed.rest.trim().to_ascii_lowercase().as_str())
}
