//! One object's life, with a check at every turn.

use super::caller::{Caller, Ended};
use super::{Case, Contract, Report, Verdict};
use formwork_model::{ClientToken, Json, NativeId, OperationErrorCode, same};
use formwork_plugin::{OperationStatus, ProgressResult, ResourcePlugin};
use std::collections::BTreeSet;

/// The most pages of a list that are asked for: a plugin whose pages never end must not hang us.
const MOST_PAGES: usize = 1000;

pub(super) struct Life<'a> {
    pub(super) caller: Caller<'a>,
    pub(super) case: &'a Case,
    /// Sets the tokens of several cases apart.
    number: usize,
    report: &'a mut Report,
    /// What there is to delete at the end.
    pub(super) made: Vec<NativeId>,
}

impl<'a> Life<'a> {
    pub(super) fn new(
        plugin: &'a dyn ResourcePlugin,
        case: &'a Case,
        number: usize,
        report: &'a mut Report,
    ) -> Self {
        Self { caller: Caller::new(plugin, case), case, number, report, made: Vec::new() }
    }

    pub(super) async fn live(mut self) {
        let token = self.case.tokens.then(|| self.token(0));
        let Some((native_id, shown)) = self.create(token).await else {
            self.skip_all("nothing could be created");
            self.refuse().await;
            return;
        };
        if let Some(token) = token {
            self.repeat(&native_id, token).await;
        }
        self.read_back(Contract::ReadAfterCreate, &native_id, &self.case.create).await;
        self.withhold(&native_id, &shown).await;
        self.side_by_side(&native_id).await;
        let native_id = self.update(native_id, &shown).await;
        self.give_up(&native_id, &shown).await;
        self.list(&native_id).await;
        self.delete(&native_id).await;
        self.ask_for_what_is_gone(&native_id).await;
        self.refuse().await;
        self.strain().await;
        self.clean_up().await;
    }

    fn token(&self, index: u8) -> ClientToken {
        // Another process that runs the suite against one provider has another id.
        let parts = format!("{}/{}/{index}", std::process::id(), self.number);
        let mut bytes = [0; 32];
        for (at, byte) in formwork_model::sha256_hex(parts.as_bytes()).bytes().take(32).enumerate() {
            bytes[at] = byte;
        }
        ClientToken(bytes)
    }

    async fn create(&mut self, token: Option<ClientToken>) -> Option<(NativeId, Json)> {
        let ended = self.caller.create(&self.case.create, token).await;
        let result = self.over(Contract::CreateAnswers, ended)?;
        let (Some(native_id), Some(shown)) = (result.native_id, result.resource_properties) else {
            self.broken(Contract::CreateAnswers, "its success lacks the native id or the properties");
            return None;
        };
        self.made.push(native_id.clone());
        match self.difference(&self.case.create, &shown) {
            None => self.kept(Contract::CreateAnswers),
            Some(difference) => self.broken(Contract::CreateAnswers, difference),
        }
        Some((native_id, shown))
    }

    async fn repeat(&mut self, native_id: &NativeId, token: ClientToken) {
        let again = self.caller.create(&self.case.create, Some(token)).await;
        let Some(result) = self.over(Contract::TokenRepeats, again) else { return };
        match result.native_id {
            Some(id) if id == *native_id => self.kept(Contract::TokenRepeats),
            Some(id) => {
                self.broken(Contract::TokenRepeats, format!("it made `{id}` beside `{native_id}`"));
                self.made.push(id);
            }
            None => self.broken(Contract::TokenRepeats, "it names no object"),
        }
    }

    async fn read_back(&mut self, contract: Contract, native_id: &NativeId, declared: &Json) {
        let found = match self.caller.read(native_id).await {
            Ok(found) => found,
            Err(instead) => return self.broken(contract, instead),
        };
        match (found.error_code, found.resource_properties) {
            (Some(code), _) => self.broken(contract, format!("it says `{code}`")),
            (None, None) => self.broken(contract, "it has no properties"),
            (None, Some(shown)) => match self.difference(declared, &shown) {
                None => self.kept(contract),
                Some(difference) => self.broken(contract, difference),
            },
        }
    }

    /// Updates the object; answers its id from then on, which a replacement may change.
    async fn update(&mut self, native_id: NativeId, prior: &Json) -> NativeId {
        let Some(desired) = &self.case.update else {
            self.not_tried(Contract::UpdateAnswers, "the case has no update");
            self.not_tried(Contract::ReadAfterUpdate, "the case has no update");
            return native_id;
        };
        let ended = self.caller.update(&native_id, prior, desired).await;
        let Some(result) = self.over(Contract::UpdateAnswers, ended) else {
            self.not_tried(Contract::ReadAfterUpdate, "the update failed");
            return native_id;
        };
        match result.resource_properties {
            None => self.broken(Contract::UpdateAnswers, "its success lacks the properties"),
            Some(shown) => match self.difference(desired, &shown) {
                None => self.kept(Contract::UpdateAnswers),
                Some(difference) => self.broken(Contract::UpdateAnswers, difference),
            },
        }
        let native_id = result.native_id.unwrap_or(native_id);
        if !self.made.contains(&native_id) {
            self.made.push(native_id.clone());
        }
        self.read_back(Contract::ReadAfterUpdate, &native_id, desired).await;
        native_id
    }

    async fn list(&mut self, native_id: &NativeId) {
        if self.case.siblings.is_empty() {
            return self.not_tried(Contract::ListIsComplete, "the case has no further objects");
        }
        let mut expected = BTreeSet::from([native_id.clone()]);
        for sibling in &self.case.siblings {
            let ended = self.caller.create(sibling, None).await;
            let Some(result) = self.over(Contract::ListIsComplete, ended) else { return };
            expected.extend(result.native_id.clone());
            self.made.extend(result.native_id);
        }
        match self.all_pages().await {
            Ok(listed) => {
                let missing: Vec<_> = expected.difference(&listed).map(ToString::to_string).collect();
                if missing.is_empty() {
                    self.kept(Contract::ListIsComplete);
                } else {
                    self.broken(
                        Contract::ListIsComplete,
                        format!("it leaves out `{}`", missing.join("`, `")),
                    );
                }
            }
            Err(instead) => self.broken(Contract::ListIsComplete, instead),
        }
    }

    async fn all_pages(&self) -> Result<BTreeSet<NativeId>, String> {
        let mut listed = BTreeSet::new();
        let mut page_token = None;
        for _ in 0..MOST_PAGES {
            let page = self.caller.list(page_token, 1).await?;
            for id in page.native_ids {
                if !listed.insert(id.clone()) {
                    return Err(format!("it names `{id}` twice"));
                }
            }
            page_token = page.next_page_token;
            if page_token.is_none() {
                return Ok(listed);
            }
        }
        Err(format!("its pages do not end after {MOST_PAGES}"))
    }

    async fn delete(&mut self, native_id: &NativeId) {
        let ended = self.caller.delete(native_id).await;
        if self.over(Contract::DeleteAnswers, ended).is_some() {
            self.kept(Contract::DeleteAnswers);
        }
    }

    async fn ask_for_what_is_gone(&mut self, native_id: &NativeId) {
        match self.caller.read(native_id).await {
            Err(instead) => self.broken(Contract::NotFoundIsACode, instead),
            Ok(found) => match found.error_code {
                Some(OperationErrorCode::NotFound) => self.kept(Contract::NotFoundIsACode),
                Some(code) => self.broken(Contract::NotFoundIsACode, format!("it says `{code}`")),
                None => self.broken(Contract::NotFoundIsACode, "it still finds the object"),
            },
        }
        let again = self.caller.delete(native_id).await;
        if self.over(Contract::DeleteIsIdempotent, again).is_some() {
            self.kept(Contract::DeleteIsIdempotent);
        }
        self.update_nothing(native_id).await;
    }

    async fn update_nothing(&mut self, native_id: &NativeId) {
        let contract = Contract::UpdateOfNothingFails;
        let Some(desired) = &self.case.update else {
            return self.not_tried(contract, "the case has no update");
        };
        match self.caller.update(native_id, &self.case.create, desired).await {
            Err(instead) => self.broken(contract, instead),
            Ok(ended) => match (ended.result.operation_status, ended.result.error_code) {
                (OperationStatus::Failure, Some(_)) => self.kept(contract),
                (OperationStatus::Failure, None) => self.broken(contract, "it fails without a code"),
                _ => self.broken(contract, "it says that it succeeded"),
            },
        }
    }

    /// Deletes what is left, whatever the plugin says to it.
    async fn clean_up(&mut self) {
        for native_id in std::mem::take(&mut self.made) {
            let _ = self.caller.delete(&native_id).await;
        }
    }

    /// The result of a call that should succeed; what is wrong with it is reported.
    fn over(&mut self, contract: Contract, ended: Result<Ended, String>) -> Option<ProgressResult> {
        let ended = match ended {
            Ok(ended) => ended,
            Err(instead) => {
                self.broken(contract, instead);
                return None;
            }
        };
        match ended.progress {
            Some(Ok(())) => self.kept(Contract::ProgressEnds),
            Some(Err(instead)) => self.broken(Contract::ProgressEnds, instead),
            None => {}
        }
        match ended.result.operation_status {
            OperationStatus::Success => Some(ended.result),
            OperationStatus::Failure => {
                let code = ended.result.error_code.map_or("no code", OperationErrorCode::as_str);
                let message = ended.result.status_message.as_deref().unwrap_or("no message");
                self.broken(contract, format!("it failed with {code}: {message}"));
                None
            }
            OperationStatus::InProgress | OperationStatus::Pending => {
                // That it goes on for ever is told of its progress.
                self.not_tried(contract, "the call did not end");
                None
            }
        }
    }

    /// What of a declaration is not in what the plugin shows.
    pub(super) fn difference(&self, declared: &Json, shown: &Json) -> Option<String> {
        let Some(declared) = declared.as_object() else { return Some("the case is no object".to_owned()) };
        declared.iter().filter(|(name, _)| !self.case.write_only.contains(name)).find_map(|(name, value)| {
            match shown.get(name) {
                None => Some(format!("`{name}` is missing")),
                Some(other) if self.case.unordered.contains(name) && same_elements(value, other) => None,
                Some(other) if !same(value, other) => Some(format!("`{name}` is {other}, not {value}")),
                Some(_) => None,
            }
        })
    }

    pub(super) fn kept(&mut self, contract: Contract) {
        self.note(contract, Verdict::Kept);
    }

    pub(super) fn broken(&mut self, contract: Contract, instead: impl Into<String>) {
        self.note(contract, Verdict::Broken { instead: instead.into() });
    }

    pub(super) fn not_tried(&mut self, contract: Contract, because: &'static str) {
        self.note(contract, Verdict::NotTried { because });
    }

    fn skip_all(&mut self, because: &'static str) {
        for contract in [
            Contract::ReadAfterCreate,
            Contract::UpdateAnswers,
            Contract::ReadAfterUpdate,
            Contract::ListIsComplete,
            Contract::DeleteAnswers,
            Contract::NotFoundIsACode,
            Contract::DeleteIsIdempotent,
            Contract::UpdateOfNothingFails,
            Contract::NativeIdIsStable,
            Contract::WriteOnlyStaysAway,
            Contract::ReadsSideBySide,
            Contract::GivenUpCallsLeaveItAble,
            Contract::LargeIsKeptOrRefused,
            Contract::UnicodeIsKeptOrRefused,
        ] {
            self.not_tried(contract, because);
        }
    }

    fn note(&mut self, contract: Contract, verdict: Verdict) {
        self.report.note(self.case.type_name.clone(), contract, verdict);
    }
}

/// Whether two arrays have the same elements, in any order.
fn same_elements(one: &Json, other: &Json) -> bool {
    let (Some(one), Some(other)) = (one.as_array(), other.as_array()) else { return false };
    let mut left: Vec<&Json> = other.iter().collect();
    let taken = |wanted: &Json| {
        let place = left.iter().position(|it| same(wanted, it));
        place.map(|place| left.swap_remove(place)).is_some()
    };
    one.len() == other.len() && one.iter().all(taken)
}

#[cfg(test)]
mod tests {
    use super::same_elements;
    use serde_json::json;

    #[test]
    fn elements_are_the_same_in_any_order_and_as_often() {
        assert!(same_elements(&json!(["a", 1, 1.0]), &json!([1, "a", 1])));
        assert!(!same_elements(&json!(["a", "a", "b"]), &json!(["a", "b", "b"])));
        assert!(!same_elements(&json!(["a"]), &json!(["a", "a"])));
        assert!(!same_elements(&json!("a"), &json!("a")));
    }
}
