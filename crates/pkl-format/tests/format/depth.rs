//! Deep and long texts: formatted, or refused with an error.

use pkl_format::format;

use crate::same::format_checked;

#[test]
fn deep_nesting_is_formatted_or_refused() {
    for (open, close) in [
        ("(", ")"),
        ("f(", ")"),
        ("x[", "]"),
        ("new T { x = ", "}"),
        ("new T { x { y = ", "}}"),
        ("if (x) 1 else ", ""),
        ("let (x = 1) ", ""),
        ("(x) -> ", ""),
        ("\"\\(", ")\""),
        ("f((x) -> ", ")"),
        ("x is List<Int(", ")>"),
    ] {
        for depth in [2, 20, 120] {
            let source = format!("a = {}1{}\n", open.repeat(depth), close.repeat(depth));
            assert!(format_checked(open, &source).is_some(), "{open} {depth}");
        }
        let source = format!("a = {}1{}\n", open.repeat(100_000), close.repeat(100_000));
        assert!(format(&source).is_err());
    }
}

#[test]
fn long_chains_are_formatted_or_refused() {
    for (first, next) in
        [("1", " + 1"), ("1", " - 1"), ("x", ".y"), ("x", ".y(1)"), ("x", " is T"), ("x", " ?? y")]
    {
        let source = format!("a = {first}{}\n", next.repeat(20_000));
        assert!(format(&source).is_ok(), "{next}");
    }
    for (first, next) in [("x", "[1]"), ("x", "!!"), ("new T {}", " {}"), ("x", "[1].y"), ("x", " is T + 1")]
    {
        let source = format!("a = {first}{}\n", next.repeat(100_000));
        assert!(format(&source).is_err(), "{next}");
        let source = format!("a = {first}{}\n", next.repeat(200));
        assert!(format(&source).is_ok(), "{next}");
    }
}
