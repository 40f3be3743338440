//! The weather: how long messages travel, what is lost, what fails, and when processes die.

use crate::catalog::Backend;
use crate::chance::Chance;
use crate::provider::{Ask, Call, Trouble};
use formwork_model::{IntentKind, OperationErrorCode, Timestamp};

/// Milliseconds from the death of a process to the beginning of its recovery.
pub const RECOVERY_AFTER: u64 = 40;

/// The weather of a run.
#[derive(Clone, Debug)]
pub enum Weather {
    /// Messages take a millisecond, and only what is scripted goes wrong.
    Scripted(Script),
    /// Anything may go wrong, at these rates.
    Rough(Box<Rough>),
}

/// What goes wrong, exactly.
#[derive(Clone, Debug, Default)]
pub struct Script {
    /// What happens at commits and calls, counted from 0 over the whole run.
    pub faults: Vec<Fault>,
    /// What happens to the calls for a label.
    pub troubles: Vec<Scripted>,
}

/// A trouble with the calls for one resource.
#[derive(Clone, Debug)]
pub struct Scripted {
    /// The resource.
    pub label: String,
    /// Which of its calls.
    pub kind: IntentKind,
    /// How many of them; `u32::MAX` is all.
    pub times: u32,
    /// Only in this operation, counted from 1; `None` is in any.
    pub during: Option<u64>,
    /// What happens.
    pub trouble: Trouble,
}

/// Something that happens at one point of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// At the commit with this number.
    Commit(u64, CommitFault),
    /// At the write call with this number.
    Call(u64, CallFault),
}

/// What happens at a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommitFault {
    /// The process dies just before.
    CrashBefore,
    /// The process dies just after, with its actions not begun.
    CrashAfter,
    /// The store fails and has stored nothing.
    FailBefore,
    /// The store fails and has stored it all.
    FailAfter,
    /// Another process takes the operation over just before; this one does not know.
    Rival,
}

/// What happens at a call that changes something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallFault {
    /// The process dies and the call never arrives.
    CrashUnsent,
    /// The call takes effect, the process dies, nobody hears the answer.
    CrashUnheard,
    /// The process dies; the call takes effect once recovery has begun.
    LandsInRecovery,
    /// The process dies; the call begins as late as it may, and its effect appears as late as it
    /// may.
    LandsLast,
    /// The answer is lost, the process lives.
    Unheard,
}

/// Rates of what goes wrong, in a thousand.
#[derive(Clone, Debug)]
pub struct Rates {
    /// A message is slow.
    pub slow: u32,
    /// A call is lost on its way.
    pub lost: u32,
    /// An answer is lost on its way.
    pub unheard: u32,
    /// The provider makes trouble.
    pub trouble: u32,
    /// A process dies at a commit.
    pub crash: u32,
    /// The store fails at a commit.
    pub store: u32,
    /// Another process takes over at a commit.
    pub rival: u32,
    /// The process stands still for longer than its lease.
    pub stall: u32,
    /// Reads and lists fail.
    pub unreadable: u32,
}

impl Rates {
    /// Nothing goes wrong.
    pub const CALM: Self = Self {
        slow: 0,
        lost: 0,
        unheard: 0,
        trouble: 0,
        crash: 0,
        store: 0,
        rival: 0,
        stall: 0,
        unreadable: 0,
    };

    /// Rates of a random run: some runs are nearly calm, some are storms.
    pub fn roll(chance: &mut Chance) -> Self {
        let mut rate = |most: u64| {
            let most = most * chance.below(3);
            u32::try_from(chance.below(most + 1)).unwrap_or(0)
        };
        Self {
            slow: rate(120),
            lost: rate(40),
            unheard: rate(40),
            trouble: rate(100),
            crash: rate(40),
            store: rate(20),
            rival: rate(15),
            stall: rate(10),
            unreadable: rate(40),
        }
    }
}

/// Random weather.
#[derive(Clone, Debug)]
pub struct Rough {
    /// Its rolls.
    pub chance: Chance,
    /// Its rates.
    pub rates: Rates,
}

/// How a message travels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Journey {
    /// When its work begins at the provider; `None`: it never arrives.
    pub begins: Option<Timestamp>,
    /// When its effect appears.
    pub appears: Timestamp,
    /// When its answer is heard; `None`: never.
    pub heard: Option<Timestamp>,
    /// What goes wrong with it.
    pub trouble: Trouble,
    /// How many times it goes on.
    pub polls: u32,
    /// Whether its sender dies on sending it.
    pub kills: bool,
    /// Whether its sender dies when its effect appears.
    pub kills_on_effect: bool,
}

impl Weather {
    /// Calm weather.
    pub fn calm() -> Self {
        Self::Scripted(Script::default())
    }

    /// What happens at a commit.
    pub fn at_commit(&mut self, number: u64) -> Option<CommitFault> {
        match self {
            Self::Scripted(script) => script.faults.iter().find_map(|fault| match fault {
                Fault::Commit(at, fault) if *at == number => Some(*fault),
                _ => None,
            }),
            Self::Rough(rough) => rough.at_commit(),
        }
    }

    /// Whether the process that just committed stands still for a while, and for how long.
    pub fn stall(&mut self) -> Option<u64> {
        match self {
            Self::Scripted(_) => None,
            Self::Rough(rough) => {
                let stalls = rough.chance.happens(rough.rates.stall);
                stalls.then(|| 20_000 + rough.chance.below(60_000))
            }
        }
    }

    /// Whether inputs that are due together share a commit.
    pub fn merges(&mut self) -> bool {
        match self {
            Self::Scripted(_) => false,
            Self::Rough(rough) => rough.chance.happens(400),
        }
    }

    /// How long until a permit is granted.
    pub fn permit_after(&mut self) -> u64 {
        match self {
            Self::Scripted(_) => 0,
            Self::Rough(rough) => rough.chance.below(3) * rough.chance.below(20),
        }
    }

    /// How a message travels.
    pub fn journey(&mut self, now: Timestamp, write: Option<u64>, call: &Call) -> Journey {
        match self {
            Self::Scripted(script) => script.journey(now, write, call),
            Self::Rough(rough) => rough.journey(now, call),
        }
    }
}

/// A journey on which nothing happens.
fn plain(now: Timestamp, call: &Call) -> Journey {
    Journey {
        begins: Some(now.plus(1)),
        appears: now.plus(2),
        heard: Some(now.plus(3)),
        polls: usual_polls(call, 2),
        ..Journey::default()
    }
}

fn usual_polls(call: &Call, polls: u32) -> u32 {
    match &call.ask {
        Ask::Create(Backend::Slow, _) | Ask::Update(Backend::Slow, ..) | Ask::Delete(Backend::Slow, _) => {
            polls
        }
        _ => 0,
    }
}

/// The last moment at which an effect of a call may appear.
fn latest(call: &Call) -> Option<Timestamp> {
    let settle = match &call.ask {
        Ask::Create(backend, _) | Ask::Update(backend, ..) | Ask::Delete(backend, _) => {
            backend.settle_millis()
        }
        Ask::Poll(_) | Ask::Read(..) | Ask::List(_) => 0,
    };
    call.not_after.map(|at| at.plus(settle))
}

impl Script {
    fn journey(&mut self, now: Timestamp, write: Option<u64>, call: &Call) -> Journey {
        let mut journey = plain(now, call);
        if let Some(mark) = &call.mark {
            let scripted = self.troubles.iter_mut().find(|scripted| {
                scripted.times > 0
                    && scripted.label == mark.label.as_str()
                    && scripted.kind == mark.kind
                    && scripted
                        .during
                        .is_none_or(|number| mark.operation.as_str() == format!("form_op_{number}"))
            });
            if let Some(scripted) = scripted {
                scripted.times = scripted.times.saturating_sub(1);
                journey.trouble = scripted.trouble;
            }
        }
        let fault = self.faults.iter().find_map(|fault| match fault {
            Fault::Call(at, fault) if Some(*at) == write => Some(*fault),
            _ => None,
        });
        match fault {
            None => {}
            Some(CallFault::Unheard) => journey.heard = None,
            Some(CallFault::CrashUnsent) => {
                journey.begins = None;
                journey.kills = true;
            }
            Some(CallFault::CrashUnheard) => {
                journey.heard = None;
                journey.kills_on_effect = true;
            }
            Some(CallFault::LandsInRecovery) => {
                journey.begins = Some(now.plus(RECOVERY_AFTER + 5));
                journey.appears = now.plus(RECOVERY_AFTER + 6);
                journey.heard = None;
                journey.kills = true;
            }
            Some(CallFault::LandsLast) => {
                // A call without a limit may come at any time.
                let begins = call.not_after.unwrap_or(now.plus(60_000));
                journey.begins = Some(begins);
                journey.appears = latest(call).unwrap_or(begins);
                journey.heard = None;
                journey.kills = true;
            }
        }
        journey
    }
}

impl Rough {
    fn at_commit(&mut self) -> Option<CommitFault> {
        if self.chance.happens(self.rates.crash) {
            let before = self.chance.happens(500);
            return Some(if before { CommitFault::CrashBefore } else { CommitFault::CrashAfter });
        }
        if self.chance.happens(self.rates.store) {
            let before = self.chance.happens(500);
            return Some(if before { CommitFault::FailBefore } else { CommitFault::FailAfter });
        }
        self.chance.happens(self.rates.rival).then_some(CommitFault::Rival)
    }

    fn journey(&mut self, now: Timestamp, call: &Call) -> Journey {
        let chance = &mut self.chance;
        let mut begins = now.plus(1 + chance.below(20));
        let mut appears = begins.plus(1 + chance.below(60));
        let mut answer = 1 + chance.below(20);
        if chance.happens(self.rates.slow) {
            match chance.below(3) {
                0 => begins = now.plus(1 + chance.below(14_000)),
                1 => appears = begins.plus(chance.below(12_000)),
                _ => answer = 1 + chance.below(14_000),
            }
            appears = appears.max(begins);
        }
        if let Some(latest) = latest(call) {
            appears = appears.min(latest).max(begins);
        }
        let lost = chance.happens(self.rates.lost);
        let unheard = chance.happens(self.rates.unheard);
        let is_write = call.ask.is_write();
        Journey {
            begins: (!lost).then_some(begins),
            appears,
            heard: (!unheard).then(|| appears.plus(answer)),
            trouble: if is_write { self.trouble() } else { self.read_trouble() },
            polls: if is_write && self.chance.happens(100) {
                1 + u32::try_from(self.chance.below(3)).unwrap_or(0)
            } else {
                usual_polls(call, 1 + u32::try_from(self.chance.below(4)).unwrap_or(0))
            },
            kills: is_write && self.chance.happens(self.rates.crash / 4),
            kills_on_effect: is_write && self.chance.happens(self.rates.crash / 4),
        }
    }

    fn trouble(&mut self) -> Trouble {
        use OperationErrorCode as Code;
        const CODES: [Code; 6] = [
            Code::InvalidRequest,
            Code::AccessDenied,
            Code::Throttling,
            Code::ServiceUnavailable,
            Code::InternalFailure,
            Code::NotStabilized,
        ];
        // Only these may follow an effect: the others say that nothing was done.
        const VAGUE: [Code; 2] = [Code::ServiceUnavailable, Code::InternalFailure];
        if !self.chance.happens(self.rates.trouble) {
            return Trouble::None;
        }
        match self.chance.below(6) {
            0 => Trouble::Half(VAGUE[self.chance.index(VAGUE.len())]),
            1 => Trouble::Denied(VAGUE[self.chance.index(VAGUE.len())]),
            2 | 3 => Trouble::Refused(Code::Throttling),
            _ => Trouble::Refused(CODES[self.chance.index(CODES.len())]),
        }
    }

    fn read_trouble(&mut self) -> Trouble {
        if self.chance.happens(self.rates.unreadable) {
            return Trouble::Refused(OperationErrorCode::ServiceUnavailable);
        }
        Trouble::None
    }
}
