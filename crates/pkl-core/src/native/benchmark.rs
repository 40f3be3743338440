//! `pkl:Benchmark`: how long evaluating, rendering and parsing take.

use pkl_data::units::{Duration, DurationUnit};
use std::time::Instant;

use super::{Table, args};
use crate::error::{ErrorCode, Raised, Result};
use crate::heap::PropertyKey;
use crate::ir::{Code, Expr, ExprIx, MemberSource, UnaryOp};
use crate::value::Value;
use crate::vm::{Resolved, Vm};

pub(super) static METHODS: Table = &[
    ("pkl.Benchmark#Microbenchmark.run", run_microbenchmark),
    ("pkl.Benchmark#OutputBenchmark.run", run_output_benchmark),
    ("pkl.Benchmark#ParserBenchmark.run", run_parser_benchmark),
];

/// The most that is repeated in one measurement: what is evaluated takes memory until the evaluation ends.
const MAX_REPETITIONS: u32 = 10_000;

/// How many standard errors from the measured mean the true one lies at most, with a confidence of 99 %.
const CONFIDENCE: f64 = 2.576;

fn run_microbenchmark(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    let object = args::object(this);
    let name = vm.store.symbol("expression");
    if let Some(index) = vm.heap.find_property(object, PropertyKey::Named(name)) {
        let member = vm.heap.slot(index).member;
        if matches!(member.source, MemberSource::Expr(_)) {
            let code = vm.store.member_code(member);
            if is_constant(code, code.root) {
                let message = "Microbenchmark is a constant expression.";
                return Err(Raised::new(ErrorCode::InvalidArgument, message));
            }
        }
    }
    vm.read_property(this, name)?;
    measure(vm, this, |vm| {
        let copy = vm.unevaluated_copy(object);
        vm.read_property(Value::Object(copy), name).map(|_| ())
    })
}

/// Whether an expression has one value wherever it stands.
fn is_constant(code: &Code, ix: ExprIx) -> bool {
    match &code.exprs[ix as usize] {
        Expr::Null | Expr::Bool(_) | Expr::Int(_) | Expr::Float(_) | Expr::String(..) => true,
        Expr::Unary { op: UnaryOp::Negate, operand } => is_constant(code, *operand),
        Expr::Collect { args, .. } => args.iter().all(|&arg| is_constant(code, arg)),
        _ => false,
    }
}

fn run_output_benchmark(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    let name = vm.store.symbol("sourceModule");
    let module = args::object(vm.read_property(this, name)?);
    measure(vm, this, |vm| {
        let copy = vm.unevaluated_copy(module);
        let output = vm.read_property(Value::Object(copy), vm.words.output)?;
        vm.read_property(output, vm.words.bytes).map(|_| ())
    })
}

fn run_parser_benchmark(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    let name = vm.store.symbol("sourceText");
    let text = vm.read_property(this, name)?;
    let text = vm.str(text).to_owned();
    measure(vm, this, |_| {
        let parsed = pkl_parser::parse_module(&text, &pkl_parser::Interner::new());
        match parsed.diagnostics.first() {
            Some(first) => Err(Raised::new(ErrorCode::Syntax, first.to_string())),
            None => Ok(()),
        }
    })
}

/// Does `work` as often as a benchmark says, and tells how long it took.
fn measure<'ir>(
    vm: &mut Vm<'ir>,
    benchmark: Value,
    mut work: impl FnMut(&mut Vm<'ir>) -> Result<()>,
) -> Result<Value> {
    let [iterations, time, verbose] =
        ["iterations", "iterationTime", "isVerbose"].map(|name| vm.store.symbol(name));
    let count = args::int(vm.read_property(benchmark, iterations)?);
    let Value::Duration(time) = vm.read_property(benchmark, time)? else {
        panic!("a benchmark's iteration time is a duration")
    };
    let time = vm.heap.duration(time).value_in(DurationUnit::Nanos);
    let is_verbose = matches!(vm.read_property(benchmark, verbose)?, Value::Bool(true));
    let once = nanoseconds(vm, 1, &mut work)?;
    let repetitions = repetitions(time, once);
    let mut samples = Vec::new();
    for _ in 0..count {
        vm.check_count(samples.len())?;
        samples.push(nanoseconds(vm, repetitions, &mut work)?);
    }
    result(vm, count, repetitions, is_verbose.then_some(&samples), &samples)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a float as near as an integer can be"
)]
fn repetitions(time: f64, once: f64) -> u32 {
    ((time / once.max(1.0)) as u32).clamp(1, MAX_REPETITIONS)
}

/// How many nanoseconds one repetition takes.
fn nanoseconds<'ir>(
    vm: &mut Vm<'ir>,
    repetitions: u32,
    work: &mut impl FnMut(&mut Vm<'ir>) -> Result<()>,
) -> Result<f64> {
    let start = Instant::now();
    for _ in 0..repetitions {
        vm.tick()?;
        work(vm)?;
    }
    Ok(start.elapsed().as_secs_f64() * 1e9 / f64::from(repetitions))
}

fn result(
    vm: &mut Vm<'_>,
    count: i64,
    repetitions: u32,
    shown: Option<&Vec<f64>>,
    samples: &[f64],
) -> Result<Value> {
    let duration = |vm: &mut Vm<'_>, nanoseconds: f64| {
        let duration = Duration::new(nanoseconds / 1e3, DurationUnit::Micros);
        Value::Duration(vm.heap.add_duration(duration))
    };
    #[expect(clippy::cast_precision_loss, reason = "there are few samples")]
    let len = samples.len() as f64;
    let mean = samples.iter().sum::<f64>() / len;
    let deviation = (samples.iter().map(|sample| (sample - mean).powi(2)).sum::<f64>() / (len - 1.0)).sqrt();
    let statistics = [
        ("min", samples.iter().copied().fold(f64::NAN, f64::min)),
        ("max", samples.iter().copied().fold(f64::NAN, f64::max)),
        ("mean", mean),
        ("stdev", deviation),
        ("error", CONFIDENCE * deviation / len.sqrt()),
    ];
    let samples = match shown {
        Some(samples) => {
            let samples = samples.iter().map(|&sample| duration(vm, sample)).collect();
            Value::List(vm.heap.add_list(samples))
        }
        None => Value::NULL,
    };
    let mut properties = vec![
        (vm.store.symbol("iterations"), Value::Int(count)),
        (vm.store.symbol("repetitions"), Value::Int(i64::from(repetitions))),
        (vm.store.symbol("samples"), samples),
    ];
    for (name, value) in statistics {
        let value = duration(vm, value);
        properties.push((vm.store.symbol(name), value));
    }
    let module = vm.load_module("pkl:Benchmark")?;
    let name = vm.store.symbol("BenchmarkResult");
    match vm.find_own_type(module, name)? {
        Some(Resolved::Class(class)) => Ok(vm.make_typed(class, &properties)),
        _ => panic!("pkl:Benchmark declares BenchmarkResult"),
    }
}
