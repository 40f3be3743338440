//! What the suite found.

use formwork_model::TypeName;
use serde::Serialize;
use std::fmt;

/// What a plugin must keep. Up to [`UpdateOfNothingFails`](Self::UpdateOfNothingFails) each is a sentence
/// of seed 3; the others follow from it, or are ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Contract {
    /// A create succeeds with a native id and the object's properties.
    CreateAnswers,
    /// A call that goes on names a request, and its status ends in success or failure in time.
    ProgressEnds,
    /// A read finds what was created.
    ReadAfterCreate,
    /// An update succeeds with the object's new properties.
    UpdateAnswers,
    /// A read finds what was updated.
    ReadAfterUpdate,
    /// The pages of a list name every object, and none twice.
    ListIsComplete,
    /// A delete succeeds.
    DeleteAnswers,
    /// A read of an object that is gone says `NOT_FOUND`, as a code.
    NotFoundIsACode,
    /// Deleting an object that is gone succeeds.
    DeleteIsIdempotent,
    /// An update of an object that is gone fails with a code.
    UpdateOfNothingFails,
    /// The native id of an object is the same in every answer.
    NativeIdIsStable,
    /// What is never read back is in no answer.
    WriteOnlyStaysAway,
    /// A type that the plugin doesn't serve is refused with a code.
    UnknownTypeFails,
    /// A target configuration that is none is refused with a code.
    WrongTargetFails,
    /// A text of a megabyte is kept whole, or refused as an invalid request.
    LargeIsKeptOrRefused,
    /// Text of any script is kept as it is, or refused as an invalid request.
    UnicodeIsKeptOrRefused,
    /// Many reads at once answer as one does.
    ReadsSideBySide,
    /// A call that nobody waits for any more leaves the plugin as able as before.
    GivenUpCallsLeaveItAble,
    /// A create that is repeated under its token makes nothing new and names the same object.
    TokenRepeats,
}

impl Contract {
    /// The contract in a sentence.
    pub fn sentence(self) -> &'static str {
        match self {
            Self::CreateAnswers => "a create answers with a native id and properties",
            Self::ProgressEnds => "a call that goes on names a request and ends in time",
            Self::ReadAfterCreate => "a read finds what was created",
            Self::UpdateAnswers => "an update answers with the new properties",
            Self::ReadAfterUpdate => "a read finds what was updated",
            Self::ListIsComplete => "a list names every object once",
            Self::DeleteAnswers => "a delete succeeds",
            Self::NotFoundIsACode => "a read of what is gone says `NOT_FOUND` as a code",
            Self::DeleteIsIdempotent => "deleting what is gone succeeds",
            Self::UpdateOfNothingFails => "an update of what is gone fails with a code",
            Self::NativeIdIsStable => "the native id is the same in every answer",
            Self::WriteOnlyStaysAway => "what is never read back is in no answer",
            Self::UnknownTypeFails => "an unknown type is refused with a code",
            Self::WrongTargetFails => "a wrong target configuration is refused with a code",
            Self::LargeIsKeptOrRefused => "a text of a megabyte is kept whole or refused",
            Self::UnicodeIsKeptOrRefused => "text of any script is kept as it is or refused",
            Self::ReadsSideBySide => "many reads at once answer as one does",
            Self::GivenUpCallsLeaveItAble => "a call that is given up leaves the plugin able",
            Self::TokenRepeats => "a create repeated under its token makes nothing new",
        }
    }
}

/// What became of one contract for one type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The type.
    pub type_name: TypeName,
    /// The contract.
    pub contract: Contract,
    /// What became of it.
    pub verdict: Verdict,
}

/// What became of a contract.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The plugin keeps it.
    Kept,
    /// The plugin breaks it.
    Broken {
        /// What it did instead.
        instead: String,
    },
    /// It could not be tried.
    NotTried {
        /// Why.
        because: &'static str,
    },
}

/// All findings, in the order in which they were made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// The findings.
    pub findings: Vec<Finding>,
    /// How many cases were begun.
    pub(super) begun: usize,
}

impl Report {
    /// Adds what became of a contract. Several calls of one case go on; that they end is one finding.
    pub fn note(&mut self, type_name: TypeName, contract: Contract, verdict: Verdict) {
        let finding = Finding { type_name, contract, verdict };
        if !self.findings.contains(&finding) {
            self.findings.push(finding);
        }
    }

    /// Whether no contract was broken.
    pub fn is_conformant(&self) -> bool {
        self.broken().next().is_none()
    }

    /// The contracts that were broken.
    pub fn broken(&self) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(|finding| matches!(finding.verdict, Verdict::Broken { .. }))
    }

    /// What became of a contract, for all types.
    pub fn verdicts(&self, contract: Contract) -> impl Iterator<Item = &Verdict> {
        self.findings.iter().filter(move |found| found.contract == contract).map(|found| &found.verdict)
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for Finding { type_name, contract, verdict } in &self.findings {
            let sentence = contract.sentence();
            match verdict {
                Verdict::Kept => writeln!(f, "kept       {type_name}: {sentence}")?,
                Verdict::Broken { instead } => {
                    writeln!(f, "broken     {type_name}: {sentence}; instead {instead}")?;
                }
                Verdict::NotTried { because } => {
                    writeln!(f, "not tried  {type_name}: {sentence}; {because}")?;
                }
            }
        }
        Ok(())
    }
}
