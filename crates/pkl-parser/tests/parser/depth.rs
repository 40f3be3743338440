//! Nesting and long chains: an error or a tree, never a stack overflow.

use std::fmt::Write;

use pkl_parser::{DiagnosticCode, Interner, Origin, Parsed, check_module, parse_module, tokenize};

const MANY: usize = 100_000;

fn parse(source: &str) -> Parsed<pkl_parser::ast::Module> {
    let interner = Interner::new();
    let (tokens, _) = tokenize(source);
    assert_eq!(tokens.last().expect("there is an end").span.end as usize, source.len());
    let parsed = parse_module(source, &interner);
    check_module(source, &parsed, &interner, Origin::User);
    parsed
}

#[test]
fn deep_nesting_is_an_error() {
    let nests: &[(&str, &str)] = &[
        ("(", ")"),
        ("f(", ")"),
        ("x[", "]"),
        ("x.f(", ")"),
        ("new { x = ", "}"),
        ("new T { ", "}"),
        ("(x) { ", "}"),
        ("new { x { ", "}}"),
        ("new { [1] { ", "}}"),
        ("new { [[1]] { ", "}}"),
        ("new { for (x in y) { ", "}}"),
        ("new { when (x) { ", "}}"),
        ("new { ...", "}"),
        ("if (x) 1 else ", ""),
        ("if (", ") 1 else 2"),
        ("let (x = 1) ", ""),
        ("let (x = ", ") 1"),
        ("(x) -> ", ""),
        ("1 ** ", ""),
        ("\"\\(", ")\""),
        ("#\"\\#(", ")\"#"),
        ("throw(", ")"),
        ("read(", ")"),
        ("x is List<", ">"),
        ("x is (", ")"),
        ("x is () -> ", ""),
        ("x is Int(", ")"),
        ("x is (y) {", "}"),
        ("super[", "]"),
        ("((", "))"),
        ("([", "])"),
        ("{", "}"),
        ("[[", "]]"),
    ];
    for (open, close) in nests {
        for text in [
            format!("a = {}1{}", open.repeat(MANY), close.repeat(MANY)),
            format!("a = {}", open.repeat(MANY)),
            format!("a = {}1{}", open.repeat(400), close.repeat(400)),
        ] {
            let parsed = parse(&text);
            let too_deep = parsed.diagnostics.iter().any(|found| found.code == DiagnosticCode::TooDeep);
            let is_long = text.len() > 20_000;
            let is_grammatical = parse(&format!("a = {open}1{close}")).diagnostics.is_empty();
            assert!(!(is_long && is_grammatical) || too_deep, "{open}: {:?}", parsed.diagnostics.first());
        }
    }
}

#[test]
fn deep_nesting_of_bodies_and_types_is_an_error() {
    let texts = [
        format!("a {}", "{ b ".repeat(MANY)),
        format!("a: {}", "List<".repeat(MANY)),
        format!("a: {}", "(".repeat(MANY)),
        format!("typealias A = {}Int", "() -> ".repeat(MANY)),
        format!("@A {}", "{ b ".repeat(MANY)),
    ];
    for text in texts {
        let parsed = parse(&text);
        assert!(parsed.diagnostics.iter().any(|found| found.code == DiagnosticCode::TooDeep));
    }
}

#[test]
fn nesting_that_people_write_is_fine() {
    let text = format!("a = {}1{}", "(".repeat(240), ")".repeat(240));
    assert!(parse(&text).diagnostics.is_empty());
    let mut text = "a = 1\n".to_owned();
    for _ in 0..400 {
        text = text.replace("a = ", "a = if (x) 2 else ");
        text.truncate(100_000);
    }
    assert!(parse(&text).diagnostics.is_empty());
}

#[test]
fn long_chains_are_fine() {
    let chains: &[(&str, &str)] = &[
        ("1", " + 1"),
        ("x", ".y"),
        ("x", "?.y"),
        ("x", ".y()"),
        ("x", "[1]"),
        ("x", "!!"),
        ("x", " is T"),
        ("x", " as T"),
        ("new T {}", " {}"),
        ("x", " ?? y"),
        ("x", " |> y"),
        ("x", " && y"),
    ];
    for (first, next) in chains {
        let text = format!("a = {first}{}", next.repeat(MANY));
        let parsed = parse(&text);
        assert_eq!(parsed.diagnostics, [], "{next}");
        drop(parsed.clone());
    }
    for text in [
        format!("a = {}x", "- ".repeat(MANY)),
        format!("a = {}x", "! ".repeat(MANY)),
        format!("a: Int{}", "? ".repeat(MANY)),
        format!("a: Int{}", "(x)".repeat(MANY)),
        format!("a: Int{}", "|Int".repeat(MANY)),
        format!("a {}", "{} ".repeat(MANY)),
        format!("a {{ {} }}", "x ".repeat(MANY)),
        format!("module a{}", ".b".repeat(MANY)),
        format!("{}\na = 1", "@A ".repeat(MANY)),
        format!("{}a = 1", "local ".repeat(MANY)),
        format!("{}a = 1", "/// b\n".repeat(MANY)),
    ] {
        assert_eq!(parse(&text).diagnostics, [], "{}", &text[..30]);
    }
}

#[test]
fn many_errors_are_all_reported() {
    let mut text = String::new();
    for index in 0..1000 {
        writeln!(text, "a{index} {{ x = 1 + }}\nb{index} = 2 +\n").expect("a string can be written");
    }
    assert_eq!(parse(&text).diagnostics.len(), 2000);
}
