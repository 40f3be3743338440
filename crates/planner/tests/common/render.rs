//! A plan as text, for people and for golden files.

use formwork_model::{
    Condition, Diagnostics, Guard, InputLeaf, InputPart, Inputs, Json, Patch, PatchOp, RowRef, Step, Tree,
    Undo,
};
use formwork_planner::Planning;
use std::fmt::Write as _;

/// What planning said, in full.
pub fn outcome(result: &Result<Planning, Diagnostics>) -> String {
    let mut out = String::new();
    match result {
        Ok(planning) => {
            for step in &planning.plan.steps {
                render_step(step, &mut out);
            }
            for base in &planning.plan.bases {
                let row = base
                    .row
                    .as_ref()
                    .map_or("no row".to_owned(), |(id, revision)| format!("{id}@{revision}"));
                let _ = writeln!(out, "base {}: {row} ({})", base.label, base.step);
            }
            for stack in &planning.plan.stacks {
                for (name, value) in &stack.outputs {
                    let _ = writeln!(out, "output {name}: {}", inputs(value));
                }
            }
            for slot in planning.secrets.keys() {
                let _ = writeln!(out, "secret {slot}");
            }
            diagnostics(&planning.warnings, &mut out);
        }
        Err(found) => diagnostics(found, &mut out),
    }
    out
}

fn render_step(step: &Step, out: &mut String) {
    let name = match &step.action {
        formwork_model::Action::Cleanup { native_id: Some(id) } => format!("cleanup {id} of"),
        formwork_model::Action::Adopt { native_id } => format!("adopt {native_id} as"),
        formwork_model::Action::Rename { from } => format!("rename {from} to"),
        formwork_model::Action::Delete { replacing: true } => "delete (replacing)".to_owned(),
        action => action.name().to_owned(),
    };
    let _ = write!(out, "{} {name} {} ({})", step.id, step.label, step.type_name);
    match &step.when {
        Condition::Always => {}
        Condition::Replaced(on) => {
            let _ = write!(out, " when {on} replaced");
        }
        Condition::RefChanged(on) => {
            let on: Vec<String> = on.iter().map(|(step, _)| step.to_string()).collect();
            let _ = write!(out, " when refs to {} changed", on.join(", "));
        }
    }
    if !step.after_steps.is_empty() {
        let after: Vec<String> = step.after_steps.iter().map(ToString::to_string).collect();
        let _ = write!(out, " after {}", after.join(", "));
    }
    if step.wave > 0 {
        let _ = write!(out, " wave {}", step.wave);
    }
    out.push('\n');
    match &step.guard {
        Guard::None => {}
        Guard::Absent { generation } => {
            let _ = writeln!(out, "     guard absent, generation {}", generation.0);
        }
        Guard::Unchanged { native_id, generation, baseline } => {
            let seen = if baseline.is_some() { "as seen" } else { "unseen" };
            let _ = writeln!(out, "     guard {native_id} {seen}, generation {}", generation.0);
        }
    }
    match &step.patch {
        Patch::None => {}
        Patch::AtRuntime => out.push_str("     patch at run time\n"),
        Patch::Final(operations) => operations.iter().for_each(|operation| render_change(operation, out)),
    }
    if let Some(value) = &step.inputs {
        let _ = writeln!(out, "     sends {}", inputs(value));
    }
    match step.undo {
        Undo::Nothing => {}
        Undo::DeleteCreated => out.push_str("     undo: delete what was created\n"),
        Undo::Release => out.push_str("     undo: release what was adopted\n"),
        Undo::KeepRetained => out.push_str("     undo: keep what was created\n"),
    }
    for link in &step.cause.0 {
        let place = link.place.as_ref().map_or(String::new(), |place| format!(" [{place}]"));
        let _ = writeln!(out, "     ← {}{place}", link.text);
    }
}

fn render_change(operation: &PatchOp, out: &mut String) {
    let before = operation.before.as_ref().map_or("nothing".to_owned(), |value| value.masked().to_string());
    let after = operation.after.as_ref().map_or("nothing".to_owned(), |value| value.masked().to_string());
    let drift = if operation.drift { ", drift" } else { "" };
    let immutable = if operation.immutable { ", immutable" } else { "" };
    let _ = writeln!(out, "     {}: {before} → {after}{drift}{immutable}", operation.path);
}

/// Inputs as JSON, with `<row>` for a reference and `<slot s0>` for a secret.
pub fn inputs(value: &Inputs) -> Json {
    match value {
        Tree::Plain(value) => value.clone(),
        Tree::Array(items) => items.iter().map(inputs).collect(),
        Tree::Object(members) => {
            Json::Object(members.iter().map(|(name, value)| (name.to_string(), inputs(value))).collect())
        }
        Tree::Leaf(InputLeaf::Ref(reference)) => {
            Json::from(format!("<{}: {}>", row(&reference.row), reference.reference))
        }
        Tree::Leaf(InputLeaf::Template(parts)) => {
            let parts = parts.iter().map(|part| match part {
                InputPart::Text(text) => text.to_string(),
                InputPart::Ref(reference) => format!("<{}: {}>", row(&reference.row), reference.reference),
                InputPart::Secret { slot, .. } => format!("<slot {slot}>"),
            });
            Json::from(parts.collect::<String>())
        }
        Tree::Leaf(InputLeaf::Secret { slot, .. }) => Json::from(format!("<slot {slot}>")),
        Tree::Leaf(InputLeaf::Kept(_)) => Json::from("<kept>"),
    }
}

fn row(row: &RowRef) -> String {
    match row {
        RowRef::Existing(id) => id.to_string(),
        RowRef::New(number) => format!("new {number}"),
    }
}

fn diagnostics(found: &Diagnostics, out: &mut String) {
    for diagnostic in found {
        let place = diagnostic.place.as_ref().map_or(String::new(), |place| format!(" [{place}]"));
        let _ = writeln!(
            out,
            "{:?} {} at {}: {}{place}",
            diagnostic.severity, diagnostic.code, diagnostic.path, diagnostic.message
        );
        if let Some(hint) = &diagnostic.hint {
            let _ = writeln!(out, "  hint: {hint}");
        }
        for note in &diagnostic.notes {
            let _ = writeln!(out, "  {note}");
        }
        for related in &diagnostic.related {
            let _ = writeln!(out, "  {} [{}]", related.message, related.place);
        }
    }
}
