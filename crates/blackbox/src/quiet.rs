//! What must hold when nothing runs: what formations say they have, and what the provider has (INV-3).

use crate::person::unknown;
use crate::violation::Violation;
use crate::world::World;
use formwork_model::{Json, NativeId};
use formwork_plugin_fake_cloud::{Caller, Event, Line, State};
use std::collections::{BTreeMap, BTreeSet};

/// A formation, as commands show it.
#[derive(Clone, Debug)]
pub(crate) struct Formation {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) status: String,
    /// The objects that its resources have, by label.
    pub(crate) objects: BTreeMap<String, String>,
    /// The labels of its resources without an object.
    without: BTreeSet<String>,
    /// The labels of creates that are said to be unknown, by the formation or in its history.
    unknown: BTreeSet<String>,
    /// All that its history and its error say.
    said: String,
    /// Operations that are not over.
    unfinished: Vec<String>,
}

/// The resources of a formation that have an object, by label, and those that have none.
pub(crate) fn objects(formation: &Json) -> (BTreeMap<String, String>, BTreeSet<String>) {
    let (mut with, mut without) = (BTreeMap::new(), BTreeSet::new());
    for resource in formation["resources"].as_array().into_iter().flatten() {
        let label = resource["logical_id"].as_str().unwrap_or_default().to_owned();
        if resource["resource_type"] == "target" {
            continue;
        }
        match resource["physical_resource_id"].as_str() {
            Some(id) if resource["status"] != "deleted" => drop(with.insert(label, id.to_owned())),
            Some(_) => {}
            None => drop(without.insert(label)),
        }
    }
    (with, without)
}

/// All formations that there are.
pub(crate) fn formations(world: &mut World<'_>) -> Result<Vec<Formation>, Violation> {
    let list = world.json(&["list-formations", "--limit", "100"])?;
    let ids: Vec<String> = list["data"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|one| Some(one["id"].as_str()?.to_owned()))
        .collect();
    ids.iter().map(|id| formation(world, id)).collect()
}

fn formation(world: &mut World<'_>, id: &str) -> Result<Formation, Violation> {
    let shown = world.json(&["get-formation", id])?;
    let history = world.json(&["list-formation-events", id, "--limit", "100"])?;
    let (objects, without) = objects(&shown);
    let operations = history["data"].as_array().cloned().unwrap_or_default();
    let is_over = |one: &&Json| !matches!(one["status"].as_str(), Some("succeeded" | "failed"));
    let unfinished = operations.iter().filter(is_over).map(|one| one["id"].to_string()).collect();
    let said = format!("{}\n{}", shown["error"], history);
    Ok(Formation {
        id: id.to_owned(),
        name: shown["name"].as_str().unwrap_or_default().to_owned(),
        status: shown["status"].as_str().unwrap_or_default().to_owned(),
        objects,
        without,
        unknown: unknown(&said),
        said,
        unfinished,
    })
}

/// Compares what all formations say with what there is.
pub(crate) fn compare(state: &State, lines: &[Line], formations: &[Formation]) -> Vec<Violation> {
    let mut found = Vec::new();
    for formation in formations {
        if matches!(formation.status.as_str(), "creating" | "updating" | "deleting") {
            found
                .push(Violation::new("INV-15", format!("`{}` stays `{}`", formation.name, formation.status)));
        }
        for operation in &formation.unfinished {
            found.push(Violation::new("INV-15", format!("{operation} of `{}` is not over", formation.name)));
        }
    }
    let gone = removed(lines);
    let mut owners: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for formation in formations {
        for (label, id) in &formation.objects {
            owners.entry(id).or_default().push(format!("{}.{label}", formation.name));
            let native_id = NativeId::from(id.as_str());
            if !state.objects.contains_key(&native_id) && !gone.contains(&native_id) {
                let detail = format!("`{}.{label}` has `{id}`, which is not there", formation.name);
                found.push(Violation::new("INV-3", detail));
            }
        }
    }
    for (id, owners) in &owners {
        if owners.len() > 1 {
            found.push(Violation::new("INV-14", format!("`{id}` is of `{}`", owners.join("` and `"))));
        }
    }
    for (id, object) in &state.objects {
        let Some(label) = object.label.as_deref() else { continue };
        if owners.contains_key(id.as_str()) || is_reported(formations, id, object, label) {
            continue;
        }
        let name = &object.properties["name"];
        found.push(Violation::new("INV-3", format!("`{id}` ({name}, made for `{label}`) is nobody's")));
    }
    found
}

/// Whether an object that no resource has is known not to be known, or to be left over.
fn is_reported(
    formations: &[Formation],
    id: &NativeId,
    object: &formwork_plugin_fake_cloud::Object,
    label: &str,
) -> bool {
    let name = object.properties.get("name").and_then(Json::as_str).unwrap_or_default();
    let of = formations.iter().find(|formation| name.starts_with(&format!("{}-", formation.name)));
    of.is_some_and(|formation| {
        let unknown = formation.unknown.contains(label) && !formation.objects.contains_key(label);
        let left_over =
            formation.said.contains(&format!("\"{id}\"")) || formation.said.contains(&format!("`{id}`"));
        unknown || left_over && !formation.without.contains(label)
    })
}

/// The objects that are gone and that nobody was told of: somebody took them away, or the call that did said that it
/// failed, or nothing.
pub(crate) fn removed(lines: &[Line]) -> BTreeSet<NativeId> {
    let told = told(lines);
    let removed = lines.iter().filter_map(|line| match &line.event {
        Event::Deleted { native_id, caller, .. } if caller.row.is_none() || !told.contains(&line.call) => {
            Some(native_id.clone())
        }
        _ => None,
    });
    removed.collect()
}

/// The calls that were answered with success.
fn told(lines: &[Line]) -> BTreeSet<u64> {
    let told = lines.iter().filter(|line| matches!(line.event, Event::Answered { code: None }));
    told.map(|line| line.call).collect()
}

/// The objects that may rightly be found to differ: changed out of band, or by a call that nobody knows the outcome of.
fn may_differ(lines: &[Line], killed: &BTreeSet<String>) -> BTreeSet<NativeId> {
    let answered = told(lines);
    // Who asked may have been gone by then.
    let was_killed =
        |caller: &Caller| caller.operation.as_ref().is_some_and(|operation| killed.contains(operation));
    let mut differ = BTreeSet::new();
    for line in lines {
        match &line.event {
            Event::Created { native_id, caller, .. } | Event::Updated { native_id, caller, .. }
                if answered.contains(&line.call) && !was_killed(caller) =>
            {
                differ.remove(native_id);
            }
            Event::Created { native_id, .. }
            | Event::Updated { native_id, .. }
            | Event::Deleted { native_id, .. } => {
                differ.insert(native_id.clone());
            }
            // A call that was accepted is answered, but how it ended may be not.
            Event::Accepted { write, .. } => differ.extend(write.native_id().cloned()),
            _ => {}
        }
    }
    differ
}

/// The objects whose last change was somebody's edit.
pub(crate) fn edited(lines: &[Line]) -> BTreeSet<NativeId> {
    let mut edited = BTreeSet::new();
    for line in lines {
        match &line.event {
            Event::Updated { native_id, caller, .. } if caller.row.is_none() => {
                edited.insert(native_id.clone());
            }
            // A name may stand for another object later.
            Event::Created { native_id, .. }
            | Event::Updated { native_id, .. }
            | Event::Deleted { native_id, .. } => {
                edited.remove(native_id);
            }
            _ => {}
        }
    }
    edited
}

/// Asks for drift, and compares it with what was done behind Formwork's back.
pub(crate) fn drift(world: &mut World<'_>, formation: &Formation) -> Result<Vec<Violation>, Violation> {
    let report = world.json(&["drift", &formation.id])?;
    let killed = world.killed.clone();
    let (state, lines) = world.look()?;
    let (may_differ, edited) = (may_differ(lines, &killed), edited(lines));
    let mut found = Vec::new();
    let mut seen = BTreeSet::new();
    for one in report["resources"].as_array().into_iter().flatten() {
        let (label, id) = (&one["logical_id"], one["physical_resource_id"].as_str().unwrap_or_default());
        seen.insert(id.to_owned());
        if !may_differ.contains(&NativeId::from(id)) && one["resource_type"] != "target" {
            let detail =
                format!("`{}`: {label} (`{id}`) is as it was left, and drifted: {one}", formation.name);
            found.push(Violation::new("INV-13", detail));
        }
    }
    for (label, id) in &formation.objects {
        let native_id = NativeId::from(id.as_str());
        if edited.contains(&native_id) && state.objects.contains_key(&native_id) && !seen.contains(id) {
            let detail = format!("`{}`: `{label}` (`{id}`) was changed, and nobody says so", formation.name);
            found.push(Violation::new("INV-13", detail));
        }
    }
    Ok(found)
}
