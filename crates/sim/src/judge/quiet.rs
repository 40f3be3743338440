//! Judging the whole when nothing is under way: INV-3, INV-9, INV-16.

use super::Invariant;
use crate::catalog::Backend;
use crate::ready::ready;
use crate::world::{Run, World};
use formwork_engine_core::Limits;
use formwork_model::{
    Certainty, DeletionPolicy, Entry, IntentKind, Json, NativeId, Object, OperationId, Outcome, Plan, Row,
    RowId, StoredLeaf, Tree, same,
};
use formwork_store::Store as _;
use std::collections::{BTreeMap, BTreeSet};

impl World {
    /// Judges ledger, provider, journals and secrets. Nothing may be under way.
    pub fn judge(&mut self) {
        let open: Vec<(OperationId, Run)> = self
            .runs
            .iter()
            .filter(|(id, _)| !self.judged.contains(*id))
            .map(|(id, run)| (id.clone(), run.clone()))
            .collect();
        for (id, run) in open {
            self.learn_released(&id);
            self.judge_journal(&id, &run);
            self.judge_cancel(&id, &run);
            self.judge_secrecy(&id);
            self.judged.insert(id);
        }
        self.judge_ledger();
    }

    /// Objects that an operation let go of on purpose.
    fn learn_released(&mut self, id: &OperationId) {
        let mut made: BTreeMap<RowId, Vec<NativeId>> = BTreeMap::new();
        for entry in self.journal_of(id) {
            match entry.entry {
                Entry::Settled { row, outcome: Outcome::Present { object, .. }, .. } => {
                    made.entry(row).or_default().push(object.native_id);
                }
                Entry::Settled { outcome: Outcome::Kept { native_id }, .. } => {
                    self.released.insert(native_id);
                }
                Entry::Settled { row, outcome: Outcome::Forgotten, .. } => {
                    let objects = self.runs[id]
                        .rows_before
                        .iter()
                        .filter(|before| before.id == row)
                        .flat_map(|before| before.current.iter().chain(&before.deposed))
                        .map(|object| object.native_id.clone());
                    let objects: Vec<NativeId> =
                        objects.chain(made.remove(&row).unwrap_or_default()).collect();
                    self.released.extend(objects);
                }
                // A handler may have made another object and its answer is lost; it can't be asked again,
                // and the failure says that the outcome is unknown.
                Entry::Settled { step, outcome: Outcome::Uncertain { .. }, .. } => {
                    self.uncertain.insert((id.clone(), step));
                }
                _ => {}
            }
        }
    }

    /// INV-3: every object the ledger knows is there, and every object that is there is known, was
    /// let go of, or may have been made by an intent that is still open.
    fn judge_ledger(&mut self) {
        let rows = self.ledger();
        let mut owners: BTreeMap<NativeId, Vec<String>> = BTreeMap::new();
        for row in &rows {
            for object in row.current.iter().chain(&row.deposed) {
                owners.entry(object.native_id.clone()).or_default().push(row.label.to_string());
                self.judge_object(row, object);
            }
        }
        for (id, labels) in &owners {
            if labels.len() > 1 {
                let what = format!("`{id}` belongs to `{}`", labels.join("` and `"));
                self.violated(Invariant::NoPhantomNoOrphan, what);
            }
        }
        self.judge_orphans(&rows, &owners);
    }

    fn judge_object(&mut self, row: &Row, object: &Object) {
        let Some(found) = self.provider.object(&object.native_id).cloned() else {
            // What became of an object whose delete or update has no known outcome is not known
            // either, and what vanished out of band is found at the next look.
            let is_declared_unknown = row.intent.is_some() || object.certainty != Certainty::Certain;
            if !self.lost.contains(&object.native_id) && !is_declared_unknown {
                let what = format!("`{}` has `{}`, which does not exist", row.label, object.native_id);
                self.violated(Invariant::NoPhantomNoOrphan, what);
            }
            return;
        };
        if found.backend.type_name() != object.type_name {
            let what = format!("`{}` is of another type than `{}`", row.label, object.native_id);
            self.violated(Invariant::NoPhantomNoOrphan, what);
        }
        if object.certainty != Certainty::Certain || row.intent.is_some() {
            return;
        }
        if let Some((name, sent, there)) = self.other_than_sent(object, &found.properties) {
            let what =
                format!("`{}.{name}` was sent as {sent}, and `{}` has {there}", row.label, object.native_id);
            self.violated(Invariant::NoPhantomNoOrphan, what);
        }
    }

    /// Where an object is not as the ledger says it was sent.
    fn other_than_sent(&self, object: &Object, found: &Json) -> Option<(String, Json, Json)> {
        object.sent.members()?.into_iter().find_map(|(name, member)| {
            let there = found.get(&*name).cloned().unwrap_or(Json::Null);
            let as_sent = match &member {
                Tree::Leaf(StoredLeaf::Digest(digest) | StoredLeaf::Sealed { digest, .. }) => {
                    formwork_model::digest_of(&self.key, &there) == *digest
                }
                member => same(&member.comparable(), &there),
            };
            (!as_sent).then(|| (name.to_string(), member.masked(), there))
        })
    }

    fn judge_orphans(&mut self, rows: &[Row], owners: &BTreeMap<NativeId, Vec<String>>) {
        let unknown: BTreeSet<_> =
            rows.iter().filter(|row| row.intent.is_some()).map(|row| row.id.clone()).collect();
        let orphans: Vec<String> = self
            .provider
            .objects()
            .iter()
            .filter(|(id, _)| !owners.contains_key(*id) && !self.is_released(id))
            .filter(|(_, object)| {
                !object.mark.as_ref().is_some_and(|mark| {
                    unknown.contains(&mark.row)
                        || (mark.kind == IntentKind::Update
                            && self.uncertain.contains(&(mark.operation.clone(), mark.step)))
                })
            })
            .map(|(id, object)| {
                let label = object.mark.as_ref().map(|mark| mark.label.to_string()).unwrap_or_default();
                format!("`{id}` (made for `{label}`)")
            })
            .collect();
        if !orphans.is_empty() {
            let what = format!("no row knows {}", orphans.join(", "));
            self.violated(Invariant::NoPhantomNoOrphan, what);
        }
    }

    /// INV-16: a cancel ends within its bound; a forced one at once.
    fn judge_cancel(&mut self, id: &OperationId, run: &Run) {
        let (Some((canceled, force)), Some((_, ended))) = (run.canceled, run.ended) else { return };
        let bound = if force { 0 } else { cancel_bound(&self.limits, run) };
        if run.lives == 1 && !run.disturbed && ended.since(canceled) > bound {
            let what = format!("{id} ended {} ms after its cancel (forced: {force})", ended.since(canceled));
            self.violated(Invariant::CancelEnds, what);
        }
    }

    /// INV-9: no secret is in a record of the operation.
    fn judge_secrecy(&mut self, id: &OperationId) {
        let reader = self.store.reader();
        let journal = ready(reader.journal(id)).unwrap_or_default();
        let events = ready(reader.events(id, 0, usize::MAX)).unwrap_or_default();
        let record = ready(reader.operation(id)).ok().flatten();
        let rows = self.rows_of_run(id);
        let texts = [
            ("the journal", serde_json::to_string(&journal)),
            ("the events", serde_json::to_string(&events)),
            ("the operation's record", serde_json::to_string(&record)),
            ("the rows", serde_json::to_string(&rows)),
        ];
        for (place, text) in texts {
            self.judge_text(place, &text.unwrap_or_default());
        }
    }

    fn rows_of_run(&self, id: &OperationId) -> Vec<Row> {
        let Some(run) = self.runs.get(id) else { return Vec::new() };
        ready(self.store.reader().rows(&run.stack)).unwrap_or_default()
    }

    pub(crate) fn judge_secrecy_of_plan(&mut self, plan: &Plan) {
        self.judge_text("the plan", &serde_json::to_string(plan).unwrap_or_default());
    }

    fn judge_text(&mut self, place: &str, text: &str) {
        let leaked: Vec<String> =
            self.canaries.iter().filter(|canary| text.contains(canary.as_str())).cloned().collect();
        for canary in leaked {
            self.violated(Invariant::Secrecy, format!("the secret `{canary}` is in {place}"));
        }
    }

    /// The objects that stay when everything else is torn down.
    pub fn retained(&self) -> usize {
        let held = self
            .ledger()
            .iter()
            .filter_map(|row| row.current.clone())
            .filter(|object| object.deletion_policy != DeletionPolicy::Delete)
            .count();
        held + self.released.iter().filter(|id| self.provider.object(id).is_some()).count()
    }
}

/// How long a cancel may take: what is in flight may use its whole time, then its outcome is
/// looked for, then each undo may do the same, one after another.
fn cancel_bound(limits: &Limits, run: &Run) -> u64 {
    let slowest = Backend::ALL.into_iter().map(Backend::timeout_millis).max().unwrap_or(0);
    let settle = Backend::ALL.into_iter().map(Backend::settle_millis).max().unwrap_or(0);
    let attempts = u64::from(limits.attempts);
    let lookups = u64::from(limits.lookups);
    let one = (slowest + settle) * (attempts + lookups)
        + limits.backoff_most_millis * (attempts + lookups)
        + limits.poll_most_millis;
    one * (run.plan.steps.len() as u64 + 1)
}
