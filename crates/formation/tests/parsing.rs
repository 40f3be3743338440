//! Texts of every kind, right, wrong and hostile.

mod common;

use common::catalog;
use formwork_formation::{Limits, check, document_from_json, parse};
use formwork_model::{Children, Diagnostic, DiagnosticCode, Json, SourceMap, SourceNode};
use proptest::prelude::*;
use serde_json::json;
use std::fmt::Write as _;

fn value(text: &str) -> Json {
    parse("t", text.as_bytes(), &Limits::default()).expect("the text is right").value
}

fn only_error(text: &[u8], limits: &Limits) -> Diagnostic {
    let found = parse("t", text, limits).expect_err("the text is wrong");
    assert_eq!(found.error_count(), 1, "{found:?}");
    found.iter().next().expect("there is one").clone()
}

fn refused(text: &str) -> DiagnosticCode {
    let found = parse("t", text.as_bytes(), &Limits::default()).expect_err("the text is wrong");
    assert!(found.iter().all(|found| found.place.is_some()), "{found:?}");
    found.iter().next().expect("there is one").code
}

#[test]
fn json_and_yaml_come_to_the_same() {
    let json = r#"{"a": [1, 2.5, true, null, "x"], "b": {"c": {}}}"#;
    let yaml = "a:\n  - 1\n  - 2.5\n  - true\n  - ~\n  - x\nb:\n  c: {}\n";
    assert_eq!(value(json), value(yaml));
}

#[test]
fn an_object_without_quoted_keys_is_yaml() {
    assert_eq!(value("{a: 1, 'b': [x]}"), json!({"a": 1, "b": ["x"]}));
}

#[test]
fn the_core_schema_of_yaml() {
    for (text, expected) in [
        ("yes", json!("yes")),
        ("no", json!("no")),
        ("on", json!("on")),
        ("2024-01-02", json!("2024-01-02")),
        ("2024-01-02T03:04:05Z", json!("2024-01-02T03:04:05Z")),
        ("12:30:45", json!("12:30:45")),
        ("True", json!(true)),
        ("FALSE", json!(false)),
        ("tRue", json!("tRue")),
        ("~", json!(null)),
        ("NULL", json!(null)),
        ("", json!(null)),
        ("0o17", json!(15)),
        ("0x1F", json!(31)),
        ("017", json!(17)),
        ("+12", json!(12)),
        ("-12", json!(-12)),
        ("18446744073709551615", json!(u64::MAX)),
        ("-9223372036854775808", json!(i64::MIN)),
        ("1.", json!(1.0)),
        (".5", json!(0.5)),
        ("1e3", json!(1000.0)),
        ("1_000", json!("1_000")),
        ("0o8", json!("0o8")),
        ("1.2.3", json!("1.2.3")),
        ("'1'", json!("1")),
        ("\"true\"", json!("true")),
        ("!!str 1", json!("1")),
        ("! 1", json!("1")),
        ("!!float 1", json!(1)),
        ("|\n  a\n  b\n", json!("a\nb\n")),
        (">-\n  a\n  b\n", json!("a b")),
    ] {
        assert_eq!(value(&format!("a: {text}")), json!({ "a": expected }), "{text}");
    }
}

#[test]
fn keys_that_are_no_text_become_the_text_they_are_written_as() {
    assert_eq!(
        value("1: a\ntrue: b\n~: c\n1.50: d\n"),
        json!({"1": "a", "true": "b", "~": "c", "1.50": "d"})
    );
}

#[test]
fn aliases_and_merges_are_expanded() {
    let text = "base: &base { a: 1, b: 2 }
more: &more { b: 3, c: 4 }
one: { <<: *base, b: 9 }
two: { b: 9, <<: [*base, *more] }
three: *base
";
    let value = value(text);
    assert_eq!(value["one"], json!({"a": 1, "b": 9}));
    assert_eq!(value["two"], json!({"b": 9, "a": 1, "c": 4}));
    assert_eq!(value["three"], json!({"a": 1, "b": 2}));
}

#[test]
fn a_quoted_merge_key_is_a_key() {
    assert_eq!(value("a: {'<<': 1}"), json!({"a": {"<<": 1}}));
}

#[test]
fn json_keeps_every_digit_and_every_character() {
    let text = r#"{"a": [18446744073709551615, -9223372036854775808, 0.1, 1e2, -0, -0.0], "b": "\u00e9\ud83d\ude00\/\b\f\n\r\t\"\\é😀"}"#;
    let expected: Json = serde_json::from_str(text).expect("it is JSON");
    assert_eq!(value(text).to_string(), expected.to_string());
}

#[test]
fn json_that_is_not() {
    for text in [
        "{",
        "{\"a\"",
        "{\"a\":",
        "{\"a\": 1",
        "{\"a\": 1,",
        "{\"a\": 1,}",
        "{\"a\" 1}",
        "{\"a\": }",
        "{\"a\": 1]",
        "{\"a\": [1}",
        "{\"a\": [1 2]}",
        "{\"a\": 1} x",
        "{\"a\": \"\\ud800\"}",
        "{\"a\": \"\\ud800\\u0041\"}",
        "{\"a\": \"\\u12\"}",
        "{\"a\": \"\\",
        "{\"a\": \"\\u",
        "{\"a\": \"",
        "{\"a\": 01}",
        "{\"a\": +1}",
        "{\"a\": 1.}",
        "{\"a\": .5}",
        "{\"a\": 1e}",
        "{\"a\": NaN}",
        "{\"a\": /* never ends",
        "{,}",
        "[\"a\", ]",
        "[é]",
    ] {
        assert_eq!(refused(text), DiagnosticCode::SyntaxError, "{text}");
    }
    assert_eq!(refused("{\"a\": 1, \"a\": 1}"), DiagnosticCode::DuplicateKey);
    assert_eq!(refused("{\"a\": 18446744073709551616}"), DiagnosticCode::WrongType);
    assert_eq!(refused("{\"a\": 1e999}"), DiagnosticCode::WrongType);
}

#[test]
fn yaml_that_is_not() {
    for text in [
        "a: [1",
        "a: {b",
        "a: 'x",
        "a: \"x",
        "a: b: c",
        "- a\nb: c",
        "a: *nobody",
        "%YAML 9.9.9\n---\na",
        "a: \"\\q\"",
    ] {
        assert_eq!(refused(text), DiagnosticCode::SyntaxError, "{text}");
    }
    for text in ["? [a]\n: b", "? {a: b}\n: c", "a: !Foo b", "a: &x [*x]", "a: 1\n---\nb: 2"] {
        assert_eq!(refused(text), DiagnosticCode::UnsupportedYaml, "{text}");
    }
    assert_eq!(refused("a: 1\nb: 2\na: 3"), DiagnosticCode::DuplicateKey);
    assert_eq!(refused("a: .nan"), DiagnosticCode::WrongType);
}

#[test]
fn depth_is_bounded_in_every_notation() {
    let deep = 100_000;
    for text in [
        "{\"a\":".repeat(deep),
        "[".repeat(deep),
        "{a: ".repeat(deep),
        format!("a: {}", "[".repeat(deep)),
        "- ".repeat(deep),
        (0..2000).fold(String::new(), |mut text, depth| {
            let _ = writeln!(text, "{}a:", " ".repeat(depth));
            text
        }),
    ] {
        let error = only_error(text.as_bytes(), &Limits::default());
        assert_eq!(error.code, DiagnosticCode::InputTooLarge);
        assert!(error.place.is_some());
    }
}

#[test]
fn the_deepest_that_is_allowed_is_allowed() {
    let limits = Limits { max_depth: 3, ..Limits::default() };
    assert!(parse("t", b"{\"a\": [[1]]}", &limits).is_ok());
    assert!(parse("t", b"a: [[1]]", &limits).is_ok());
    assert!(parse("t", b"{\"a\": [[[]]]}", &limits).is_err());
    assert!(parse("t", b"a: [[[]]]", &limits).is_err());
    assert!(parse("t", b"a: &x [1]\nb: [[*x]]", &limits).is_err());
}

#[test]
fn a_text_beyond_the_limit_is_refused_unread() {
    let text = vec![b'['; 50 << 20];
    let error = only_error(&text, &Limits::default());
    assert_eq!(error.code, DiagnosticCode::InputTooLarge);
    assert_eq!(error.message, "The template has 52428800 bytes; the most are 16777216");
}

#[test]
fn values_are_counted_after_aliases_are_expanded() {
    let mut bomb = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for level in 1..12 {
        let before = level - 1;
        let aliases = vec![format!("*a{before}"); 10].join(", ");
        let _ = writeln!(bomb, "a{level}: &a{level} [{aliases}]");
    }
    let error = only_error(bomb.as_bytes(), &Limits::default());
    assert_eq!(error.code, DiagnosticCode::InputTooLarge);
    assert_eq!(error.message, "The template has more than 2000000 values");
    let few = Limits { max_nodes: 4, ..Limits::default() };
    assert!(parse("t", b"{\"a\": [1, 2]}", &few).is_ok());
    assert_eq!(only_error(b"{\"a\": [1, 2, 3]}", &few).code, DiagnosticCode::InputTooLarge);
}

#[test]
fn resources_are_counted() {
    let limits = Limits { max_resources: 1, ..Limits::default() };
    let error = only_error(b"resources:\n  A: 1\n  B: 2\n", &limits);
    assert_eq!(error.message, "The template has more than 1 resources");
    assert_eq!(error.place.map(|place| place.line), Some(3));
}

#[test]
fn very_many_errors_are_counted_and_the_first_are_kept() {
    let mut text =
        String::from("{\"resources\": {\"A\": {\"type\": \"memory\", \"properties\": {\"name\": \"a\"");
    for index in 0..50_000 {
        let _ = write!(text, ", \"field{index}\": {{\"ref\": \"Nobody{index}\"}}");
    }
    text.push_str("}}}}");
    let document = parse("t", text.as_bytes(), &Limits::default()).expect("it is JSON");
    let found = check(document, &catalog()).found;
    assert_eq!(found.error_count(), 100_000);
    assert_eq!(found.iter().len() + found.left_out(), 100_000);
}

#[test]
fn a_value_without_a_text_is_given_one() {
    let value = json!({"resources": {"A": {"type": "memory", "properties": {"name": 1, "tags": [[], {}]}}}});
    let document = document_from_json("template", &value);
    assert_eq!(serde_json::from_str::<Json>(&document.source.files[0].text).expect("it is JSON"), value);
    check_spans(&document.value, &document.source.root, &document.source, true);
    let found = check(document, &catalog()).found;
    let place = found.errors().next().and_then(|error| error.place.clone()).expect("it has a place");
    assert_eq!((&*place.file, place.line, place.column), ("template", 6, 17));
}

/// Each scalar's span holds the text that reads as the scalar, each key's span the key.
fn check_spans(value: &Json, node: &SourceNode, source: &SourceMap, is_json: bool) {
    let text = &source.files[0].text;
    let at = |span: formwork_model::Span| &text[span.start as usize..span.end as usize];
    let read = |text: &str| -> Json {
        let whole = if is_json { format!("{{\"a\": [{text}]}}") } else { format!("a: [{text}]") };
        let read = parse("t", whole.as_bytes(), &Limits::default());
        read.map_or_else(|error| panic!("`{text}`: {error:?}"), |read| read.value["a"][0].clone())
    };
    match (value, &node.children) {
        (Json::Array(items), Children::Array(nodes)) => {
            assert_eq!(items.len(), nodes.len());
            items.iter().zip(nodes).for_each(|(item, node)| check_spans(item, node, source, is_json));
        }
        (Json::Object(members), Children::Object(nodes)) => {
            assert_eq!(members.len(), nodes.len());
            for ((key, member), (name, node)) in members.iter().zip(nodes) {
                assert_eq!(key.as_str(), &**name);
                let span = node.key.expect("a member has a key");
                assert_eq!(formwork_model::as_text(&read(at(span))), *key);
                check_spans(member, node, source, is_json);
            }
        }
        (scalar, Children::None) if !at(node.span).is_empty() || !scalar.is_null() => {
            assert_eq!(read(at(node.span)), *scalar);
        }
        _ => {}
    }
}

#[test]
fn spans_of_yaml_hold_what_they_say() {
    let text = "# é comment\na: &x 'é1' # ü 'x'\nb: !!str 12   # c\nc: \"q\\\"u # o\\u00e9\"\ne:\n  - 1\n  - -2.5\nf: {a: [1, é], \"b\": 'it''s'}\n'g h': ok # é\ni: plain text \n漢: 1\nj: &y\n  k: v # w\nl:\n";
    let document = parse("t", text.as_bytes(), &Limits::default()).expect("it is YAML");
    check_spans_of(&document.value, &document.source.root, &document.source);
    let root = &document.source.root;
    assert_eq!(root.span.start, 13, "a block begins with its first key");
}

/// As [`check_spans`], but a tag stands before the span of its value.
fn check_spans_of(value: &Json, node: &SourceNode, source: &SourceMap) {
    let mut value = value.clone();
    value["b"] = json!(12);
    check_spans(&value, node, source, false);
}

fn any_json() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        any::<i64>().prop_map(Json::from),
        any::<u64>().prop_map(Json::from),
        any::<f64>().prop_filter("JSON has finite numbers", |f| f.is_finite()).prop_map(Json::from),
        ".*".prop_map(Json::from),
        "[\\x00-\\x7f]{0,8}".prop_map(Json::from),
    ];
    leaf.prop_recursive(5, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Json::from),
            prop::collection::vec((".{0,6}", inner), 0..6)
                .prop_map(|members| Json::Object(members.into_iter().collect())),
        ]
    })
}

/// Pieces that texts of templates are made of, so that random texts get far.
fn scraps() -> impl Strategy<Value = String> {
    let scrap = prop::sample::select(vec![
        "{",
        "}",
        "[",
        "]",
        ":",
        ": ",
        ",",
        "\"",
        "'",
        "\n",
        "\r\n",
        "\t",
        " ",
        "  ",
        "- ",
        "? ",
        "&a ",
        "*a",
        "<<: ",
        "!x ",
        "!!str ",
        "|\n",
        ">\n",
        "#",
        "---\n",
        "...\n",
        "%YAML 1.2\n",
        "\\",
        "\\u",
        "\\ud800",
        "a",
        "é",
        "漢",
        "1",
        "-",
        ".",
        "e9",
        "null",
        "true",
        "resources",
        "\u{feff}",
        "\u{0}",
        "//",
        "/*",
        "*/",
        "${",
        "\u{85}",
        "\u{2028}",
        "~",
        "@",
        "`",
    ]);
    prop::collection::vec(scrap, 0..40).prop_map(|scraps| scraps.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_json_comes_back(value in any_json()) {
        let document = document_from_json("t", &value);
        prop_assert_eq!(&document.value, &value);
        let wrapped = json!({ "value": value });
        let has_nul = wrapped.to_string().contains('\0');
        prop_assert!(!has_nul, "serde_json escapes control characters");
        for text in [wrapped.to_string(), serde_json::to_string_pretty(&wrapped).expect("it serialises")] {
            let document = parse("t", text.as_bytes(), &Limits::default()).expect("it is JSON");
            prop_assert_eq!(document.value.to_string(), wrapped.to_string());
            check_spans(&document.value, &document.source.root, &document.source, true);
        }
    }

    #[test]
    fn no_bytes_make_the_parser_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = parse("t", &bytes, &Limits::default());
    }

    #[test]
    fn no_text_makes_parser_check_or_spans_panic(text in scraps()) {
        let limits = Limits { max_depth: 20, max_nodes: 1000, ..Limits::default() };
        if let Ok(document) = parse("t", text.as_bytes(), &limits) {
            let length = document.source.files[0].text.len();
            inside(&document.source.root, &document.source.files[0].text, length);
            let _ = check(document, &catalog());
        }
    }
}

fn inside(node: &SourceNode, text: &str, length: usize) {
    for span in [Some(node.span), node.key].into_iter().flatten() {
        assert!(span.start <= span.end && span.end as usize <= length);
        assert!(text.is_char_boundary(span.start as usize) && text.is_char_boundary(span.end as usize));
    }
    match &node.children {
        Children::None => {}
        Children::Array(nodes) => nodes.iter().for_each(|node| inside(node, text, length)),
        Children::Object(nodes) => nodes.values().for_each(|node| inside(node, text, length)),
    }
}

#[test]
fn encodings_are_called_by_their_names() {
    let utf_32 = |text: &str, of: fn(u32) -> [u8; 4]| -> Vec<u8> {
        text.chars().flat_map(|character| of(character.into())).collect()
    };
    let texts = [
        (utf_32("\u{FEFF}a: 1", u32::to_le_bytes), "UTF-32"),
        (utf_32("\u{FEFF}a: 1", u32::to_be_bytes), "UTF-32"),
        (b"\xFF\xFEa\0:\0".to_vec(), "UTF-16"),
        (b"\xFE\xFF\0a\0:".to_vec(), "UTF-16"),
        (b"\xFF\xFE".to_vec(), "UTF-16"),
    ];
    for (text, name) in texts {
        let message = only_error(&text, &Limits::default()).message;
        assert_eq!(message, format!("The template is {name}; save it as UTF-8"));
    }
}
