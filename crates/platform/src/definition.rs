//! What a type's file provides, and how the rest of the program sees it.

use crate::{
    Findings, Node, PlatformCatalog, Reference, Refusal, RestRoute, project, references,
    rest::Filter,
    scene::Scene,
    signing,
    versions::{LABEL, Versions},
};
use formwork_model::{
    ActorId, CheckContext, Concurrency, Expr, IamActions, ImmutableRule, InstanceKey, Json, Kind, LookupRule,
    Path, ProjectId, PropertySchema, Replacement, RetryRule, Schema, SecretKeeping, Timestamp,
    TypeCapabilities, TypeRules, WireCode, WriteOnlyRule,
};
use formwork_store::{DomainError, DomainTx, Link, StoredObject, UniqueKey};
use indexmap::IndexMap;
use std::{collections::BTreeSet, sync::Arc};

/// How long one call may take. In-process calls are one transaction each.
const TIMEOUT_MILLIS: u64 = 30_000;

/// What is fixed of a type.
pub(crate) struct Definition {
    pub(crate) name: &'static str,
    /// What validation messages call it (`formations-behaviour.md` §2.6).
    pub(crate) title: &'static str,
    /// What other messages call it.
    pub(crate) noun: &'static str,
    pub(crate) id_prefix: &'static str,
    pub(crate) doc: &'static str,
    pub(crate) properties: Vec<(&'static str, PropertySchema)>,
    pub(crate) on_immutable: ImmutableRule,
    pub(crate) srn_type: &'static str,
    pub(crate) dependents: &'static [Dependents],
    pub(crate) route: &'static RestRoute,
}

/// Objects that refer to one that is to be deleted.
pub(crate) struct Dependents {
    pub(crate) type_name: &'static str,
    /// The links that count.
    pub(crate) fields: &'static [&'static str],
    pub(crate) rule: DependentRule,
}

/// What dependents mean for a delete.
pub(crate) enum DependentRule {
    /// They go too.
    Cascade,
    /// They stay, and the fields that name the object are cleared.
    Detach,
    /// They block it.
    Block {
        code: WireCode,
        /// How the refusal's facts name their number.
        count: &'static str,
        /// Whether `force` deletes them instead. Only REST can force: a formation never takes
        /// something with it that its template does not name.
        force: bool,
    },
}

/// Where a type's objects live.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// In one project each.
    Project,
    /// Outside all projects, where only the admin role reaches.
    Global,
}

/// One type: the rules that its schema cannot express.
pub(crate) trait PlatformType: Send + Sync + 'static {
    fn define(&self) -> Definition;

    fn scope(&self) -> Scope {
        Scope::Project
    }

    /// For a type that resource names do not know, whose objects go by the name of what they are
    /// part of: the property that holds its id.
    fn srn_parent(&self) -> Option<&'static str> {
        None
    }

    /// The wire code of an object that is not there.
    fn not_found(&self) -> WireCode {
        WireCode::ResourceNotFound
    }

    /// The versions that changing writes leave, for a type that keeps them.
    fn versioned(&self) -> Option<&'static Versions> {
        None
    }

    /// For a type with generated signing secrets: which of its objects have one.
    fn signing(&self) -> Option<fn(&Json) -> bool> {
        None
    }

    /// What is answered once, to whoever makes an object over REST, and never again.
    fn revealed(&self) -> &'static [&'static str] {
        if self.signing().is_some() { &[signing::SECRET] } else { &[] }
    }

    /// Properties that the routes take and show but templates cannot declare.
    fn rest_properties(&self) -> Vec<(&'static str, PropertySchema)> {
        Vec::new()
    }

    /// Turns the body of a request into properties, where the routes spell some otherwise.
    ///
    /// # Errors
    /// A refusal of a body that makes no sense.
    fn read_body(&self, members: &mut serde_json::Map<String, Json>) -> Result<(), Refusal> {
        let _ = members;
        Ok(())
    }

    /// The static check beyond the schema: the same for templates and for REST bodies.
    fn check(&self, properties: Node<'_>, findings: &mut Findings) {
        let _ = (properties, findings);
    }

    /// The wire code of a wrong JSON type of this property.
    fn wire_code(&self, property: &str) -> WireCode {
        let _ = property;
        WireCode::ValidationFailed
    }

    /// The wire code of an attempt to change this property, which cannot change.
    fn immutable_code(&self, property: &str) -> WireCode {
        let _ = property;
        WireCode::ValidationFailed
    }

    /// Fills in what depends on the moment or on other properties, and spells in one way what can
    /// be spelled in several. What is not valid is left as it is.
    fn complete(&self, properties: &mut serde_json::Map<String, Json>, now: Timestamp) {
        let _ = (properties, now);
    }

    /// Takes out what is not to be kept, by the settings of the project. A global type is not asked.
    ///
    /// # Errors
    /// A fault of the store.
    fn withhold(
        &self,
        tx: &mut dyn DomainTx,
        project: &ProjectId,
        properties: &mut serde_json::Map<String, Json>,
    ) -> Result<(), DomainError> {
        let _ = (tx, project, properties);
        Ok(())
    }

    /// Where credentials stand, beyond the opaque properties.
    fn sensitive(&self, properties: Node<'_>) -> Vec<Path> {
        let _ = properties;
        Vec::new()
    }

    /// Texts that people know an object by: they have nothing in them that can't be seen.
    fn names(&self) -> &'static [&'static str] {
        &["name"]
    }

    /// Properties that can't be secret, because they are keys.
    fn public(&self) -> &'static [&'static str] {
        &[]
    }

    /// Ids in the properties, beyond those the schema names.
    fn references(&self, properties: &Json, found: &mut Vec<Reference>) {
        let _ = (properties, found);
    }

    /// The refusal of an id that is not in the project.
    fn missing(&self, reference: &Reference) -> Refusal {
        reference.missing()
    }

    /// The properties that say where its model comes from, for a type that has one. An object that
    /// names none of them inherits its project's default route.
    fn model_bindings(&self) -> &'static [&'static str] {
        &[]
    }

    /// What the object refers to by its system part.
    fn system_links(&self, system: &serde_json::Map<String, Json>) -> Vec<Link> {
        let _ = system;
        Vec::new()
    }

    /// The members of the system part that hold ids of objects that go when this one goes.
    fn owned(&self) -> &'static [&'static str] {
        &[]
    }

    /// The object that a `POST` with these properties means, if that is there already.
    ///
    /// # Errors
    /// A fault of the store.
    fn existing(
        &self,
        tx: &mut dyn DomainTx,
        project: &ProjectId,
        properties: &Json,
    ) -> Result<Option<StoredObject>, DomainError> {
        let _ = (tx, project, properties);
        Ok(None)
    }

    /// The keys under which the object must be unique in its project.
    fn keys(&self, properties: &Json) -> Vec<UniqueKey> {
        let _ = properties;
        Vec::new()
    }

    /// What to say of a unique key that is taken; `None` is what all types say of it.
    fn conflict(&self, key: &str, properties: &Json) -> Option<Refusal> {
        let _ = (key, properties);
        None
    }

    /// Checks the whole object where that takes more than its properties. A global type has no
    /// project to look around in and is not asked.
    ///
    /// # Errors
    /// A refusal.
    fn admit(
        &self,
        tx: &mut dyn DomainTx,
        project: &ProjectId,
        properties: &Json,
    ) -> Result<(), DomainError> {
        let _ = (tx, project, properties);
        Ok(())
    }

    /// Writes what belongs to the object beside itself, just before it is written. A global type
    /// is not asked.
    ///
    /// # Errors
    /// A refusal, or a fault of the store.
    fn accompany(&self, tx: &mut dyn DomainTx, scene: &mut Scene<'_>) -> Result<(), DomainError> {
        let _ = (tx, scene);
        Ok(())
    }

    /// Deletes what stands beside the object and is neither owned nor a dependent.
    ///
    /// # Errors
    /// A fault of the store.
    fn depart(&self, tx: &mut dyn DomainTx, object: &StoredObject) -> Result<(), DomainError> {
        let _ = (tx, object);
        Ok(())
    }

    /// Carries out one of the route's actions on an object.
    ///
    /// # Errors
    /// A refusal, or a fault of the store.
    fn act(&self, tx: &mut dyn DomainTx, act: Act<'_>) -> Result<Json, DomainError> {
        let _ = tx;
        let message = format!("There is no operation {}", act.operation);
        Err(Refusal::new(WireCode::ResourceNotFound, message).into())
    }

    /// What one of the route's list filters means, where it is not the value of a property;
    /// `project_id` means the same everywhere.
    ///
    /// # Errors
    /// A refusal of a value that makes no sense.
    fn filter(&self, name: &str, value: &str) -> Result<Filter, Refusal> {
        let _ = value;
        Err(Refusal::new(WireCode::ValidationFailed, format!("Unknown query parameter(s): {name}")))
    }

    /// Adds what REST shows that follows from the properties, which come with their secrets masked.
    /// Each member is one of the extras too.
    fn derive(&self, properties: &Json, members: &mut serde_json::Map<String, Json>) {
        let _ = (properties, members);
    }

    /// What REST shows beyond id, project, times and declared properties, with the JSON Schema of
    /// each.
    fn extras(&self) -> &'static [Extra] {
        &[]
    }
}

/// An action on an object, as a route asks for it.
pub(crate) struct Act<'a> {
    /// Which of the route's actions.
    pub(crate) operation: &'static str,
    pub(crate) entry: &'a TypeEntry,
    pub(crate) key: &'a InstanceKey,
    /// What it is about.
    pub(crate) object: StoredObject,
    /// Who asked for it.
    pub(crate) actor: &'a ActorId,
    /// What came along: what the action takes, checked by kind.
    pub(crate) body: &'a serde_json::Map<String, Json>,
}

/// A member of a representation that cannot be declared.
pub(crate) struct Extra {
    pub(crate) name: &'static str,
    pub(crate) kind: &'static str,
    pub(crate) nullable: bool,
    /// From the object's system part.
    pub(crate) value: fn(&serde_json::Map<String, Json>) -> Json,
}

/// A type with everything that is computed from its definition once.
pub(crate) struct TypeEntry {
    kind: &'static dyn PlatformType,
    definition: Definition,
    /// What templates can declare.
    schema: Arc<Schema>,
    /// What an object holds: that, and what only the routes can set.
    stored: Arc<Schema>,
    capabilities: TypeCapabilities,
    /// The versions of an object, as what goes with it.
    versions: Option<Dependents>,
}

impl TypeEntry {
    pub(crate) fn new(kind: &'static dyn PlatformType) -> Self {
        let mut definition = kind.define();
        let mut properties: IndexMap<Arc<str>, PropertySchema> =
            definition.properties.drain(..).map(|(name, property)| (name.into(), property)).collect();
        let of =
            |properties| Schema { type_name: definition.name.into(), doc: definition.doc.into(), properties };
        let schema = Arc::new(of(properties.clone()));
        properties.extend(kind.rest_properties().into_iter().map(|(name, property)| (name.into(), property)));
        if kind.versioned().is_some() {
            let doc = "What to call the version that this write makes.";
            properties.insert(LABEL.into(), PropertySchema::new(Kind::String, doc).nullable());
        }
        let stored = Arc::new(of(properties));
        let capabilities = capabilities(kind, &definition);
        let versions = kind.versioned().map(Versions::dependents);
        Self { kind, definition, schema, stored, capabilities, versions }
    }

    pub(crate) fn kind(&self) -> &'static dyn PlatformType {
        self.kind
    }

    pub(crate) fn definition(&self) -> &Definition {
        &self.definition
    }

    pub(crate) fn name(&self) -> &'static str {
        self.definition.name
    }

    pub(crate) fn srn_parent(&self) -> Option<&'static str> {
        self.kind.srn_parent()
    }

    /// Whether a template may declare it; otherwise it is a record that only the routes make.
    pub(crate) fn is_declarable(&self) -> bool {
        PlatformCatalog::shared().declarable(self.name()).is_some()
    }

    pub(crate) fn is_global(&self) -> bool {
        self.kind.scope() == Scope::Global
    }

    /// The project that an object belongs to, if it is made in this one.
    pub(crate) fn home<'p>(&self, project: &'p ProjectId) -> Option<&'p ProjectId> {
        (!self.is_global()).then_some(project)
    }

    /// Whether this is one of the type's objects, in the project or outside all.
    pub(crate) fn owns(&self, object: &StoredObject, project: &ProjectId) -> bool {
        object.type_name == self.name() && object.project.as_ref() == self.home(project)
    }

    /// What refers to an object, its versions included.
    pub(crate) fn dependents(&self) -> impl Iterator<Item = &Dependents> {
        self.definition.dependents.iter().chain(&self.versions)
    }

    /// The refusal of an id that is not there, or not for the caller: both in the same words.
    pub(crate) fn not_found(&self, id: &str) -> Refusal {
        Refusal::new(self.kind.not_found(), format!("{} not found: {id}", self.definition.noun))
    }

    /// The schema of what an object holds, which is what the routes take and show.
    pub(crate) fn stored_schema(&self) -> &Arc<Schema> {
        &self.stored
    }

    /// Where secrets stand in these properties by the type's own rules.
    pub(crate) fn secret_places(&self, properties: Node<'_>) -> Vec<Path> {
        let opaque = self.stored.properties.iter().filter(|(_, property)| property.hint.opaque);
        let mut paths: Vec<Path> = opaque
            .filter(|(name, _)| properties.member(name).is_some())
            .map(|(name, _)| Path::root().key(name.clone()))
            .collect();
        paths.extend(self.kind.sensitive(properties));
        paths
    }

    /// The ids in these properties.
    pub(crate) fn references(&self, properties: &Json) -> Vec<Reference> {
        let mut found = Vec::new();
        for (name, property) in &self.stored.properties {
            // Where a property may refer to several types, the type itself says to which it does.
            let [to] = &property.refers_to[..] else { continue };
            if let Some(kind) = references::RefKind::of(to.as_str()) {
                references::at(properties, &[name], kind, &mut found);
            }
        }
        self.kind.references(properties, &mut found);
        found
    }

    /// Whether an object with these properties takes its model from its project.
    pub(crate) fn inherits_model(&self, properties: &Json) -> bool {
        let bindings = self.kind.model_bindings();
        let is_named = |name: &&str| properties.get(*name).is_some_and(|value| !value.is_null());
        !bindings.is_empty() && !bindings.iter().any(is_named)
    }

    /// The distinct links of an object with these properties and this system part.
    pub(crate) fn links(&self, properties: &Json, system: &serde_json::Map<String, Json>) -> Vec<Link> {
        let mut links: BTreeSet<Link> = self.references(properties).iter().map(Reference::link).collect();
        links.extend(self.kind.system_links(system));
        if self.inherits_model(properties) {
            links.insert(project::inheriting());
        }
        links.into_iter().collect()
    }
}

impl TypeRules for TypeEntry {
    fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    fn capabilities(&self) -> &TypeCapabilities {
        &self.capabilities
    }

    fn title(&self) -> &str {
        self.definition.title
    }

    fn check(&self, properties: &Expr, context: &mut CheckContext<'_>) {
        let mut findings = Findings::default();
        self.kind.check(Node::of(properties), &mut findings);
        for mut diagnostic in findings.into_diagnostics() {
            diagnostic.path = context.base.join(&diagnostic.path);
            context.found.push(diagnostic);
        }
    }

    fn sensitive(&self, properties: &Expr) -> Vec<Path> {
        self.kind.sensitive(Node::of(properties))
    }
}

fn capabilities(kind: &dyn PlatformType, definition: &Definition) -> TypeCapabilities {
    let route = definition.route;
    let action = |operation: &str| -> Arc<str> { route.permission(operation).into() };
    let iam = route.create.zip(route.delete).map(|(create, delete)| IamActions {
        srn_type: definition.srn_type.into(),
        create: action(create),
        update: route.update.map(action),
        delete: action(delete),
        admin_only: kind.scope() == Scope::Global,
    });
    let blocks = definition.dependents.iter().any(|found| matches!(found.rule, DependentRule::Block { .. }));
    TypeCapabilities {
        read: true,
        list: true,
        retry: RetryRule::ByCode,
        lookup: LookupRule::Token,
        replacement: Replacement::Declared,
        write_only: WriteOnlyRule::Digest,
        on_immutable: definition.on_immutable.clone(),
        settle_millis: 0,
        timeout_millis: TIMEOUT_MILLIS,
        validate: false,
        delete_blockers: blocks,
        secrets: SecretKeeping::Provider,
        concurrency: Concurrency::Serial,
        outputs: Vec::new(),
        credential_outputs: kind.signing().map(|_| signing::SECRET.into()).into_iter().collect(),
        iam,
    }
}
