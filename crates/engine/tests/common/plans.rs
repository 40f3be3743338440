//! Plans made by hand.

use formwork_model::{
    Action, Cause, Concurrency, Condition, DeletionPolicy, Guard, ImmutableRule, InputLeaf, Inputs, Kind,
    Label, LookupRule, OnFailure, OperationKind, Ownership, PLAN_FORMAT, Patch, PinnedType, Plan,
    PlannedStack, PropertySchema, Replacement, RetryRule, Row, RowId, RowRef, Schema, SecretKeeping, StackId,
    StackKey, Step, StepId, TargetRev, TypeCapabilities, TypeName, Undo, WriteOnlyRule,
};
use indexmap::IndexMap;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What the tests' types can do.
pub fn capabilities() -> TypeCapabilities {
    TypeCapabilities {
        read: true,
        list: true,
        retry: RetryRule::ByCode,
        lookup: LookupRule::Token,
        replacement: Replacement::Declared,
        write_only: WriteOnlyRule::Digest,
        on_immutable: ImmutableRule::Replace,
        settle_millis: 0,
        timeout_millis: 10_000,
        validate: false,
        delete_blockers: false,
        secrets: SecretKeeping::Ledger,
        concurrency: Concurrency::Parallel,
        outputs: Vec::new(),
        credential_outputs: Vec::new(),
        iam: None,
    }
}

/// A type with a few properties.
pub fn pinned(type_name: &TypeName, capabilities: TypeCapabilities) -> PinnedType {
    let properties = ["name", "value", "namespace", "config"]
        .map(|name| (name.into(), PropertySchema::new(Kind::Any, "")));
    let properties: IndexMap<Arc<str>, PropertySchema> = properties.into_iter().collect();
    let schema = Schema { type_name: type_name.clone(), doc: "".into(), properties };
    PinnedType { schema: Arc::new(schema), capabilities }
}

/// A plan under construction.
pub struct PlanMaker {
    plan: Plan,
}

impl PlanMaker {
    pub fn new(kind: OperationKind) -> Self {
        let stack = PlannedStack {
            id: StackId::from("stack"),
            key: StackKey::new("project".into(), "stack"),
            on_failure: OnFailure::RollBack,
            ownership: Ownership::DeclaredOnly,
            outputs: IndexMap::new(),
            metadata: None,
        };
        let types =
            ["T", "U", "Missing", "target"].map(|name| (name.into(), pinned(&name.into(), capabilities())));
        Self {
            plan: Plan {
                format: PLAN_FORMAT,
                kind,
                project: "project".into(),
                stacks: vec![stack],
                steps: Vec::new(),
                bases: Vec::new(),
                types: BTreeMap::from(types),
            },
        }
    }

    pub fn create() -> Self {
        Self::new(OperationKind::Create)
    }

    pub fn on_failure(mut self, on_failure: OnFailure) -> Self {
        self.plan.stacks[0].on_failure = on_failure;
        self
    }

    pub fn stack(mut self, id: &str) -> Self {
        self.plan.stacks[0].id = id.into();
        self.plan.stacks[0].key.name = id.into();
        self
    }

    pub fn capable(mut self, type_name: &str, change: impl FnOnce(&mut TypeCapabilities)) -> Self {
        change(&mut self.plan.types.get_mut(type_name).expect("a known type").capabilities);
        self
    }

    /// Creates a resource of type `T` after others.
    pub fn creates(self, label: &str, after: &[u32]) -> Self {
        let properties = Inputs::Plain(json!({ "name": label }));
        self.creates_as("T", label, properties, after)
    }

    pub fn creates_as(mut self, type_name: &str, label: &str, properties: Inputs, after: &[u32]) -> Self {
        let number = self.plan.steps.iter().filter(|step| matches!(step.row, RowRef::New(_))).count();
        let number = u32::try_from(number).expect("few");
        let mut step = self.step(RowRef::New(number), label, type_name, Action::Create, after);
        step.inputs = Some(properties);
        step.guard = Guard::Absent { generation: formwork_model::Generation(0) };
        step.undo = Undo::DeleteCreated;
        self.plan.steps.push(step);
        self
    }

    /// Lets the last step's object live at a target.
    pub fn at(mut self, target: &str) -> Self {
        let step = self.plan.steps.last_mut().expect("a step");
        step.target = TargetRev { name: target.into(), revision: 0 };
        self
    }

    /// Changes the object of a row.
    pub fn updates(mut self, row: &Row, properties: Value) -> Self {
        let row_ref = RowRef::Existing(row.id.clone());
        let mut step = self.step(row_ref, row.label.as_str(), row.type_name.as_str(), Action::Update, &[]);
        step.inputs = Some(Inputs::Plain(properties));
        step.guard = unchanged(row);
        step.patch = Patch::AtRuntime;
        self.plan.steps.push(step);
        self
    }

    /// Deletes the object of a row.
    pub fn deletes(mut self, row: &Row, after: &[u32]) -> Self {
        let row_ref = RowRef::Existing(row.id.clone());
        let action = Action::Delete { replacing: false };
        let mut step = self.step(row_ref, row.label.as_str(), row.type_name.as_str(), action, after);
        step.guard = unchanged(row);
        self.plan.steps.push(step);
        self
    }

    /// Settles an earlier effect of a row.
    pub fn resolves(mut self, row: &Row) -> Self {
        let row_ref = RowRef::Existing(row.id.clone());
        let step = self.step(row_ref, row.label.as_str(), row.type_name.as_str(), Action::Resolve, &[]);
        self.plan.steps.push(step);
        self
    }

    fn step(&self, row: RowRef, label: &str, type_name: &str, action: Action, after: &[u32]) -> Step {
        let number = u32::try_from(self.plan.steps.len()).expect("few");
        Step {
            id: StepId(number),
            row,
            stack: self.plan.stacks[0].id.clone(),
            label: Label::from(label),
            type_name: type_name.into(),
            action,
            when: Condition::Always,
            guard: Guard::None,
            inputs: None,
            before: None,
            after: None,
            patch: Patch::None,
            undo: Undo::Nothing,
            target: TargetRev::default(),
            deletion_policy: DeletionPolicy::Delete,
            after_steps: after.iter().copied().map(StepId).collect(),
            wave: 0,
            references: Vec::new(),
            metadata: None,
            position: number,
            cause: Cause::default(),
            place: None,
        }
    }

    pub fn plan(self) -> Plan {
        self.plan
    }
}

fn unchanged(row: &Row) -> Guard {
    let object = row.current.as_ref().expect("the row has an object");
    let baseline = Some(formwork_model::fingerprint(&object.echo));
    Guard::Unchanged { native_id: object.native_id.clone(), generation: row.generation, baseline }
}

/// Ids for the new rows of a plan.
pub fn minted(plan: &Plan, operation: &str) -> Vec<RowId> {
    let new = plan.steps.iter().filter(|step| matches!(step.row, RowRef::New(_))).count();
    (0..new).map(|number| RowId::new(format!("row-{operation}-{number}"))).collect()
}

/// A property whose value is in a slot.
pub fn secret(slot: &str, value: &Value) -> Inputs {
    let key = formwork_model::InstanceKey::from_bytes([7; 32]);
    let digest = formwork_model::digest_of(&key, value);
    Inputs::Leaf(InputLeaf::Secret { slot: slot.into(), digest })
}

pub fn object(members: Vec<(&str, Inputs)>) -> Inputs {
    Inputs::object(members.into_iter().map(|(name, member)| (name.into(), member)).collect())
}
