//! What a plugin must bear: nonsense, size, strange text, many calls at once, callers who leave.

use super::Contract;
use super::caller::Ended;
use super::checks::Life;
use formwork_model::{Json, NativeId, OperationErrorCode, TypeName, same};
use formwork_plugin::{OperationStatus, ProgressResult, ReadResult};
use futures_util::future::join_all;

/// How many reads are made at once.
const AT_ONCE: usize = 32;
/// How long a long text is, in bytes.
const LONG: usize = 1 << 20;
/// Letters of several scripts, a picture of two code points, a combining accent, quotes, escapes.
const STRANGE: &str = "Grüße, 世界 👩‍🚀 e\u{301} \"two\" 'one' \\ $1 %s {{x}} <b> tab\tend";

impl Life<'_> {
    /// That the answers name one object, and that none shows what is never read back.
    pub(super) async fn withhold(&mut self, native_id: &NativeId, created: &Json) {
        let read = match self.caller.read(native_id).await {
            Ok(read) => read,
            Err(instead) => {
                self.broken(Contract::NativeIdIsStable, instead);
                return self.not_tried(Contract::WriteOnlyStaysAway, "the object could not be read");
            }
        };
        if read.native_id == *native_id {
            self.kept(Contract::NativeIdIsStable);
        } else {
            let instead = format!("a read of `{native_id}` answers for `{}`", read.native_id);
            self.broken(Contract::NativeIdIsStable, instead);
        }
        if self.case.write_only.is_empty() {
            return self.not_tried(Contract::WriteOnlyStaysAway, "the case has no such property");
        }
        let read = read.resource_properties.unwrap_or_default();
        let secrets =
            self.case.write_only.iter().filter_map(|name| Some((name, self.case.create.get(name)?)));
        let shown = secrets.into_iter().find_map(|(name, secret)| {
            let answers = [("the create", created), ("the read", &read)];
            let shows = |(_, answer): &(&str, &Json)| holds(answer, secret);
            answers.into_iter().find(shows).map(|(answer, _)| format!("{answer} shows `{name}`"))
        });
        match shown {
            None => self.kept(Contract::WriteOnlyStaysAway),
            Some(instead) => self.broken(Contract::WriteOnlyStaysAway, instead),
        }
    }

    /// That many reads at once answer as one does.
    pub(super) async fn side_by_side(&mut self, native_id: &NativeId) {
        let reads = join_all((0..AT_ONCE).map(|_| self.caller.read(native_id))).await;
        let first = match &reads[0] {
            Ok(first) => first.clone(),
            Err(instead) => return self.broken(Contract::ReadsSideBySide, instead.clone()),
        };
        let differs = |read: &Result<ReadResult, String>| match read {
            Err(instead) => Some(instead.clone()),
            Ok(read) if *read == first => None,
            Ok(_) => Some("two reads of one object differ".to_owned()),
        };
        match reads.iter().find_map(differs) {
            None => self.kept(Contract::ReadsSideBySide),
            Some(instead) => self.broken(Contract::ReadsSideBySide, instead),
        }
    }

    /// That the plugin still answers after a caller left in the middle of a call.
    pub(super) async fn give_up(&mut self, native_id: &NativeId, prior: &Json) {
        let contract = Contract::GivenUpCallsLeaveItAble;
        let Some(desired) = &self.case.update else {
            return self.not_tried(contract, "the case has no update");
        };
        self.caller.give_up_an_update(native_id, prior, desired).await;
        match self.caller.read(native_id).await {
            Err(instead) => self.broken(contract, instead),
            Ok(ReadResult { error_code: Some(code), .. }) => {
                self.broken(contract, format!("a read after it says `{code}`"));
            }
            Ok(_) => self.kept(contract),
        }
    }

    /// That nonsense is refused in the protocol's words.
    pub(super) async fn refuse(&mut self) {
        let unknown = unknown_type(&self.case.type_name);
        let contract = Contract::UnknownTypeFails;
        let answers =
            self.caller.create_at(&unknown, &self.case.create, &self.case.target_config, None).await;
        match self.caller.read_as(&unknown, &"conformance".into()).await {
            Ok(ReadResult { error_code: None, .. }) => self.broken(contract, "it reads an object of it"),
            Ok(_) => self.refused(contract, answers),
            Err(instead) => self.broken(contract, instead),
        }
        let wrong = Json::from("no configuration");
        let answers = self.caller.create_at(&self.case.type_name, &self.case.create, &wrong, None).await;
        if let Ok(Ended { result: ProgressResult { native_id: Some(made), operation_status, .. }, .. }) =
            &answers
            && *operation_status == OperationStatus::Success
        {
            self.made.push(made.clone());
            return self.not_tried(Contract::WrongTargetFails, "the type takes no notice of its target");
        }
        self.refused(Contract::WrongTargetFails, answers);
    }

    /// That a call failed for good, with a code.
    fn refused(&mut self, contract: Contract, answer: Result<Ended, String>) {
        use OperationErrorCode::{AccessDenied, InvalidRequest, NotFound};
        match answer {
            Err(instead) => self.broken(contract, instead),
            Ok(Ended { result, .. }) => match (result.operation_status, result.error_code) {
                (OperationStatus::Failure, Some(AccessDenied | InvalidRequest | NotFound)) => {
                    self.kept(contract);
                }
                (OperationStatus::Failure, Some(code)) => {
                    self.broken(contract, format!("it says `{code}`, as if it could help to ask again"));
                }
                (OperationStatus::Failure, None) => self.broken(contract, "it fails without a code"),
                _ => {
                    self.made.extend(result.native_id);
                    self.broken(contract, "it says that it succeeded");
                }
            },
        }
    }

    /// That long and strange texts come back as they were, or are refused.
    pub(super) async fn strain(&mut self) {
        for (contract, text) in [
            (Contract::LargeIsKeptOrRefused, "x".repeat(LONG)),
            (Contract::UnicodeIsKeptOrRefused, STRANGE.to_owned()),
        ] {
            let Some(property) = self.case.text.clone() else {
                self.not_tried(contract, "the case has no property for any text");
                continue;
            };
            let mut properties = self.case.create.clone();
            properties[&property] = Json::from(text);
            let answer = self.caller.create(&properties, None).await;
            match self.kept_or_refused(&property, &properties, answer).await {
                Ok(()) => self.kept(contract),
                Err(instead) => self.broken(contract, instead),
            }
        }
    }

    async fn kept_or_refused(
        &mut self,
        property: &str,
        properties: &Json,
        answer: Result<Ended, String>,
    ) -> Result<(), String> {
        let result = answer?.result;
        match (result.operation_status, result.error_code, result.native_id) {
            (OperationStatus::Success, _, Some(native_id)) => {
                let read = self.caller.read(&native_id).await;
                // The next text is tried under the same name.
                let _ = self.caller.delete(&native_id).await;
                if self.case.write_only.iter().any(|name| name == property) {
                    return Ok(());
                }
                let shown = read?.resource_properties.unwrap_or_default();
                if shown.get(property).is_some_and(|shown| same(shown, &properties[property])) {
                    return Ok(());
                }
                Err(format!("`{property}` reads differently"))
            }
            (OperationStatus::Failure, Some(OperationErrorCode::InvalidRequest), _) => Ok(()),
            (_, Some(code), _) => Err(format!("it says `{code}`")),
            _ => Err("it neither succeeds nor says why".to_owned()),
        }
    }
}

/// A type that no plugin serves, of the namespace of one that it does.
fn unknown_type(type_name: &TypeName) -> TypeName {
    let namespace = type_name.as_str().split("::").next().unwrap_or_default();
    format!("{namespace}::Conformance::Unknown").as_str().into()
}

/// Whether a value is somewhere in another, or, for a text, within one of its texts.
fn holds(value: &Json, wanted: &Json) -> bool {
    let within = match (value, wanted) {
        (Json::String(text), Json::String(wanted)) => !wanted.is_empty() && text.contains(wanted.as_str()),
        (Json::Array(items), _) => items.iter().any(|item| holds(item, wanted)),
        (Json::Object(members), _) => members.values().any(|member| holds(member, wanted)),
        _ => false,
    };
    within || value == wanted
}
