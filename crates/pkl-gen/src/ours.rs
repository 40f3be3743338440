//! Our evaluator as a subject.

use crate::answer::{Answer, FAILED, Subject};
use crate::generate::Program;
use pkl_core::host::{ModuleReader, ReadError};
use pkl_core::{Evaluator, Limits, ModuleSource};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

/// No program of ours takes longer.
const TIME: Duration = Duration::from_secs(10);
/// Bytes that a program's values may take.
const MEMORY: usize = 256 << 20;

/// The scheme of a program's modules.
const SCHEME: &str = "generated";

/// A program's modules.
struct Files(Program);

impl ModuleReader for Files {
    fn scheme(&self) -> &str {
        SCHEME
    }

    fn read(&self, uri: &str) -> Result<String, ReadError> {
        match (uri.rsplit('/').next(), &self.0.base) {
            (Some("main.pkl"), _) => Ok(self.0.main.clone()),
            (Some("base.pkl"), Some(base)) => Ok(base.clone()),
            _ => Err(ReadError::NotFound),
        }
    }
}

/// Our evaluator.
#[derive(Debug, Clone, Copy, Default)]
pub struct Ours;

impl Subject for Ours {
    fn answers(&self, programs: &[Program]) -> Vec<Answer> {
        programs.iter().map(|program| answer(program)).collect()
    }
}

fn answer(program: &Program) -> Answer {
    let evaluated = catch_unwind(AssertUnwindSafe(|| {
        let limits = Limits { time: Some(TIME), memory: MEMORY, ..Limits::default() };
        let evaluator = Evaluator::builder().limits(limits).module_reader(Files(program.clone())).build();
        evaluator.output_text(&ModuleSource::Uri(format!("{SCHEME}:/main.pkl").into()))
    }));
    match evaluated {
        Ok(Ok(text)) => Answer::Text(text),
        Ok(Err(error)) => Answer::Text(format!("{FAILED}{}", error.message.replace('\n', " "))),
        Err(panic) => {
            let text = panic.downcast_ref::<String>().cloned();
            let text = text.or(panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
            Answer::NoVerdict(format!("panicked: {}", text.unwrap_or_default()))
        }
    }
}
