//! An object as it would be after a write: merged, checked, and written.
//!
//! Create and update, from a formation and over REST, all pass through here, so that what one
//! refuses the other refuses.

use crate::{
    Completeness, Findings, Node, Refusal, TypeEntry, check_bag,
    document::{Document, Opened, cannot_be_opened, effective},
    redaction::{redacted, without_secrets},
    references,
    scene::{Revealed, Scene},
    signing,
    versions::{LABEL, Written},
};
use formwork_model::{
    ActorId, DiagnosticCode, ImmutableRule, InstanceKey, Json, Path, ProjectId, Segment, TypeRules, WireCode,
    as_text, mask, same,
};
use formwork_secret::Secret;
use formwork_store::{DomainError, DomainTx, Link, NewObject, ObjectChange, StoredObject, UniqueKey};
use serde_json::Map;
use std::collections::BTreeSet;

/// Names, in the system part, who last changed the object.
pub(crate) const CHANGED_BY: &str = "changed_by";

/// What a write brings, and where in it secrets stand.
#[derive(Clone)]
pub(crate) struct Given {
    pub(crate) properties: Secret<Json>,
    pub(crate) secret_paths: Vec<Path>,
    /// Where the stored secret is to be kept; its value is not in the properties.
    pub(crate) kept_paths: Vec<Path>,
    /// Whether what is not named is cleared.
    pub(crate) completeness: Completeness,
    /// Who asked for it.
    pub(crate) actor: ActorId,
}

/// The properties as they will be, in the clear.
struct Draft<'a> {
    entry: &'a TypeEntry,
    key: &'a InstanceKey,
    id: &'a str,
    /// Where it lives; global objects live in none.
    home: Option<&'a ProjectId>,
    properties: Secret<Json>,
    secrets: BTreeSet<Path>,
}

/// A new object, and what its maker is told once.
pub(crate) struct Created {
    pub(crate) object: StoredObject,
    pub(crate) revealed: Revealed,
}

/// Makes an object with this id. A global type has no home, any other has one.
///
/// # Errors
/// A refusal, a taken key, or a fault of the store.
pub(crate) fn create(
    tx: &mut dyn DomainTx,
    entry: &TypeEntry,
    key: &InstanceKey,
    id: &str,
    home: Option<&ProjectId>,
    given: &Given,
) -> Result<Created, DomainError> {
    check_given(entry, given, Completeness::Whole)?;
    let properties = completed(tx, entry, home, given.properties.expose().clone())?;
    let secrets = expanded(given.properties.expose(), &given.secret_paths);
    let draft = Draft::new(entry, key, id, home, properties, secrets)?;
    draft.vet(tx, given, None)?;
    let mut system = Map::new();
    let mut revealed = Revealed::new();
    draft.accompany(tx, &given.actor, None, &mut system, &mut revealed)?;
    system.insert(CHANGED_BY.to_owned(), given.actor.as_str().into());
    let conflict = draft.conflicts();
    let (doc, keys, links) = draft.into_parts(system);
    let inserted = tx.insert(NewObject {
        id: id.to_owned(),
        type_name: entry.name().to_owned(),
        project: home.cloned(),
        doc: doc.to_json(),
        keys,
        links,
    });
    Ok(Created { object: inserted.map_err(conflict)?, revealed })
}

/// Changes an object. One that would stay as it is is not written, so that its version and time
/// tell when it last changed.
///
/// # Errors
/// A refusal, a version conflict, a taken key, or a fault of the store.
pub(crate) fn update(
    tx: &mut dyn DomainTx,
    entry: &TypeEntry,
    key: &InstanceKey,
    object: StoredObject,
    given: &Given,
) -> Result<StoredObject, DomainError> {
    let home = object.project.clone();
    if home.is_none() != entry.is_global() {
        return Err(DomainError::NotFound { id: object.id });
    }
    let stored = Document::of(&object)?;
    refuse_masks(&stored, given)?;
    // What is missing shows once the stored properties are merged in.
    check_given(entry, given, Completeness::Partial)?;
    let before = stored.open(key, &object.id);
    let (properties, secrets) = merged(tx, entry, home.as_ref(), &stored, &before, given)?;
    let draft = Draft::new(entry, key, &object.id, home.as_ref(), properties, secrets)?;
    draft.vet(tx, given, Some(&before))?;
    if before.shut.is_empty() && draft.is_same_as(&before) {
        return Ok(object);
    }
    let mut system = stored.system;
    draft.accompany(tx, &given.actor, Some(before.properties.expose()), &mut system, &mut Revealed::new())?;
    system.insert(CHANGED_BY.to_owned(), given.actor.as_str().into());
    let conflict = draft.conflicts();
    let (doc, keys, links) = draft.into_parts(system);
    let change = ObjectChange {
        id: object.id.clone(),
        expected_version: Some(object.version),
        doc: doc.to_json(),
        keys,
        links,
    };
    tx.update(change).map_err(conflict)
}

/// Checks what came in, by itself. Of a whole bag that is not right, all is told that the type has to
/// say of it; of a part, the rules hold only once it is merged in.
fn check_given(entry: &TypeEntry, given: &Given, completeness: Completeness) -> Result<(), Refusal> {
    let properties = given.properties.expose();
    let node = Node::Plain(properties);
    let mut findings = Findings::default();
    check_bag(entry, node, completeness, &mut findings);
    if completeness == Completeness::Whole && findings.has_errors() {
        entry.kind().check(node, &mut findings);
    }
    let mut secrets = expanded(properties, &given.secret_paths);
    secrets.extend(entry.secret_places(node));
    findings.refuse().map_err(|refusal| without_secrets(refusal, properties, &secrets))
}

/// A mask that comes back is a mistake: stored as a value it would destroy the secret (seed 4,
/// "Secrets in Templates").
fn refuse_masks(stored: &Document, given: &Given) -> Result<(), Refusal> {
    let masked = |path: &&Path| path.get(given.properties.expose()) == Some(&mask());
    let Some(path) = stored.sealed.iter().find(masked) else { return Ok(()) };
    let message = format!("`{path}` holds the mask of a secret: send its value, or leave the property out");
    let mut findings = Findings::default();
    findings.error(DiagnosticCode::InvalidValue, path.clone(), message);
    findings.refuse()
}

fn names(given: &Given, property: &str) -> bool {
    given.properties.expose().get(property).is_some()
}

/// What the object will be: the given properties over the stored ones, with the kept secrets.
fn merged(
    tx: &mut dyn DomainTx,
    entry: &TypeEntry,
    home: Option<&ProjectId>,
    stored: &Document,
    before: &Opened,
    given: &Given,
) -> Result<(Secret<Json>, BTreeSet<Path>), DomainError> {
    let mut members = carried_over(entry, before.properties.expose(), given);
    let mut secrets = expanded(given.properties.expose(), &given.secret_paths);
    let carried = |path: &&Path| top_level(path).is_some_and(|name| members.contains_key(name));
    secrets.extend(before.secrets.iter().filter(carried).cloned());
    members.extend(members_of(given.properties.expose()));
    let mut properties = Json::Object(members);
    let mut kept: Vec<&Path> = given.kept_paths.iter().collect();
    kept.sort_unstable();
    for path in kept {
        let value = path.get(before.properties.expose()).filter(|value| !value.is_null());
        let placed = value.is_some_and(|value| place(&mut properties, path, value.clone()));
        if !placed {
            let message = format!("`{path}` has no stored value to keep: its value must be supplied");
            return Err(Refusal::new(WireCode::SecretUnavailable, message).into());
        }
        secrets.insert(path.clone());
    }
    let properties = completed(tx, entry, home, properties)?;
    let properties = unlabelled(entry, properties, before.properties.expose(), given);
    if let Some(path) = still_shut(stored, before, &secrets) {
        return Err(cannot_be_opened(path).into());
    }
    Ok((properties, secrets))
}

/// The properties without the label of the version before: it named that one, not what this write
/// makes.
fn unlabelled(entry: &TypeEntry, properties: Secret<Json>, before: &Json, given: &Given) -> Secret<Json> {
    let after = properties.expose();
    if names(given, LABEL) || after.get(LABEL).is_none() {
        return properties;
    }
    let at = |bag: &Json, name: &str| bag.get(name).cloned().unwrap_or_default();
    let mut others = entry.stored_schema().properties.keys().filter(|name| ***name != *LABEL);
    let changes = others.any(|name| !same(&at(before, name), &at(after, name)));
    if !changes {
        return properties;
    }
    let mut members = members_of(after);
    members.shift_remove(LABEL);
    Secret::new(Json::Object(members))
}

/// The stored properties that the write leaves as they are. One that replaces everything need not
/// restate what can't change.
fn carried_over(entry: &TypeEntry, before: &Json, given: &Given) -> Map<String, Json> {
    let whole = given.completeness == Completeness::Whole;
    let is_fixed =
        |name: &str| entry.stored_schema().property(name).is_some_and(|property| property.hint.create_only);
    let mut members = members_of(before);
    members.retain(|name, _| !names(given, name) && (!whole || is_fixed(name)));
    members
}

/// The path of a sealed value that is carried over and could not be opened.
fn still_shut<'s>(stored: &'s Document, before: &Opened, secrets: &BTreeSet<Path>) -> Option<&'s Path> {
    let carried = |path: &&Path| secrets.iter().any(|secret| secret.contains(path) || path.contains(secret));
    stored.sealed.iter().filter(|path| before.shut.contains(*path)).find(carried)
}

fn members_of(value: &Json) -> Map<String, Json> {
    value.as_object().cloned().unwrap_or_default()
}

fn top_level(path: &Path) -> Option<&str> {
    match path.segments().first()? {
        Segment::Key(key) => Some(key),
        Segment::Index(_) => None,
    }
}

/// Puts a value where it was: objects on the way are made, and a list that lacks it is parted.
/// Answers whether there is such a place.
fn place(properties: &mut Json, path: &Path, value: Json) -> bool {
    let Some((last, parents)) = path.segments().split_last() else { return false };
    let mut here = properties;
    for segment in parents {
        let next = match (here, segment) {
            (Json::Object(members), Segment::Key(key)) => {
                Some(members.entry(key.to_string()).or_insert_with(|| Json::Object(Map::new())))
            }
            (Json::Array(items), Segment::Index(index)) => items.get_mut(*index),
            _ => None,
        };
        let Some(next) = next else { return false };
        here = next;
    }
    match (here, last) {
        (Json::Object(members), Segment::Key(key)) => {
            members.insert(key.to_string(), value);
            true
        }
        (Json::Array(items), Segment::Index(index)) if *index <= items.len() => {
            items.insert(*index, value);
            true
        }
        _ => false,
    }
}

/// The normal form, with what the type fills in from the moment of the write.
fn completed(
    tx: &mut dyn DomainTx,
    entry: &TypeEntry,
    home: Option<&ProjectId>,
    properties: Json,
) -> Result<Secret<Json>, DomainError> {
    let mut members = normalised(entry, properties);
    entry.kind().complete(&mut members, tx.now()?);
    if let Some(project) = home {
        entry.kind().withhold(tx, project, &mut members)?;
    }
    Ok(Secret::new(Json::Object(members)))
}

/// Without nulls, and with the defaults of the schema: a property that was cleared reads like one
/// that was never set.
fn normalised(entry: &TypeEntry, properties: Json) -> Map<String, Json> {
    let given = members_of(&properties);
    drop(Secret::new(properties));
    let mut normal = Map::new();
    for (name, property) in &entry.stored_schema().properties {
        let value = given.get(&**name).filter(|value| !value.is_null());
        if let Some(value) = value.or(property.default.as_ref()) {
            normal.insert(name.to_string(), value.clone());
        }
    }
    normal
}

/// The paths, a secret bag of properties being each of its members.
fn expanded(properties: &Json, paths: &[Path]) -> BTreeSet<Path> {
    let mut expanded = BTreeSet::new();
    for path in paths {
        if path.is_root() {
            expanded.extend(members_of(properties).keys().map(|name| Path::of([name.as_str()])));
        } else {
            expanded.insert(path.clone());
        }
    }
    expanded
}

impl<'a> Draft<'a> {
    /// A draft that knows all its secrets: those it was told of, and those by their place.
    fn new(
        entry: &'a TypeEntry,
        key: &'a InstanceKey,
        id: &'a str,
        home: Option<&'a ProjectId>,
        properties: Secret<Json>,
        mut secrets: BTreeSet<Path>,
    ) -> Result<Self, Refusal> {
        let public = entry.kind().public();
        let exposed = secrets.iter().find(|path| top_level(path).is_some_and(|name| public.contains(&name)));
        if let Some(path) = exposed {
            let message = format!("`{path}` cannot be secret: it is a key that others see");
            return Err(Refusal::new(WireCode::ValidationFailed, message));
        }
        secrets.extend(entry.secret_places(Node::Plain(properties.expose())));
        let secrets = effective(properties.expose(), secrets);
        Ok(Self { entry, key, id, home, properties, secrets })
    }

    /// Refuses what is not right. Messages quote values, so the secrets are taken out of them.
    fn vet(&self, tx: &mut dyn DomainTx, given: &Given, before: Option<&Opened>) -> Result<(), DomainError> {
        self.examine(tx, given, before)
            .map_err(|error| redacted(error, self.properties.expose(), &self.secrets))
    }

    fn examine(
        &self,
        tx: &mut dyn DomainTx,
        given: &Given,
        before: Option<&Opened>,
    ) -> Result<(), DomainError> {
        let mut findings = Findings::default();
        if let Some(before) = before {
            self.find_fixed(before, &mut findings);
        }
        // Whatever is required must be there once the nulls are gone, after an update too.
        for name in crate::bag::missing(self.entry, Node::Plain(self.properties.expose())) {
            findings.missing(name);
        }
        self.entry.kind().check(Node::Plain(self.properties.expose()), &mut findings);
        findings.refuse()?;
        self.resolve(tx, |property| before.is_none() || names(given, property))
    }

    /// A changed property that cannot change is refused, never passed over.
    fn find_fixed(&self, before: &Opened, findings: &mut Findings) {
        let fixed =
            self.entry.stored_schema().properties.iter().filter(|(_, property)| property.hint.create_only);
        for (name, _) in fixed {
            let was = before.properties.expose().get(&**name).unwrap_or(&Json::Null);
            let becomes = self.properties.expose().get(&**name).unwrap_or(&Json::Null);
            if !same(was, becomes) {
                let message = self.immutable(name, was, becomes);
                let code = self.entry.kind().immutable_code(name);
                findings.coded(code, DiagnosticCode::ImmutableProperty, Path::of([name]), message);
            }
        }
    }

    /// What a change of a property that cannot change is refused with: the type's own words, which
    /// a plan warns with too, if it has some.
    fn immutable(&self, name: &str, was: &Json, becomes: &Json) -> String {
        let ImmutableRule::Refuse { message } = &self.entry.capabilities().on_immutable else {
            return format!("`{name}` cannot be changed after creation");
        };
        let in_words = |value: &Json| match value {
            Json::Null => "nothing".to_owned(),
            value => as_text(value),
        };
        message
            .replace("{field}", name)
            .replace("{native_id}", self.id)
            .replace("{current}", &in_words(was))
            .replace("{declared}", &in_words(becomes))
    }

    /// Resolves the ids in the properties that the write names. Those it does not name may dangle:
    /// a tool can be deleted under an agent.
    fn resolve(&self, tx: &mut dyn DomainTx, is_named: impl Fn(&str) -> bool) -> Result<(), DomainError> {
        for reference in self.entry.references(self.properties.expose()) {
            if is_named(reference.property()) && references::resolve(tx, self.home, &reference)?.is_none() {
                return Err(self.entry.kind().missing(&reference).into());
            }
        }
        let Some(project) = self.home else { return Ok(()) };
        self.entry.kind().admit(tx, project, self.properties.expose())
    }

    fn is_same_as(&self, before: &Opened) -> bool {
        self.secrets == before.secrets && same(self.properties.expose(), before.properties.expose())
    }

    fn accompany(
        &self,
        tx: &mut dyn DomainTx,
        actor: &ActorId,
        before: Option<&Json>,
        system: &mut Map<String, Json>,
        revealed: &mut Revealed,
    ) -> Result<(), DomainError> {
        let Some(project) = self.home else { return Ok(()) };
        if let Some(versions) = self.entry.kind().versioned() {
            let written = Written {
                key: self.key,
                id: self.id,
                project,
                actor,
                before,
                properties: &self.properties,
                secrets: &self.secrets,
            };
            versions.add(tx, &written, system)?;
        }
        let mut scene = Scene {
            key: self.key,
            id: self.id,
            project,
            actor,
            before,
            after: self.properties.expose(),
            secrets: &self.secrets,
            system,
            revealed,
        };
        if self.entry.kind().signing().is_some_and(|signs| signing::lacks(&scene, signs)) {
            signing::mint(&mut scene);
        }
        self.entry.kind().accompany(tx, &mut scene)
    }

    /// Words a taken key as the type does. Keys are never secret, so their values may be told.
    fn conflicts(&self) -> impl FnOnce(DomainError) -> DomainError + use<> {
        let kind = self.entry.kind();
        let public = kind.public().iter();
        let told = public.filter_map(|name| self.properties.expose().as_object()?.get_key_value(*name));
        let told = Json::Object(told.map(|(name, value)| (name.clone(), value.clone())).collect());
        move |error| match &error {
            DomainError::KeyTaken { key, .. } => kind.conflict(key, &told).map_or(error, Into::into),
            _ => error,
        }
    }

    fn into_parts(self, system: Map<String, Json>) -> (Document, Vec<UniqueKey>, Vec<Link>) {
        let keys = self.entry.kind().keys(self.properties.expose());
        let links = self.entry.links(self.properties.expose(), &system);
        let document = Document::seal(self.key, self.id, &self.properties, &self.secrets, system);
        (document, keys, links)
    }
}
