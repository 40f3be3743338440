//! Targets that a forma declares otherwise than they are.

use crate::{Control, ControlError};
use formwork_forma::{Forma, Target};
use formwork_model::{
    Diagnostic, DiagnosticCode, Diagnostics, Expr, ExprLeaf, InstanceKey, Json, Path, Row, Segment, Stored,
    StoredLeaf, digest_of, same,
};

impl Control {
    /// Refuses to change in place what makes a target another one: the keys of its configuration whose hint does not
    /// say that they may change (seed 1, "ConfigFieldHint"), and its namespace.
    ///
    /// # Errors
    /// Each such key with its place.
    pub(super) fn demand_same_targets(&self, forma: &Forma, rows: &[Row]) -> Result<(), ControlError> {
        let mut found = Diagnostics::default();
        for target in &forma.targets {
            let row = rows.iter().find(|row| row.label.as_str() == target.label.as_str());
            let Some(object) = row.and_then(|row| row.current.as_ref()) else { continue };
            let Some(before) = object.sent.at(&Path::of(["config"])) else { continue };
            for key in changed(&target.config, &before, &self.key) {
                if !may_change(target, &key) {
                    let message = format!(
                        "`{key}` of the target `{}` can't change in place: resources elsewhere would be another's",
                        target.label
                    );
                    let path = target.path.key("Config").key(key);
                    let place = forma.source_map.place(&path);
                    let hint = "declare another target, and move the resources to it";
                    found.push(
                        Diagnostic::error(DiagnosticCode::ImmutableProperty, path, message)
                            .at(place)
                            .hint(hint),
                    );
                }
            }
        }
        if found.has_errors() { Err(ControlError::invalid_template(&found)) } else { Ok(()) }
    }
}

fn may_change(target: &Target, key: &str) -> bool {
    let hint = target.config_schema.as_ref().and_then(|schema| schema.hints.get(key));
    hint.is_some_and(|hint| !hint.create_only)
}

/// The keys of a configuration that are certainly otherwise than they were. What comes from references is not.
fn changed(config: &Expr, before: &Stored, key: &InstanceKey) -> Vec<String> {
    let now = config.members().unwrap_or_default();
    let was = before.members().unwrap_or_default();
    let mut changed: Vec<String> = Vec::new();
    for (name, value) in &now {
        let before = before.child(&Segment::Key(name.clone()));
        if before.is_none_or(|before| differs(value, &before, key)) {
            changed.push(name.to_string());
        }
    }
    let gone = was.iter().filter(|(name, _)| !now.iter().any(|(other, _)| other == name));
    changed.extend(gone.map(|(name, _)| name.to_string()));
    changed
}

fn differs(now: &Expr, before: &Stored, key: &InstanceKey) -> bool {
    match (now, before) {
        (Expr::Plain(now), Stored::Plain(before)) => !same(now, before),
        (Expr::Leaf(ExprLeaf::Secret(now)), Stored::Leaf(leaf)) => match leaf {
            StoredLeaf::Sealed { digest, .. } | StoredLeaf::Digest(digest) => {
                digest_of(key, now.expose()) != *digest
            }
            StoredLeaf::Resolved { .. } => true,
        },
        (
            Expr::Leaf(ExprLeaf::Ref(_) | ExprLeaf::Template(_) | ExprLeaf::Once(_) | ExprLeaf::KeepPrevious),
            _,
        ) => false,
        (Expr::Array(_) | Expr::Object(_) | Expr::Plain(Json::Object(_) | Json::Array(_)), _) => {
            let (now, before) = (parts(now), parts_of(before));
            now.len() != before.len()
                || now
                    .iter()
                    .zip(&before)
                    .any(|((at, now), (other, before))| at != other || differs(now, before, key))
        }
        _ => true,
    }
}

fn parts(value: &Expr) -> Vec<(Segment, Expr)> {
    match value.members() {
        Some(members) => members.into_iter().map(|(name, member)| (Segment::Key(name), member)).collect(),
        None => (0..).map_while(|at| Some((Segment::Index(at), value.child(&Segment::Index(at))?))).collect(),
    }
}

fn parts_of(value: &Stored) -> Vec<(Segment, Stored)> {
    match value.members() {
        Some(members) => members.into_iter().map(|(name, member)| (Segment::Key(name), member)).collect(),
        None => (0..).map_while(|at| Some((Segment::Index(at), value.child(&Segment::Index(at))?))).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use formwork_model::Secret;
    use serde_json::json;

    #[test]
    fn keys_are_told_apart_whether_plain_or_secret() {
        let key = InstanceKey::generate();
        let sealed = |text: &str| Stored::Leaf(StoredLeaf::Digest(digest_of(&key, &json!(text))));
        let before = Stored::object(
            [
                ("Region".into(), Stored::Plain(json!("eu"))),
                ("Zones".into(), Stored::Plain(json!(["a", "b"]))),
                ("Token".into(), sealed("t")),
                ("Old".into(), Stored::Plain(json!(1))),
            ]
            .into_iter()
            .collect(),
        );
        let config = |region: &str, zones: Json, token: &str| {
            Expr::object(
                [
                    ("Region".into(), Expr::Plain(json!(region))),
                    ("Zones".into(), Expr::Plain(zones)),
                    ("Token".into(), Expr::Leaf(ExprLeaf::Secret(Secret::new(json!(token))))),
                    ("Old".into(), Expr::Plain(json!(1))),
                ]
                .into_iter()
                .collect(),
            )
        };
        assert_eq!(changed(&config("eu", json!(["a", "b"]), "t"), &before, &key), Vec::<String>::new());
        assert_eq!(changed(&config("us", json!(["a"]), "u"), &before, &key), ["Region", "Zones", "Token"]);
        let less = Expr::Plain(json!({ "Region": "eu", "Zones": ["a", "b"] }));
        assert_eq!(changed(&less, &before, &key), ["Token", "Old"]);
    }
}
