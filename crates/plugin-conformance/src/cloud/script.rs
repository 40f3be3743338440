//! Scripts: which calls go how.

use formwork_model::OperationErrorCode;
use formwork_plugin::Operation;
use std::time::Duration;

/// Which calls are to go differently, and how. The first rule that matches a call is used.
#[derive(Clone, Debug)]
pub struct Rule {
    operation: Option<Operation>,
    type_name: Option<String>,
    label: Option<String>,
    skip: u32,
    times: Option<u32>,
    behaviour: Behaviour,
}

/// How a call goes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Behaviour {
    /// What happens between its arrival and its effect.
    pub before: Pause,
    /// What comes of it.
    pub outcome: Outcome,
    /// What happens between its effect and its answer.
    pub after: Pause,
    /// Whether its caller hears of it.
    pub answering: Answering,
    /// How many times it answers that it is still going on; `None` is as its type does.
    pub polls: Option<u32>,
}

/// A pause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pause {
    /// None.
    #[default]
    None,
    /// As long as this.
    For(Duration),
    /// Until [`FakeCloud::release`](crate::FakeCloud::release).
    UntilReleased,
}

/// What comes of a call.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Outcome {
    /// What its type says.
    #[default]
    Usual,
    /// Nothing happens, and it says so.
    Refused {
        /// The code.
        code: OperationErrorCode,
        /// The message.
        message: String,
    },
    /// A create fails half-way: the object is there, its id is in the answer. Any other call fails
    /// after its effect.
    Half {
        /// The code.
        code: OperationErrorCode,
        /// The message.
        message: String,
    },
    /// It takes effect, and says that it failed, without an id.
    DoneButDenied {
        /// The code.
        code: OperationErrorCode,
        /// The message.
        message: String,
    },
}

/// Whether a caller hears of its call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Answering {
    /// It does.
    #[default]
    Answer,
    /// The connection ends without an answer.
    Drop,
}

impl Rule {
    /// A rule for every call of an operation.
    pub fn on(operation: Operation) -> Self {
        Self { operation: Some(operation), ..Self::any() }
    }

    /// A rule for every call.
    pub fn any() -> Self {
        Self {
            operation: None,
            type_name: None,
            label: None,
            skip: 0,
            times: None,
            behaviour: Behaviour::default(),
        }
    }

    /// Only for this type.
    #[must_use]
    pub fn type_name(mut self, type_name: &str) -> Self {
        self.type_name = Some(type_name.to_owned());
        self
    }

    /// Only for the resource of this label.
    #[must_use]
    pub fn label(mut self, label: &str) -> Self {
        self.label = Some(label.to_owned());
        self
    }

    /// Only after this many matching calls have passed.
    #[must_use]
    pub fn skip(mut self, calls: u32) -> Self {
        self.skip = calls;
        self
    }

    /// Only for this many matching calls.
    #[must_use]
    pub fn times(mut self, calls: u32) -> Self {
        self.times = Some(calls);
        self
    }

    /// Pauses before the effect.
    #[must_use]
    pub fn before(mut self, pause: Pause) -> Self {
        self.behaviour.before = pause;
        self
    }

    /// Pauses between effect and answer.
    #[must_use]
    pub fn after(mut self, pause: Pause) -> Self {
        self.behaviour.after = pause;
        self
    }

    /// Refuses the call, without effect.
    #[must_use]
    pub fn refuse(mut self, code: OperationErrorCode, message: &str) -> Self {
        self.behaviour.outcome = Outcome::Refused { code, message: message.to_owned() };
        self
    }

    /// Fails half-way: a create leaves its object behind and names it.
    #[must_use]
    pub fn fail_half_way(mut self, code: OperationErrorCode, message: &str) -> Self {
        self.behaviour.outcome = Outcome::Half { code, message: message.to_owned() };
        self
    }

    /// Takes effect and denies it.
    #[must_use]
    pub fn do_but_deny(mut self, code: OperationErrorCode, message: &str) -> Self {
        self.behaviour.outcome = Outcome::DoneButDenied { code, message: message.to_owned() };
        self
    }

    /// Ends the connection without an answer.
    #[must_use]
    pub fn drop_answer(mut self) -> Self {
        self.behaviour.answering = Answering::Drop;
        self
    }

    /// Answers `IN_PROGRESS` this many times.
    #[must_use]
    pub fn polls(mut self, polls: u32) -> Self {
        self.behaviour.polls = Some(polls);
        self
    }

    fn matches(&self, operation: Option<Operation>, type_name: &str, label: Option<&str>) -> bool {
        self.operation.is_none_or(|wanted| Some(wanted) == operation)
            && self.type_name.as_deref().is_none_or(|wanted| wanted == type_name)
            && self.label.as_deref().is_none_or(|wanted| Some(wanted) == label)
    }

    /// The behaviour for a matching call, counting it.
    fn take(&mut self) -> Option<Behaviour> {
        if self.skip > 0 {
            self.skip -= 1;
            return None;
        }
        match &mut self.times {
            Some(0) => None,
            Some(left) => {
                *left -= 1;
                Some(self.behaviour.clone())
            }
            None => Some(self.behaviour.clone()),
        }
    }
}

/// The behaviour that the first rule in force gives a call.
pub(super) fn behaviour(
    rules: &mut [Rule],
    operation: Option<Operation>,
    type_name: &str,
    label: Option<&str>,
) -> Behaviour {
    rules
        .iter_mut()
        .filter(|rule| rule.matches(operation, type_name, label))
        .find_map(Rule::take)
        .unwrap_or_default()
}
