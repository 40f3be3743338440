//! The rules of `formations-behaviour.md` §2.2: which parameters are required, what counts as a
//! value, what is recorded.

mod common;

use common::{supplied, template};
use formwork_formation::{Supplied, missing_parameters, resolved_parameters, unknown_parameters};
use formwork_model::{Json, Severity};
use serde_json::json;

/// A template with one used parameter of this declaration.
fn with(declaration: &str) -> formwork_formation::Template {
    template(&format!(
        "{{parameters: {{P: {declaration}}}, resources: {{M: {{type: memory, properties: {{name: {{param: P}}}}}}}}}}"
    ))
}

fn given(value: Option<&str>, is_update: bool) -> Supplied {
    let values = value.map(|value| ("P".to_owned(), Json::from(value))).into_iter().collect();
    Supplied { values, is_update }
}

/// Whether the parameter is missing, and what is recorded of it.
fn outcome(declaration: &str, value: Option<&str>, is_update: bool) -> (bool, Option<Json>) {
    let template = with(declaration);
    let supplied = given(value, is_update);
    let missing = missing_parameters(&template, &supplied);
    let recorded = resolved_parameters(&template, &supplied);
    (!missing.is_empty(), recorded.map(|recorded| recorded["P"].clone()))
}

#[test]
fn what_counts_as_a_value() {
    let (create, update) = (false, true);
    for (declaration, value, is_update, missing, recorded) in [
        ("{}", None, create, true, None),
        ("{}", None, update, true, None),
        ("{}", Some(""), create, true, None),
        ("{}", Some("x"), create, false, Some("x")),
        ("{}", Some(" "), create, false, Some(" ")),
        ("{default: d}", None, create, false, Some("d")),
        ("{default: d}", Some("x"), create, false, Some("x")),
        ("{default: d}", Some(""), create, false, Some("")),
        ("{default: ''}", None, create, false, Some("")),
        ("{use_previous_value: true}", None, create, true, None),
        ("{use_previous_value: true}", None, update, false, None),
        ("{use_previous_value: true}", Some(""), create, true, None),
        ("{use_previous_value: true}", Some(""), update, false, None),
        ("{use_previous_value: true}", Some("x"), update, false, Some("x")),
        ("{use_previous_value: true, default: d}", None, update, false, Some("d")),
        ("{use_previous_value: true, default: d}", None, create, false, Some("d")),
        ("{no_echo: true}", Some("x"), create, false, Some("***")),
        ("{no_echo: true}", None, create, true, None),
        ("{no_echo: true, default: d}", None, create, false, Some("***")),
    ] {
        let expected = (missing, recorded.map(Json::from));
        assert_eq!(outcome(declaration, value, is_update), expected, "{declaration} {value:?} {is_update}");
    }
}

#[test]
fn a_missing_parameter_is_reported_where_it_is_declared() {
    let missing = missing_parameters(&with("{}"), &Supplied::default());
    assert_eq!(missing[0].path.to_string(), "parameters.P");
    assert_eq!(missing[0].message, "Parameter 'P' is required and cannot be empty");
    let place = missing[0].place.as_ref().expect("it has a place");
    assert_eq!((place.line, place.column), (1, 15));
}

#[test]
fn an_unused_parameter_is_never_required_but_its_value_is_recorded() {
    let template = template("{parameters: {P: {}}, resources: {}}");
    assert_eq!(missing_parameters(&template, &Supplied::default()), []);
    assert_eq!(resolved_parameters(&template, &given(Some("x"), false)), Some(json!({"P": "x"})));
    assert_eq!(resolved_parameters(&template, &Supplied::default()), None);
}

#[test]
fn use_in_a_sub_an_output_or_the_metadata_requires_a_value() {
    for text in [
        "{parameters: {P: {}}, resources: {M: {type: memory, properties: {name: {sub: 'a ${P}'}}}}}",
        "{parameters: {P: {}}, resources: {}, outputs: {o: {param: P}}}",
        "{parameters: {P: {}}, resources: {}, metadata: {m: {deep: [{sub: '${P}'}]}}}",
    ] {
        assert_eq!(missing_parameters(&template(text), &Supplied::default()).len(), 1, "{text}");
    }
}

#[test]
fn names_match_exactly() {
    let template = template(
        "{parameters: {aiProviderName: {}}, resources: {M: {type: memory, properties: {name: {param: aiProviderName}}}}}",
    );
    let values = supplied([("ai_provider_name", "x")]);
    assert_eq!(missing_parameters(&template, &values).len(), 1);
    let unknown = unknown_parameters(&template, &values);
    assert_eq!(unknown.len(), 1);
    assert_eq!(unknown[0].severity, Severity::Warning);
    assert_eq!(
        unknown[0].message,
        "The template declares no parameter 'ai_provider_name'; its value is ignored"
    );
    assert_eq!(unknown[0].hint.as_deref(), Some("did you mean `aiProviderName`?"));
}

#[test]
fn values_are_not_shown_by_debug() {
    let text = format!("{:?}", supplied([("P", "hunter2")]));
    assert_eq!(text, r#"Supplied { names: ["P"], is_update: false }"#);
}
