//! `pkl-gen find [--seed N] [--programs N] [--findings N] [--known TEXT]… [--no-shrink]`: programs that the official binary
//! and our evaluator don't agree on. `pkl-gen show <seed>`: the program of a seed. `pkl-gen stats [--seed N]
//! [--programs N]`: what the official binary makes of programs, to see how much they show. `pkl-gen mutants
//! [--programs N]`, with the feature `mutants`: whether programs find deliberate bugs of the evaluator.

use pkl_corpus::Oracle;
use pkl_gen::{Answer, Subject};
use pkl_gen::{Choices, Ours, Program, Search, program, search};
use std::collections::BTreeMap;
use std::process::ExitCode;

const USAGE: &str = "usage: pkl-gen find [--seed N] [--programs N] [--findings N] [--known TEXT]… [--no-shrink] | pkl-gen stats [--seed N] [--programs N] | pkl-gen show <seed>";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        ["show", seed] => seed.parse().map_or_else(
            |_| usage(),
            |seed| {
                println!("{}", program(&mut Choices::random(seed)));
                ExitCode::SUCCESS
            },
        ),
        ["find", options @ ..] => options_of(options).map_or_else(usage, |options| find(&options)),
        #[cfg(feature = "mutants")]
        ["mutants", options @ ..] => options_of(options).map_or_else(usage, |options| mutants(&options)),
        ["stats", options @ ..] => options_of(options).map_or_else(usage, |options| stats(&options)),
        _ => usage(),
    }
}

fn usage() -> ExitCode {
    eprintln!("{USAGE}");
    ExitCode::FAILURE
}

fn options_of(mut options: &[&str]) -> Option<Search> {
    let mut search = Search { first: 0, programs: 10_000, findings: 10, shrinks: true, known: Vec::new() };
    while let Some((option, rest)) = options.split_first() {
        options = rest;
        if *option == "--no-shrink" {
            search.shrinks = false;
            continue;
        }
        let (value, rest) = rest.split_first()?;
        options = rest;
        match *option {
            "--seed" => search.first = value.parse().ok()?,
            "--programs" => search.programs = value.parse().ok()?,
            "--known" => search.known.push((*value).to_owned()),
            "--findings" => search.findings = value.parse().ok()?,
            _ => return None,
        }
    }
    Some(search)
}

fn oracle() -> Option<Oracle> {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    Oracle::find(&root).map_err(|error| eprintln!("pkl-gen: {error}")).ok()
}

fn stats(options: &Search) -> ExitCode {
    let Some(oracle) = oracle() else { return ExitCode::FAILURE };
    let seeds: Vec<u64> = (options.first..options.first + options.programs).collect();
    let (mut parts, mut failed, mut silent) = (0, 0, 0);
    let mut messages: BTreeMap<String, (usize, u64)> = BTreeMap::new();
    for seeds in seeds.chunks(100) {
        let programs: Vec<Program> = seeds.iter().map(|seed| program(&mut Choices::random(*seed))).collect();
        for (seed, answer) in seeds.iter().zip(oracle.answers(&programs)) {
            let Answer::Text(text) = answer else {
                silent += 1;
                continue;
            };
            for part in text.split("\n--\n") {
                parts += 1;
                if let Some(message) = part.trim_start().strip_prefix("!! ") {
                    failed += 1;
                    let kind = message.split(['`', '.', ':', '"']).next().unwrap_or_default();
                    messages.entry(kind.to_owned()).or_insert((0, *seed)).0 += 1;
                }
            }
        }
    }
    let mut messages: Vec<_> =
        messages.into_iter().map(|(message, (count, seed))| (count, seed, message)).collect();
    messages.sort_unstable_by(|left, right| right.cmp(left));
    for (count, seed, message) in messages.iter().take(40) {
        println!("{count:6}  {message} (seed {seed})");
    }
    println!("{} programs, {silent} without a verdict, {parts} parts, {failed} of them errors", seeds.len());
    ExitCode::SUCCESS
}

/// At least so many deliberate bugs must be found.
#[cfg(feature = "mutants")]
const MUTANTS: usize = 36;

#[cfg(feature = "mutants")]
fn mutants(options: &Search) -> ExitCode {
    let Some(oracle) = oracle() else { return ExitCode::FAILURE };
    let hunted = pkl_gen::hunt(options.programs, &oracle, &Ours::quiet(), &|hunted| {
        println!("{:?}: seed {}", hunted.mutant, hunted.seed.unwrap_or_default());
    });
    let alive: Vec<_> = hunted.iter().filter(|hunted| hunted.seed.is_none()).collect();
    for hunted in &alive {
        println!("{:?}: not found", hunted.mutant);
    }
    let found = hunted.len() - alive.len();
    println!("{found} of {} mutants found within {} programs", hunted.len(), options.programs);
    if found >= MUTANTS { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn find(options: &Search) -> ExitCode {
    let Some(oracle) = oracle() else { return ExitCode::FAILURE };
    let found = search(options, &oracle, &Ours::quiet(), &|finding| {
        println!("// seed {}\n{}\n/*\n{}*/\n", finding.seed, finding.program, finding.difference);
    });
    let (findings, silent) = (found.findings.len(), found.silent);
    eprintln!("{} programs, {findings} findings, {silent} without a verdict", options.programs);
    if findings == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
