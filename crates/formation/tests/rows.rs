//! One test per row of the table in `formations-behaviour.md` §2.5: path and message, exactly.
//! The last row, the cycle, is the planner's.

mod common;

use common::{checked, errors};

/// Each row: a name, a template, and all errors it has.
macro_rules! rows {
    ($($name:ident: $text:expr => [$(($path:expr, $message:expr)),+ $(,)?];)+) => {
        $(#[test]
        fn $name() {
            let expected: Vec<(String, String)> = vec![$(($path.to_owned(), $message.to_owned())),+];
            assert_eq!(errors(&checked($text).found), expected);
        })+
    };
}

const AGENT_FIELDS: &str = "Allowed: ai_provider_id, instructions, model, name, max_steps, temperature, active, \
                            tags, knowledge_config, mode";

fn agent(properties: &str) -> String {
    format!("resources: {{ A: {{ type: agent, properties: {properties} }} }}")
}

rows! {
    template_is_no_object: "- a" => [("", "Template must be an object")];
    template_is_empty: "" => [("", "Template must be an object")];
    resources_are_missing: "outputs: {}" => [("resources", "`resources` must be an object")];
    resources_are_no_object: "resources: []" => [("resources", "`resources` must be an object")];
    parameters_are_no_object:
        "{parameters: [], resources: {}}" => [("parameters", "`parameters` must be an object")];
    parameter_is_no_object: "{parameters: {P: text}, resources: {}}"
        => [("parameters.P", "Parameter declaration must be an object")];
    parameter_type_is_no_text:
        "{parameters: {P: {type: 1}}, resources: {}}" => [("parameters.P.type", "`type` must be a string")];
    resource_is_no_object:
        "resources: {A: 1}" => [("resources.A", "Resource declaration must be an object")];
    resource_has_no_type: "resources: {A: {properties: {}}}"
        => [("resources.A.type", "`type` is required and must be a string")];
    resource_type_is_no_text: "resources: {A: {type: [agent], properties: {}}}"
        => [("resources.A.type", "`type` is required and must be a string")];
    resource_type_is_unknown: "resources: {A: {type: agnet, properties: {}}}" => [(
        "resources.A.type",
        "Unsupported resource type: agnet. Supported: agent, ai_provider, model_route, tool, secret, memory, \
         webhook, channel"
    )];
    properties_are_missing: "resources: {A: {type: agent}}"
        => [("resources.A.properties", "`properties` is required and must be an object")];
    properties_are_no_object: &agent("[]") => [
        ("resources.A.properties", "`properties` is required and must be an object"),
        ("resources.A.properties", "agent `properties` must be an object"),
    ];
    properties_of_a_titled_type_are_no_object: "resources: {A: {type: model_route, properties: 1}}" => [
        ("resources.A.properties", "`properties` is required and must be an object"),
        ("resources.A.properties", "Model route `properties` must be an object"),
    ];
    ref_to_nothing: &agent("{name: a, tags: [{ref: B}]}")
        => [("resources.A.properties", "Referenced resource 'B' does not exist in template")];
    sub_names_nothing: &agent("{name: {sub: 'x ${B}'}}")
        => [("resources.A.properties", "'B' is neither a parameter nor a resource logical id")];
    param_names_nothing: &agent("{name: {param: B}}")
        => [("resources.A.properties", "'B' is neither a parameter nor a resource logical id")];
    field_is_unknown: &agent("{name: a, nmae: b}")
        => [("resources.A.properties.nmae", format!("Unknown agent field 'nmae'. {AGENT_FIELDS}"))];
    field_in_camel_case_is_unknown: &agent("{name: a, maxSteps: 1}")
        => [("resources.A.properties.maxSteps", format!("Unknown agent field 'maxSteps'. {AGENT_FIELDS}"))];
    titled_type_uses_its_title: "resources: {A: {type: model_route, properties: {name: a, x: 1}}}"
        => [("resources.A.properties.x", "Unknown model route field 'x'. Allowed: name")];
    field_is_required: &agent("{}") => [("resources.A.properties.name", "`name` is required")];
    field_is_no_text:
        &agent("{name: 1}") => [("resources.A.properties.name", "`name` must be a string")];
    null_is_there_but_no_text:
        &agent("{name: null}") => [("resources.A.properties.name", "`name` must be a string")];
    field_is_neither_text_nor_null: &agent("{name: a, instructions: 1}")
        => [("resources.A.properties.instructions", "`instructions` must be a string or null")];
    field_is_no_boolean: &agent("{name: a, active: yes}")
        => [("resources.A.properties.active", "`active` must be a boolean")];
    field_is_no_integer: &agent("{name: a, max_steps: 1.5}")
        => [("resources.A.properties.max_steps", "`max_steps` must be an integer or null")];
    field_is_no_number: &agent("{name: a, temperature: hot}")
        => [("resources.A.properties.temperature", "`temperature` must be a number")];
    field_is_no_array:
        &agent("{name: a, tags: {}}") => [("resources.A.properties.tags", "`tags` must be an array")];
    field_is_no_object: &agent("{name: a, knowledge_config: []}")
        => [("resources.A.properties.knowledge_config", "`knowledge_config` must be an object")];
    value_is_not_allowed: "resources: {A: {type: ai_provider, properties: {name: a, provider: openia}}}"
        => [("resources.A.properties.provider", "`provider` must be one of: openai, anthropic, xai")];
    depends_on_is_no_array: "resources: {A: {type: agent, properties: {name: a}, depends_on: A}}"
        => [("resources.A.depends_on", "`depends_on` must be an array")];
    depends_on_entry_is_no_text: "resources: {A: {type: agent, properties: {name: a}, depends_on: [1]}}"
        => [("resources.A.depends_on", "Each depends_on entry must be a string")];
    depends_on_nothing: "resources: {A: {type: agent, properties: {name: a}, depends_on: [B]}}"
        => [("resources.A.depends_on", "depends_on references unknown resource 'B'")];
    deletion_policy_is_another: "resources: {A: {type: agent, properties: {name: a}, deletion_policy: keep}}"
        => [("resources.A.deletion_policy", "`deletion_policy` must be one of: delete, retain, protect")];
    deletion_policy_is_null: "resources: {A: {type: agent, properties: {name: a}, deletion_policy: null}}"
        => [("resources.A.deletion_policy", "`deletion_policy` must be one of: delete, retain, protect")];
    output_refers_to_nothing: "{resources: {}, outputs: {o: {ref: B}}}"
        => [("outputs.o", "Referenced resource 'B' does not exist in template")];
    output_sub_names_nothing: "{resources: {}, outputs: {o: {deep: [{sub: '${B}'}]}}}"
        => [("outputs.o", "'B' is neither a parameter nor a resource logical id")];
    ref_attr_has_no_dot: "{resources: {}, outputs: {o: {ref_attr: B}}}"
        => [("outputs.o", "ref_attr 'B' must be in the form '<ResourceName>.<attribute>'")];
    ref_attr_names_nothing: "{resources: {}, outputs: {o: {ref_attr: B.c}}}"
        => [("outputs.o", "Referenced resource 'B' does not exist in template")];
    ref_attr_names_a_credential:
        "{resources: {W: {type: webhook, properties: {name: w}}}, outputs: {o: {ref_attr: W.secret}}}"
        => [(
            "outputs.o",
            "Attribute 'secret' of resource 'W' is a credential and cannot be a formation output — everyone who \
             can read the formation could read it; read it from its own route, which has its own permission"
        )];
    metadata_refers_to_nothing: "{resources: {}, metadata: {a: {b: [{ref: B}]}}}"
        => [("metadata", "Referenced resource 'B' does not exist in template")];
    metadata_sub_names_nothing: "{resources: {}, metadata: {a: {sub: '${B}'}}}"
        => [("metadata", "'B' is neither a parameter nor a resource logical id")];

    // Beyond the table: what the reference ignores in silence.
    top_level_key_is_unknown: "{resources: {}, output: {}}" => [(
        "output",
        "Unknown template key 'output'. Allowed: parameters, resources, outputs, metadata"
    )];
    resource_key_is_unknown: "resources: {A: {type: agent, properties: {name: a}, dependsOn: []}}" => [(
        "resources.A.dependsOn",
        "Unknown resource key 'dependsOn'. Allowed: type, target, properties, depends_on, deletion_policy, metadata, import"
    )];
    import_is_no_text: "resources: {A: {type: agent, import: 7, properties: {name: a}}}" => [(
        "resources.A.import",
        "`import` must be a string: the id of what exists already"
    )];
    import_is_empty: "resources: {A: {type: agent, import: '', properties: {name: a}}}"
        => [("resources.A.import", "`import` must not be empty")];
    import_names_another_resource:
        "resources: {A: {type: agent, import: {ref: B}, properties: {name: a}}, B: {type: agent, properties: {name: b}}}"
        => [("resources.A.import", "`import` takes an id or a parameter, not another resource")];
    import_names_no_parameter: "resources: {A: {type: agent, import: {param: P}, properties: {name: a}}}"
        => [("resources.A.import", "'P' is neither a parameter nor a resource logical id")];
    parameter_key_is_unknown: "{parameters: {P: {secret: true}}, resources: {}}" => [(
        "parameters.P.secret",
        "Unknown parameter key 'secret'. Allowed: type, default, description, no_echo, use_previous_value, allowed_values, pattern, min_length, max_length"
    )];
    parameter_type_is_another: "{parameters: {P: {type: number}}, resources: {}}"
        => [("parameters.P.type", "Parameters have the type 'string'; there is no type 'number'")];
    parameter_default_is_no_text: "{parameters: {P: {default: 1}}, resources: {}}"
        => [("parameters.P.default", "`default` must be a string")];
    parameter_flag_is_no_boolean: "{parameters: {P: {no_echo: 'true'}}, resources: {}}"
        => [("parameters.P.no_echo", "`no_echo` must be a boolean")];
    outputs_are_no_object: "{resources: {}, outputs: []}" => [("outputs", "`outputs` must be an object")];
    metadata_is_no_object: "{resources: {}, metadata: x}" => [("metadata", "`metadata` must be an object")];
    ref_attr_is_no_property: &agent("{name: {ref_attr: A.b}}")
        => [("resources.A.properties.name", "`ref_attr` can only be the whole value of an output")];
    ref_attr_is_not_part_of_an_output: "{resources: {}, outputs: {o: [{ref_attr: A.b}]}}"
        => [("outputs.o[0]", "`ref_attr` can only be the whole value of an output")];
    ref_attr_names_no_output:
        "{resources: {W: {type: webhook, properties: {name: w}}}, outputs: {o: {ref_attr: W.url}}}"
        => [("outputs.o", "Resource 'W' (webhook) has no output 'url'")];
    ref_attr_names_a_write_only_property:
        "{resources: {C: {type: channel, properties: {name: c}}}, outputs: {o: {ref_attr: C.access_token}}}"
        => [(
            "outputs.o",
            "Attribute 'access_token' of resource 'C' is a credential and cannot be a formation output — \
             everyone who can read the formation could read it; read it from its own route, which has its own \
             permission"
        )];
    param_names_a_resource: &agent("{name: {param: A}}")
        => [("resources.A.properties", "'A' is a resource, not a parameter")];
    type_rules_are_asked: "resources: {T: {type: tool, properties: {name: t, execute: {url: ftp}}}}"
        => [("resources.T.properties.execute.url", "`execute.url` must be an http(s) URL")];
}

#[test]
fn all_errors_are_reported_at_once() {
    let found = checked(
        "{parameters: {P: 1}, resources: {A: 1, B: {type: x, deletion_policy: y}}, outputs: {o: {ref: C}}, z: 1}",
    )
    .found;
    let paths: Vec<String> = found.errors().map(|error| error.path.to_string()).collect();
    let expected = [
        "z",
        "parameters.P",
        "resources.A",
        "resources.B.type",
        "resources.B.properties",
        "resources.B.deletion_policy",
        "outputs.o",
    ];
    assert_eq!(paths, expected);
    assert!(found.errors().all(|error| error.place.is_some()));
}

#[test]
fn a_reference_to_a_broken_resource_is_no_second_error() {
    let found = checked("resources: {A: 1, B: {type: agent, properties: {name: {ref: A}}}}").found;
    assert_eq!(found.error_count(), 1);
}

#[test]
fn an_expression_passes_type_and_allowed_values() {
    let text = "{parameters: {P: {}}, resources: {A: {type: agent, properties: {
        name: {param: P}, max_steps: {param: P}, mode: {sub: '${P}'}, tags: {ref: A}, active: {sub: x}}}}}";
    let found = checked(text).found;
    // A `sub` without a name is just text, and text is no boolean.
    let expected = ("resources.A.properties.active".to_owned(), "`active` must be a boolean".to_owned());
    assert_eq!(errors(&found), [expected]);
}

#[test]
fn an_allowed_null_and_a_whole_float_pass() {
    let found = checked(&agent("{name: a, mode: null, max_steps: 3.0, instructions: null}")).found;
    assert_eq!(errors(&found), []);
}

#[test]
fn a_type_whose_answers_name_its_outputs_takes_any() {
    let text = "{resources: {C: {type: channel, properties: {name: c}}}, outputs: {o: {ref_attr: C.a.b}}}";
    assert_eq!(errors(&checked(text).found), []);
}
