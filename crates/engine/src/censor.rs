//! What comes from a provider and may be stored or shown: without the operation's secrets, without
//! what not every store can keep, and of bounded size.

use crate::recognise::Recogniser;
use formwork_engine_core::{SecretFill, SecretPiece};
use formwork_model::{Json, SecretSlots, StepId};
use formwork_secret::Redactor;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// The longest text that is kept of what a provider says, in bytes.
pub(crate) const LONGEST: usize = 4096;
/// How much longer than a secret the longest of its spellings may be (escaped twice).
const SPELLING: usize = 8;

/// Takes an operation's secrets out of what a provider says.
#[derive(Clone, Debug, Default)]
pub(crate) struct Censor {
    redactor: Redactor,
    /// No spelling of a secret is longer than this, in bytes.
    longest_secret: usize,
    /// Those that only their digests are known of.
    earlier: Option<Arc<Recogniser>>,
}

impl Censor {
    /// A censor that knows these secrets.
    pub(crate) fn new(slots: &SecretSlots) -> Self {
        let mut censor = Self::default();
        for secret in slots.values() {
            censor.add(secret.expose());
        }
        censor
    }

    fn add(&mut self, secret: &Json) {
        self.redactor.add_json(secret);
        self.longest_secret = self.longest_secret.max(SPELLING * longest_text(secret));
    }

    /// Whether a text holds a secret.
    pub(crate) fn finds(&self, text: &str) -> bool {
        let is_changed = |shown: Cow<'_, str>| matches!(shown, Cow::Owned(_));
        is_changed(self.redactor.redact(text))
            || self.earlier.as_ref().is_some_and(|earlier| is_changed(earlier.redact(text)))
    }

    /// Whether no secret is known.
    pub(crate) fn is_empty(&self) -> bool {
        self.redactor.is_empty() && self.earlier.is_none()
    }

    /// The text without secrets, cut where it is too long.
    pub(crate) fn text(&self, text: &str) -> String {
        let searched = cut(text, 4 * LONGEST + self.longest_secret);
        let redacted = self.redactor.redact(searched);
        let redacted = match &self.earlier {
            Some(earlier) => Cow::Owned(earlier.redact(&redacted).into_owned()),
            None => redacted,
        };
        // Where the text was cut it may have split a secret, whose first part was not found.
        let split = if searched.len() < text.len() { self.longest_secret } else { 0 };
        let kept = cut(&redacted, LONGEST.min(redacted.len().saturating_sub(split)));
        let rest = if kept.len() < redacted.len() { "…" } else { "" };
        format!("{}{rest}", kept.replace('\0', "\u{FFFD}"))
    }

    /// The value without secrets; `None` if it is too large to be kept.
    pub(crate) fn facts(&self, value: &Json) -> Option<Json> {
        let facts = self.clean(value);
        (facts.to_string().len() <= LONGEST).then_some(facts)
    }

    fn clean(&self, value: &Json) -> Json {
        match value {
            Json::String(text) => Json::String(self.text(text)),
            Json::Array(items) => items.iter().map(|item| self.clean(item)).collect(),
            Json::Object(members) => Json::Object(
                members.iter().map(|(key, member)| (self.text(key), self.clean(member))).collect(),
            ),
            other => other.clone(),
        }
    }
}

/// The secrets of an operation: those of its slots, and for each step those that only the run
/// knows, such as a secret output that another resource refers to.
#[derive(Debug)]
pub(crate) struct KnownSecrets {
    /// Of the operation's slots, and of the targets that were called so far.
    common: Mutex<Arc<Censor>>,
    learned: Mutex<BTreeMap<StepId, Arc<Censor>>>,
}

impl KnownSecrets {
    /// The secrets of an operation's slots, and those that its rows were given before.
    pub(crate) fn new(slots: &SecretSlots, earlier: Option<Recogniser>) -> Self {
        let censor = Censor { earlier: earlier.map(Arc::new), ..Censor::new(slots) };
        Self { common: Mutex::new(Arc::new(censor)), learned: Mutex::default() }
    }

    /// What a step's provider may not repeat.
    pub(crate) fn of_step(&self, step: Option<StepId>) -> Arc<Censor> {
        let learned = self.learned.lock().unwrap_or_else(PoisonError::into_inner);
        step.and_then(|step| learned.get(&step)).map_or_else(|| self.common(), Arc::clone)
    }

    fn common(&self) -> Arc<Censor> {
        Arc::clone(&self.common.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Remembers what is told to the providers of many steps. Of a step that has a secret of its own
    /// it has to be learned first.
    pub(crate) fn learn_all(&self, secrets: &SecretSlots) {
        if secrets.is_empty() {
            return;
        }
        let mut common = self.common.lock().unwrap_or_else(PoisonError::into_inner);
        let censor = Arc::make_mut(&mut common);
        for secret in secrets.values() {
            censor.add(secret.expose());
        }
    }

    /// Remembers what is put into a step's call and stands in no slot of the operation.
    pub(crate) fn learn(&self, step: StepId, fills: &[SecretFill], filled: &Json, slots: &SecretSlots) {
        let is_known = |piece: &SecretPiece| match piece {
            SecretPiece::Slot(slot) => slots.contains_key(slot),
            SecretPiece::Text(_) | SecretPiece::Output(_) => false,
        };
        let mut censor = None;
        for fill in fills.iter().filter(|fill| !fill.pieces.iter().all(is_known)) {
            let Some(secret) = fill.path.get(filled) else { continue };
            censor.get_or_insert_with(|| Censor::clone(&self.common())).add(secret);
        }
        if let Some(censor) = censor {
            let mut learned = self.learned.lock().unwrap_or_else(PoisonError::into_inner);
            learned.insert(step, Arc::new(censor));
        }
    }
}

/// The length of the longest string in a value.
fn longest_text(value: &Json) -> usize {
    match value {
        Json::String(text) => text.len(),
        Json::Array(items) => items.iter().map(longest_text).max().unwrap_or(0),
        Json::Object(members) => members.values().map(longest_text).max().unwrap_or(0),
        _ => 0,
    }
}

/// The text up to some length, not splitting a character.
fn cut(text: &str, longest: usize) -> &str {
    if text.len() <= longest {
        return text;
    }
    let end = (0..=longest).rev().find(|&end| text.is_char_boundary(end)).unwrap_or(0);
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;
    use formwork_model::Secret;
    use serde_json::json;

    fn censor() -> Censor {
        Censor::new(&[("s".into(), Secret::new(json!("correct horse")))].into_iter().collect())
    }

    #[test]
    fn a_secret_is_taken_out_of_texts_keys_and_values() {
        assert_eq!(censor().text("bad password `correct horse`"), "bad password `(secret)`");
        let facts = censor().facts(&json!({"correct horse": ["x correct horse", 1]}));
        assert_eq!(facts, Some(json!({"(secret)": ["x (secret)", 1]})));
    }

    #[test]
    fn a_secret_that_only_the_run_knows_is_learned_for_its_step() {
        let slots = SecretSlots::new();
        let known = KnownSecrets::new(&slots, None);
        let pieces = vec![SecretPiece::Text("battery staple".into())];
        let fill = SecretFill { path: formwork_model::Path::of(["p"]), pieces };
        known.learn(StepId(3), &[fill], &json!({"p": "battery staple"}), &slots);
        assert_eq!(known.of_step(Some(StepId(3))).text("no battery staple"), "no (secret)");
        assert_eq!(known.of_step(Some(StepId(4))).text("no battery staple"), "no battery staple");
    }

    #[test]
    fn a_long_text_is_cut_at_a_character() {
        let text = censor().text(&"é".repeat(LONGEST));
        assert_eq!(text.chars().count(), LONGEST / 2 + 1);
        assert!(text.ends_with('…'));
    }

    #[test]
    fn a_secret_that_the_cut_would_split_is_not_shown_in_part() {
        let counting: String = (0..LONGEST).map(|number| number.to_string() + ",").collect();
        let slots = [("s".into(), Secret::new(json!(counting.clone())))].into_iter().collect();
        let censor = Censor::new(&slots);
        for before in [0, 100, 3 * LONGEST, 5 * LONGEST, 9 * LONGEST] {
            let text = format!("{}{}", "-".repeat(before), counting.repeat(20));
            let shown = censor.text(&text);
            assert!(!shown.contains("1,2"), "{before}: {shown}");
            assert!(shown.len() <= LONGEST + '…'.len_utf8());
        }
    }

    #[test]
    fn what_not_every_store_can_keep_is_replaced() {
        assert_eq!(censor().facts(&json!({"a\0": "b\0c"})), Some(json!({"a\u{FFFD}": "b\u{FFFD}c"})));
    }

    #[test]
    fn facts_that_are_too_large_are_left_out() {
        assert_eq!(censor().facts(&json!(vec!["long"; LONGEST])), None);
    }
}
