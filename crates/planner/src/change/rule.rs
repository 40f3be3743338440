//! The one change rule, property by property.
//!
//! A declared property has *changed* when it differs from what was sent, has *drifted* when what
//! is observed differs from what the provider answered to our own last write, and is *already
//! there* when what is observed is what is declared.

use super::bag::{Bag, Member};
use super::compare::{Sameness, Secrets, compare_property};
use super::fixed::{FixedChange, fixed_changes, is_fixed, same_private_parts};
use super::grow::{Growth, grow, property_of};
use super::guided::{Declared, Guide, Lens, Look, compare_guided, declared_keys};
use super::view::View;
use super::{Comparison, Verdict};
use formwork_model::{
    Certainty, FieldHint, ImmutableRule, Object, Ownership, PatchOp, Path, Planned, PlannedLeaf, Ref, Schema,
    Stored, StoredLeaf, TypeCapabilities, UpdateMethod, WriteOnlyRule,
};
use rustc_hash::FxHashSet;
use std::borrow::Cow;
use std::sync::LazyLock;

/// What an object is compared with, besides what is desired of it.
#[derive(Clone, Copy)]
pub(crate) struct Subject<'a> {
    pub(crate) schema: &'a Schema,
    pub(crate) capabilities: &'a TypeCapabilities,
    pub(crate) ownership: Ownership,
    pub(crate) object: &'a Object,
    /// Only of a type that can be read.
    pub(crate) observed: Option<&'a Stored>,
    pub(crate) certainty: Certainty,
}

impl<'a> Subject<'a> {
    /// The subject of a public comparison.
    pub(crate) fn of(comparison: &Comparison<'a>, object: &'a Object) -> Self {
        Self {
            schema: comparison.schema,
            capabilities: comparison.capabilities,
            ownership: comparison.ownership,
            object,
            observed: comparison.observed.filter(|_| comparison.capabilities.read),
            certainty: object.certainty,
        }
    }
}

/// The hints of a property; those of a plain one where the schema does not know it.
pub(crate) fn hint<'a>(schema: &'a Schema, name: &str) -> &'a FieldHint {
    static PLAIN: LazyLock<FieldHint> = LazyLock::new(FieldHint::default);
    schema.property(name).map_or_else(|| &*PLAIN, |property| &property.hint)
}

/// Whether a property is never read back, or never shown: it cannot be seen to drift.
pub(crate) fn is_private(hint: &FieldHint) -> bool {
    hint.write_only || hint.opaque
}

/// Whether a property is sent with every deploy (seed 4, "A write-only property always looks
/// changed").
pub(crate) fn is_always_sent(hint: &FieldHint, capabilities: &TypeCapabilities) -> bool {
    hint.write_only && capabilities.write_only == WriteOnlyRule::AlwaysSend
}

/// What the rule says of an object and the properties declared for it.
pub(crate) fn judge(subject: &Subject<'_>, bag: &Bag<'_>) -> Verdict {
    if subject.certainty == Certainty::Tainted {
        return Verdict::Replace { patch: everything(subject, bag), because: Vec::new() };
    }
    let mut findings = Findings::default();
    for (place, (name, member)) in bag.0.iter().enumerate() {
        findings.declared(subject, place, name, member);
    }
    if subject.ownership == Ownership::Full {
        findings.undeclared(subject, bag);
    }
    if subject.certainty == Certainty::Uncertain && !findings.definite && subject.observed.is_none() {
        findings.resend(subject, bag);
    }
    findings.conclude(subject)
}

/// What `Additive` makes of the declared properties: on top of what is there.
pub(crate) fn grown<'a>(subject: &Subject<'_>, bag: Bag<'a>) -> Bag<'a> {
    let grow_member = |(name, member): (Cow<'a, str>, Member<'a>)| {
        let Some(base) = growth_base(subject, &name) else { return (name, member) };
        let desired = member.to_planned();
        let value = grow(&base, &desired, &desired, Growth::of(subject.schema, &name));
        (name, Member::Planned(Cow::Owned(value)))
    };
    Bag(bag.0.into_iter().map(grow_member).collect())
}

/// What a property that only grows starts from: what is there, as far as it can be seen.
pub(crate) fn growth_base(subject: &Subject<'_>, name: &str) -> Option<Stored> {
    if is_private(hint(subject.schema, name)) {
        return None;
    }
    property_of(subject.observed.unwrap_or(&subject.object.sent), name)
}

/// One change per declared property, as when an object is made anew.
fn everything(subject: &Subject<'_>, bag: &Bag<'_>) -> Vec<PatchOp> {
    bag.0.iter().map(|(name, member)| operation(subject, name, Some(member), false)).collect()
}

fn operation(subject: &Subject<'_>, name: &str, after: Option<&Member<'_>>, drift: bool) -> PatchOp {
    let hint = hint(subject.schema, name);
    let seen = subject.observed.filter(|_| !is_private(hint));
    PatchOp {
        path: Path::of([name]),
        before: property_of(seen.unwrap_or(&subject.object.sent), name),
        after: after.map(Member::to_planned),
        drift,
        immutable: hint.create_only,
        place: None,
    }
}

/// What was found so far.
#[derive(Default)]
struct Findings {
    patch: Vec<PatchOp>,
    /// Whether something changes whatever the unknown values turn out to be.
    definite: bool,
    /// Create-only properties that certainly change.
    because: Vec<Path>,
    /// Whether something is already as declared that was sent otherwise.
    recorded: bool,
    waits_for: Vec<Ref>,
    /// Whether a create-only property is not known yet.
    immutable_unknown: bool,
}

impl Findings {
    fn declared(&mut self, subject: &Subject<'_>, place: usize, name: &str, member: &Member<'_>) {
        let property = subject.schema.property(name);
        let hint = hint(subject.schema, name);
        let way = Way { method: &hint.update_method, guide: property.and_then(Guide::of) };
        let always = is_always_sent(hint, subject.capabilities) && !member.is_kept();
        let view = member.view();
        let sent = &subject.object.sent;
        let changed =
            if always { Sameness::Different } else { against(way, Look::Sent, view, sent, place, name) };
        let seen = subject.observed.filter(|_| !is_private(hint));
        let drifted = seen.is_some_and(|seen| has_drifted(way, subject.object, seen, place, name));
        if changed == Sameness::Same && !drifted {
            // Which of two secrets an uncertain update left there cannot be seen: send it again.
            let unsure = subject.certainty == Certainty::Uncertain && view.has_secret() && !member.is_kept();
            if unsure && !hint.create_only {
                self.change(subject, name, member, true);
            }
            return;
        }
        let there = !always && seen.is_some_and(|seen| is_there(way, view, (sent, seen), place, name));
        if there {
            self.recorded = true;
            return;
        }
        let drift = drifted && changed != Sameness::Different;
        let waits = changed == Sameness::Unknown && !drifted;
        if waits {
            member.collect_waits(&mut self.waits_for);
            self.immutable_unknown |= hint.create_only;
        }
        let fixed = match way.guide.filter(|guide| !hint.create_only && guide.within.has(&is_fixed)) {
            Some(guide) => fixed_within(guide, subject, view, name, drifted.then_some(seen).flatten()),
            None => Fixed::default(),
        };
        self.fixed(subject, name, member, &fixed, drift);
        if fixed.is_all {
            return;
        }
        if waits {
            self.patch.push(operation(subject, name, Some(member), false));
        } else {
            self.change(subject, name, member, drift);
        }
    }

    /// Nested changes that force a replacement, each by its own path.
    fn fixed(&mut self, subject: &Subject<'_>, name: &str, member: &Member<'_>, fixed: &Fixed, drift: bool) {
        let whole = operation(subject, name, Some(member), drift);
        let root = Path::root().key(name);
        for change in &fixed.changes {
            let operation = PatchOp {
                path: root.join(&change.path),
                before: whole.before.as_ref().and_then(|before| before.at(&change.before)),
                after: whole.after.as_ref().and_then(|after| after.at(&change.path)),
                immutable: true,
                ..whole.clone()
            };
            if change.certain {
                self.definitely(operation);
            } else {
                self.immutable_unknown = true;
                self.patch.push(operation);
            }
        }
    }

    fn change(&mut self, subject: &Subject<'_>, name: &str, member: &Member<'_>, drift: bool) {
        let operation = operation(subject, name, Some(member), drift);
        self.definitely(operation);
    }

    fn definitely(&mut self, operation: PatchOp) {
        if operation.immutable {
            self.because.push(operation.path.clone());
        }
        self.definite = true;
        self.patch.push(operation);
    }

    /// Properties that were sent and are no longer declared: removed, unless the provider sets them
    /// itself.
    fn undeclared(&mut self, subject: &Subject<'_>, bag: &Bag<'_>) {
        let declared: FxHashSet<&str> = bag.0.iter().map(|(name, _)| &**name).collect();
        for (name, _) in View::<StoredLeaf>::of(&subject.object.sent).members() {
            let hint = hint(subject.schema, name);
            if declared.contains(name) || hint.has_provider_default {
                continue;
            }
            let seen = subject.observed.filter(|_| !is_private(hint));
            if seen.is_some_and(|seen| View::of(seen).member(name).is_none()) {
                self.recorded = true;
            } else {
                self.definitely(operation(subject, name, None, false));
            }
        }
    }

    /// All of it again: what an update of unknown outcome left cannot be seen.
    fn resend(&mut self, subject: &Subject<'_>, bag: &Bag<'_>) {
        let all = bag.0.iter().filter(|(name, _)| !hint(subject.schema, name).create_only);
        self.patch = all.map(|(name, member)| operation(subject, name, Some(member), true)).collect();
        self.definite = true;
    }

    fn conclude(self, subject: &Subject<'_>) -> Verdict {
        let refuses = matches!(subject.capabilities.on_immutable, ImmutableRule::Refuse { .. });
        if self.definite && !self.because.is_empty() && !refuses {
            return Verdict::Replace { patch: self.patch, because: self.because };
        }
        if self.definite {
            return Verdict::Update { patch: self.patch };
        }
        if !self.waits_for.is_empty() {
            let may_replace = self.immutable_unknown && !refuses;
            return Verdict::Undetermined { patch: self.patch, waits_for: self.waits_for, may_replace };
        }
        if self.recorded || subject.certainty == Certainty::Uncertain {
            return Verdict::Record;
        }
        Verdict::NoOp
    }
}

/// How the values of a property compare.
#[derive(Clone, Copy)]
pub(crate) struct Way<'s> {
    pub(crate) method: &'s UpdateMethod,
    /// What is said of what is within, if anything is.
    pub(crate) guide: Option<Guide<'s>>,
}

/// Nested changes of a property that force a replacement.
#[derive(Default)]
struct Fixed {
    changes: Vec<FixedChange>,
    /// Whether nothing else of the property changes.
    is_all: bool,
}

/// What changed within a property of what cannot change in place: since it was sent, and, if it drifted, outside.
fn fixed_within(
    guide: Guide<'_>,
    subject: &Subject<'_>,
    declared: View<'_, PlannedLeaf>,
    name: &str,
    drifted: Option<&Stored>,
) -> Fixed {
    let part = |of| View::of(of).member(name);
    let mut fixed = Fixed { changes: Vec::new(), is_all: true };
    let mut add = |other: View<'_, StoredLeaf>, look, counts: &dyn Fn(&FixedChange) -> bool| {
        let lens = Lens::new(look);
        for change in fixed_changes(guide, declared, other, lens) {
            if counts(&change) && fixed.changes.iter().all(|known| known.path != change.path) {
                fixed.changes.push(change);
            }
        }
        let rest = compare_guided(guide, declared, other, Lens { without_fixed: true, ..lens });
        fixed.is_all &= rest == Sameness::Same;
    };
    if let Some(sent) = part(&subject.object.sent) {
        add(sent, Look::Sent, &|_| true);
    }
    if let (Some(seen), Some(echo)) = (drifted.and_then(part), part(&subject.object.echo)) {
        // The provider's own spelling is no drift.
        let declared = declared_in(guide, part(&subject.object.sent));
        let outside = fixed_changes(guide, echo, seen, Lens::new(Look::Answers(&declared)));
        add(seen, Look::Seen, &|change| outside.iter().any(|other| other.before == change.before));
    }
    fixed.is_all &= !fixed.changes.is_empty();
    fixed
}

/// A declared value against the same property of what is stored or seen.
fn against(
    way: Way<'_>,
    look: Look<'_>,
    declared: View<'_, PlannedLeaf>,
    other: &Stored,
    place: usize,
    name: &str,
) -> Sameness {
    match (View::of(other).member_near(name, place), way.guide) {
        (Some(other), None) => compare_property(way.method, declared, other, Secrets::Strict),
        (Some(other), Some(guide)) => compare_guided(guide, declared, other, Lens::new(look)),
        (None, _) if matches!(declared, View::Unknown) => Sameness::Unknown,
        (None, _) => Sameness::Different,
    }
}

/// Whether a property is seen as it is declared. What cannot be seen of it must be as it was sent.
fn is_there(
    way: Way<'_>,
    declared: View<'_, PlannedLeaf>,
    (sent, seen): (&Stored, &Stored),
    place: usize,
    name: &str,
) -> bool {
    let is_seen = against(way, Look::Seen, declared, seen, place, name) == Sameness::Same;
    is_seen
        && way.guide.is_none_or(|guide| {
            let sent = View::of(sent).member_near(name, place);
            sent.map_or(!guide.within.has(&is_private), |sent| same_private_parts(guide, declared, sent))
        })
}

/// Whether a property is seen otherwise than the provider answered it to our own last write.
pub(crate) fn has_drifted(way: Way<'_>, object: &Object, seen: &Stored, place: usize, name: &str) -> bool {
    match (View::of(&object.echo).member_near(name, place), View::of(seen).member_near(name, place)) {
        (Some(echo), Some(seen)) => {
            let answer = match way.guide {
                None => compare_property(way.method, echo, seen, Secrets::Hidden),
                Some(guide) => {
                    let declared = declared_in(guide, View::of(&object.sent).member_near(name, place));
                    compare_guided(guide, echo, seen, Lens::new(Look::Answers(&declared)))
                }
            };
            answer != Sameness::Same
        }
        (Some(only), None) | (None, Some(only)) => !only.is_hidden(),
        (None, None) => false,
    }
}

/// Which keys within a property were declared when it was sent.
fn declared_in(guide: Guide<'_>, sent: Option<View<'_, StoredLeaf>>) -> Declared {
    let mut declared = Declared::default();
    if let Some(sent) = sent {
        declared_keys(guide, sent, &mut declared);
    }
    declared
}

/// The verdict where nothing was ever sent: everything declared is new.
pub(crate) fn all_new(desired: &Planned, schema: &Schema) -> Verdict {
    let operation = |(name, member): &(Cow<'_, str>, Member<'_>)| PatchOp {
        path: Path::of([&**name]),
        before: None,
        after: Some(member.to_planned()),
        drift: false,
        immutable: hint(schema, name).create_only,
        place: None,
    };
    Verdict::Update { patch: Bag::of(desired).0.iter().map(operation).collect() }
}
