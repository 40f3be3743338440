//! The JSON Schema of the template language agrees with the checks on what it can say.

mod common;

use common::{catalog, checked};
use formwork_formation::{Limits, parse, template_schema};
use jsonschema::Validator;

fn validator() -> Validator {
    let schema = template_schema(&catalog());
    assert!(jsonschema::meta::is_valid(&schema), "the schema is one");
    jsonschema::draft202012::new(&schema).expect("it compiles")
}

/// Places and messages of what the schema refuses in a template.
fn refused(validator: &Validator, text: &str) -> Vec<(String, String)> {
    let document = parse("t.yaml", text.as_bytes(), &Limits::default()).expect("the text is right");
    let value = document.value;
    validator
        .iter_errors(&value)
        .map(|error| (error.instance_path().to_string(), error.to_string()))
        .collect()
}

const RIGHT: &str = "
parameters:
  Size: { type: string, default: small, allowed_values: [small, large], description: d }
  Key: { no_echo: true, use_previous_value: true, pattern: '[a-z]+', min_length: 1, max_length: 9 }
resources:
  Secret: { type: secret, properties: { name: s, value: { param: Key } }, deletion_policy: protect }
  Provider:
    type: ai_provider
    properties: { name: { sub: 'p-${Size}' }, provider: { param: Size }, secret_id: { ref: Secret } }
  Bot:
    type: agent
    depends_on: [Provider]
    deletion_policy: retain
    metadata: { team: a }
    import: { sub: 'agent_${Size}' }
    properties:
      name: bot
      ai_provider_id: null
      mode: null
      max_steps: 3
      temperature: 0.5
      active: true
      tags: [a, { param: Size }]
      knowledge_config: { deep: [{ ref: Secret }], as_is: { literal: { ref: x } } }
  Other: { type: agent, properties: { name: a, tags: { literal: [{ ref: x }] }, knowledge_config: { param: Size } } }
  Memory: { type: memory, properties: { name: m, tags: 3 } }
  Hook: { type: webhook, import: wh_1, properties: { name: h } }
outputs: { id: { ref: Bot }, end: { ref_attr: Hook.endpoint }, plain: 1 }
metadata: { any: [{ param: Size }] }
";

#[test]
fn what_the_checks_take_the_schema_takes() {
    assert_eq!(common::errors(&checked(RIGHT).found), []);
    assert_eq!(refused(&validator(), RIGHT), []);
}

#[test]
fn what_the_schema_refuses_the_checks_refuse_too() {
    let validator = validator();
    for (text, place) in [
        (
            "{resources: {A: {type: ai_provider, properties: {name: a, provider: openia}}}}",
            "/resources/A/properties/provider",
        ),
        (
            "{resources: {A: {type: agent, properties: {name: a, mode: slow}}}}",
            "/resources/A/properties/mode",
        ),
        ("{resources: {A: {type: agent, properties: {name: a, modle: x}}}}", "/resources/A/properties"),
        ("{resources: {A: {type: agent, properties: {}}}}", "/resources/A/properties"),
        ("{resources: {A: {type: agent, properties: {name: null}}}}", "/resources/A/properties/name"),
        (
            "{resources: {A: {type: agent, properties: {name: a, max_steps: 1.5}}}}",
            "/resources/A/properties/max_steps",
        ),
        (
            "{resources: {A: {type: agent, properties: {name: {literal: {ref: x}}}}}}",
            "/resources/A/properties/name",
        ),
        (
            "{resources: {A: {type: agent, properties: {name: a, active: 'yes'}}}}",
            "/resources/A/properties/active",
        ),
        ("{resources: {A: {type: agnet, properties: {name: a}}}}", "/resources/A/type"),
        ("{resources: {A: {type: agent}}}", "/resources/A"),
        (
            "{resources: {A: {type: agent, properties: {name: a}, deletion_policy: keep}}}",
            "/resources/A/deletion_policy",
        ),
        ("{resources: {A: {type: agent, properties: {name: a}, depends_on: A}}}", "/resources/A/depends_on"),
        ("{resources: {A: {type: agent, properties: {name: a}, dependsOn: []}}}", "/resources/A"),
        ("{resource: {}}", ""),
        ("{resources: []}", "/resources"),
        ("{resources: {}, parameters: {P: {type: number}}}", "/parameters/P/type"),
        ("{resources: {}, parameters: {P: {allowed_values: []}}}", "/parameters/P/allowed_values"),
        ("{resources: {}, parameters: {P: {min_length: -1}}}", "/parameters/P/min_length"),
        ("{resources: {}, parameters: {P: {pattern: 1}}}", "/parameters/P/pattern"),
        ("{resources: {}, parameters: {P: {max: 1}}}", "/parameters/P"),
        ("{resources: {}, metadata: 1}", "/metadata"),
    ] {
        let found = refused(&validator, text);
        assert!(found.iter().any(|(at, _)| at == place), "{text}: {found:?}");
        assert!(checked(text).found.has_errors(), "{text}");
    }
}

#[test]
fn an_editor_is_told_what_a_property_is() {
    let schema = template_schema(&catalog());
    let of = |name: &str| {
        let rules = schema["$defs"]["resource"]["allOf"].as_array().expect("rules");
        let rule = rules.iter().find(|rule| rule["if"]["properties"]["type"]["const"] == name);
        rule.expect(name)["then"]["properties"]["properties"].clone()
    };
    assert_eq!(of("secret")["required"], serde_json::json!(["name", "value"]));
    assert_eq!(of("secret")["properties"]["value"]["writeOnly"], true);
    assert_eq!(
        of("agent")["properties"]["mode"]["anyOf"],
        serde_json::json!([
            { "type": "string", "enum": ["fast", "thorough"] },
            { "type": "null" },
            { "$ref": "#/$defs/expression" },
        ])
    );
}
