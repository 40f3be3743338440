//! What a declaration is known to say before the plan runs.

use super::draft::{Fate, Identity};
use super::world::{Found, World};
use crate::change::{Bag, Member, View, hint, is_private};
use formwork_model::{
    Diagnostic, DiagnosticCode, Diagnostics, Digest, Expr, ExprLeaf, INPUT_DEPTH, Json, Object, Part, Path,
    Planned, PlannedLeaf, Ref, RefPath, ResourceDesired, Schema, Segment, Stored, StoredLeaf, TargetRev,
    Visibility, as_text, depth, digest_of,
};
use indexmap::IndexMap;
use std::borrow::Cow;

/// Who can still give a secret of which only a digest is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keeping {
    /// The provider: it keeps its own copy.
    Provider,
    /// Nobody.
    Nobody,
}

/// What a reference is known to be.
pub(crate) enum Known {
    Value(Json),
    /// A secret, by its digest only.
    Secret(Digest),
    /// Not before the plan runs.
    Not,
}

/// Resolves the declaration of one resource.
pub(crate) struct Resolver<'r, 'a> {
    pub(crate) world: &'r World<'a>,
    pub(crate) fates: &'r [Option<Fate>],
    pub(crate) stack: usize,
    pub(crate) resource: &'a ResourceDesired,
    pub(crate) schema: &'r Schema,
    /// Whether the schema has any property that must not be seen.
    pub(crate) has_private: bool,
    /// What was sent last, for values that are kept.
    pub(crate) previous: Option<&'a Stored>,
    pub(crate) keeping: Keeping,
    pub(crate) found: &'r mut Diagnostics,
}

impl<'a> Resolver<'_, 'a> {
    /// The declared properties, as far as they are known.
    pub(crate) fn bag(&mut self) -> Bag<'a> {
        match &self.resource.properties {
            Expr::Plain(Json::Object(members)) => {
                Bag(members.iter().map(|(name, value)| (name.into(), self.literal(name, value))).collect())
            }
            Expr::Object(members) => {
                let resolved = members.iter().filter_map(|(name, value)| {
                    let member = match value {
                        Expr::Plain(value) => Some(self.literal(name, value)),
                        value => {
                            let private = is_private(hint(self.schema, name));
                            let mut path = Path::root().key(name.clone());
                            self.value(value, &mut path, private)
                                .map(|value| Member::Planned(Cow::Owned(value)))
                        }
                    };
                    Some((Cow::Borrowed(&**name), member?))
                });
                Bag(resolved.collect())
            }
            // The whole bag is one expression: what a front end does not write, but may.
            whole => {
                let resolved = self.value(whole, &mut Path::root(), false);
                let members = resolved.and_then(|value| value.members()).unwrap_or_default();
                Bag(members
                    .into_iter()
                    .map(|(name, value)| (Cow::Owned(name.to_string()), Member::Planned(Cow::Owned(value))))
                    .collect())
            }
        }
    }

    /// A literal property: borrowed, unless it must not be seen.
    fn literal(&self, name: &str, value: &'a Json) -> Member<'a> {
        if self.has_private && is_private(hint(self.schema, name)) && !value.is_null() {
            return Member::Planned(Cow::Owned(self.secret(value)));
        }
        Member::Json(value)
    }

    fn secret(&self, value: &Json) -> Planned {
        Planned::Leaf(PlannedLeaf::Secret(digest_of(self.world.request.key, value)))
    }

    /// One value; `None` if its member is dropped. `private`: whatever it is, it is secret.
    fn value(&mut self, expr: &'a Expr, path: &mut Path, private: bool) -> Option<Planned> {
        match expr {
            Expr::Plain(value) if private && !value.is_null() => Some(self.secret(value)),
            Expr::Plain(value) => Some(Planned::Plain(value.clone())),
            Expr::Array(items) => {
                let mut resolved = Vec::with_capacity(items.len());
                for (index, item) in items.iter().enumerate() {
                    path.push(Segment::Index(index));
                    resolved.extend(self.value(item, path, private));
                    path.pop();
                }
                Some(Planned::array(resolved))
            }
            Expr::Object(members) => {
                let mut resolved = IndexMap::with_capacity(members.len());
                for (name, member) in members {
                    path.push(Segment::Key(name.clone()));
                    let member = self.value(member, path, private);
                    path.pop();
                    resolved.extend(member.map(|member| (name.clone(), member)));
                }
                Some(Planned::object(resolved))
            }
            Expr::Leaf(leaf) => self.leaf(leaf, path, private),
        }
    }

    fn leaf(&mut self, leaf: &'a ExprLeaf, path: &mut Path, private: bool) -> Option<Planned> {
        match leaf {
            ExprLeaf::Secret(value) => Some(self.secret(value.expose())),
            ExprLeaf::Ref(reference) => Some(self.reference(reference, path, private)),
            ExprLeaf::Template(parts) => Some(self.template(parts, private)),
            ExprLeaf::KeepPrevious => self.previous_at(path).map(|value| self.kept(&value, path)),
            ExprLeaf::Once(value) => match self.previous_at(path) {
                Some(previous) => Some(self.kept(&previous, path)),
                None => self.value(value, path, private),
            },
        }
    }

    fn reference(&mut self, reference: &Ref, path: &Path, private: bool) -> Planned {
        let secret = private || reference.visibility == Visibility::Opaque;
        match self.known(reference).or_else(|| self.as_sent(reference, path)) {
            Known::Value(value) if path.segments().len() + depth(&value) > INPUT_DEPTH => {
                self.found.push(self.too_deep(reference, path));
                Planned::default()
            }
            Known::Value(value) if secret => self.secret(&value),
            Known::Value(value) => Planned::Plain(value),
            Known::Secret(digest) => Planned::Leaf(PlannedLeaf::Secret(digest)),
            Known::Not => Planned::Leaf(PlannedLeaf::Unknown { from: vec![reference.clone()], secret }),
        }
    }

    /// The error for a value that would make the properties deeper than they may be.
    fn too_deep(&self, reference: &Ref, path: &Path) -> Diagnostic {
        let full = self.resource.properties_path.join(path);
        let message = format!(
            "`{reference}` is nested too deep for `{}.{path}`: properties can have {INPUT_DEPTH} levels at most",
            self.resource.label
        );
        let place = self.world.request.desired.source_map.place(&full);
        Diagnostic::error(DiagnosticCode::InputTooLarge, full, message).at(place)
    }

    fn template(&mut self, parts: &'a [Part], private: bool) -> Planned {
        let mut text = String::new();
        let mut secret = private;
        let mut from: Vec<Ref> = Vec::new();
        for part in parts {
            match part {
                Part::Text(literal) => text.push_str(literal),
                Part::Secret(value) => {
                    secret = true;
                    text.push_str(&as_text(value.expose()));
                }
                Part::Ref(reference) => {
                    secret |= reference.visibility == Visibility::Opaque;
                    match self.known(reference) {
                        Known::Value(value) => text.push_str(&as_text(&value)),
                        // A digest cannot be written into a text.
                        Known::Secret(_) => {
                            secret = true;
                            from.push(reference.clone());
                        }
                        Known::Not if from.contains(reference) => {}
                        Known::Not => from.push(reference.clone()),
                    }
                }
            }
        }
        if !from.is_empty() {
            return Planned::Leaf(PlannedLeaf::Unknown { from, secret });
        }
        let value = Json::String(text);
        if secret { self.secret(&value) } else { Planned::Plain(value) }
    }

    /// What a reference is known to be before the plan runs.
    fn known(&self, reference: &Ref) -> Known {
        let (there, identity, settled) = match self.world.find(self.stack, &reference.to) {
            Found::Node(node) => match self.fates[node as usize] {
                Some(fate) => (self.world.object_of(node), fate.identity, fate.settled),
                None => return Known::Not,
            },
            Found::Row(row) => (self.world.row_object(row), Identity::Stays, true),
            Found::Nothing | Found::Several => return Known::Not,
        };
        let Some((object, answered)) = there else { return Known::Not };
        let part = match &reference.path {
            RefPath::NativeId if identity == Identity::Stays => {
                return select(Json::from(object.native_id.as_str()), reference.json.as_ref());
            }
            RefPath::Property(path) if settled => descend(View::of(answered), path.segments()),
            RefPath::Output(name) if settled => View::of(answered).member(name),
            _ => None,
        };
        match part {
            Some(View::Json(value)) => select(value.clone(), reference.json.as_ref()),
            Some(View::Digest(digest)) if reference.json.is_none() => Known::Secret(digest),
            None if settled => self.held_by_provider(reference, object),
            _ => Known::Not,
        }
    }

    /// A secret that only the object's provider knows.
    fn held_by_provider(&self, reference: &Ref, object: &Object) -> Known {
        if reference.visibility != Visibility::Opaque
            || reference.json.is_some()
            || object.target == TargetRev::default()
        {
            return Known::Not;
        }
        let path = match &reference.path {
            RefPath::NativeId => return Known::Not,
            RefPath::Property(path) => path.clone(),
            RefPath::Output(name) => Path::root().key(name.clone()),
        };
        Known::Secret(object.secret_mark(self.world.request.key, &path))
    }

    /// A property that the ledger does not hold, of a resource to which nothing happens, resolves to
    /// what it resolved to when it was sent.
    fn as_sent(&self, reference: &Ref, path: &Path) -> Known {
        let settled = match self.world.find(self.stack, &reference.to) {
            Found::Node(node) => self.fates[node as usize].is_some_and(|fate| fate.settled),
            Found::Row(_) => true,
            Found::Nothing | Found::Several => false,
        };
        if !settled || reference.path == RefPath::NativeId {
            return Known::Not;
        }
        match self.previous_at(path) {
            Some(Stored::Leaf(StoredLeaf::Resolved { reference: before, sent })) if before == *reference => {
                Known::Value(sent)
            }
            _ => Known::Not,
        }
    }

    /// What was sent at a path last.
    fn previous_at(&self, path: &Path) -> Option<Stored> {
        subtree(self.previous?, path.segments())
    }

    /// A previous value, taken again (seed 4, "Reusing Previously Stored Values").
    fn kept(&mut self, value: &Stored, path: &Path) -> Planned {
        match value {
            Stored::Plain(value) | Stored::Leaf(StoredLeaf::Resolved { sent: value, .. }) => {
                Planned::Plain(value.clone())
            }
            Stored::Leaf(StoredLeaf::Sealed { digest, .. }) => Planned::Leaf(PlannedLeaf::Secret(*digest)),
            Stored::Leaf(StoredLeaf::Digest(digest)) => {
                if self.keeping == Keeping::Nobody {
                    self.found.push(unavailable(self.world, self.resource, path));
                }
                Planned::Leaf(PlannedLeaf::Kept(*digest))
            }
            Stored::Array(items) => Planned::array(items.iter().map(|item| self.kept(item, path)).collect()),
            Stored::Object(members) => Planned::object(
                members.iter().map(|(name, member)| (name.clone(), self.kept(member, path))).collect(),
            ),
        }
    }
}

impl Known {
    fn or_else(self, other: impl FnOnce() -> Self) -> Self {
        if matches!(self, Self::Not) { other() } else { self }
    }
}

/// The error for a kept value that must be sent and that nobody holds in the clear.
pub(crate) fn unavailable(world: &World<'_>, resource: &ResourceDesired, path: &Path) -> Diagnostic {
    let full = resource.properties_path.join(path);
    let message = format!(
        "`{}.{path}` keeps its previous value, but nobody holds it in the clear any more",
        resource.label
    );
    let place = world.request.desired.source_map.place(&full);
    Diagnostic::error(DiagnosticCode::SecretUnavailable, full, message)
        .at(place)
        .hint("supply the value again")
}

/// The part of a stored value at a path; only the part is cloned.
pub(crate) fn subtree(stored: &Stored, segments: &[Segment]) -> Option<Stored> {
    let Some((first, rest)) = segments.split_first() else { return Some(stored.clone()) };
    match (stored, first) {
        (Stored::Plain(value), _) => {
            let path: Path = segments.iter().cloned().collect();
            path.get(value).cloned().map(Stored::Plain)
        }
        (Stored::Object(members), Segment::Key(name)) => subtree(members.get(name)?, rest),
        (Stored::Array(items), Segment::Index(index)) => subtree(items.get(*index)?, rest),
        _ => None,
    }
}

fn descend<'v>(view: View<'v, StoredLeaf>, segments: &[Segment]) -> Option<View<'v, StoredLeaf>> {
    segments.iter().try_fold(view, |view, segment| match segment {
        Segment::Key(name) if view.item_count().is_none() => view.member(name),
        segment => view.items().nth(segment.position()?),
    })
}

/// A value, or a part of it where it is itself JSON, as text or as data.
fn select(value: Json, part: Option<&Path>) -> Known {
    let Some(part) = part else { return Known::Value(value) };
    let whole = match &value {
        Json::String(text) => serde_json::from_str(text).ok(),
        _ => Some(value),
    };
    whole.and_then(|whole| part.get(&whole).cloned()).map_or(Known::Not, Known::Value)
}
