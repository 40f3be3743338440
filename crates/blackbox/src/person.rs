//! What a careful person does about creates of which nobody knows what became of them: looks at the provider, and says.

use crate::violation::Violation;
use crate::world::{Ran, World};
use formwork_plugin_fake_cloud::State;
use std::collections::BTreeSet;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How long a decision may be refused because the call can still take effect.
const PATIENCE: Duration = Duration::from_secs(20);
/// How many creates of one formation may be unknown.
const MOST: usize = 32;

/// The labels of creates that an answer calls unknown.
pub(crate) fn unknown(text: &str) -> BTreeSet<String> {
    let parts = text.split("Whether `").skip(1);
    let labels = parts.filter_map(|part| part.split_once('`'));
    labels
        .filter(|(_, rest)| rest.starts_with(" was created is not known"))
        .map(|(label, _)| label.to_owned())
        .collect()
}

/// The object that a create of a stack's resource left behind and nobody has.
fn left_behind(state: &State, owned: &BTreeSet<String>, stack: u8, label: &str) -> Option<String> {
    let prefix = format!("s{stack}-{label}-");
    let of_label = state.objects.iter().rfind(|(id, object)| {
        let name = object.properties.get("name").and_then(|name| name.as_str()).unwrap_or_default();
        object.label.as_deref() == Some(label) && name.starts_with(&prefix) && !owned.contains(id.as_str())
    });
    of_label.map(|(id, _)| id.to_string())
}

/// Runs a command that deploys or deletes until nothing is unknown any more, deciding what it calls unknown.
pub(crate) fn insist(
    world: &mut World<'_>,
    stack: u8,
    owned: &BTreeSet<String>,
    arguments: &[&str],
) -> Result<Ran, Violation> {
    let mut decided: Vec<String> = Vec::new();
    let until = Instant::now() + PATIENCE;
    for _ in 0..MOST {
        let all: Vec<&str> = arguments.iter().copied().chain(decided.iter().map(String::as_str)).collect();
        let ran = world.run(&all)?;
        if ran.is_ok() {
            return Ok(ran);
        }
        if ran.stderr.contains("too early") && Instant::now() < until {
            sleep(Duration::from_millis(100));
            continue;
        }
        let unknown = unknown(&ran.stderr);
        decided.clear();
        // What a decision brought to light is planned for anew, as it says.
        if unknown.is_empty() && ran.stderr.contains("DRIFTED") {
            continue;
        }
        if unknown.is_empty() {
            return Ok(ran);
        }
        for label in unknown {
            match left_behind(world.look()?.0, owned, stack, &label) {
                Some(id) => decided.extend(["--adopt".to_owned(), format!("{label}={id}")]),
                None => decided.extend(["--discard".to_owned(), label]),
            }
        }
    }
    Err(Violation::new("INV-12", format!("`{}` never gets anywhere", arguments.join(" "))))
}
