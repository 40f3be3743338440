//! Types: what a front end, the planner and the engine may ask of one.

use crate::{
    Diagnostic, Diagnostics, Expr, NativeId, Path, ProjectId, RowId, Schema, StackId, Stored, Timestamp,
    TypeName,
};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The rules of one resource type, without I/O. Implemented by the platform, by custom types and
/// by plugin schemas; the same object serves the template, the REST route and the planner, so that
/// what the template may do and what the route may do cannot differ.
pub trait TypeRules: Send + Sync {
    /// The type's properties.
    fn schema(&self) -> &Arc<Schema>;

    /// How the engine may treat the type.
    fn capabilities(&self) -> &TypeCapabilities;

    /// What the type is called in messages (`formations-behaviour.md` §2.6): the type name, but
    /// for a few.
    fn title(&self) -> &str {
        self.schema().type_name.as_str()
    }

    /// The namespace whose targets its resources name; `None` for a type that has only one place.
    fn target_namespace(&self) -> Option<&str> {
        None
    }

    /// How resources that nobody declared are found; `None` for a type that is not discovered.
    fn discovery(&self) -> Option<&Discovery> {
        None
    }

    /// The type whose objects its own are part of, and by which properties (seed 1, "parentRefs"). Which child is
    /// whose decides what a runtime dependency waits for.
    fn parent(&self) -> Option<&Parent> {
        self.discovery().and_then(|discovery| discovery.parent.as_ref())
    }

    /// Why nothing of the type can be declared now: what serves it is broken. Such a type may be one of which
    /// nothing else is known, so that its properties are not checked.
    fn unavailable(&self) -> Option<&str> {
        None
    }

    /// Checks what the schema cannot say. An expression may stand in place of any value at any
    /// depth; a check passes over what it cannot know yet.
    fn check(&self, properties: &Expr, context: &mut CheckContext<'_>) {
        let _ = (properties, context);
    }

    /// Where in the properties a value is a credential by its place, beyond the opaque properties
    /// of the schema (a tool's header): whoever lowers a declaration makes what stands there a
    /// secret, so that no plan, row or event shows it (INV-9).
    fn sensitive(&self, properties: &Expr) -> Vec<Path> {
        let _ = properties;
        Vec::new()
    }
}

/// Where a check writes what it finds.
pub struct CheckContext<'a> {
    /// The path of the properties bag in the source.
    pub base: Path,
    /// What was found so far.
    pub found: &'a mut Diagnostics,
}

impl CheckContext<'_> {
    /// Reports a problem at a path below the properties.
    pub fn report(&mut self, at: &Path, build: impl FnOnce(Path) -> Diagnostic) {
        let path = self.base.join(at);
        self.found.push(build(path));
    }
}

/// How resources of a type are found at a provider (seed 1, "ResourceHint").
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Discovery {
    /// The type whose objects theirs are part of, with what its list must be told of each.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<Parent>,
}

/// The type whose objects those of another are part of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parent {
    /// The type.
    pub type_name: TypeName,
    /// Which property of the parent a list is told, and under which name.
    pub list_parameters: Vec<ListParameter>,
}

/// What a list is told of a parent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListParameter {
    /// The parent's property.
    pub parent_property: Arc<str>,
    /// The parameter, which is the property of the child that holds it.
    pub parameter: Arc<str>,
}

/// The type of a target: where resources of a plugin live, as a resource itself. Its properties are
/// the `namespace` of the types that may name it and their `config`.
pub const TARGET_TYPE: &str = "target";

/// The name of the stack that a project's targets are in, which resources of all its stacks may live at.
/// No author's stack begins with a dollar sign.
pub const TARGET_STACK: &str = "$targets";

/// The id of the stack that a project's targets are in.
pub fn target_stack(project: &ProjectId) -> StackId {
    StackId::new(format!("targets:{project}"))
}

/// Whether this is the stack that some project's targets are in.
pub fn is_target_stack(stack: &StackId) -> bool {
    stack.as_str().starts_with("targets:")
}

/// The types that exist.
pub trait Catalog: Send + Sync {
    /// The rules of a type.
    fn get(&self, name: &TypeName) -> Option<Arc<dyn TypeRules>>;

    /// All type names, in the order in which messages list them.
    fn names(&self) -> Vec<TypeName>;
}

/// What the engine must know of a type: the only place where backends differ.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "independent abilities, not states")]
pub struct TypeCapabilities {
    /// Whether an object can be read back. A type without is exempt from drift only.
    pub read: bool,
    /// Whether all native ids can be listed.
    pub list: bool,
    /// Whether failed calls may be repeated.
    pub retry: RetryRule,
    /// How an object whose create has no known outcome is found.
    pub lookup: LookupRule,
    /// How a replacement comes about.
    pub replacement: Replacement,
    /// What a plan does with a write-only property.
    pub write_only: WriteOnlyRule,
    /// What a changed create-only property means.
    pub on_immutable: ImmutableRule,
    /// How long after `not_after` an effect may still appear, and how far reads may lag behind, in milliseconds.
    pub settle_millis: u64,
    /// How long one call may take, in milliseconds.
    pub timeout_millis: u64,
    /// Whether declarations are also checked by a call.
    pub validate: bool,
    /// Whether the type can tell beforehand that a delete would be refused.
    pub delete_blockers: bool,
    /// Who keeps secrets that were sent.
    pub secrets: SecretKeeping,
    /// Whether steps of one stack run side by side.
    pub concurrency: Concurrency,
    /// The named outputs that references may use.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outputs: Vec<Arc<str>>,
    /// The outputs that are credentials: never an output of a stack.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub credential_outputs: Vec<Arc<str>>,
    /// The actions that authorise it; `None` for a type gated on the request alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iam: Option<IamActions>,
}

impl TypeCapabilities {
    /// What is assumed of a plugin's type that says nothing else: it can be read and listed, is
    /// called again as error codes allow, is replaced by deleting first, leaves its secrets to the
    /// ledger, and has no way to find an object again whose create was never answered.
    pub fn of_plugin() -> Self {
        Self {
            read: true,
            list: true,
            retry: RetryRule::ByCode,
            lookup: LookupRule::None,
            replacement: Replacement::Declared,
            write_only: WriteOnlyRule::Digest,
            on_immutable: ImmutableRule::ReplaceDeleteFirst,
            settle_millis: 0,
            timeout_millis: 60_000,
            validate: false,
            delete_blockers: false,
            secrets: SecretKeeping::Ledger,
            concurrency: Concurrency::Parallel,
            outputs: Vec::new(),
            credential_outputs: Vec::new(),
            iam: None,
        }
    }
}

/// Whether failed calls may be repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RetryRule {
    /// As the error code allows (seed 3, "OperationErrorCode").
    ByCode,
    /// Never (seed 4, "The engine never retries").
    Never,
}

/// How an object whose create has no known outcome is found.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LookupRule {
    /// The provider knows client tokens: the same call again answers with the first outcome.
    Token,
    /// The caller chose the native id; it stands at this path of what was sent.
    ByNativeId(Path),
    /// These properties together are unique; list, read and compare.
    ByUnique(Vec<Path>),
    /// It can't be found; a person decides.
    None,
}

/// How a replacement comes about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Replacement {
    /// The planner knows: a create-only property changed.
    Declared,
    /// The provider says so: an update answers with another native id (seed 4, "Replacement").
    Discovered,
}

/// What a plan does with a write-only property.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WriteOnlyRule {
    /// Compares by keyed digest: unchanged is no change.
    Digest,
    /// Always sends it, and says so (seed 4, "A write-only property always looks changed").
    AlwaysSend,
}

/// What a changed create-only property means.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ImmutableRule {
    /// The deploy is refused. `{field}`, `{native_id}`, `{current}` and `{declared}` are filled in.
    Refuse {
        /// What the refusal says.
        message: Arc<str>,
    },
    /// A new object is created, then the old one is deleted at the end.
    Replace,
    /// The old object is deleted, then a new one is created.
    ReplaceDeleteFirst,
}

/// Who keeps secrets that were sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SecretKeeping {
    /// The type keeps its own copy and can be told to keep it ("kept" paths of an update); the
    /// ledger needs only a digest.
    Provider,
    /// The ledger keeps it sealed, since an update must send it again.
    Ledger,
}

/// Whether steps of one stack run side by side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Concurrency {
    /// One at a time, in the order of the plan: deterministic event lists.
    Serial,
    /// As dependencies, permits and limits allow.
    Parallel,
}

/// The actions that authorise a type (seed 4, "A Formation Only Does What the Caller Could Do
/// Directly").
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IamActions {
    /// The resource type as SRNs spell it.
    pub srn_type: Arc<str>,
    /// What creating demands.
    pub create: Arc<str>,
    /// What updating demands; `None` for a type without update.
    pub update: Option<Arc<str>>,
    /// What deleting demands.
    pub delete: Arc<str>,
    /// Whether the admin role is demanded instead of an action.
    #[serde(default)]
    pub admin_only: bool,
}

/// What was seen of a row's object, just now or from a cache.
#[derive(Clone, Debug, PartialEq)]
pub enum Observation {
    /// It is there.
    Present {
        /// Which row.
        row: RowId,
        /// Which object.
        native_id: NativeId,
        /// Its properties.
        properties: Stored,
        /// When.
        at: Timestamp,
    },
    /// It is gone.
    Gone {
        /// Which row.
        row: RowId,
        /// Which object.
        native_id: NativeId,
    },
    /// It could not be read.
    Failed {
        /// Which row.
        row: RowId,
        /// Why.
        message: String,
    },
}

impl Observation {
    /// The row it is about.
    pub fn row(&self) -> &RowId {
        match self {
            Self::Present { row, .. } | Self::Gone { row, .. } | Self::Failed { row, .. } => row,
        }
    }
}
