//! Decisions as tables, and what holds of them whatever the policies are.

use formwork_iam::{Context, Decision, Layer, Policy, PolicyDocument, Reason, Srn, Subject, Tag, decide};
use formwork_model::Json;
use proptest::prelude::*;
use serde_json::json;
use std::sync::Arc;

#[expect(clippy::needless_pass_by_value, reason = "called with `json!` in place")]
fn policy(id: &str, statements: Json) -> Policy {
    let document = PolicyDocument::parse(&json!({ "statement": statements })).expect("valid");
    Policy { id: id.to_owned(), document: Some(Arc::new(document)) }
}

fn user(statements: Json) -> Subject {
    Subject::new(Layer::Policies(vec![policy("pol_1", statements)]))
}

fn agent(id: &str) -> Srn {
    Srn::new(&"proj_1".into(), "agent", id)
}

fn may(subject: &Subject, action: &str, srn: &Srn) -> bool {
    decide(subject, action, srn, &Context::new()).allowed
}

#[test]
fn what_nothing_allows_is_denied() {
    for subject in [Subject::default(), Subject::new(Layer::Policies(Vec::new())), user(json!([]))] {
        let decision = decide(&subject, "agents:GetAgent", &agent("a"), &Context::new());
        assert_eq!(decision, Decision { allowed: false, by: Reason::Nothing });
        assert!(!subject.is_unlimited());
    }
}

#[test]
fn actions_and_resources_must_both_fit() {
    let allow = |action: &str, resource: &str| {
        user(json!([{ "effect": "Allow", "action": [action], "resource": [resource] }]))
    };
    for (action, resource, expected) in [
        ("*", "*", true),
        ("agents:*", "*", true),
        ("agents:GetAgent", "srn:proj_1:agent:a*", true),
        ("agents:UpdateAgent", "*", false),
        ("actors:*", "*", false),
        ("*", "srn:proj_2:*:*", false),
        ("*", "srn:*:tool:*", false),
    ] {
        assert_eq!(
            may(&allow(action, resource), "agents:GetAgent", &agent("a1")),
            expected,
            "{action} {resource}"
        );
    }
    let without = user(json!([{ "effect": "Allow", "action": ["agents:GetAgent"] }]));
    assert!(may(&without, "agents:GetAgent", &agent("a")), "no `resource` is every resource");
}

#[test]
fn a_deny_wins_wherever_it_stands_and_is_named() {
    let deny = policy("pol_deny", json!([{ "effect": "Deny", "action": ["agents:DeleteAgent"] }]));
    let allow = policy("pol_allow", json!([{ "effect": "Allow", "action": ["*"] }]));
    for policies in [vec![deny.clone(), allow.clone()], vec![allow, deny]] {
        let subject = Subject::new(Layer::Policies(policies));
        let decision = decide(&subject, "agents:DeleteAgent", &agent("a"), &Context::new());
        assert!(!decision.allowed);
        assert_eq!(decision.by.to_string(), "pol_deny statement[0]");
        assert!(may(&subject, "agents:GetAgent", &agent("a")));
    }
}

#[test]
fn a_deny_on_one_resource_leaves_creating_others_alone() {
    let subject = user(json!([
        { "effect": "Allow", "action": ["agents:*"] },
        { "effect": "Deny", "action": ["agents:*"], "resource": ["srn:proj_1:agent:agent_1"] },
    ]));
    assert!(may(&subject, "agents:CreateAgent", &Srn::any(&"proj_1".into(), "agent")));
    assert!(!may(&subject, "agents:UpdateAgent", &agent("agent_1")));
}

#[test]
fn conditions_ask_for_type_and_tags() {
    let when =
        |condition: Json| user(json!([{ "effect": "Allow", "action": ["*"], "condition": condition }]));
    let tagged = Context::of_properties(&json!({ "tags": { "team": "red", "size": 7 } }));
    for (condition, on_tagged, on_bare) in [
        (json!({ "StringEquals": { "soat:ResourceTag/team": "red" } }), true, false),
        (json!({ "StringEquals": { "soat:ResourceTag/team": "blue" } }), false, false),
        (json!({ "StringLike": { "soat:ResourceTag/team": "r?d" } }), true, false),
        (json!({ "StringNotEquals": { "soat:ResourceTag/team": "red" } }), false, true),
        (json!({ "StringEquals": { "soat:ResourceTag/size": "7" } }), false, false),
        (json!({ "StringEquals": { "soat:ResourceType": "agent" } }), true, true),
        (json!({ "StringLike": { "soat:ResourceType": "tool*" } }), false, false),
        (
            json!({ "StringEquals": { "soat:ResourceTag/team": "red", "soat:ResourceType": "agent" } }),
            true,
            false,
        ),
        (json!({}), true, true),
    ] {
        let subject = when(condition.clone());
        let on = |context: &Context| decide(&subject, "agents:GetAgent", &agent("a"), context).allowed;
        assert_eq!((on(&tagged), on(&Context::new())), (on_tagged, on_bare), "{condition}");
    }
}

#[test]
fn what_is_not_known_yet_counts_against_whoever_asks() {
    let is = |value: &str| Tag::Is(value.to_owned());
    let unknown = Context::of_tags([("team".to_owned(), Tag::Unknown), ("stage".to_owned(), is("dev"))]);
    for condition in [
        json!({ "StringEquals": { "soat:ResourceTag/team": "red" } }),
        json!({ "StringNotEquals": { "soat:ResourceTag/team": "red" } }),
        json!({ "StringLike": { "soat:ResourceTag/team": "*" } }),
    ] {
        let allows = user(json!([{ "effect": "Allow", "action": ["*"], "condition": condition }]));
        let denies = user(json!([
            { "effect": "Allow", "action": ["*"] },
            { "effect": "Deny", "action": ["agents:*"], "condition": condition },
        ]));
        for context in [&unknown, &Context::unknown()] {
            for subject in [&allows, &denies] {
                let decision = decide(subject, "agents:UpdateAgent", &agent("a"), context);
                assert!(!decision.allowed, "{condition}: {decision:?}");
            }
            assert!(decide(&denies, "tools:GetTool", &agent("a"), context).allowed);
        }
    }
    let known = user(json!([{ "effect": "Allow", "action": ["*"], "condition": {
        "StringEquals": { "soat:ResourceTag/stage": "dev" },
    } }]));
    assert!(decide(&known, "agents:UpdateAgent", &agent("a"), &unknown).allowed);
}

#[test]
fn a_resource_that_is_not_known_yet_may_be_any() {
    let which = Srn::unknown(&"proj_1".into(), "agent");
    let on = |effect: &str, resource: &str| {
        let mut statements = vec![json!({ "effect": effect, "action": ["*"], "resource": [resource] })];
        if effect == "Deny" {
            statements.push(json!({ "effect": "Allow", "action": ["*"] }));
        }
        may(&user(json!(statements)), "agents:GetAgent", &which)
    };
    for (resource, when_allowed, when_denied) in [
        ("*", true, false),
        ("srn:proj_1:agent:*", true, false),
        ("srn:proj_1:agent:a", false, false),
        ("srn:proj_1:agent:a*", false, false),
        ("srn:proj_2:agent:a", false, true),
        ("srn:proj_1:tool:a", false, true),
    ] {
        assert_eq!((on("Allow", resource), on("Deny", resource)), (when_allowed, when_denied), "{resource}");
    }
}

#[test]
fn tags_that_are_a_list_have_no_names() {
    let subject = user(json!([{ "effect": "Allow", "action": ["*"], "condition": {
        "StringEquals": { "soat:ResourceTag/0": "red" },
    } }]));
    let context = Context::of_properties(&json!({ "tags": ["red"] }));
    assert!(!decide(&subject, "agents:GetAgent", &agent("a"), &context).allowed);
}

#[test]
fn a_key_of_an_admin_can_do_what_its_own_policies_say() {
    let admin = Subject::new(Layer::Admin);
    assert!(admin.is_unlimited());
    let key = admin.under(Layer::Policies(vec![policy(
        "pol_key",
        json!([{ "effect": "Allow", "action": ["agents:GetAgent"] }]),
    )]));
    assert!(!key.is_unlimited());
    assert!(may(&key, "agents:GetAgent", &agent("a")));
    assert!(!may(&key, "agents:DeleteAgent", &agent("a")));
}

#[test]
fn a_policy_that_cannot_be_read_denies_everything() {
    let broken = Policy { id: "pol_broken".to_owned(), document: None };
    let allow = policy("pol_allow", json!([{ "effect": "Allow", "action": ["*"] }]));
    let subject = Subject::new(Layer::Policies(vec![allow, broken]));
    let decision = decide(&subject, "agents:GetAgent", &agent("a"), &Context::new());
    assert_eq!(decision.by.to_string(), "pol_broken, which can't be read");
    assert!(!decision.allowed);
}

const ACTIONS: [&str; 6] =
    ["*", "agents:*", "agents:GetAgent", "agents:DeleteAgent", "tools:*", "tools:GetTool"];
const RESOURCES: [&str; 5] =
    ["*", "srn:proj_1:*:*", "srn:*:agent:*", "srn:proj_1:agent:a", "srn:proj_2:tool:?"];
const CONCRETE: [&str; 4] = ["agents:GetAgent", "agents:DeleteAgent", "tools:GetTool", "tools:DeleteTool"];

fn statement() -> impl Strategy<Value = Json> {
    let condition = prop_oneof![
        Just(json!({})),
        Just(json!({ "StringEquals": { "soat:ResourceTag/team": "red" } })),
        Just(json!({ "StringNotEquals": { "soat:ResourceType": "tool" } })),
    ];
    (any::<bool>(), 0..ACTIONS.len(), 0..RESOURCES.len(), condition).prop_map(
        |(allow, action, resource, condition)| {
            json!({
                "effect": if allow { "Allow" } else { "Deny" },
                "action": [ACTIONS[action]],
                "resource": [RESOURCES[resource]],
                "condition": condition,
            })
        },
    )
}

fn statements() -> impl Strategy<Value = Vec<Json>> {
    proptest::collection::vec(statement(), 0..6)
}

/// Every question of a small world.
fn questions() -> Vec<(&'static str, Srn, Context)> {
    let mut all = Vec::new();
    for action in CONCRETE {
        for project in ["proj_1", "proj_2"] {
            for type_name in ["agent", "tool"] {
                for id in ["a", "b", "*"] {
                    for tags in [json!({}), json!({ "tags": { "team": "red" } })] {
                        all.push((
                            action,
                            Srn::new(&project.into(), type_name, id),
                            Context::of_properties(&tags),
                        ));
                    }
                }
            }
        }
    }
    all
}

proptest! {
    #[test]
    fn the_order_of_statements_decides_nothing(given in statements(), seed in any::<u64>()) {
        let mut shuffled = given.clone();
        for index in (1..shuffled.len()).rev() {
            shuffled.swap(index, usize::try_from(seed >> (index % 32)).unwrap_or(0) % (index + 1));
        }
        let (one, other) = (user(json!(given)), user(json!(shuffled)));
        for (action, srn, context) in questions() {
            prop_assert_eq!(decide(&one, action, &srn, &context).allowed, decide(&other, action, &srn, &context).allowed);
        }
    }

    #[test]
    fn a_further_allow_takes_nothing_away(given in statements(), mut added in statement()) {
        added["effect"] = json!("Allow");
        let mut more = given.clone();
        more.push(added);
        let (before, after) = (user(json!(given)), user(json!(more)));
        for (action, srn, context) in questions() {
            let was = decide(&before, action, &srn, &context).allowed;
            prop_assert!(!was || decide(&after, action, &srn, &context).allowed);
        }
    }

    #[test]
    fn a_further_deny_gives_nothing(given in statements(), mut added in statement()) {
        added["effect"] = json!("Deny");
        let mut more = given.clone();
        more.push(added);
        let (before, after) = (user(json!(given)), user(json!(more)));
        for (action, srn, context) in questions() {
            let is = decide(&after, action, &srn, &context).allowed;
            prop_assert!(!is || decide(&before, action, &srn, &context).allowed);
        }
    }

    #[test]
    fn two_layers_allow_exactly_what_each_of_them_allows(owner in statements(), key in statements()) {
        let (of_owner, of_key) = (user(json!(owner)), user(json!(key)));
        let both = of_owner.clone().under(Layer::Policies(vec![policy("pol_2", json!(key))]));
        for (action, srn, context) in questions() {
            let allowed = |subject: &Subject| decide(subject, action, &srn, &context).allowed;
            prop_assert_eq!(allowed(&both), allowed(&of_owner) && allowed(&of_key));
        }
    }

    #[test]
    fn any_json_is_parsed_or_refused(text in "\\PC{0,40}", statements in statements()) {
        // No input is worse than refused.
        let _ = PolicyDocument::parse(&json!(text));
        let _ = PolicyDocument::parse(&json!({ "statement": [text, { "effect": text, "action": [text], "resource": [text],
            "condition": { text.clone(): { text.clone(): text } } }] }));
        let document = json!({ "statement": statements });
        prop_assert!(PolicyDocument::parse(&document).is_ok());
    }
}
