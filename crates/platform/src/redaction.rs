//! The last net for secrets: they are taken out of a refusal, whose messages may quote values.

use crate::Refusal;
use formwork_model::{Json, Path};
use formwork_secret::{Redactor, Secret};
use formwork_store::DomainError;
use std::collections::BTreeSet;

/// The longest secret of which each word is looked for as well. Messages quote words of a header
/// or a key, never words of a page of text.
const LONGEST_IN_WORDS: usize = 4096;

/// The refusal without what stands at these paths, in whole or word by word.
pub(crate) fn redacted(error: DomainError, properties: &Json, secrets: &BTreeSet<Path>) -> DomainError {
    let DomainError::Refused { code, message, meta } = error else { return error };
    let redactor = redactor(properties, secrets);
    let meta = meta.map(|facts| redact_json(&redactor, &facts));
    DomainError::Refused { code, message: redactor.redact(&message).into_owned(), meta }
}

/// The same of a refusal that is no error of a transaction.
pub(crate) fn without_secrets(refusal: Refusal, properties: &Json, secrets: &BTreeSet<Path>) -> Refusal {
    let redactor = redactor(properties, secrets);
    let meta = refusal.meta.map(|facts| redact_json(&redactor, &facts));
    Refusal { code: refusal.code, message: redactor.redact(&refusal.message).into_owned(), meta }
}

fn redactor(properties: &Json, secrets: &BTreeSet<Path>) -> Redactor {
    let mut redactor = Redactor::new();
    for value in secrets.iter().filter_map(|path| path.get(properties)) {
        redactor.add_json(value);
        add_words(&mut redactor, value);
    }
    redactor
}

fn add_words(redactor: &mut Redactor, value: &Json) {
    let mut pending = vec![value];
    while let Some(value) = pending.pop() {
        match value {
            Json::String(text) if text.len() <= LONGEST_IN_WORDS => {
                let words = text.split(|letter: char| !letter.is_alphanumeric() && !"-_.".contains(letter));
                words.for_each(|word| redactor.add(&Secret::new(word.to_owned())));
            }
            Json::Array(items) => pending.extend(items),
            Json::Object(members) => pending.extend(members.values()),
            _ => {}
        }
    }
}

/// Facts are ours and a few levels deep.
fn redact_json(redactor: &Redactor, value: &Json) -> Json {
    match value {
        Json::String(text) => redactor.redact(text).into_owned().into(),
        Json::Array(items) => items.iter().map(|item| redact_json(redactor, item)).collect(),
        Json::Object(members) => Json::Object(
            members.iter().map(|(name, member)| (name.clone(), redact_json(redactor, member))).collect(),
        ),
        other => other.clone(),
    }
}
