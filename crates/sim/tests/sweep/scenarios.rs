//! Handwritten scenarios of one to eight resources for the sweep.

use formwork_model::{DeletionPolicy, IntentKind, OperationErrorCode, Ownership};
use formwork_sim::{Backend, Beat, Declaration, Declared, Scenario, Scripted, Trouble};

fn deploy(stack: Declaration) -> Beat {
    Beat::Deploy(stack)
}

fn changed(stack: &Declaration, label: &str, change: impl FnOnce(&mut Declared)) -> Declaration {
    let mut stack = stack.clone();
    change(stack.get_mut(label).expect("a label of the scenario"));
    stack
}

fn without(stack: &Declaration, label: &str) -> Declaration {
    let mut stack = stack.clone();
    stack.resources.retain(|resource| resource.label != label);
    stack
}

fn fails(label: &str, kind: IntentKind, times: u32, trouble: Trouble) -> Scripted {
    Scripted { label: label.to_owned(), kind, times, during: None, trouble }
}

/// In the first operation, every such call fails.
fn fails_at_first(label: &str, kind: IntentKind, trouble: Trouble) -> Scripted {
    Scripted { during: Some(1), ..fails(label, kind, u32::MAX, trouble) }
}

/// One platform resource, updated back and forth.
pub(crate) fn back_and_forth() -> Scenario {
    let first = Declaration::new("one").with(Declared::new("a", Backend::Platform));
    let second = changed(&first, "a", |a| a.size = 2);
    let beats = [&first, &second, &first, &second].map(|stack| deploy(stack.clone()));
    Scenario::new("back and forth", beats.into())
}

/// A chain of platform resources, torn down again.
pub(crate) fn chain() -> Scenario {
    let stack = Declaration::new("chain")
        .with(Declared::new("a", Backend::Platform))
        .with(Declared::new("b", Backend::Platform).uses("a").password("canary-chain"))
        .with(Declared::new("c", Backend::Platform).uses("b").knows("a"));
    Scenario::new("chain", vec![deploy(stack.clone()), deploy(stack.emptied())])
}

/// Plugin resources side by side, some slow.
pub(crate) fn diamond() -> Scenario {
    let stack = Declaration::new("diamond")
        .with(Declared::new("top", Backend::Slow))
        .with(Declared::new("left", Backend::Tagged).uses("top"))
        .with(Declared::new("right", Backend::Named).uses("top"))
        .with(Declared::new("bottom", Backend::Slow).uses("left").uses("right"));
    Scenario::new("diamond", vec![deploy(stack)])
}

/// A change that others only learn of.
pub(crate) fn ripple() -> Scenario {
    let first = Declaration::new("ripple")
        .with(Declared::new("a", Backend::Platform))
        .with(Declared::new("b", Backend::Platform).knows("a"))
        .with(Declared::new("c", Backend::Slow).knows("a").uses("b"));
    let second = changed(&first, "a", |a| a.size = 3);
    Scenario::new("ripple", vec![deploy(first), deploy(second)])
}

/// A replacement that the plan knows of; the dependent follows.
pub(crate) fn replacement() -> Scenario {
    let first = Declaration::new("replace")
        .with(Declared::new("a", Backend::Slow))
        .with(Declared::new("b", Backend::Platform).uses("a"));
    let second = changed(&first, "a", |a| a.zone = 2);
    Scenario::new("replacement", vec![deploy(first), deploy(second)])
}

/// A replacement of an object that is found by a property.
pub(crate) fn tagged_replacement() -> Scenario {
    let first = Declaration::new("tagged")
        .with(Declared::new("a", Backend::Tagged))
        .with(Declared::new("b", Backend::Platform).uses("a"));
    let second = changed(&first, "a", |a| a.zone = 2);
    Scenario::new("tagged replacement", vec![deploy(first), deploy(second)]).may_end_otherwise()
}

/// A replacement that deletes first.
pub(crate) fn delete_first() -> Scenario {
    let first = Declaration::new("first")
        .with(Declared::new("a", Backend::Named))
        .with(Declared::new("b", Backend::Platform).uses("a"));
    let second = changed(&first, "a", |a| a.zone = 2);
    Scenario::new("delete first", vec![deploy(first), deploy(second)]).may_end_otherwise()
}

/// A replacement that only the handler knows of.
pub(crate) fn discovered() -> Scenario {
    let first = Declaration::new("found")
        .with(Declared::new("a", Backend::Handler))
        .with(Declared::new("b", Backend::Platform).uses("a"));
    let second = changed(&first, "a", |a| a.zone = 2);
    Scenario::new("discovered replacement", vec![deploy(first), deploy(second)]).may_end_otherwise()
}

/// The last create fails, everything is undone, and the next deploy succeeds.
pub(crate) fn rollback() -> Scenario {
    let stack = Declaration::new("rollback")
        .with(Declared::new("a", Backend::Platform))
        .with(Declared::new("b", Backend::Slow).uses("a"))
        .with(Declared::new("kept", Backend::Platform).uses("a").policy(DeletionPolicy::Retain))
        .with(Declared::new("c", Backend::Platform).uses("b"));
    let refused = Trouble::Refused(OperationErrorCode::InvalidRequest);
    // What is kept keeps what it refers to in use; that is the next scenario's matter.
    let stack = without(&stack, "kept");
    Scenario::new("rollback", vec![deploy(stack.clone()), deploy(stack)]).trouble(fails_at_first(
        "c",
        IntentKind::Create,
        refused,
    ))
}

/// A failure that leaves the rest alone.
pub(crate) fn carry_on() -> Scenario {
    let stack = Declaration::new("on")
        .keep_going()
        .with(Declared::new("a", Backend::Platform))
        .with(Declared::new("b", Backend::Tagged).uses("a"))
        .with(Declared::new("c", Backend::Platform).uses("b"))
        .with(Declared::new("d", Backend::Platform));
    let refused = Trouble::Refused(OperationErrorCode::AccessDenied);
    Scenario::new("carry on", vec![deploy(stack.clone()), deploy(stack)])
        .trouble(fails_at_first("b", IntentKind::Create, refused))
        .may_end_otherwise()
}

/// A create that leaves something behind.
pub(crate) fn half_way() -> Scenario {
    let stack = Declaration::new("half")
        .with(Declared::new("a", Backend::Platform))
        .with(Declared::new("b", Backend::Tagged).uses("a"));
    let half = Trouble::Half(OperationErrorCode::InternalFailure);
    Scenario::new("half way", vec![deploy(stack.clone()), deploy(stack)])
        .trouble(fails_at_first("b", IntentKind::Create, half))
        .may_end_otherwise()
}

/// A create that leaves something behind, and nothing is rolled back: it is replaced.
pub(crate) fn half_way_on() -> Scenario {
    let stack = Declaration::new("taint").keep_going().with(Declared::new("a", Backend::Platform));
    let half = Trouble::Half(OperationErrorCode::InternalFailure);
    Scenario::new("half way, carried on", vec![deploy(stack.clone()), deploy(stack)])
        .trouble(fails_at_first("a", IntentKind::Create, half))
        .may_end_otherwise()
}

/// Calls that succeed in the end.
pub(crate) fn patience() -> Scenario {
    let stack = Declaration::new("patience")
        .with(Declared::new("a", Backend::Platform))
        .with(Declared::new("b", Backend::Slow).uses("a"));
    Scenario::new("patience", vec![deploy(stack.clone()), deploy(stack.emptied())])
        .trouble(fails("a", IntentKind::Create, 2, Trouble::Refused(OperationErrorCode::Throttling)))
        .trouble(fails("b", IntentKind::Create, 1, Trouble::Denied(OperationErrorCode::ServiceUnavailable)))
        .trouble(fails("b", IntentKind::Delete, 1, Trouble::Refused(OperationErrorCode::NotStabilized)))
}

/// Retained objects stay, protected ones too until they are let go.
pub(crate) fn retained() -> Scenario {
    let first = Declaration::new("keep")
        .with(Declared::new("a", Backend::Platform).policy(DeletionPolicy::Retain))
        .with(Declared::new("b", Backend::Platform).policy(DeletionPolicy::Protect))
        .with(Declared::new("c", Backend::Platform));
    let second = without(&without(&first, "a"), "c");
    Scenario::new("retained", vec![deploy(first), deploy(second)])
}

/// An object vanishes out of band.
pub(crate) fn vanished() -> Scenario {
    let stack = Declaration::new("gone")
        .with(Declared::new("a", Backend::Slow))
        .with(Declared::new("b", Backend::Platform).uses("a"));
    Scenario::new("vanished", vec![deploy(stack.clone()), Beat::Vanish("a".to_owned()), deploy(stack)])
}

/// Objects that can't be found: a person decides.
pub(crate) fn blind() -> Scenario {
    let first = Declaration::new("blind")
        .keep_going()
        .with(Declared::new("a", Backend::Blind))
        .with(Declared::new("b", Backend::Handler).uses("a"));
    let second = changed(&first, "a", |a| a.size = 4);
    Scenario::new("blind", vec![deploy(first), deploy(second)]).may_end_otherwise()
}

/// Someone cancels half-way; someone else forces it.
pub(crate) fn canceled(force: bool) -> Scenario {
    let stack = Declaration::new("cancel")
        .with(Declared::new("a", Backend::Platform))
        .with(Declared::new("b", Backend::Slow).uses("a"))
        .with(Declared::new("c", Backend::Platform).uses("b"));
    let beat = Beat::DeployAndCancel { stack: stack.clone(), after: 6, force };
    let name = if force { "forced cancel" } else { "cancel" };
    Scenario::new(name, vec![beat, deploy(stack)]).may_end_otherwise()
}

/// Secrets change, and fields cease to be declared.
pub(crate) fn secrets() -> Scenario {
    let mut first = Declaration::new("secret")
        .with(Declared::new("a", Backend::Tagged).password("canary-first"))
        .with(Declared::new("b", Backend::Slow).password("canary-other"));
    first.ownership = Ownership::Full;
    first.get_mut("b").expect("b").note = Some("soon gone".to_owned());
    let second = changed(&first, "a", |a| a.password = Some("canary-second".to_owned()));
    let second = changed(&second, "b", |b| b.note = None);
    Scenario::new("secrets", vec![deploy(first), deploy(second)]).may_end_otherwise()
}

/// What still refers to a replaced object can't be removed: that object stays as well (INV-6).
pub(crate) fn still_named() -> Scenario {
    let first = Declaration::new("named")
        .with(Declared::new("a", Backend::Tagged))
        .with(Declared::new("b", Backend::Handler).uses("a"));
    let second = without(&changed(&first, "a", |a| a.zone = 2), "b");
    let refused = Trouble::Refused(OperationErrorCode::AccessDenied);
    let stays = Scripted { during: Some(2), ..fails("b", IntentKind::Delete, u32::MAX, refused) };
    Scenario::new("still named", vec![deploy(first), deploy(second)]).trouble(stays).may_end_otherwise()
}

/// An object vanishes that its caller names, and comes back half-made under the same id: it is on its
/// row once (INV-3).
pub(crate) fn half_way_back() -> Scenario {
    let stack = Declaration::new("back")
        .keep_going()
        .with(Declared::new("a", Backend::Named))
        .with(Declared::new("b", Backend::Platform).uses("a"));
    let half = Trouble::Half(OperationErrorCode::InternalFailure);
    let back = Scripted { during: Some(2), ..fails("a", IntentKind::Create, 1, half) };
    let beats = vec![deploy(stack.clone()), Beat::Vanish("a".to_owned()), deploy(stack)];
    Scenario::new("half way back", beats).trouble(back).may_end_otherwise()
}

/// An object is kept, and its resource is made again beside it: what becomes of the new one must not be
/// read off the old one (INV-3).
pub(crate) fn kept_and_made_again() -> Scenario {
    let first = Declaration::new("again")
        .with(Declared::new("base", Backend::Slow))
        .with(Declared::new("a", Backend::Blind).uses("base").policy(DeletionPolicy::Retain))
        .with(Declared::new("b", Backend::Handler).knows("base").policy(DeletionPolicy::Retain));
    let third = changed(&first, "base", |base| base.size = 2);
    let beats = vec![deploy(first.clone()), deploy(first.emptied()), deploy(third)];
    Scenario::new("kept and made again", beats).may_end_otherwise()
}

/// A replaced object still refers to what is removed in the same deploy: it goes first (INV-6).
pub(crate) fn moved_off() -> Scenario {
    let first = Declaration::new("moved")
        .with(Declared::new("net", Backend::Slow))
        .with(Declared::new("app", Backend::Tagged).uses("net"));
    let second = changed(&without(&first, "net"), "app", |app| {
        app.uses.clear();
        app.zone = 2;
    });
    Scenario::new("moved off", vec![deploy(first), deploy(second)]).may_end_otherwise()
}

/// An update and a deletion may both have happened, and the same update is planned again: it must not
/// be answered with what came of the first (INV-3).
pub(crate) fn twice_in_doubt() -> Scenario {
    let first = Declaration::new("doubt")
        .keep_going()
        .with(Declared::new("a", Backend::Handler))
        .with(Declared::new("b", Backend::Platform).uses("a"));
    let second = changed(&first, "a", |a| a.size = 2);
    let denied = Trouble::Denied(OperationErrorCode::InternalFailure);
    let update = Scripted { during: Some(2), ..fails("a", IntentKind::Update, 1, denied) };
    let delete = Scripted { during: Some(3), ..fails("a", IntentKind::Delete, 1, denied) };
    let beats = [first.clone(), second.clone(), first.emptied(), second].map(deploy);
    Scenario::new("twice in doubt", beats.into()).trouble(update).trouble(delete).may_end_otherwise()
}

/// An object vanishes that its caller names, and is made anew: what is found under its id is the new
/// one (INV-3).
pub(crate) fn named_anew() -> Scenario {
    let first = Declaration::new("anew")
        .with(Declared::new("a", Backend::Named))
        .with(Declared::new("b", Backend::Platform).uses("a"));
    let second = changed(&first, "a", |a| a.size = 2);
    let beats = vec![deploy(first), Beat::Vanish("a".to_owned()), deploy(second)];
    Scenario::new("named anew", beats).may_end_otherwise()
}

/// What a dependent refers to changed in a deploy that failed at the dependent; the next one only knows
/// that it depends on it. The reference resolves to something else than was sent: the condition holds
/// (INV-4), though nothing changes in that deploy but what is behind.
pub(crate) fn left_behind() -> Scenario {
    let first = Declaration::new("behind")
        .with(Declared::new("root", Backend::Slow))
        .with(Declared::new("base", Backend::Platform).knows("root"))
        .with(Declared::new("a", Backend::Handler).knows("base"));
    let second = changed(&first, "base", |base| base.size = 2);
    let refused = Trouble::Refused(OperationErrorCode::AccessDenied);
    let fails = Scripted { during: Some(2), ..fails("a", IntentKind::Update, u32::MAX, refused) };
    let vanishes = Beat::Vanish("root".to_owned());
    let beats = vec![deploy(first), deploy(second.clone()), vanishes, deploy(second)];
    Scenario::new("left behind", beats).trouble(fails).may_end_otherwise()
}
