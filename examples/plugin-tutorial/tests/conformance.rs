//! The plugin keeps what plugins must keep.

use formwork_plugin_conformance::conformance::{Case, run};
use formwork_plugin_notes::{NotesPlugin, target_config};
use serde_json::json;

#[tokio::test]
async fn the_plugin_keeps_every_contract() {
    let directory = tempfile::tempdir().expect("there is a directory for temporary files");
    let case = Case::new("NOTES::Book::Note", json!({ "name": "a", "text": "one" }))
        .update(json!({ "name": "a", "text": "two" }))
        .siblings(vec![json!({ "name": "b", "text": "" }), json!({ "name": "c", "text": "three\n" })])
        .text("text")
        .at(target_config(directory.path()));
    let report = run(&NotesPlugin, &[case]).await;
    assert!(report.is_conformant(), "{report}");
}
