//! What templates come to: the seed's own, expressions in every place, parameters in every state.

mod common;

use common::{catalog, errors, supplied, template};
use formwork_formation::{LowerRequest, Supplied, Template, lower};
use formwork_model::{
    DeletionPolicy, Desired, Diagnostics, Expr, ExprLeaf, Json, Matching, Mode, OnFailure, Ownership, Part,
    Path, ResourceDesired, StackKey, mask,
};
use serde_json::json;

fn try_lower(template: &Template, supplied: &Supplied, strict: bool) -> Result<Desired, Diagnostics> {
    lower(&LowerRequest {
        template,
        supplied,
        stack: "form_1".into(),
        key: StackKey::new("proj_1".into(), "site"),
        catalog: &catalog(),
        strict,
    })
}

fn lowered(text: &str, supplied: &Supplied) -> Desired {
    try_lower(&template(text), supplied, true).expect("it lowers")
}

fn resource<'d>(desired: &'d Desired, label: &str) -> &'d ResourceDesired {
    let mut all = desired.stacks[0].resources.iter();
    all.find(|resource| resource.label.as_str() == label).expect("the resource is declared")
}

/// An expression as a text: data as JSON, leaves by their name. Secrets are shown: this is a test.
fn shown(value: &Expr) -> String {
    match value {
        Expr::Plain(value) => value.to_string(),
        Expr::Array(items) => format!("[{}]", items.iter().map(shown).collect::<Vec<_>>().join(",")),
        Expr::Object(members) => {
            let members: Vec<_> =
                members.iter().map(|(key, value)| format!("{key}:{}", shown(value))).collect();
            format!("{{{}}}", members.join(","))
        }
        Expr::Leaf(ExprLeaf::Ref(reference)) => format!("ref({reference})"),
        Expr::Leaf(ExprLeaf::Secret(secret)) => format!("secret({})", secret.expose()),
        Expr::Leaf(ExprLeaf::KeepPrevious) => "keep".to_owned(),
        Expr::Leaf(ExprLeaf::Once(inner)) => format!("once({})", shown(inner)),
        Expr::Leaf(ExprLeaf::Template(parts)) => {
            let parts: Vec<_> = parts
                .iter()
                .map(|part| match part {
                    Part::Text(text) => format!("{text:?}"),
                    Part::Ref(reference) => format!("ref({reference})"),
                    Part::Secret(secret) => format!("secret({})", secret.expose()),
                })
                .collect();
            format!("template({})", parts.join("+"))
        }
    }
}

#[test]
fn a_formation_reconciles_what_it_declares_and_rolls_back() {
    let desired = lowered(include_str!("seed/overview.json"), &Supplied::default());
    let stack = &desired.stacks[0];
    assert_eq!(desired.project.as_str(), "proj_1");
    assert_eq!((stack.mode, stack.ownership), (Mode::Reconcile, Ownership::DeclaredOnly));
    assert_eq!((stack.matching, stack.on_failure), (Matching::Label, OnFailure::RollBack));
    let labels: Vec<&str> = stack.resources.iter().map(|resource| resource.label.as_str()).collect();
    assert_eq!(labels, ["MyProvider", "MyMemory", "MyAgent"]);
    let agent = resource(&desired, "MyAgent");
    assert_eq!(
        shown(&agent.properties),
        r#"{name:"Support Bot",ai_provider_id:ref(MyProvider),knowledge_config:{memory_ids:[ref(MyMemory)]}}"#
    );
    assert_eq!(agent.properties_path, Path::of(["resources", "MyAgent", "properties"]));
    let place = desired.source_map.key_place(&agent.path).expect("it has a place");
    assert_eq!((place.line, place.column), (17, 5));
    assert_eq!(shown(&stack.outputs["agentId"]), "ref(MyAgent)");
    assert!(stack.metadata.is_none());
}

#[test]
fn the_parameters_of_the_seed_are_filled_in() {
    let values = supplied([
        ("AppUrl", "https://staging.example.com"),
        ("ApiKey", "sk-secret"),
        ("SecretId", "sec_abc123"),
    ]);
    let desired = lowered(include_str!("seed/parameters.json"), &values);
    assert_eq!(
        shown(&resource(&desired, "MyProvider").properties),
        r#"{"name":"My Provider","provider":"xai","secret_id":"sec_abc123"}"#
    );
    assert_eq!(
        shown(&resource(&desired, "MyTool").properties),
        r#"{name:"my-tool",execute:{url:"https://staging.example.com/api/endpoint",headers:{Authorization:secret("Bearer sk-secret")}}}"#
    );
}

#[test]
fn a_secret_of_the_same_template_is_embedded_and_waited_for() {
    let template = template(include_str!("seed/secret-in-a-tool.json"));
    let desired = try_lower(&template, &Supplied::default(), true).expect("it lowers");
    let header =
        resource(&desired, "ConvertTool").properties.at(&Path::of(["execute", "headers", "Authorization"]));
    assert_eq!(
        shown(&header.expect("the header is there")),
        r#"template("Bearer {{secret:"+ref(ApiSecret)+"}}")"#
    );
    let graph = template.graph();
    let edges: Vec<_> = graph[1].2.iter().map(|(label, path)| (label.as_str(), path.to_string())).collect();
    assert_eq!(
        edges,
        [("ApiSecret", "resources.ConvertTool.properties.execute.headers.Authorization".to_owned())]
    );
}

#[test]
fn every_template_of_the_seed_lowers() {
    for text in [
        include_str!("seed/overview.json"),
        include_str!("seed/parameters.json"),
        include_str!("seed/previous-value.yaml"),
        include_str!("seed/secret-in-a-tool.json"),
        include_str!("seed/secret-through-a-parameter.yaml"),
        include_str!("seed/metadata.yaml"),
        include_str!("seed/custom-type.json"),
    ] {
        assert!(try_lower(&template(text), &Supplied::default(), false).is_ok(), "{text}");
    }
}

#[test]
fn the_templates_metadata_is_a_substitution_site() {
    let desired = lowered(include_str!("seed/metadata.yaml"), &supplied([("my_version", "1.2.3")]));
    let metadata = desired.stacks[0].metadata.as_ref().expect("there is metadata");
    assert_eq!(shown(metadata), r#"{my_version:"1.2.3",memory:ref(MyMemory)}"#);
}

#[test]
fn the_mask_of_a_credential_is_refused_when_it_comes_back() {
    let text = r#"{"resources": {"ApiSecret": {"type": "secret", "properties": {"name": "third-party-api-key", "value": {"no_echo": true}}}}}"#;
    let expected = ("resources.ApiSecret.properties.value".to_owned(), "`value` must be a string".to_owned());
    assert_eq!(errors(&common::checked(text).found), [expected]);
}

#[test]
fn declared_credentials_are_masked_and_nothing_else_is() {
    let template = template(include_str!("seed/secret-in-a-tool.json"));
    let mut expected = template.raw().clone();
    expected["resources"]["ApiSecret"]["properties"]["value"] = mask();
    assert_eq!(template.credentials_masked(&catalog()), expected);
    assert_eq!(template.raw()["resources"]["ApiSecret"]["properties"]["value"], json!("sk-live-..."));
}

/// A memory `M` beside a resource whose property `tags` takes anything; parameters `P` (given),
/// `N` (given, no echo) and `U` (declared with `use_previous_value`, not given on update).
fn value_of(expression: &str) -> String {
    let text = format!(
        "{{\"parameters\": {{\"P\": {{}}, \"N\": {{\"no_echo\": true}}, \"U\": {{\"use_previous_value\": true}}}},
          \"resources\": {{
            \"M\": {{\"type\": \"memory\", \"properties\": {{\"name\": \"m\"}}}},
            \"X\": {{\"type\": \"memory\", \"properties\": {{\"name\": \"x\", \"tags\": {expression}}}}}}}}}"
    );
    let mut values = supplied([("P", "p"), ("N", "n")]);
    values.is_update = true;
    let desired = lowered(&text, &values);
    let tags = resource(&desired, "X").properties.at(&Path::of(["tags"]));
    shown(&tags.expect("the property is there"))
}

#[test]
fn expressions_and_what_only_looks_like_them() {
    for (expression, expected) in [
        (r#"{"param": "P"}"#, r#""p""#),
        (r#"{"param": "N"}"#, r#"secret("n")"#),
        (r#"{"param": "U"}"#, "keep"),
        (r#"{"ref": "M"}"#, "ref(M)"),
        (r#"[1, {"a": {"ref": "M"}}, "b"]"#, r#"[1,{a:ref(M)},"b"]"#),
        (r#"{"a": [1, 2], "b": {"ref": "M"}, "c": 3}"#, "{a:[1,2],b:ref(M),c:3}"),
        (r#"{"ref": "M", "param": "P"}"#, r#"{"ref":"M","param":"P"}"#),
        (r#"{"ref": {"ref": "M"}}"#, "{ref:ref(M)}"),
        (r#"{"ref": 1}"#, r#"{"ref":1}"#),
        (r#"{"Ref": "M"}"#, r#"{"Ref":"M"}"#),
        (r#""${P}""#, r#""${P}""#),
        // `sub`
        (r#"{"sub": ""}"#, r#""""#),
        (r#"{"sub": "a ${P} b ${P}"}"#, r#""a p b p""#),
        (r#"{"sub": "${M}"}"#, "template(ref(M))"),
        (r#"{"sub": "a ${P}${M} ${P}b"}"#, r#"template("a p"+ref(M)+" pb")"#),
        (r#"{"sub": "a ${N}"}"#, r#"secret("a n")"#),
        (r#"{"sub": "a ${N} ${M}"}"#, r#"template("a "+secret("n")+" "+ref(M))"#),
        (r#"{"sub": "a ${U} ${M}"}"#, "keep"),
        (r#"{"sub": "${body.id}-${P}"}"#, r#""${body.id}-p""#),
        (r#"{"sub": "$${P} ${P}"}"#, r#""${P} p""#),
        (r#"{"sub": "$P ${} ${ open"}"#, r#""$P ${} ${ open""#),
        // `literal`
        (r#"{"literal": {"ref": "M"}}"#, r#"{"ref":"M"}"#),
        (r#"{"literal": [{"sub": "${Nobody}"}]}"#, r#"[{"sub":"${Nobody}"}]"#),
        (r#"{"literal": {"ref_attr": "M.x"}}"#, r#"{"ref_attr":"M.x"}"#),
        (r#"{"literal": {"literal": {"ref": "M"}}}"#, r#"{"literal":{"ref":"M"}}"#),
        (r#"{"literal": "text"}"#, r#"{"literal":"text"}"#),
        (r#"{"literal": {"literal": 1}}"#, r#"{"literal":{"literal":1}}"#),
        (r#"{"literal": {"ref": "M"}, "b": 1}"#, "{literal:ref(M),b:1}"),
        (r#"[{"literal": {"ref": "M"}}, {"ref": "M"}]"#, r#"[{"ref":"M"},ref(M)]"#),
    ] {
        assert_eq!(value_of(expression), expected, "{expression}");
    }
}

#[test]
fn properties_are_never_themselves_an_expression() {
    let text = r#"{"resources": {"A": {"type": "memory", "properties": {"name": "M"}}}, "outputs": {"ref": "x"}, "metadata": {"sub": "${N}"}}"#;
    let desired = lowered(text, &Supplied::default());
    assert_eq!(shown(&desired.stacks[0].outputs["ref"]), r#""x""#);
    assert_eq!(desired.stacks[0].metadata.as_ref().map(shown).as_deref(), Some(r#"{"sub":"${N}"}"#));
}

#[test]
fn an_output_can_be_an_attribute_split_at_its_first_dot() {
    let text = "{resources: {C: {type: channel, properties: {name: c}}}, outputs: {o: {ref_attr: C.a.b}}}";
    let desired = lowered(text, &Supplied::default());
    assert_eq!(shown(&desired.stacks[0].outputs["o"]), "ref(C.a.b)");
}

#[test]
fn dependencies_policy_and_metadata_are_carried_over() {
    let text = "resources:
  A: { type: memory, properties: { name: a } }
  B:
    type: memory
    properties: { name: b }
    depends_on: [A]
    deletion_policy: retain
    metadata: { owner: { ref: A } }
";
    let template = template(text);
    let desired = try_lower(&template, &Supplied::default(), true).expect("it lowers");
    let b = resource(&desired, "B");
    assert_eq!(b.depends_on[0].on.as_str(), "A");
    assert_eq!(b.depends_on[0].path.to_string(), "resources.B.depends_on[0]");
    assert_eq!(b.deletion_policy, DeletionPolicy::Retain);
    assert_eq!(b.metadata, Some(json!({"owner": {"ref": "A"}})));
    assert_eq!(template.graph()[1].2.len(), 1);
}

#[test]
fn the_graph_leaves_circles_and_self_references_to_the_planner() {
    let text = "resources:
  A: { type: memory, properties: { name: { ref: B } } }
  B: { type: memory, properties: { name: { ref: A } }, depends_on: [B] }
";
    let graph: Vec<(String, Vec<String>)> = template(text)
        .graph()
        .into_iter()
        .map(|(label, _, edges)| (label.to_string(), edges.iter().map(|(to, _)| to.to_string()).collect()))
        .collect();
    let node =
        |label: &str, edges: &[&str]| (label.to_owned(), edges.iter().map(|&to| to.to_owned()).collect());
    assert_eq!(graph, [node("A", &["B"]), node("B", &["B", "A"])]);
}

#[test]
fn a_parameters_value_is_checked_where_it_is_used() {
    let text = "{parameters: {S: {}, P: {}, U: {}}, resources: {
        A: {type: agent, properties: {name: {param: S}, max_steps: {param: S}}},
        B: {type: ai_provider, properties: {name: b, provider: {param: P}}},
        T: {type: tool, properties: {name: t, execute: {url: {param: U}}}}}}";
    let template = template(text);
    let refused = try_lower(&template, &supplied([("S", "5"), ("P", "openia"), ("U", "ftp://x")]), false);
    let expected = [
        ("resources.A.properties.max_steps", "`max_steps` must be an integer or null"),
        ("resources.B.properties.provider", "`provider` must be one of: openai, anthropic, xai"),
        ("resources.T.properties.execute.url", "`execute.url` must be an http(s) URL"),
    ];
    let expected = expected.map(|(path, message)| (path.to_owned(), message.to_owned()));
    assert_eq!(errors(&refused.expect_err("the values are wrong")), expected);
}

#[test]
fn a_secret_value_of_the_wrong_type_is_refused_without_showing_it() {
    let text = "{parameters: {S: {no_echo: true}}, resources: {A: {type: agent, properties: {name: a, max_steps: {param: S}}}}}";
    let refused = try_lower(&template(text), &supplied([("S", "hunter2")]), true).expect_err("it is refused");
    assert_eq!(refused.error_count(), 1);
    assert!(!format!("{refused:?}").contains("hunter2"));
}

#[test]
fn a_deploy_needs_its_parameters_and_a_plan_does_not() {
    let template = template(include_str!("seed/parameters.json"));
    let refused = try_lower(&template, &Supplied::default(), true).expect_err("two are missing");
    let message = |name| format!("Parameter '{name}' is required and cannot be empty");
    let expected = ["ApiKey", "SecretId"].map(|name| (format!("parameters.{name}"), message(name)));
    assert_eq!(errors(&refused), expected);
    let plan = try_lower(&template, &Supplied::default(), false).expect("a plan goes on");
    assert_eq!(
        shown(&resource(&plan, "MyTool").properties),
        r#"{name:"my-tool",execute:{url:"https://www.example.com/api/endpoint",headers:{Authorization:keep}}}"#
    );
}

#[test]
fn a_value_that_is_no_text_is_refused_even_by_a_plan() {
    let mut values = supplied([]);
    for (name, value) in [("SecretId", json!(5)), ("ApiKey", json!(null)), ("Other", json!({}))] {
        values.values.insert(name.to_owned(), value);
    }
    let refused = try_lower(&template(include_str!("seed/parameters.json")), &values, false);
    let refused = errors(&refused.expect_err("they are no texts"));
    let expected = ["SecretId", "ApiKey", "Other"]
        .map(|name| (format!("parameters.{name}"), format!("Parameter '{name}' must be a string")));
    assert_eq!(refused, expected);
}

#[test]
fn a_template_is_kept_verbatim() {
    let text = include_str!("seed/parameters.json");
    let raw: Json = serde_json::from_str(text).expect("the seed is JSON");
    let template = template(text);
    assert_eq!(template.raw().to_string(), raw.to_string());
}

#[test]
fn an_import_is_an_id_or_comes_of_parameters() {
    let text = "
parameters: { P: {} }
resources:
  Plain: { type: agent, import: agent_1, properties: { name: a } }
  Param: { type: agent, import: { param: P }, properties: { name: a } }
  Sub: { type: agent, import: { sub: 'agent_${P}' }, properties: { name: a } }
  None: { type: agent, properties: { name: a } }
";
    let desired = lowered(text, &supplied([("P", "x")]));
    let import = |label: &str| resource(&desired, label).import.as_ref().map(|id| id.as_str().to_owned());
    assert_eq!(import("Plain").as_deref(), Some("agent_1"));
    assert_eq!(import("Param").as_deref(), Some("x"));
    assert_eq!(import("Sub").as_deref(), Some("agent_x"));
    assert_eq!(import("None"), None);

    let unknown = try_lower(&template(text), &Supplied::default(), false).expect_err("a plan must know it");
    let told = "`import` has no value: give the parameter that it names".to_owned();
    let at = |label: &str| (format!("resources.{label}.import"), told.clone());
    assert_eq!(errors(&unknown), [at("Param"), at("Sub")]);

    let secret = "
parameters: { S: { no_echo: true } }
resources: { A: { type: agent, import: { param: S }, properties: { name: a } } }
";
    let refused = try_lower(&template(secret), &supplied([("S", "hunter2")]), true).expect_err("no secret");
    let told = "`import` is not secret: take `no_echo` off the parameter".to_owned();
    assert_eq!(errors(&refused), [("resources.A.import".to_owned(), told)]);
}
