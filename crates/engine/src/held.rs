//! Secrets that only a provider holds and that another resource's call needs: the provider is asked for them just
//! before the call. They are in the call, and nowhere else.

use crate::answer::{Raw, Unmade};
use crate::calls::Calls;
use crate::targets::Place;
use formwork_engine_core::{Call, CallKind, SecretFill, SecretOutput, SecretPiece};
use formwork_model::{
    Failure, Json, OperationErrorCode, Secret, SecretSlots, SlotId, StackId, TargetRev, Timestamp, WireCode,
};
use formwork_plugin::ReadRequest;

/// Where the objects live whose secrets a call needs.
#[derive(Debug, Default)]
pub(crate) struct Held(Vec<((StackId, TargetRev), Place)>);

impl Held {
    pub(crate) fn put(&mut self, output: &SecretOutput, place: Place) {
        self.0.push(((output.stack.clone(), output.target.clone()), place));
    }

    fn place(&self, output: &SecretOutput) -> Option<&Place> {
        let of = |((stack, target), _): &&((StackId, TargetRev), Place)| {
            *stack == output.stack && *target == output.target
        };
        self.0.iter().find(of).map(|(_, place)| place)
    }
}

/// The secrets of other objects that a call needs.
pub(crate) fn outputs(call: &Call) -> impl Iterator<Item = &SecretOutput> {
    let secrets = match &call.kind {
        CallKind::Create { secrets, .. } | CallKind::Update { secrets, .. } => secrets.as_slice(),
        CallKind::Delete { .. } => &[],
    };
    secrets.iter().flat_map(|fill| &fill.pieces).filter_map(|piece| match piece {
        SecretPiece::Output(output) => Some(&**output),
        SecretPiece::Text(_) | SecretPiece::Slot(_) => None,
    })
}

impl Calls {
    /// Asks providers for the secrets that a call needs of theirs, and puts them into `slots` of this call alone.
    ///
    /// # Errors
    /// [`Unmade`]: one of them is not to be had.
    pub(crate) async fn ask_for(
        &self,
        fills: Vec<SecretFill>,
        held: &Held,
        not_after: Timestamp,
        slots: &mut SecretSlots,
    ) -> Result<Vec<SecretFill>, Unmade> {
        let mut asked = Vec::with_capacity(fills.len());
        for (index, mut fill) in fills.into_iter().enumerate() {
            for (part, piece) in fill.pieces.iter_mut().enumerate() {
                let SecretPiece::Output(output) = piece else { continue };
                let value = self.ask(output, held, not_after).await?;
                // No slot of an operation or a row is called so.
                let slot = SlotId::from(format!("call:{index}:{part}"));
                slots.insert(slot.clone(), value);
                *piece = SecretPiece::Slot(slot);
            }
            asked.push(fill);
        }
        Ok(asked)
    }

    async fn ask(
        &self,
        output: &SecretOutput,
        held: &Held,
        not_after: Timestamp,
    ) -> Result<Secret<Json>, Unmade> {
        let plugin = self.plugin(&output.type_name).map_err(Unmade::Refused)?;
        let place = held.place(output).ok_or_else(|| refused(output, "nobody knows where it lives"))?;
        let target_config = self.target_config(place).await.map_err(Unmade::Refused)?;
        let request = ReadRequest {
            resource_type: output.type_name.clone(),
            native_id: output.native_id.clone(),
            target_config,
            redact_sensitive: false,
            prior_properties: None,
        };
        self.rates.of(&*plugin).acquire().await;
        let context = self.context(not_after);
        // What the provider says of a failure is left out: it was asked to tell a secret.
        let answer = match self.read_raw(&*plugin, &context, request).await {
            Raw::Answer(Ok(answer)) => answer,
            Raw::Answer(Err(_)) | Raw::Deadline => {
                return Err(Unmade::Unsent(failure(output, "its provider does not answer")));
            }
        };
        match answer.error_code {
            None => {}
            Some(OperationErrorCode::NotFound) => return Err(refused(output, "its object is gone")),
            Some(code) if is_passing(code) => {
                return Err(Unmade::Unsent(failure(output, &format!("its provider says `{code}`"))));
            }
            Some(code) => return Err(refused(output, &format!("its provider says `{code}`"))),
        }
        let properties = answer.resource_properties.unwrap_or_default();
        match output.path.get(&properties) {
            Some(value) if !value.is_null() => Ok(Secret::new(value.clone())),
            _ => Err(refused(output, "its provider does not tell it")),
        }
    }
}

/// Whether it may be otherwise a moment later.
fn is_passing(code: OperationErrorCode) -> bool {
    use OperationErrorCode::{InternalFailure, NotStabilized, ServiceUnavailable, Throttling};
    matches!(code, Throttling | ServiceUnavailable | InternalFailure | NotStabilized)
}

fn refused(output: &SecretOutput, why: &str) -> Unmade {
    Unmade::Refused(failure(output, why))
}

fn failure(output: &SecretOutput, why: &str) -> Failure {
    let message = format!("the secret `{}` of `{}` is needed, and {why}", output.path, output.label);
    Failure::new(WireCode::SecretUnavailable, message)
}
