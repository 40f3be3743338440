//! A model of applying a plan: what the ledger holds once every step has succeeded.

use super::{Request, key};
use formwork_model::{
    Action, BoundRef, Certainty, Condition, DeletionPolicy, InputLeaf, InputPart, Inputs, Json, NativeId,
    Object, Observation, Plan, RefPath, Row, RowId, RowRef, RowStatus, SecretSlots, Step, StepId, Stored,
    StoredLeaf, Timestamp, Tree, as_text, digest_of,
};
use std::collections::{BTreeMap, BTreeSet};

/// Applies a plan to rows.
pub struct Model<'p> {
    plan: &'p Plan,
    secrets: &'p SecretSlots,
    rows: BTreeMap<RowId, Row>,
    /// Steps that replaced their object.
    replaced: BTreeSet<StepId>,
    minted: u32,
}

/// The rows after the plan, in position order, tombstones included.
pub fn apply(rows: &[Row], plan: &Plan, secrets: &SecretSlots) -> Vec<Row> {
    let mut model = Model {
        plan,
        secrets,
        rows: rows.iter().map(|row| (row.id.clone(), row.clone())).collect(),
        replaced: BTreeSet::new(),
        minted: u32::try_from(rows.len()).expect("small"),
    };
    plan.steps.iter().for_each(|step| model.step(step));
    let mut rows: Vec<Row> = model.rows.into_values().collect();
    rows.sort_by_key(|row| (row.position, row.id.clone()));
    rows
}

/// The next request of the same declaration, on what a plan left; everything observed as it is.
pub fn follow_up(request: &Request, rows: Vec<Row>) -> Request {
    let observations = rows.iter().filter_map(|row| {
        let object = row.current.as_ref()?;
        let seen = Observation::Present {
            row: row.id.clone(),
            native_id: object.native_id.clone(),
            properties: object.echo.clone(),
            at: Timestamp(0),
        };
        Some((row.id.clone(), seen))
    });
    let observations = observations.collect();
    Request {
        kind: request.kind,
        desired: request.desired.clone(),
        rows,
        observations,
        imports: BTreeMap::new(),
        incomplete: request.incomplete,
    }
}

impl Model<'_> {
    fn id(&self, row: &RowRef) -> RowId {
        match row {
            RowRef::Existing(id) => id.clone(),
            RowRef::New(number) => format!("minted-{}-{number}", self.minted).into(),
        }
    }

    fn step(&mut self, step: &Step) {
        let id = self.id(&step.row);
        self.rows.entry(id.clone()).or_insert_with(|| {
            Row::new(
                id.clone(),
                step.stack.clone(),
                step.label.clone(),
                step.type_name.clone(),
                step.position,
            )
        });
        match &step.action {
            Action::Create => self.put(step, &id, true),
            Action::Replace => {
                if self.holds(step, &id) {
                    self.depose(&id);
                    self.replaced.insert(step.id);
                    self.put(step, &id, true);
                }
            }
            Action::Update => {
                if self.holds(step, &id) {
                    self.put(step, &id, false);
                }
            }
            Action::Record => self.record(step, &id),
            Action::Delete { .. } => {
                if self.holds(step, &id) {
                    self.change(&id, |row| {
                        row.current = None;
                        row.status = RowStatus::Deleted;
                    });
                }
            }
            Action::Forget => self.change(&id, |row| {
                row.current = None;
                row.status = RowStatus::Deleted;
            }),
            Action::Cleanup { .. } => self.cleanup(step, &id),
            Action::NoOp => {}
            other => panic!("the model has no `{}`", other.name()),
        }
    }

    fn change(&mut self, id: &RowId, change: impl FnOnce(&mut Row)) {
        let row = self.rows.get_mut(id).expect("steps make their rows");
        change(row);
        row.generation = row.generation.next();
        row.revision += 1;
    }

    /// Whether a step's condition holds: whether what would be sent is not what was sent.
    fn holds(&self, step: &Step, id: &RowId) -> bool {
        match &step.when {
            Condition::Always => true,
            Condition::Replaced(on) => self.replaced.contains(on),
            Condition::RefChanged(_) => {
                let replacing = self.plan.steps[step.id.index()..].iter();
                let sending = replacing.clone().find(|later| later.row == step.row && later.inputs.is_some());
                let sending = sending.expect("a conditional step sends something, or the next does");
                let would = self.stored(sending.inputs.as_ref().expect("found by it"));
                self.rows[id].current.as_ref().is_none_or(|object| {
                    !formwork_model::same(&would.comparable(), &object.sent.comparable())
                })
            }
        }
    }

    fn put(&mut self, step: &Step, id: &RowId, anew: bool) {
        let sent = self.stored(step.inputs.as_ref().expect("it sends something"));
        let references = step.references.iter().map(|row| self.id(row)).collect();
        let row = &self.rows[id];
        let before = row.current.as_ref().filter(|_| !anew).map(|object| object.native_id.clone());
        let fresh = || NativeId::from(format!("{}-{}", step.label, row.generation.0 + 1));
        let object = Object {
            native_id: before.unwrap_or_else(fresh),
            type_name: step.type_name.clone(),
            target: step.target.clone(),
            deletion_policy: step.deletion_policy,
            echo: sent.clone(),
            sent,
            observed: None,
            certainty: Certainty::Certain,
        };
        self.change(id, |row| {
            row.current = Some(object);
            row.type_name = step.type_name.clone();
            row.status = RowStatus::Created;
            row.position = step.position;
            row.metadata.clone_from(&step.metadata);
            row.references = references;
        });
    }

    fn record(&mut self, step: &Step, id: &RowId) {
        let sent = step.inputs.as_ref().map(|inputs| self.stored(inputs));
        let references: Vec<RowId> = step.references.iter().map(|row| self.id(row)).collect();
        let policy = step.deletion_policy;
        self.change(id, |row| {
            row.position = step.position;
            row.metadata.clone_from(&step.metadata);
            row.references = references;
            let object = row.current.as_mut().expect("only what is there is recorded");
            object.deletion_policy = policy;
            object.certainty = Certainty::Certain;
            if let Some(sent) = sent {
                object.sent = sent;
                object.echo = step.before.clone().expect("a record takes over what was observed");
            }
        });
    }

    fn depose(&mut self, id: &RowId) {
        let row = self.rows.get_mut(id).expect("steps make their rows");
        row.deposed.extend(row.current.take());
    }

    fn cleanup(&mut self, step: &Step, id: &RowId) {
        if self.holds(step, id) {
            let Action::Cleanup { native_id } = &step.action else { return };
            assert_ne!(step.deletion_policy, DeletionPolicy::Protect);
            let native_id = native_id.clone();
            self.change(id, |row| {
                row.deposed.retain(|object| native_id.as_ref().is_some_and(|id| *id != object.native_id));
            });
        }
    }

    fn stored(&self, inputs: &Inputs) -> Stored {
        match inputs {
            Tree::Plain(value) => Stored::Plain(value.clone()),
            Tree::Array(items) => Stored::array(items.iter().map(|item| self.stored(item)).collect()),
            Tree::Object(members) => Stored::object(
                members.iter().map(|(name, value)| (name.clone(), self.stored(value))).collect(),
            ),
            Tree::Leaf(InputLeaf::Ref(bound)) => Stored::Leaf(StoredLeaf::Resolved {
                reference: bound.reference.clone(),
                sent: self.answer(bound),
            }),
            Tree::Leaf(InputLeaf::Template(parts)) => self.template(parts),
            Tree::Leaf(InputLeaf::Secret { digest, .. } | InputLeaf::Kept(digest)) => {
                Stored::Leaf(StoredLeaf::Digest(*digest))
            }
        }
    }

    fn template(&self, parts: &[InputPart]) -> Stored {
        let mut secret = false;
        let text: String = parts
            .iter()
            .map(|part| match part {
                InputPart::Text(text) => text.to_string(),
                InputPart::Ref(bound) => as_text(&self.answer(bound)),
                InputPart::Secret { slot, .. } => {
                    secret = true;
                    as_text(self.secrets[slot].expose())
                }
            })
            .collect();
        let value = Json::from(text);
        if secret {
            Stored::Leaf(StoredLeaf::Digest(digest_of(&key(), &value)))
        } else {
            Stored::Plain(value)
        }
    }

    fn answer(&self, bound: &BoundRef) -> Json {
        let row = &self.rows[&self.id(&bound.row)];
        let object = row.current.as_ref().expect("dependencies come first");
        match &bound.reference.path {
            RefPath::NativeId => Json::from(object.native_id.as_str()),
            RefPath::Property(path) => object.echo.at(path).map_or(Json::Null, |value| value.masked()),
            RefPath::Output(name) => panic!("the model has no output `{name}`"),
        }
    }
}
