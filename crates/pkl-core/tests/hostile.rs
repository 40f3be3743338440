//! Programs that mean harm: none may crash, hang or take more than it is given.

#[path = "../../../fuzz/checks/evaluator.rs"]
#[expect(unreachable_pub, reason = "the fuzz target uses it too")]
mod evaluator;

use pkl_core::host::{ModuleReader, ReadError};
use pkl_core::{Error, ErrorCode, Evaluator, Limits, ModuleSource};
use std::path::Path;
use std::time::{Duration, Instant};

fn text(source: impl Into<String>) -> Result<String, Error> {
    Evaluator::builder().build().output_text(&ModuleSource::text(source))
}

fn code(result: Result<String, Error>) -> ErrorCode {
    result.expect_err("the program fails").code
}

#[test]
fn the_seeds_of_the_fuzz_target_hold() {
    let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds");
    let mut count = 0;
    for directory in ["evaluator", "parser"] {
        for entry in std::fs::read_dir(seeds.join(directory)).expect("the seeds can be read") {
            let path = entry.expect("the seeds can be read").path();
            evaluator::check(&std::fs::read(path).expect("the seeds can be read"));
            count += 1;
        }
    }
    assert!(count > 0);
}

#[test]
fn chains_to_the_left_of_any_length_are_evaluated() {
    let sum = format!("x = {}", vec!["1"; 100_000].join(" + "));
    assert_eq!(text(sum).expect("a long sum is a sum"), "x = 100000\n");
    let amended = format!("x = new Dynamic {{}}{}", " {}".repeat(100_000));
    assert_eq!(text(amended).expect("a long chain of bodies is an object"), "x {}\n");
    let default = format!("x = null{}", " ?? null".repeat(100_000));
    assert_eq!(text(default).expect("a long chain of defaults has a value"), "x = null\n");
}

#[test]
fn nesting_to_the_right_ends_in_an_error() {
    let nested = [
        ("(".repeat(100_000) + "1" + &")".repeat(100_000)),
        "if (true) 1 else ".repeat(100_000) + "2",
        "let (a = 1) ".repeat(100_000) + "2",
        "List(".repeat(100_000) + &")".repeat(100_000),
        "() -> ".repeat(100_000) + "1",
        "new Dynamic { a = ".repeat(100_000) + "1" + &"}".repeat(100_000),
    ];
    for expression in nested {
        assert_eq!(code(text(format!("x = {expression}"))), ErrorCode::Syntax);
    }
}

#[test]
fn endless_recursion_is_a_stack_overflow() {
    assert_eq!(code(text("function f(n) = 1 + f(n + 1)\nx = f(0)")), ErrorCode::StackOverflow);
    assert_eq!(code(text("x { a = b; b = a }")), ErrorCode::StackOverflow);
    assert_eq!(code(text("x = (x) {}")), ErrorCode::StackOverflow);
}

#[test]
fn ten_thousand_calls_may_be_nested() {
    let program = "function f(n) = if (n == 0) 0 else 1 + f(n - 1)\nx = f(10000)";
    assert_eq!(text(program).expect("so many calls are fine"), "x = 10000\n");
}

#[test]
fn values_too_deep_to_be_shown_are_an_error() {
    let program = "x = IntSeq(0, 100000).fold(List(), (acc, i) -> List(acc))";
    assert_eq!(code(text(program)), ErrorCode::Render);
}

#[test]
fn memory_is_bounded() {
    let limits = Limits { memory: 64 << 20, ..Limits::default() };
    let evaluator = Evaluator::builder().limits(limits).build();
    for program in [
        "x = IntSeq(0, 9223372036854775807).toList()",
        "x { for (i in IntSeq(0, 9223372036854775807)) { i } }",
        "x = \"a\".repeat(9223372036854775807)",
        "x = IntSeq(0, 100).fold(\"abcdefghijklmnop\", (acc, i) -> acc + acc)",
        "x = IntSeq(0, 100).fold(\"abcdefghijklmnop\", (acc, i) -> \"\\(acc)\\(acc)\")",
        "x = IntSeq(0, 100).fold(List(1), (acc, i) -> acc + acc)",
    ] {
        let result = evaluator.output_text(&ModuleSource::text(program));
        assert_eq!(code(result), ErrorCode::LimitExceeded, "{program}");
    }
}

#[test]
fn time_is_bounded() {
    let limits = Limits { time: Some(Duration::from_millis(200)), ..Limits::default() };
    let evaluator = Evaluator::builder().limits(limits).build();
    let started = Instant::now();
    for program in [
        "x = IntSeq(0, 9223372036854775807).fold(0, (acc, i) -> i)",
        "x = Regex(\"(a*)*b\").matchEntire(\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaac\")",
    ] {
        // How far a machine comes in that time is its own affair; that it ends is not.
        let _ended = evaluator.output_text(&ModuleSource::text(program));
    }
    assert!(started.elapsed() < Duration::from_secs(30));
}

/// A module for every number, each of which says what the next has to do with it.
struct Endless {
    link: &'static str,
}

impl ModuleReader for Endless {
    fn scheme(&self) -> &'static str {
        "endless"
    }

    fn is_hierarchical(&self) -> bool {
        false
    }

    fn read(&self, uri: &str) -> Result<String, ReadError> {
        let number: u64 =
            uri.rsplit(':').next().and_then(|text| text.parse().ok()).ok_or(ReadError::NotFound)?;
        Ok(self.link.replace("NEXT", &(number + 1).to_string()))
    }
}

#[test]
fn modules_without_end_are_bounded() {
    for (link, expected) in [
        ("open module m\nextends \"endless:NEXT\"", ErrorCode::StackOverflow),
        ("import \"endless:NEXT\" as next\nx = next.x", ErrorCode::StackOverflow),
    ] {
        let limits = Limits { depth: 300, ..Limits::default() };
        let evaluator = Evaluator::builder().module_reader(Endless { link }).limits(limits).build();
        let result = evaluator.output_text(&ModuleSource::Uri("endless:0".to_owned()));
        assert_eq!(code(result), expected, "{link}");
    }
}

#[test]
fn loading_counts_as_time_and_memory() {
    let endless = || Endless { link: "open module m\nextends \"endless:NEXT\"" };
    let uri = ModuleSource::Uri("endless:0".to_owned());
    let limits = Limits { time: Some(Duration::ZERO), ..Limits::default() };
    let evaluator = Evaluator::builder().module_reader(endless()).limits(limits).build();
    assert_eq!(code(evaluator.output_text(&uri)), ErrorCode::LimitExceeded);
    let limits = Limits { memory: 64 << 10, ..Limits::default() };
    let evaluator = Evaluator::builder().module_reader(endless()).limits(limits).build();
    assert_eq!(code(evaluator.output_text(&uri)), ErrorCode::LimitExceeded);
}

#[test]
fn sets_of_one_sum_have_hashes_of_their_own() {
    // If they hadn't, this would be half a billion comparisons of sets.
    let program = "x = IntSeq(1, 60000).map((i) -> Set(i, 60001 - i, 0)).toSet().length";
    assert_eq!(text(program).expect("it is a number"), "x = 30000\n");
}

#[test]
fn comparing_what_is_shared_ends_in_time() {
    let limits = Limits { time: Some(Duration::from_millis(300)), ..Limits::default() };
    let evaluator = Evaluator::builder().limits(limits).build();
    for program in [
        "local a = IntSeq(1, 60).fold(1, (acc, _) -> List(acc, acc))\nx = Map(a, 1).length",
        "local function f() = IntSeq(1, 60).fold(1, (acc, _) -> List(acc, acc))\nx = f() == f()",
    ] {
        assert_eq!(code(evaluator.output_text(&ModuleSource::text(program))), ErrorCode::LimitExceeded);
    }
}
