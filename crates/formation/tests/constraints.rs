//! Constraints on parameters: the declaration itself, and the values that are given.

mod common;

use common::{checked, errors, supplied, template};
use formwork_formation::{LowerRequest, Supplied, invalid_parameters, lower, missing_parameters};
use formwork_model::StackKey;

/// A template with one used parameter of this declaration.
fn text(declaration: &str) -> String {
    format!(
        "{{parameters: {{P: {declaration}}}, resources: {{M: {{type: memory, properties: {{name: {{param: P}}}}}}}}}}"
    )
}

/// Path and message of each error of a declaration, and the column it stands at.
fn refused(declaration: &str) -> Vec<(String, String)> {
    errors(&checked(&text(declaration)).found)
}

/// What is said of a value.
fn said(declaration: &str, value: &str) -> Vec<String> {
    let found = invalid_parameters(&template(&text(declaration)), &supplied([("P", value)]));
    found
        .iter()
        .map(|diagnostic| {
            assert_eq!(diagnostic.path.to_string(), "parameters.P");
            diagnostic.message.clone()
        })
        .collect()
}

fn one(path: &str, message: &str) -> Vec<(String, String)> {
    vec![(path.to_owned(), message.to_owned())]
}

#[test]
fn a_declaration_of_the_wrong_form_is_refused() {
    for (declaration, path, message) in [
        (
            "{allowed_values: a}",
            "parameters.P.allowed_values",
            "`allowed_values` must be an array of strings",
        ),
        (
            "{allowed_values: []}",
            "parameters.P.allowed_values",
            "`allowed_values` must have at least one value",
        ),
        (
            "{allowed_values: [a, 1]}",
            "parameters.P.allowed_values[1]",
            "Each of `allowed_values` must be a string",
        ),
        ("{allowed_values: [a, a]}", "parameters.P.allowed_values[1]", "This value is there twice"),
        ("{pattern: 1}", "parameters.P.pattern", "`pattern` must be a string"),
        ("{min_length: -1}", "parameters.P.min_length", "`min_length` must be a whole number, 0 or more"),
        ("{max_length: '3'}", "parameters.P.max_length", "`max_length` must be a whole number, 0 or more"),
        (
            "{min_length: 3, max_length: 2}",
            "parameters.P.min_length",
            "`min_length` is 3, but `max_length` is 2",
        ),
        (
            "{min_size: 3}",
            "parameters.P.min_size",
            "Unknown parameter key 'min_size'. Allowed: type, default, description, no_echo, use_previous_value, allowed_values, pattern, min_length, max_length",
        ),
    ] {
        assert_eq!(refused(declaration), one(path, message), "{declaration}");
    }
}

#[test]
fn a_pattern_that_does_not_compile_is_refused_where_it_stands() {
    let found = checked(&text("{pattern: '['}")).found;
    let error = found.errors().next().expect("refused").clone();
    assert_eq!(error.path.to_string(), "parameters.P.pattern");
    assert!(error.message.starts_with("`pattern` is no regular expression that can be used: "), "{error:?}");
    let place = error.place.expect("it has a place");
    assert_eq!((place.line, place.column), (1, 28));
    assert_eq!(
        refused(&format!("{{pattern: '{}'}}", "a".repeat(1001))),
        one(
            "parameters.P.pattern",
            "`pattern` is no regular expression that can be used: it may have at most 1000 bytes"
        )
    );
}

#[test]
fn a_template_has_a_bounded_number_of_patterns() {
    let parameters: Vec<_> = (0..202).map(|index| format!("P{index}: {{pattern: a}}")).collect();
    let found = checked(&format!("{{parameters: {{{}}}, resources: {{}}}}", parameters.join(", "))).found;
    let message = "A template can have at most 200 patterns";
    assert_eq!(
        errors(&found),
        [
            ("parameters.P200.pattern".to_owned(), message.to_owned()),
            ("parameters.P201.pattern".to_owned(), message.to_owned()),
        ]
    );
}

#[test]
fn a_default_must_fit_all_of_its_constraints() {
    let path = "parameters.P.default".to_owned();
    assert_eq!(
        refused("{default: Big!, allowed_values: [small, big], pattern: '[a-z]+', max_length: 3}"),
        [
            (path.clone(), "The default of parameter 'P' must be one of: small, big".to_owned()),
            (path.clone(), "The default of parameter 'P' must match the pattern '[a-z]+'".to_owned()),
            (path.clone(), "The default of parameter 'P' must have at most 3 characters".to_owned()),
        ]
    );
    assert_eq!(
        refused("{default: '', min_length: 1}"),
        one(&path, "The default of parameter 'P' must have at least 1 character")
    );
    assert_eq!(refused("{default: big, allowed_values: [small, big], pattern: '[a-z]+', max_length: 3}"), []);
}

#[test]
fn all_that_a_value_violates_is_said_at_once_where_the_parameter_is_declared() {
    let declaration = "{allowed_values: [small, large], pattern: '[a-z]+', min_length: 9}";
    assert_eq!(
        said(declaration, "Smal"),
        [
            "Parameter 'P' must be one of: small, large",
            "Parameter 'P' must match the pattern '[a-z]+'",
            "Parameter 'P' must have at least 9 characters",
        ]
    );
    let found = invalid_parameters(&template(&text(declaration)), &supplied([("P", "Smal")]));
    assert_eq!(found[0].hint.as_deref(), Some("did you mean `small`?"));
    let place = found[0].place.as_ref().expect("it has a place");
    assert_eq!((place.line, place.column), (1, 15));
}

#[test]
fn lengths_count_characters() {
    assert_eq!(said("{max_length: 3}", "äöü"), [""; 0]);
    assert_eq!(
        said("{min_length: 3, max_length: 4}", "äöüßé"),
        ["Parameter 'P' must have at most 4 characters"]
    );
    assert_eq!(said("{min_length: 2}", "€"), ["Parameter 'P' must have at least 2 characters"]);
}

#[test]
fn no_message_holds_a_sensitive_value_or_what_it_may_nearly_be() {
    let declaration = "{no_echo: true, allowed_values: [hunter1], pattern: '[a-z]+', max_length: 3}";
    let found = invalid_parameters(&template(&text(declaration)), &supplied([("P", "hunter2")]));
    assert_eq!(found.len(), 3);
    assert!(!format!("{found:?}").contains("hunter"), "{found:?}");
    assert_eq!(found[0].message, "Parameter 'P' must be one of its allowed values");
    let found = checked(&text("{no_echo: true, default: hunter2, allowed_values: [hunter1]}")).found;
    assert!(!format!("{found:?}").contains("hunter"), "{found:?}");
}

#[test]
fn what_is_missing_or_kept_violates_nothing() {
    let template = template(&text("{min_length: 3, use_previous_value: true}"));
    let empty = Supplied { is_update: false, ..supplied([("P", "")]) };
    assert_eq!(invalid_parameters(&template, &empty), []);
    assert_eq!(missing_parameters(&template, &empty).len(), 1);
    let update = Supplied { is_update: true, ..Supplied::default() };
    assert_eq!(invalid_parameters(&template, &update), []);
}

#[test]
fn nothing_is_lowered_with_a_value_that_violates_a_constraint() {
    let template = template(&text("{max_length: 2}"));
    let supplied = supplied([("P", "abc")]);
    let request = LowerRequest {
        template: &template,
        supplied: &supplied,
        stack: "form_1".into(),
        key: StackKey::new("proj_1".into(), "s"),
        catalog: &common::catalog(),
        strict: true,
    };
    let found = lower(&request).expect_err("refused");
    assert_eq!(errors(&found), one("parameters.P", "Parameter 'P' must have at most 2 characters"));
}
