//! Warnings refuse nothing.

mod common;

use common::{checked, errors, warnings};

#[test]
fn a_parameter_without_default_must_be_given_even_if_it_may_keep_its_value() {
    let text = "{parameters: {P: {use_previous_value: true}, Q: {default: ''}},
        resources: {M: {type: memory, properties: {name: {sub: '${P}${Q}'}}}}}";
    let message = "Parameter 'P' has no default value and must be provided at deploy time";
    assert_eq!(warnings(&checked(text).found), [("parameters.P".to_owned(), message.to_owned())]);
}

#[test]
fn an_unused_parameter_is_pointed_out() {
    let message = "Parameter 'P' is declared but nothing uses it";
    let found = checked("{parameters: {P: {default: x}}, resources: {}}").found;
    assert_eq!(warnings(&found), [("parameters.P".to_owned(), message.to_owned())]);
}

#[test]
fn use_in_outputs_and_metadata_counts() {
    let text = "{parameters: {P: {default: x}, Q: {default: x}}, resources: {},
        outputs: {o: {param: P}}, metadata: {m: [{sub: '${Q}'}]}}";
    assert_eq!(warnings(&checked(text).found), []);
}

#[test]
fn a_sensitive_default_is_pointed_out() {
    let text = "{parameters: {P: {default: x, no_echo: true}}, resources: {}, outputs: {o: {param: P}}}";
    let message =
        "Parameter 'P' is `no_echo`, but its default can be read by everyone who can read the template";
    assert_eq!(warnings(&checked(text).found), [("parameters.P.default".to_owned(), message.to_owned())]);
}

#[test]
fn an_opening_that_begins_no_name_stays_text_and_is_pointed_out() {
    let text = "{resources: {M: {type: memory, properties: {name: {sub: 'a ${M'}}}}}";
    let checked = checked(text);
    let message = "This `${` begins no name: it has no closing `}`, or nothing before it, and stays text";
    let expected = ("resources.M.properties".to_owned(), message.to_owned());
    assert_eq!(warnings(&checked.found), [expected]);
    assert_eq!(errors(&checked.found), []);
}

#[test]
fn a_name_that_is_parameter_and_resource_is_the_parameter_and_a_warning() {
    let text =
        "{parameters: {M: {default: x}}, resources: {M: {type: memory, properties: {name: {sub: '${M}'}}}}}";
    let checked = checked(text);
    let message = "'M' is both a parameter and a resource; here it is the parameter";
    let expected = ("resources.M.properties".to_owned(), message.to_owned());
    assert_eq!(warnings(&checked.found), [expected]);
    assert_eq!(errors(&checked.found), []);
    let graph = checked.template.expect("there is no error").graph();
    assert!(graph[0].2.is_empty());
}
