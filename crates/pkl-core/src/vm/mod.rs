//! One evaluation: the machine that runs lowered code over a heap.

pub(crate) mod amend;
mod calls;
mod classes;
mod constness;
pub(crate) mod describe;
mod equality;
pub(crate) mod eval;
mod expression;
pub(crate) mod force;
mod generate;
pub(crate) mod iterate;
mod known;
mod make;
mod members;
mod modules;
pub(crate) mod operators;
mod reads;
mod share;
mod show;
mod spread;
pub(crate) mod subscript;
mod type_defaults;
mod type_refs;
pub(crate) mod types;
mod unions;
mod verify;

pub(crate) use classes::Resolved;
pub(crate) use iterate::MemberKey;
pub(crate) use known::{Known, Words};
pub(crate) use members::MemberRef;
pub(crate) use modules::ModuleState;

use rustc_hash::FxHashMap;
use std::sync::Arc;
use std::time::Instant;

use crate::error::{ErrorCode, Failure, Raised, Result};
use crate::heap::Heap;
use crate::host::{Limits, TraceMode};
use crate::ir::{self, Site};
use crate::native::NativeMethod;
use crate::reader::Readers;
use crate::store::Store;
use crate::value::{ClassId, EnvId, ModuleId, ObjectId, TypeAliasId, Value};

/// What code runs in: the receiver, the object whose body holds the code, and the variables.
#[derive(Clone, Copy)]
pub(crate) struct Frame<'ir> {
    /// `this`
    pub(crate) this: Value,
    /// The object in whose body the code is written, from which enclosing objects are found.
    pub(crate) owner: ObjectId,
    /// Captured variables.
    pub(crate) env: Option<EnvId>,
    /// Where this frame's variables begin on the stack.
    pub(crate) base: usize,
    /// The key or index of the entry or element being evaluated.
    pub(crate) key: Value,
    /// The member being evaluated.
    pub(crate) member: Option<&'ir ir::Member>,
    /// What the type parameters of the enclosing alias stand for.
    pub(crate) alias: Option<types::AppliedId>,
}

/// What an evaluation remembers about a place in a program.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Memo {
    Nothing,
    Value(Value),
    Class(ClassId),
    Alias(TypeAliasId),
    Native(NativeMethod),
}

/// One evaluation.
pub(crate) struct Vm<'ir> {
    pub(crate) store: &'ir Store,
    pub(crate) heap: Heap<'ir>,
    /// The variables of all frames.
    pub(crate) stack: Vec<Value>,
    pub(crate) modules: Vec<ModuleState<'ir>>,
    module_of_ir: FxHashMap<ir::IrId, ModuleId>,
    module_of_uri: FxHashMap<Arc<str>, ModuleId>,
    /// Classes that are being declared, to find those that extend themselves.
    declaring: Vec<(ModuleId, usize)>,
    resources: FxHashMap<String, Value>,
    pub(crate) globs: FxHashMap<String, Value>,
    memos: Vec<Memo>,
    /// The implementations of external properties, by declaration.
    natives: FxHashMap<usize, NativeMethod>,
    /// Where interpolated strings are put together.
    scratch: String,
    known: [Option<ClassId>; Known::COUNT],
    pub(crate) words: Words,
    pub(crate) readers: &'ir Readers,
    pub(crate) checks: types::Checks<'ir>,
    pub(crate) mirrors: crate::native::reflect::Mirrors,
    limits: Limits,
    deadline: Option<Instant>,
    depth: usize,
    ticks: u32,
    stack_floor: usize,
    pub(crate) trace: Box<dyn FnMut(&str) + 'ir>,
    pub(crate) trace_mode: TraceMode,
}

/// The most that an evaluation can be allowed.
const MAX_MEMORY: usize = u32::MAX as usize;

/// How much of the thread's stack must be left for a further step.
const STACK_RESERVE: usize = if cfg!(debug_assertions) { 64 << 20 } else { 4 << 20 };

impl<'ir> Vm<'ir> {
    /// A machine on the current thread, of whose stack `stack_size` bytes may be used.
    pub(crate) fn new(
        store: &'ir Store,
        readers: &'ir Readers,
        mut limits: Limits,
        stack_size: usize,
        trace: Box<dyn FnMut(&str) + 'ir>,
    ) -> Self {
        // Positions in strings and arenas are 32 bits.
        limits.memory = limits.memory.min(MAX_MEMORY);
        let here = 0_u8;
        let top = std::ptr::from_ref(&here).addr();
        Self {
            store,
            heap: Heap::default(),
            stack: Vec::with_capacity(1024),
            modules: Vec::new(),
            module_of_ir: FxHashMap::default(),
            module_of_uri: FxHashMap::default(),
            declaring: Vec::new(),
            resources: FxHashMap::default(),
            globs: FxHashMap::default(),
            memos: Vec::new(),
            natives: FxHashMap::default(),
            scratch: String::new(),
            known: [None; Known::COUNT],
            words: Words::new(&store.interner),
            readers,
            checks: types::Checks::default(),
            mirrors: crate::native::reflect::Mirrors::default(),
            deadline: limits.time.map(|time| Instant::now() + time),
            limits,
            depth: 0,
            ticks: 0,
            stack_floor: top.saturating_sub(stack_size.saturating_sub(STACK_RESERVE)),
            trace,
            trace_mode: TraceMode::default(),
        }
    }

    pub(crate) fn memo(&self, site: Site) -> Memo {
        self.memos.get(site.0 as usize).copied().unwrap_or(Memo::Nothing)
    }

    pub(crate) fn remember(&mut self, site: Site, memo: Memo) {
        let index = site.0 as usize;
        if index >= self.memos.len() {
            self.memos.resize((index + 1).next_power_of_two(), Memo::Nothing);
        }
        self.memos[index] = memo;
    }

    /// Counts a call or member that is entered. Every `enter` has its [`Vm::leave`], also after an error.
    pub(crate) fn enter(&mut self) -> Result<()> {
        let here = 0_u8;
        if self.depth >= self.limits.depth || std::ptr::from_ref(&here).addr() < self.stack_floor {
            return Err(stack_overflow());
        }
        self.depth += 1;
        self.tick()
    }

    pub(crate) fn leave(&mut self) {
        self.depth -= 1;
    }

    /// Looks at the limits of time and memory from time to time.
    #[inline]
    pub(crate) fn tick(&mut self) -> Result<()> {
        self.ticks = self.ticks.wrapping_add(1);
        if self.ticks.is_multiple_of(256) { self.check_limits() } else { Ok(()) }
    }

    pub(crate) fn check_limits(&mut self) -> Result<()> {
        if self.heap.bytes() > self.limits.memory {
            let message = format!("The evaluation needs more than {} bytes of memory.", self.limits.memory);
            return Err(Raised::new(ErrorCode::LimitExceeded, message));
        }
        if self.deadline.is_some_and(|deadline| Instant::now() > deadline) {
            let time = self.limits.time.unwrap_or_default();
            let message = format!("Evaluation timed out after {} second(s).", time.as_secs_f64());
            return Err(Raised::new(ErrorCode::LimitExceeded, message));
        }
        Ok(())
    }

    /// When the evaluation must have ended.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Whether so little stack is left that a value of any depth should not be walked further.
    pub(crate) fn check_stack(&self) -> Result<()> {
        let here = 0_u8;
        if std::ptr::from_ref(&here).addr() < self.stack_floor { Err(stack_overflow()) } else { Ok(()) }
    }

    /// Runs `work` and, if it fails, restores what it left behind.
    pub(crate) fn attempt<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let (depth, top) = (self.depth, self.stack.len());
        let result = work(self);
        self.depth = depth;
        self.stack.truncate(top);
        result
    }

    /// Places a new frame's variables on the stack, all null.
    pub(crate) fn push_frame(&mut self, size: u32) -> usize {
        let base = self.stack.len();
        self.stack.resize(base + size as usize, Value::NULL);
        base
    }

    pub(crate) fn text_of(&self, symbol: pkl_parser::Symbol) -> Arc<str> {
        self.store.interner.text(symbol)
    }
}

pub(crate) fn stack_overflow() -> Failure {
    Raised::new(ErrorCode::StackOverflow, "A stack overflow occurred.")
}
