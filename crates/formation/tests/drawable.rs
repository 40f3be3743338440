//! What of a template's text a message may draw.

mod common;

use common::catalog;
use formwork_formation::drawable;

/// The text as it may be drawn; it keeps its lines and columns.
fn drawn(text: &str) -> String {
    let drawn = drawable(text, &catalog()).into_owned();
    let lengths = |text: &str| text.lines().map(|line| line.chars().count()).collect::<Vec<_>>();
    assert_eq!(lengths(&drawn), lengths(text));
    drawn
}

#[test]
fn write_only_properties_are_blanked_in_every_style() {
    let cases = [
        (
            "{resources: {S: {type: secret, properties: {name: é, value: s3cr3t}}}}",
            "{resources: {S: {type: secret, properties: {name: é, value: ******}}}}",
        ),
        (
            r#"{"resources": {"S": {"type": "secret", "properties": {"value": "s3 \"t"}}}}"#,
            r#"{"resources": {"S": {"type": "secret", "properties": {"value": "** *"*"}}}}"#,
        ),
        (
            "resources:\n  S:\n    properties: { value: 12345 }\n    type: secret\n",
            "resources:\n  S:\n    properties: { value: ***** }\n    type: secret\n",
        ),
        (
            "\u{feff}{resources: {S: {type: secret, properties: {value: [s3cr3t, {a: b}]}}}}",
            "\u{feff}{resources: {S: {type: secret, properties: {value: [******, {a: *}]}}}}",
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(drawn(text), expected);
    }
}

#[test]
fn a_block_text_is_blanked_on_all_its_lines() {
    let text = "resources:\n  S:\n    type: secret\n    properties:\n      value: |\n        one\n        two\n      name: n\n";
    let drawn = drawn(text);
    assert!(!drawn.contains("one") && !drawn.contains("two") && drawn.contains("name: n"), "{drawn}");
}

#[test]
fn misspelt_properties_of_a_type_with_credentials_are_blanked() {
    assert_eq!(
        drawn("{resources: {S: {type: secret, properties: {name: n, valeu: s3cr3t}}}}"),
        "{resources: {S: {type: secret, properties: {name: n, valeu: ******}}}}"
    );
    let other = "{resources: {M: {type: memory, properties: {nmae: shown}}}}";
    assert_eq!(drawn(other), other);
}

#[test]
fn of_an_unknown_type_all_literals_are_blanked_and_no_expression() {
    assert_eq!(
        drawn(
            "{resources: {S: {type: secert, properties: {value: s3cr3t, a: {param: P}, b: [{ref: R}, 1, true]}}}}"
        ),
        "{resources: {S: {type: secert, properties: {value: ******, a: {param: P}, b: [{ref: R}, *, true]}}}}"
    );
}

#[test]
fn the_default_of_a_silent_parameter_is_blanked() {
    assert_eq!(
        drawn("{parameters: {P: {no_echo: true, default: s3cr3t}, Q: {default: shown}}, resources: {}}"),
        "{parameters: {P: {no_echo: true, default: ******}, Q: {default: shown}}, resources: {}}"
    );
}

#[test]
fn of_a_text_that_cannot_be_read_the_structure_is_left() {
    assert_eq!(
        drawn("resources:\n  S: { type: secret, properties: { value: 's3cr3t } }\n"),
        "resources:\n  S: { type: ******, properties: { value: '****** } }\n"
    );
}
