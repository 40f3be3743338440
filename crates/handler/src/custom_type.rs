//! One registered type: its handler, and the rules by which a template may declare it.

use crate::endpoint::Endpoint;
use crate::known::Known;
use crate::shape::{Asked, Shape};
use formwork_model::{
    CheckContext, Concurrency, Diagnostic, Expr, ImmutableRule, Json, LookupRule, Replacement, RetryRule,
    Schema, Secret, SecretKeeping, TypeCapabilities, TypeName, TypeRules, WriteOnlyRule,
};
use std::sync::Arc;
use std::time::Duration;

/// How long the look at what a create or update made may take.
pub(crate) const LONGEST_LOOK: Duration = Duration::from_secs(5);
/// How much longer the engine waits than the call may take, so that the call's own failure, which
/// says more, comes first.
const MARGIN_MILLIS: u64 = 1_000;

/// An operation that a handler may implement beyond create, update and delete (seed 4, "What each
/// optional capability buys").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Capability {
    /// Checks beyond the schema, at plan time.
    Validate,
    /// Reading what is there.
    Read,
}

impl Capability {
    const ALL: [Self; 2] = [Self::Validate, Self::Read];

    fn as_str(self) -> &'static str {
        match self {
            Self::Validate => "validate",
            Self::Read => "read",
        }
    }

    pub(crate) fn parse(declared: &Json) -> Option<Self> {
        Self::ALL.into_iter().find(|capability| declared == capability.as_str())
    }

    /// What may be declared, as messages list it.
    pub(crate) fn allowed() -> String {
        Self::ALL.map(Self::as_str).join(", ")
    }
}

/// Where a type's handler is, and how it is called.
#[derive(Clone, Debug)]
pub(crate) struct Handler {
    pub(crate) endpoint: Endpoint,
    /// What requests are signed with.
    pub(crate) secret: Secret<String>,
    /// How long one request may take.
    pub(crate) timeout: Duration,
}

/// A registered type.
#[derive(Debug)]
pub(crate) struct CustomType {
    pub(crate) name: TypeName,
    pub(crate) handler: Handler,
    pub(crate) shape: Shape,
    capabilities: TypeCapabilities,
}

impl CustomType {
    pub(crate) fn new(name: TypeName, handler: Handler, declared: &[Capability], shape: Shape) -> Self {
        let capabilities = capabilities(declared, handler.timeout);
        Self { name, handler, shape, capabilities }
    }

    /// Whether its handler can read.
    pub(crate) fn reads(&self) -> bool {
        self.capabilities.read
    }

    /// Whether its handler can validate.
    pub(crate) fn validates(&self) -> bool {
        self.capabilities.validate
    }

    /// The names of the properties that are never read back.
    pub(crate) fn write_only(&self) -> impl Iterator<Item = &str> {
        let properties = self.shape.schema().properties.iter();
        properties.filter(|(_, property)| property.hint.write_only).map(|(name, _)| &**name)
    }
}

impl TypeRules for CustomType {
    fn schema(&self) -> &Arc<Schema> {
        self.shape.schema()
    }

    fn capabilities(&self) -> &TypeCapabilities {
        &self.capabilities
    }

    /// Checks what the JSON Schema says beyond the properties themselves, as far as it is certain
    /// before references are known.
    fn check(&self, properties: &Expr, context: &mut CheckContext<'_>) {
        let known = Known::of(properties);
        for violation in self.shape.violations(&known, Asked::TheRest) {
            context.report(&violation.path, |path| {
                Diagnostic::error(violation.code, path, violation.message.clone())
            });
        }
    }
}

fn capabilities(declared: &[Capability], timeout: Duration) -> TypeCapabilities {
    let read = declared.contains(&Capability::Read);
    let look = if read { LONGEST_LOOK.min(timeout) } else { Duration::ZERO };
    let millis = u64::try_from((timeout + look).as_millis()).unwrap_or(u64::MAX);
    TypeCapabilities {
        read,
        list: false,
        retry: RetryRule::Never,
        // The idempotency key: a deploy that is run again sends an unknown create again (seed 4, "The
        // handler protocol").
        lookup: LookupRule::Token,
        replacement: Replacement::Discovered,
        write_only: WriteOnlyRule::AlwaysSend,
        // No property is declared to be fixed: the handler says so by what it answers.
        on_immutable: ImmutableRule::Replace,
        settle_millis: 0,
        timeout_millis: millis.saturating_add(MARGIN_MILLIS),
        validate: declared.contains(&Capability::Validate),
        delete_blockers: false,
        // Write-only values must not be stored, so an update that keeps one leaves it out.
        secrets: SecretKeeping::Provider,
        concurrency: Concurrency::Parallel,
        outputs: Vec::new(),
        credential_outputs: Vec::new(),
        iam: None,
    }
}
