//! Credentials in the outputs of old records (seed 4, "A generated signing secret is not an
//! output"): an output that names one is refused today, but a record can be older than the refusal,
//! or than its type's word that the attribute is a credential. Such an output is shown to nobody;
//! here it is removed from where it is kept.

use super::record::{FormationDoc, FormationRecord, TYPE};
use crate::authorise::Question;
use crate::{Control, ControlError, Principal, TemplateInput};
use formwork_iam::Srn;
use formwork_model::{Diagnostic, DiagnosticCode, Diagnostics, Json, Path, StackId};
use formwork_store::{DomainError, DomainTx, ListQuery};
use std::collections::BTreeSet;

/// How many records are read at a time.
const BATCH: usize = 100;

/// What a purge found, formation by formation, oldest first.
#[derive(Clone, Debug)]
pub struct Purge {
    /// Whether it only looked.
    pub dry_run: bool,
    /// The formations whose records hold what they must not.
    pub formations: Vec<PurgedFormation>,
}

/// A formation whose record holds outputs that it must not.
#[derive(Clone, Debug)]
pub struct PurgedFormation {
    /// The formation.
    pub id: StackId,
    /// Its name.
    pub name: String,
    /// The outputs' names.
    pub outputs: BTreeSet<String>,
    /// Whether an operation runs on it: it is left to the next purge.
    pub busy: bool,
}

impl Control {
    /// Removes credentials from the outputs that formations keep, those of deleted ones too. What
    /// is to go follows from each formation's own template, so a second purge finds nothing. Admins
    /// only.
    ///
    /// # Errors
    /// `FORBIDDEN`, `SECRET_NOT_DECRYPTABLE`.
    pub async fn purge_secret_outputs(&self, p: &Principal, dry_run: bool) -> Result<Purge, ControlError> {
        let question = Question::global("formations:PurgeSecretOutputs", Srn::any_global(super::SRN_TYPE));
        if dry_run {
            Self::demand(p, &question)?;
            return Ok(Purge { dry_run, formations: self.exposing().await? });
        }
        let permit = self.permit(p, &question, "").await?;
        let formations = self.exposing().await?;
        let doomed: Vec<_> = formations.iter().filter(|formation| !formation.busy).cloned().collect();
        let detail: Vec<Json> = doomed
            .iter()
            .map(
                |formation| serde_json::json!({ "formation_id": formation.id, "outputs": formation.outputs }),
            )
            .collect();
        let record = permit.record("", serde_json::json!({ "purged": detail }));
        let job = Box::new(move |tx: &mut dyn DomainTx| {
            for formation in &doomed {
                purge(tx, formation)?;
            }
            tx.audit(record).map(|()| Json::Null)
        });
        self.store.domain(None, None, job).await?;
        Ok(Purge { dry_run, formations })
    }

    /// The formations whose outputs hold credentials.
    async fn exposing(&self) -> Result<Vec<PurgedFormation>, ControlError> {
        let mut found = Vec::new();
        for offset in (0..).step_by(BATCH) {
            let query = ListQuery {
                type_name: TYPE.to_owned(),
                projects: Vec::new(),
                linked: None,
                limit: BATCH,
                offset,
            };
            let page = self.reader.objects(&query).await?;
            let last = page.items.len() < BATCH;
            for object in page.items {
                found.extend(self.exposed(FormationRecord::from_object(object)?)?);
            }
            if last {
                break;
            }
        }
        Ok(found)
    }

    fn exposed(&self, record: FormationRecord) -> Result<Option<PurgedFormation>, ControlError> {
        let Some(kept) = record.doc.outputs.as_ref() else { return Ok(None) };
        let (_, found) = self.check_template(&TemplateInput::Json(record.template(&self.key)?));
        let outputs = credential_outputs(&found, kept);
        let busy = record.doc.pending.is_some();
        let exposed = PurgedFormation { id: record.id, name: record.doc.name, outputs, busy };
        Ok((!exposed.outputs.is_empty()).then_some(exposed))
    }
}

/// The outputs, of those that a formation kept, that name credentials by what was found in its template:
/// all of them, if not all that was found is told.
pub(super) fn credential_outputs(found: &Diagnostics, kept: &Json) -> BTreeSet<String> {
    let kept = kept.as_object().into_iter().flat_map(serde_json::Map::keys);
    if found.left_out() > 0 {
        return kept.cloned().collect();
    }
    let is_exposed = |found: &&Diagnostic| found.code == DiagnosticCode::ExposedCredential;
    let exposed: BTreeSet<_> =
        found.errors().filter(is_exposed).filter_map(|found| output_at(&found.path)).collect();
    kept.filter(|name| exposed.contains(*name)).cloned().collect()
}

fn output_at(path: &Path) -> Option<String> {
    use formwork_model::Segment::Key;
    match path.segments() {
        [Key(section), Key(name), ..] if **section == *"outputs" => Some(name.to_string()),
        _ => None,
    }
}

/// Outputs without those of these names.
pub(super) fn without(outputs: Json, names: &BTreeSet<String>) -> Json {
    match outputs {
        Json::Object(mut outputs) => {
            outputs.retain(|name, _| !names.contains(name));
            Json::Object(outputs)
        }
        other => other,
    }
}

/// Removes outputs from a record, unless a deploy began meanwhile, which writes them anew.
fn purge(tx: &mut dyn DomainTx, formation: &PurgedFormation) -> Result<(), DomainError> {
    let Some(object) = tx.get(formation.id.as_str())? else { return Ok(()) };
    let Ok(mut doc) = serde_json::from_value::<FormationDoc>(object.doc) else { return Ok(()) };
    if doc.pending.is_some() {
        return Ok(());
    }
    doc.outputs = doc.outputs.map(|outputs| without(outputs, &formation.outputs));
    tx.update(doc.change(&formation.id, Some(object.version))).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(count: usize) -> Diagnostics {
        let exposed = |number: usize| {
            let path = Path::of(["outputs", &format!("Out{number}")]);
            Diagnostic::error(DiagnosticCode::ExposedCredential, path, "exposed")
        };
        let mut found = Diagnostics::default();
        found.extend((0..count).map(exposed));
        found
    }

    #[test]
    fn an_output_is_a_credential_where_the_template_says_so_or_may_say_so() {
        let kept = serde_json::json!({ "Out0": "a", "Fine": "b" });
        assert_eq!(credential_outputs(&found(2), &kept), ["Out0".to_owned()].into());
        let all = credential_outputs(&found(Diagnostics::MOST + 1), &kept);
        assert_eq!(all, ["Fine".to_owned(), "Out0".to_owned()].into());
    }
}
