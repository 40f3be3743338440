//! A formation's own metadata, which is never resolved (seed 4, "The template metadata block is
//! the only metadata substitution site").

use crate::expression::expression_kind;
use formwork_model::{Diagnostic, DiagnosticCode, Json, Path, Segment};

/// Finds the `ref`, `param` and `sub` expressions in static metadata, at any depth; the control
/// plane answers them with `FORMATION_INVALID_METADATA`.
pub fn check_static_metadata(metadata: &Json) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    walk(metadata, &mut Path::of(["metadata"]), &mut found);
    found
}

fn walk(value: &Json, path: &mut Path, found: &mut Vec<Diagnostic>) {
    if let Some(kind) = expression_kind(value).filter(|kind| *kind != "ref_attr") {
        let message = format!(
            "`{kind}` expressions are not allowed in the formation `metadata` field. Put deploy-time \
             substitutions in the template's top-level `metadata` block, whose values are resolved on every \
             deploy"
        );
        found.push(Diagnostic::error(DiagnosticCode::MisplacedExpression, path.clone(), message));
        return;
    }
    match value {
        Json::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                path.push(Segment::Index(index));
                walk(item, path, found);
                path.pop();
            }
        }
        Json::Object(members) => {
            for (key, member) in members {
                path.push(Segment::Key(key.as_str().into()));
                walk(member, path, found);
                path.pop();
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn expressions_are_refused_at_any_depth_with_their_path() {
        let metadata = json!({
            "a": [{ "b": { "sub": "x" } }, { "ref": 1 }],
            "c": { "ref": "X" },
            "d": { "param": "P", "more": true },
            "e": { "param": "P" },
        });
        let found = check_static_metadata(&metadata);
        let paths: Vec<String> = found.iter().map(|found| found.path.to_string()).collect();
        assert_eq!(paths, ["metadata.a[0].b", "metadata.c", "metadata.e"]);
        assert!(found[0].message.starts_with(
            "`sub` expressions are not allowed in the formation `metadata` field. Put deploy-time \
             substitutions in the template's top-level `metadata` block, "
        ));
        assert_eq!(found[0].code, DiagnosticCode::MisplacedExpression);
    }

    #[test]
    fn plain_metadata_is_fine() {
        assert_eq!(check_static_metadata(&json!({ "team": "a", "tags": ["${x}", null] })), []);
    }
}
