//! Rows of the table that is the change rule: what is desired, was sent, was answered and is seen, and
//! what follows. `same` as the echo stands for "answered as sent".

use super::catalog::TestCatalog;
use super::notation::{planned, stored};
use formwork_model::{Certainty, DeletionPolicy, Json, Object, Ownership, TargetRev};
use formwork_planner::{Comparison, Verdict, diff};

/// One row of the table.
pub struct Row {
    title: &'static str,
    type_name: &'static str,
    ownership: Ownership,
    certainty: Certainty,
    desired: Json,
    sent: Json,
    echo: Option<Json>,
    seen: Option<Json>,
    verdict: &'static str,
}

pub fn row(title: &'static str, desired: Json, sent: Json, verdict: &'static str) -> Row {
    Row {
        title,
        type_name: "doc",
        ownership: Ownership::DeclaredOnly,
        certainty: Certainty::Certain,
        desired,
        sent,
        echo: None,
        seen: None,
        verdict,
    }
}

impl Row {
    pub fn of(self, type_name: &'static str) -> Self {
        Self { type_name, ..self }
    }

    pub fn echo(self, echo: Json) -> Self {
        Self { echo: Some(echo), ..self }
    }

    pub fn seen(self, seen: Json) -> Self {
        Self { seen: Some(seen), ..self }
    }

    pub fn owned(self, ownership: Ownership) -> Self {
        Self { ownership, ..self }
    }

    pub fn sure(self, certainty: Certainty) -> Self {
        Self { certainty, ..self }
    }

    pub fn object(&self) -> Object {
        let sent = stored(&self.sent);
        Object {
            native_id: "id-1".into(),
            type_name: self.type_name.into(),
            target: TargetRev::default(),
            deletion_policy: DeletionPolicy::Delete,
            echo: self.echo.as_ref().map_or_else(|| sent.clone(), stored),
            sent,
            observed: None,
            certainty: self.certainty,
        }
    }

    pub fn judged(&self) -> String {
        let rules = TestCatalog::new().rules(self.type_name);
        let (desired, object, seen) = (planned(&self.desired), self.object(), self.seen.as_ref().map(stored));
        let verdict = diff(&Comparison {
            schema: rules.schema(),
            capabilities: rules.capabilities(),
            ownership: self.ownership,
            desired: &desired,
            object: Some(&object),
            observed: seen.as_ref(),
        });
        in_short(&verdict)
    }
}

/// `update name`, `update name~` for healed drift, `replace fixed!` for create-only, `wait name?`.
pub fn in_short(verdict: &Verdict) -> String {
    let list = |patch: &[formwork_model::PatchOp]| {
        let names = patch.iter().map(|operation| {
            let drift = if operation.drift { "~" } else { "" };
            let removed = if operation.after.is_none() { "-" } else { "" };
            let immutable = if operation.immutable { "!" } else { "" };
            format!(" {}{drift}{removed}{immutable}", operation.path)
        });
        names.collect::<String>()
    };
    match verdict {
        Verdict::NoOp => "no-op".to_owned(),
        Verdict::Record => "record".to_owned(),
        Verdict::Update { patch } => format!("update{}", list(patch)),
        Verdict::Replace { patch, because } => format!("replace{} because {}", list(patch), because.len()),
        Verdict::Undetermined { patch, waits_for, may_replace } => {
            let replace = if *may_replace { ", may replace" } else { "" };
            let waits: Vec<String> = waits_for.iter().map(ToString::to_string).collect();
            format!("wait{} for {}{replace}", list(patch), waits.join(" "))
        }
    }
}

/// Compares what follows with what is written.
pub fn check_table<'r>(table: impl IntoIterator<Item = &'r Row>) {
    let wrong: Vec<String> = (table.into_iter())
        .filter_map(|row| {
            let found = row.judged();
            (found != row.verdict)
                .then(|| format!("{}: expected `{}`, found `{found}`", row.title, row.verdict))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
