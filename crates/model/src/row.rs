//! The ledger's rows: one per resource, kept as a tombstone once it is gone.

use crate::{
    ClientToken, DeletionPolicy, Digest, Failure, Generation, InstanceKey, IntentKind, Json, Label, NativeId,
    OperationId, Path, RowId, StackId, StepId, Stored, TargetName, Timestamp, TypeName,
};
use serde::{Deserialize, Serialize};

/// What the ledger knows of one resource. Its identity is the opaque id: label, type and native id
/// are attributes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Minted once.
    pub id: RowId,
    /// The stack that owns it.
    pub stack: StackId,
    /// The author's name for it.
    pub label: Label,
    /// The type that was last declared.
    pub type_name: TypeName,
    /// Which of its effects comes next.
    pub generation: Generation,
    /// Rises with every write of the row; what plans are checked against.
    pub revision: u64,
    /// Where it stood in the last declaration: deletes run in reverse.
    pub position: u32,
    /// How far it got.
    pub status: RowStatus,
    /// The object it stands for now.
    pub current: Option<Object>,
    /// Objects it stood for before and that are not yet deleted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deposed: Vec<Object>,
    /// An effect whose outcome is not settled. It outlives its operation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub intent: Option<OpenIntent>,
    /// The rows it refers to directly; transitive ones are derived.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub references: Vec<RowId>,
    /// The declaration's own annotations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Json>,
    /// Why its last step failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
}

/// How far a resource got (seed 4, "Resource Lifecycle").
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RowStatus {
    /// Not yet provisioned.
    #[default]
    Pending,
    /// Created.
    Created,
    /// Updated or replaced since.
    Updated,
    /// Gone: a tombstone.
    Deleted,
    /// The last step failed.
    Failed,
}

/// An object at a provider.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Object {
    /// The provider's id.
    pub native_id: NativeId,
    /// The type it was created as.
    pub type_name: TypeName,
    /// Where it lives: it is called with this until it is gone.
    pub target: TargetRev,
    /// What becomes of it when it is no longer wanted.
    pub deletion_policy: DeletionPolicy,
    /// What we last sent.
    pub sent: Stored,
    /// The provider's answer to our own last write: its spelling and defaults are never drift.
    pub echo: Stored,
    /// What an observation last saw, and when.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed: Option<(Stored, Timestamp)>,
    /// How sure we are.
    pub certainty: Certainty,
}

impl Object {
    /// What a secret that its type answers, and that the ledger does not hold, compares as: the same for as long as it
    /// is the same object of the same declaration. `path` is where among its properties the secret stands.
    ///
    /// A provider leaves secrets out of what it answers, so that nothing is known of them but whose they are.
    pub fn secret_mark(&self, key: &InstanceKey, path: &Path) -> Digest {
        let mark = serde_json::json!({
            "secret_of": self.native_id.as_str(),
            "type": self.type_name.as_str(),
            "target": self.target.name.as_str(),
            "declared": self.sent.comparable(),
            "path": path.to_string(),
        });
        key.digest(&crate::canonical_bytes(&mark))
    }
}

/// How sure we are of an object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Certainty {
    /// `echo` is what it was after our last write.
    #[default]
    Certain,
    /// An update's outcome is not known: never a no-op without an observation.
    Uncertain,
    /// Its create failed half-way: it is replaced, or deleted by rollback.
    Tainted,
}

/// An immutable revision of a target. The empty name is the type's only place.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct TargetRev {
    /// The target.
    pub name: TargetName,
    /// Which revision of its configuration.
    pub revision: u64,
}

impl Default for TargetRev {
    fn default() -> Self {
        Self { name: "".into(), revision: 0 }
    }
}

/// An effect whose outcome is not settled.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OpenIntent {
    /// The operation that began it.
    pub operation: OperationId,
    /// Its step there.
    pub step: StepId,
    /// What kind of effect.
    pub kind: IntentKind,
    /// The attempt, from 1.
    pub attempt: u32,
    /// The row's generation when it began; an answer of another generation is not for it.
    pub generation: Generation,
    /// What makes a repeated call the same call.
    pub token: ClientToken,
    /// No effect of the call can begin after this.
    pub not_after: Timestamp,
    /// How the object can be found if the outcome stays unknown.
    pub lookup: Lookup,
    /// The type that was called.
    pub type_name: TypeName,
    /// Where.
    pub target: TargetRev,
    /// What becomes of the object when it is no longer wanted.
    pub deletion_policy: DeletionPolicy,
    /// What was sent.
    pub sent: Stored,
    /// The object it acts on, or the one that an unfinished create named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub native_id: Option<NativeId>,
    /// What to poll with, once the provider said `IN_PROGRESS`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
}

/// How an object can be found if the outcome of its create stays unknown.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Lookup {
    /// The same call again answers with the first outcome.
    Token,
    /// It would have this native id.
    ByNativeId(NativeId),
    /// It would have these properties.
    ByUnique(Vec<(Path, UniqueValue)>),
    /// It can't be found.
    None,
}

/// The value of a unique property.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UniqueValue {
    /// In the clear.
    Clear(Json),
    /// A secret, which only its digest finds.
    Digest(Digest),
}

impl Row {
    /// A row of a resource that does not exist yet.
    pub fn new(id: RowId, stack: StackId, label: Label, type_name: TypeName, position: u32) -> Self {
        Self {
            id,
            stack,
            label,
            type_name,
            generation: Generation(0),
            revision: 0,
            position,
            status: RowStatus::Pending,
            current: None,
            deposed: Vec::new(),
            intent: None,
            references: Vec::new(),
            metadata: None,
            failure: None,
        }
    }

    /// Whether anything of it may exist at a provider.
    pub fn is_live(&self) -> bool {
        self.current.is_some() || !self.deposed.is_empty() || self.intent.is_some()
    }

    /// The objects that are its own: the one that it stands for, those that it still has to clean up,
    /// and the one that an open intent acts on or has half made.
    pub fn objects(&self) -> impl Iterator<Item = (&TypeName, &NativeId)> {
        let had = self.current.iter().chain(&self.deposed);
        let had = had.map(|object| (&object.type_name, &object.native_id));
        let intent = self.intent.iter();
        had.chain(intent.filter_map(|intent| Some((&intent.type_name, intent.native_id.as_ref()?))))
    }

    /// Whether an object is one of its own.
    pub fn has(&self, type_name: &TypeName, native_id: &NativeId) -> bool {
        self.objects().any(|object| object == (type_name, native_id))
    }
}
