//! What a formation's deploys applied, and what changed from one to another.

use super::CommandError;
use super::basics::{borrowed, page_query, show, show_at};
use super::formation::path;
use crate::args::{DiffFormationRevisions, FormationEvents, FormationId, FormationRevision};
use crate::exit::Exit;
use crate::session::Session;
use crate::ui::json;
use formwork_api::HttpMethod;
use serde_json::Value;
use similar::TextDiff;
use std::time::Duration;

/// How long the shortest difference is looked for; after that any will do.
const PATIENCE: Duration = Duration::from_secs(2);

pub(crate) async fn list(session: &Session, arguments: &FormationEvents) -> Result<Exit, CommandError> {
    let path = format!("{}/revisions", path(&arguments.formation));
    show(session, HttpMethod::Get, &path, &borrowed(&page_query(&arguments.page)), None).await
}

pub(crate) async fn get(session: &Session, arguments: &FormationRevision) -> Result<Exit, CommandError> {
    show_at(session, &revision(&arguments.formation, arguments.revision)).await
}

/// Prints a unified diff of two masked templates; nothing where they are the same.
pub(crate) async fn diff(
    session: &Session,
    arguments: &DiffFormationRevisions,
) -> Result<Exit, CommandError> {
    let from = template(session, &arguments.formation, arguments.from).await?;
    let to = template(session, &arguments.formation, arguments.to).await?;
    let text = unified((arguments.from, &from), (arguments.to, &to));
    json::print_text(&text)?;
    Ok(Exit::Done)
}

async fn template(session: &Session, formation: &FormationId, number: u64) -> Result<Value, CommandError> {
    let path = revision(formation, number);
    let mut answer =
        session.client().request(HttpMethod::Get, &path, &[], None).await?.body.unwrap_or_default();
    Ok(answer["template"].take())
}

fn revision(formation: &FormationId, number: u64) -> String {
    format!("{}/revisions/{number}", path(formation))
}

fn unified((from, old): (u64, &Value), (to, new): (u64, &Value)) -> String {
    let lines = |template: &Value| format!("{}\n", json::pretty(template));
    let (old, new) = (lines(old), lines(new));
    let diff = TextDiff::configure().timeout(PATIENCE).diff_lines(&old, &new);
    diff.unified_diff().header(&format!("revision {from}"), &format!("revision {to}")).to_string()
}

#[cfg(test)]
mod tests {
    use super::unified;
    use serde_json::json;

    #[test]
    fn a_diff_shows_the_lines_that_changed_with_those_around_them() {
        let template = |name: &str| {
            let memory = json!({ "type": "memory", "properties": { "name": name } });
            json!({ "resources": { "M": memory } })
        };
        insta::assert_snapshot!(unified((1, &template("one")), (3, &template("two"))), @r#"
        --- revision 1
        +++ revision 3
        @@ -3,7 +3,7 @@
             "M": {
               "type": "memory",
               "properties": {
        -        "name": "one"
        +        "name": "two"
               }
             }
           }
        "#);
    }

    #[test]
    fn the_same_template_twice_has_no_diff() {
        assert_eq!(unified((1, &json!({ "resources": {} })), (2, &json!({ "resources": {} }))), "");
    }
}
