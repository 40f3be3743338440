//! What a part of the cloud's log says was done.

use formwork_plugin_fake_cloud::{Event, Line};
use std::collections::BTreeMap;

/// What was done for one label.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Done {
    pub(crate) created: usize,
    pub(crate) updated: usize,
    pub(crate) deleted: usize,
}

/// What was done on behalf of Formwork, by label.
pub(crate) fn done(lines: &[Line]) -> BTreeMap<String, Done> {
    let mut by_label: BTreeMap<String, Done> = BTreeMap::new();
    for line in lines {
        let Some(label) = line.event.effect_for().and_then(|caller| caller.label.clone()) else { continue };
        let done = by_label.entry(label).or_default();
        match line.event {
            Event::Created { .. } => done.created += 1,
            Event::Updated { .. } => done.updated += 1,
            _ => done.deleted += 1,
        }
    }
    by_label
}
