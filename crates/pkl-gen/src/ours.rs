//! Our evaluator as a subject.

use crate::answer::{Answer, FAILED, Subject};
use crate::generate::Program;
use pkl_core::host::{ModuleReader, ReadError};
use pkl_core::{Evaluator, Limits, ModuleSource};
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// No program of ours takes longer.
const TIME: Duration = Duration::from_secs(10);
/// Bytes that a program's values may take.
const MEMORY: usize = 256 << 20;

/// The scheme of a program's modules.
const SCHEME: &str = "generated";
/// After so many programs an evaluator is made anew, since it keeps every module that it parsed.
const PROGRAMS: u64 = 500;

/// Our evaluator.
#[derive(Debug, Clone, Copy, Default)]
pub struct Ours;

impl Ours {
    /// Our evaluator; from now on panics are answers, and are not told by the process.
    pub fn quiet() -> Self {
        std::panic::set_hook(Box::new(|_| {}));
        Self
    }
}

impl Subject for Ours {
    fn answers(&self, programs: &[Program]) -> Vec<Answer> {
        thread_local! {
            static WORKER: RefCell<Worker> = RefCell::new(Worker::new());
        }
        WORKER.with_borrow_mut(|worker| programs.iter().map(|program| worker.answer(program)).collect())
    }
}

/// An evaluator, and the program that it can read at the moment.
struct Worker {
    evaluator: Evaluator,
    current: Arc<Mutex<Program>>,
    programs: u64,
}

impl Worker {
    fn new() -> Self {
        let current = Arc::new(Mutex::new(Program { base: None, main: String::new() }));
        let limits = Limits { time: Some(TIME), memory: MEMORY, ..Limits::default() };
        let reader = Reader(Arc::clone(&current));
        Self {
            evaluator: Evaluator::builder().limits(limits).module_reader(reader).build(),
            current,
            programs: 0,
        }
    }

    fn answer(&mut self, program: &Program) -> Answer {
        if self.programs == PROGRAMS {
            *self = Self::new();
        }
        self.programs += 1;
        program.clone_into(&mut self.current.lock().unwrap_or_else(PoisonError::into_inner));
        let module = ModuleSource::Uri(format!("{SCHEME}:/{}/main.pkl", self.programs));
        match catch_unwind(AssertUnwindSafe(|| self.evaluator.output_text(&module))) {
            Ok(Ok(text)) => Answer::Text(text),
            Ok(Err(error)) => Answer::Text(format!("{FAILED}{}", error.message.replace('\n', " "))),
            Err(panic) => {
                *self = Self::new();
                let text = panic.downcast_ref::<String>().cloned();
                let text = text.or(panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
                Answer::NoVerdict(format!("panicked: {}", text.unwrap_or_default()))
            }
        }
    }
}

/// Reads the modules of the current program.
struct Reader(Arc<Mutex<Program>>);

impl ModuleReader for Reader {
    fn scheme(&self) -> &str {
        SCHEME
    }

    fn read(&self, uri: &str) -> Result<String, ReadError> {
        let program = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match (uri.rsplit('/').next(), &program.base) {
            (Some("main.pkl"), _) => Ok(program.main.clone()),
            (Some("base.pkl"), Some(base)) => Ok(base.clone()),
            _ => Err(ReadError::NotFound),
        }
    }
}
