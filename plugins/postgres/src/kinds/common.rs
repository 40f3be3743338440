//! What many types have.

use crate::failure::Failure;
use crate::properties::Change;
use crate::session::Session;
use crate::sql::{Name, Text, literal_or_null};
use formwork_model::Json;

/// Gives an object its owner, if it has another.
pub(super) async fn set_owner(
    session: &Session,
    object: &str,
    owner: Option<&Name>,
    current: Option<&Json>,
) -> Result<(), Failure> {
    match owner {
        Some(owner) if text_of(current, "owner") != Some(owner.as_str()) => {
            session.run(&format!("ALTER {object} OWNER TO {}", owner.quoted())).await
        }
        _ => Ok(()),
    }
}

/// Gives an object its comment, if it has another.
pub(super) async fn set_comment(
    session: &Session,
    object: &str,
    change: &Change<'_>,
    comment: Option<&Text>,
    current: Option<&Json>,
) -> Result<(), Failure> {
    let Some(comment) = change.wanted("comment", comment.map(Some), None) else { return Ok(()) };
    // An empty comment is none.
    let comment = comment.filter(|comment| !comment.as_str().is_empty());
    if text_of(current, "comment") == comment.map(Text::as_str) {
        return Ok(());
    }
    session.run(&format!("COMMENT ON {object} IS {}", literal_or_null(comment))).await
}

/// A text among current properties.
pub(super) fn text_of<'a>(current: Option<&'a Json>, name: &str) -> Option<&'a str> {
    current?.get(name)?.as_str()
}

/// A list of texts among current properties.
pub(super) fn texts_of(current: Option<&Json>, name: &str) -> Vec<String> {
    let items = current.and_then(|current| current.get(name)?.as_array());
    items.into_iter().flatten().filter_map(|item| item.as_str().map(str::to_owned)).collect()
}
