//! What a step sends: its inputs with references resolved against the rows, as the ledger may keep
//! it, with the places where the driver fills in secrets.

use crate::{SecretFill, SecretOutput, SecretPiece};
use formwork_model::{
    BoundRef, Digest, Failure, INPUT_DEPTH, InputLeaf, InputPart, Inputs, InstanceKey, Json, Object, Path,
    Planned, PlannedLeaf, Ref, RefPath, Row, RowRef, Schema, SecretKeeping, Segment, Stored, StoredLeaf,
    TargetRev, Visibility, WireCode, as_text, canonical_bytes, depth, digest_of, same,
};
use std::convert::Infallible;

/// Finds the row that a plan's name for it means.
pub(crate) type Rows<'a, 'r> = &'a dyn Fn(&RowRef) -> Option<&'r Row>;

/// What a step will send.
#[derive(Clone, Debug, Default)]
pub(crate) struct Prepared {
    /// As the row keeps it.
    pub(crate) sent: Stored,
    /// Where the driver fills in secrets.
    pub(crate) fills: Vec<SecretFill>,
    /// Where the provider keeps its own copy.
    pub(crate) kept: Vec<Path>,
    /// What the guard's read saw.
    pub(crate) observed: Option<Stored>,
}

/// Why a reference has no value that can be sent.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub(crate) enum Unresolved {
    /// What it refers to is not there.
    #[error("Unresolved ref: {0}")]
    Missing(Ref),
    /// It is a secret that nobody holds in the clear.
    #[error("`{0}` is a secret that nobody holds in the clear any more")]
    Unavailable(Ref),
    /// Its value would make the properties deeper than they may be.
    #[error("`{0}` is nested too deep for `{1}`: properties can have {INPUT_DEPTH} levels at most")]
    TooDeep(Ref, Path),
}

impl Unresolved {
    pub(crate) fn failure(&self) -> Failure {
        let code = match self {
            Self::Missing(_) => WireCode::Unknown,
            Self::Unavailable(_) => WireCode::SecretUnavailable,
            Self::TooDeep(..) => WireCode::ValidationFailed,
        };
        Failure::new(code, self.to_string())
    }
}

/// Resolves the inputs of one step.
pub(crate) struct Resolver<'a, 'r> {
    pub(crate) rows: Rows<'a, 'r>,
    pub(crate) key: &'a InstanceKey,
    /// Which properties are secret whatever is declared.
    pub(crate) schema: &'a Schema,
    pub(crate) keeping: SecretKeeping,
    /// What was sent before: a property that no ledger holds resolves to what it resolved to then.
    pub(crate) previous: Option<&'a Stored>,
    /// What the plan says will be there: the digest of a secret text is known to the planner, who
    /// saw its plaintext.
    pub(crate) after: Option<&'a Planned>,
}

impl Resolver<'_, '_> {
    /// Resolves everything, or says what is missing.
    pub(crate) fn resolve(&self, inputs: &Inputs) -> Result<Prepared, Unresolved> {
        let mut fills = Vec::new();
        let mut kept = Vec::new();
        let sent = inputs.try_map(&mut |path, leaf| {
            Ok(Some(match leaf {
                InputLeaf::Ref(bound) => self.reference(bound, path, &mut fills)?,
                InputLeaf::Template(parts) => self.template(parts, path, &mut fills)?,
                InputLeaf::Secret { slot, digest } => {
                    fills.push(SecretFill {
                        path: path.clone(),
                        pieces: vec![SecretPiece::Slot(slot.clone())],
                    });
                    Stored::Leaf(match self.keeping {
                        SecretKeeping::Provider => StoredLeaf::Digest(*digest),
                        SecretKeeping::Ledger => StoredLeaf::Sealed { slot: slot.clone(), digest: *digest },
                    })
                }
                InputLeaf::Kept(digest) => {
                    kept.push(path.clone());
                    Stored::Leaf(StoredLeaf::Digest(*digest))
                }
            }))
        })?;
        Ok(Prepared { sent: sent.unwrap_or_else(Stored::empty_object), fills, kept, observed: None })
    }

    fn is_private(&self, path: &Path) -> bool {
        let Some(Segment::Key(name)) = path.segments().first() else { return false };
        self.schema.property(name).is_some_and(|property| property.hint.write_only || property.hint.opaque)
    }

    fn reference(
        &self,
        bound: &BoundRef,
        path: &Path,
        fills: &mut Vec<SecretFill>,
    ) -> Result<Stored, Unresolved> {
        let value = match self.value(bound, Some(path)) {
            Err(unresolved) => {
                let (output, digest) = self.secret_output(bound).ok_or(unresolved)?;
                fills.push(SecretFill {
                    path: path.clone(),
                    pieces: vec![SecretPiece::Output(Box::new(output))],
                });
                return Ok(Stored::Leaf(StoredLeaf::Digest(digest)));
            }
            Ok(value) => value,
        };
        if path.segments().len() + depth(&value) > INPUT_DEPTH {
            return Err(Unresolved::TooDeep(bound.reference.clone(), path.clone()));
        }
        let secret = self.is_private(path) || bound.reference.visibility == Visibility::Opaque;
        if !secret || value.is_null() {
            return Ok(Stored::Leaf(StoredLeaf::Resolved {
                reference: bound.reference.clone(),
                sent: value,
            }));
        }
        // No slot holds it sealed: it is resolved anew for each call.
        let digest = digest_of(self.key, &value);
        fills.push(SecretFill { path: path.clone(), pieces: vec![SecretPiece::Text(as_text(&value))] });
        Ok(Stored::Leaf(StoredLeaf::Digest(digest)))
    }

    fn template(
        &self,
        parts: &[InputPart],
        path: &Path,
        fills: &mut Vec<SecretFill>,
    ) -> Result<Stored, Unresolved> {
        let mut pieces = Pieces::default();
        let mut secret = self.is_private(path);
        for part in parts {
            match part {
                InputPart::Text(text) => pieces.text(text),
                InputPart::Ref(bound) => {
                    secret |= bound.reference.visibility == Visibility::Opaque;
                    pieces.text(&as_text(&self.value(bound, None)?));
                }
                InputPart::Secret { slot, digest } => {
                    secret = true;
                    pieces.list.push(SecretPiece::Slot(slot.clone()));
                    pieces.digests.push(*digest);
                }
            }
        }
        if !secret {
            return Ok(Stored::Plain(Json::String(pieces.into_text())));
        }
        let digest = self.digest(&pieces, path);
        fills.push(SecretFill { path: path.clone(), pieces: pieces.list });
        Ok(Stored::Leaf(StoredLeaf::Digest(digest)))
    }

    /// What a secret text compares as: as the planner knows it, or, where only the run knows its
    /// references, by its pieces.
    fn digest(&self, pieces: &Pieces, path: &Path) -> Digest {
        if pieces.digests.is_empty() {
            return digest_of(self.key, &Json::String(pieces.clone().into_text()));
        }
        let planned = self.after.and_then(|after| after.at(path));
        match planned {
            Some(Planned::Leaf(PlannedLeaf::Secret(digest))) => digest,
            _ => self.key.digest(&canonical_bytes(&pieces.shape())),
        }
    }

    fn value(&self, bound: &BoundRef, at: Option<&Path>) -> Result<Json, Unresolved> {
        match value_of(self.rows, bound) {
            Err(Unresolved::Missing(reference)) => {
                self.as_sent(bound, at).ok_or(Unresolved::Missing(reference))
            }
            other => other,
        }
    }

    /// A secret that the provider of another object holds, with what it compares as; `None` if the reference is to
    /// none.
    fn secret_output(&self, bound: &BoundRef) -> Option<(SecretOutput, Digest)> {
        let Ref { path, json: None, visibility: Visibility::Opaque, .. } = &bound.reference else {
            return None;
        };
        let row = (self.rows)(&bound.row)?;
        let object = row.current.as_ref().filter(|object| object.target != TargetRev::default())?;
        let path: Path = match path {
            RefPath::NativeId => return None,
            RefPath::Property(path) => path.clone(),
            RefPath::Output(name) => Path::root().key(name.clone()),
        };
        let digest = digest_part(&object.echo, &path).unwrap_or_else(|| object.secret_mark(self.key, &path));
        let output = SecretOutput {
            label: row.label.clone(),
            stack: row.stack.clone(),
            type_name: object.type_name.clone(),
            native_id: object.native_id.clone(),
            target: object.target.clone(),
            path,
        };
        Some((output, digest))
    }

    fn as_sent(&self, bound: &BoundRef, at: Option<&Path>) -> Option<Json> {
        if bound.reference.path == RefPath::NativeId {
            return None;
        }
        match part(self.previous?, at?.segments())? {
            Found::Tree(Stored::Leaf(StoredLeaf::Resolved { reference, sent }))
                if *reference == bound.reference =>
            {
                Some(sent.clone())
            }
            _ => None,
        }
    }
}

/// The value of a reference in the clear, as the ledger holds it.
pub(crate) fn value_of(rows: Rows<'_, '_>, bound: &BoundRef) -> Result<Json, Unresolved> {
    let missing = || Unresolved::Missing(bound.reference.clone());
    let object = rows(&bound.row).and_then(|row| row.current.as_ref()).ok_or_else(missing)?;
    match look_up(object, &bound.reference.path).ok_or_else(missing)? {
        Part::Clear(value) => select(value, bound.reference.json.as_ref()).ok_or_else(missing),
        Part::Hidden => Err(Unresolved::Unavailable(bound.reference.clone())),
    }
}

/// The pieces of a text.
#[derive(Clone, Debug, Default)]
struct Pieces {
    list: Vec<SecretPiece>,
    digests: Vec<Digest>,
}

impl Pieces {
    fn text(&mut self, text: &str) {
        match self.list.last_mut() {
            Some(SecretPiece::Text(last)) => last.push_str(text),
            _ => self.list.push(SecretPiece::Text(text.to_owned())),
        }
    }

    fn into_text(self) -> String {
        let texts = self.list.into_iter().map(|piece| match piece {
            SecretPiece::Text(text) => text,
            SecretPiece::Slot(_) | SecretPiece::Output(_) => String::new(),
        });
        texts.collect()
    }

    /// Texts as they are, secrets as their digests.
    fn shape(&self) -> Json {
        let mut digests = self.digests.iter();
        let shape = self.list.iter().map(|piece| match piece {
            SecretPiece::Text(text) => Json::String(text.clone()),
            SecretPiece::Slot(_) | SecretPiece::Output(_) => serde_json::json!({ "digest": digests.next() }),
        });
        shape.collect()
    }
}

/// A part of what a row holds.
enum Part {
    Clear(Json),
    Hidden,
}

fn look_up(object: &Object, path: &RefPath) -> Option<Part> {
    let own;
    let segments = match path {
        RefPath::NativeId => return Some(Part::Clear(Json::from(object.native_id.as_str()))),
        RefPath::Property(path) => path.segments(),
        RefPath::Output(name) => {
            own = [Segment::Key(name.clone())];
            &own
        }
    };
    let observed = object.observed.as_ref().map(|(seen, _)| seen);
    let found = part(&object.echo, segments).or_else(|| part(observed?, segments))?;
    Some(match found {
        Found::Json(value) => Part::Clear(value.clone()),
        Found::Tree(tree) if hides_something(tree) => Part::Hidden,
        Found::Tree(tree) => Part::Clear(tree.comparable()),
    })
}

fn hides_something(tree: &Stored) -> bool {
    let mut hidden = false;
    tree.for_each_leaf(&mut |_, leaf| hidden |= !matches!(leaf, StoredLeaf::Resolved { .. }));
    hidden
}

/// A borrowed part of a stored value.
enum Found<'a> {
    Json(&'a Json),
    Tree(&'a Stored),
}

impl Found<'_> {
    fn comparable(&self) -> Json {
        match self {
            Self::Json(value) => (*value).clone(),
            Self::Tree(tree) => tree.comparable(),
        }
    }
}

fn part<'a>(stored: &'a Stored, segments: &[Segment]) -> Option<Found<'a>> {
    let mut tree = stored;
    for (depth, segment) in segments.iter().enumerate() {
        tree = match (tree, segment) {
            (Stored::Plain(value), _) => {
                let rest: Path = segments[depth..].iter().cloned().collect();
                return rest.get(value).map(Found::Json);
            }
            (Stored::Leaf(StoredLeaf::Resolved { sent, .. }), _) => {
                let rest: Path = segments[depth..].iter().cloned().collect();
                return rest.get(sent).map(Found::Json);
            }
            (Stored::Object(members), Segment::Key(name)) => members.get(name)?,
            (Stored::Array(items), segment) => items.get(segment.position()?)?,
            _ => return None,
        };
    }
    Some(match tree {
        Stored::Plain(value) => Found::Json(value),
        other => Found::Tree(other),
    })
}

/// The comparable form of a part, for uniqueness and native ids.
pub(crate) fn comparable_part(stored: &Stored, path: &Path) -> Option<Json> {
    part(stored, path.segments()).map(|found| found.comparable())
}

/// The digest of the secret at a path.
pub(crate) fn digest_part(stored: &Stored, path: &Path) -> Option<Digest> {
    match part(stored, path.segments())? {
        Found::Tree(Stored::Leaf(StoredLeaf::Sealed { digest, .. } | StoredLeaf::Digest(digest))) => {
            Some(*digest)
        }
        _ => None,
    }
}

/// A value, or a part of it where it is itself JSON, as text or as data.
fn select(value: Json, path: Option<&Path>) -> Option<Json> {
    let Some(path) = path else { return Some(value) };
    let whole = match &value {
        Json::String(text) => serde_json::from_str(text).ok()?,
        _ => value,
    };
    path.get(&whole).cloned()
}

/// What was prepared, as the change rule compares it.
pub(crate) fn as_planned(prepared: &Prepared) -> Planned {
    let planned: Result<_, Infallible> = prepared.sent.try_map(&mut |path, leaf| {
        Ok(Some(match leaf {
            StoredLeaf::Resolved { sent, .. } => Planned::Plain(sent.clone()),
            StoredLeaf::Digest(digest) if prepared.kept.contains(path) => {
                Planned::Leaf(PlannedLeaf::Kept(*digest))
            }
            StoredLeaf::Sealed { digest, .. } | StoredLeaf::Digest(digest) => {
                Planned::Leaf(PlannedLeaf::Secret(*digest))
            }
        }))
    });
    let Ok(planned) = planned;
    planned.unwrap_or_else(Planned::empty_object)
}

/// Whether one of the references that `listed` names resolves to something else than before.
pub(crate) fn references_changed(
    inputs: &Inputs,
    now: &Stored,
    before: &Stored,
    listed: impl Fn(&BoundRef) -> bool,
) -> bool {
    let mut changed = false;
    inputs.for_each_leaf(&mut |path, leaf| {
        let concerns = match leaf {
            InputLeaf::Ref(bound) => listed(bound),
            InputLeaf::Template(parts) => {
                parts.iter().any(|part| matches!(part, InputPart::Ref(bound) if listed(bound)))
            }
            InputLeaf::Secret { .. } | InputLeaf::Kept(_) => false,
        };
        if !changed && concerns {
            changed = match (comparable_part(now, path), comparable_part(before, path)) {
                (Some(now), Some(before)) => !same(&now, &before),
                _ => true,
            };
        }
    });
    changed
}
