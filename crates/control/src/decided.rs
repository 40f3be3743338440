//! A decision on its way into the transaction of its effect: there it holds for the very object that
//! is changed, and for whatever else the effect would reach.

use crate::access::{Access, deleting, retagging};
use crate::authorise::{demand_project, forbidden};
use crate::{Control, Principal, TypeCatalog};
use formwork_iam::Context;
use formwork_model::{Json, ProjectId, WireCode};
use formwork_platform::{Companion, shown_properties};
use formwork_store::{AuditRecord, DomainError, DomainTx, StoredObject};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A decision that goes with a call over REST.
pub(crate) struct Decided {
    pub(crate) record: AuditRecord,
    /// The project that must still be there.
    pub(crate) made_in: Option<ProjectId>,
    /// What was decided about, if it is there.
    pub(crate) about: Option<About>,
}

/// What was decided about, and who for.
pub(crate) struct About {
    pub(crate) principal: Principal,
    pub(crate) object: StoredObject,
    pub(crate) catalog: Arc<TypeCatalog>,
}

impl Companion for Decided {
    fn before(&self, tx: &mut dyn DomainTx) -> Result<(), DomainError> {
        self.made_in.as_ref().map_or(Ok(()), |project| demand_project(tx, project))
    }

    fn found(&self, object: &StoredObject) -> Result<(), DomainError> {
        match &self.about {
            Some(about) if about.object.version != object.version => Err(DomainError::VersionConflict {
                id: object.id.clone(),
                expected: about.object.version,
                found: object.version,
            }),
            _ => Ok(()),
        }
    }

    fn changed(&self, object: &StoredObject) -> Result<(), DomainError> {
        let demanded = |about: &About| about.demand_tags(&self.record.action, object);
        self.about.as_ref().map_or(Ok(()), demanded)
    }

    fn along(&self, objects: &[StoredObject]) -> Result<(), DomainError> {
        self.about.as_ref().map_or(Ok(()), |about| about.demand_along(objects))
    }

    fn after(&self, tx: &mut dyn DomainTx, answer: &Json) -> Result<(), DomainError> {
        let mut record = self.record.clone();
        if let (true, Some(id)) = (record.subject.is_empty(), answer["shown"]["id"].as_str()) {
            id.clone_into(&mut record.subject);
        }
        tx.audit(record)
    }
}

impl About {
    /// Demands that all these may be deleted. What is missing is told by kind: which they are, is
    /// not for everybody to know.
    fn demand_along(&self, objects: &[StoredObject]) -> Result<(), DomainError> {
        let mut missing: BTreeMap<(String, String), usize> = BTreeMap::new();
        for object in objects {
            let Some(question) = deleting(&self.catalog, &self.principal, object) else { continue };
            if !Control::may(&self.principal, &question) {
                let action = question.action.into_owned();
                *missing.entry((object.type_name.clone(), action)).or_default() += 1;
            }
        }
        if missing.is_empty() {
            return Ok(());
        }
        let words: Vec<String> = missing
            .iter()
            .map(|((type_name, action), count)| format!("{count} {type_name}(s) ({action})"))
            .collect();
        let denied: Vec<Json> = missing
            .iter()
            .map(|((type_name, action), count)| {
                serde_json::json!({ "resource_type": type_name, "action": action, "count": count })
            })
            .collect();
        Err(DomainError::Refused {
            code: WireCode::Forbidden.as_str().to_owned(),
            message: format!(
                "Not permitted to delete what goes along with '{}': {}.",
                self.object.id,
                words.join(", ")
            ),
            meta: Some(serde_json::json!({ "denied_actions": denied })),
        })
    }

    /// Demands that what was done may be done to the object as it is by now: who may change only what
    /// has a tag can neither give that tag to other things nor take it away, by whichever route.
    fn demand_tags(&self, action: &str, changed: &StoredObject) -> Result<(), DomainError> {
        if !self.principal.subject.asks_for_tags() {
            return Ok(());
        }
        let refused = || DomainError::Refused {
            code: WireCode::Forbidden.as_str().to_owned(),
            message: forbidden().message,
            meta: None,
        };
        let access = Access::of(&self.catalog, &self.object.type_name.as_str().into());
        let access = access.map_err(|_| refused())?;
        let question = access.taking(&self.principal, action.to_owned(), &self.object);
        match retagging(&self.principal, &question, Context::of_properties(&shown_properties(changed))) {
            Some(question) if !Control::may(&self.principal, &question) => Err(refused()),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Role;
    use formwork_handler::CustomTypes;
    use formwork_iam::{Layer, Subject};
    use formwork_model::Timestamp;
    use formwork_platform::Platform;

    fn object(version: u64) -> StoredObject {
        StoredObject {
            id: "doc_1".to_owned(),
            type_name: "document".to_owned(),
            project: Some("proj_1".into()),
            doc: serde_json::json!({ "properties": {} }),
            version,
            created_at: Timestamp(0),
            updated_at: Timestamp(0),
        }
    }

    #[test]
    fn what_was_decided_of_one_version_does_not_hold_for_another() {
        let principal = Principal {
            actor: "user_1".into(),
            owner: "user_1".into(),
            role: Role::Admin,
            subject: Arc::new(Subject::new(Layer::Admin)),
            scope: None,
            default_project: None,
        };
        let catalog = Arc::new(TypeCatalog::new(Platform::catalog(), CustomTypes::default(), None));
        let record = AuditRecord {
            at: Timestamp(0),
            actor: "user_1".to_owned(),
            project: None,
            action: "documents:DeleteDocument".to_owned(),
            subject: "doc_1".to_owned(),
            allowed: true,
            detail: Json::Null,
        };
        let about = Some(About { principal, object: object(1), catalog });
        let decided = Decided { record, made_in: None, about };
        assert!(decided.found(&object(1)).is_ok());
        let conflict = decided.found(&object(2));
        assert!(
            matches!(conflict, Err(DomainError::VersionConflict { expected: 1, found: 2, .. })),
            "{conflict:?}"
        );
    }
}
