//! The types, one file each. Adding a type is adding a file and one line to [`ALL`].

mod agent;
mod ai_provider;
mod document;
mod memory;
mod memory_entry;
mod secret;
mod tool;

use crate::{Findings, Node, PlatformType};
use formwork_model::{DiagnosticCode, Path};

/// All types, in the order in which messages list them (seed 4, "Template Structure").
pub(crate) const ALL: &[&dyn PlatformType] = &[
    &ai_provider::AiProvider,
    &tool::Tool,
    &agent::Agent,
    &document::Document,
    &memory::Memory,
    &memory_entry::MemoryEntry,
    &secret::Secret,
];

/// Reports elements of a list that are certainly no texts.
fn check_texts(list: Option<Node<'_>>, at: &Path, findings: &mut Findings) {
    for (index, item) in list.map(Node::items).unwrap_or_default().into_iter().enumerate() {
        if !item.is_expression() && item.text().is_none() {
            let path = at.index(index);
            findings.error(DiagnosticCode::WrongType, path.clone(), format!("`{path}` must be a string"));
        }
    }
}

/// Reports members of an object that are certainly no texts.
fn check_text_members(bag: Option<Node<'_>>, at: &Path, findings: &mut Findings) {
    for (name, member) in bag.map(Node::members).unwrap_or_default() {
        if !member.is_expression() && member.text().is_none() {
            let path = at.key(name);
            findings.error(DiagnosticCode::WrongType, path.clone(), format!("`{path}` must be a string"));
        }
    }
}

/// Reports members of an object that it does not have.
fn check_known(bag: Node<'_>, known: &[&str], at: &Path, findings: &mut Findings) {
    for (name, _) in bag.members() {
        if !known.contains(&name) {
            let message = format!("Unknown {at} field '{name}'. Allowed: {}", known.join(", "));
            findings.error(DiagnosticCode::UnknownKey, at.key(name), message);
        }
    }
}

/// Reports a number that is certainly below `least` or not whole.
fn check_least(bag: Node<'_>, name: &str, least: i64, at: &Path, findings: &mut Findings) {
    if bag.member(name).is_some_and(|value| !value.may_be_integer(least)) {
        let path = at.key(name);
        let message = format!("`{path}` must be an integer of at least {least}");
        findings.error(DiagnosticCode::InvalidValue, path, message);
    }
}
