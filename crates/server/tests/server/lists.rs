//! A list shows what its reader could get one by one, and nothing tells of the rest.

use crate::people::allow;
use crate::world::{World, memories};
use formwork_model::Json;
use serde_json::json;

fn names(page: &Json) -> Vec<String> {
    let all = page["data"].as_array().unwrap_or_else(|| panic!("no list in {page}"));
    all.iter().map(|item| item["name"].as_str().expect("a name").to_owned()).collect()
}

#[tokio::test]
async fn pages_are_full_and_the_total_counts_only_what_is_seen() {
    let world = World::new().await;
    let here = world.default_project().await;
    let mut seen = Vec::new();
    for number in 0..30 {
        let id = world.made("/memories", json!({ "name": format!("m{number}") })).await;
        if number % 3 == 0 {
            seen.push((format!("m{number}"), format!("srn:{here}:memory:{id}")));
        }
    }
    let srns: Vec<&str> = seen.iter().map(|(_, srn)| srn.as_str()).collect();
    let expected: Vec<&str> = seen.iter().map(|(name, _)| name.as_str()).collect();
    let statements = [allow(&["memories:ListMemories"], &["*"]), allow(&["memories:GetMemory"], &srns)];
    let ada = world.person("ada", &statements).await;
    for (limit, offset) in [(4, 0), (4, 4), (4, 8), (50, 0), (3, 9), (5, 20)] {
        let page = ada.world.get(&format!("/memories?limit={limit}&offset={offset}")).await.body;
        let slice: Vec<_> = expected.iter().copied().skip(offset).take(limit).collect();
        assert_eq!(names(&page), slice, "{limit} from {offset}");
        assert_eq!(page["total"], json!(expected.len()));
    }
    assert_eq!(world.get("/memories").await.body["total"], 30);
}

#[tokio::test]
async fn conditions_on_tags_hold_for_each_of_a_list() {
    let world = World::new().await;
    let red = json!({ "effect": "Allow", "action": ["actors:GetActor"], "condition": {
        "StringEquals": { "soat:ResourceTag/team": "red" },
    } });
    let ada = world.person("ada", &[allow(&["actors:ListActors"], &["*"]), red]).await;
    for team in ["red", "blue", "red"] {
        let body = json!({ "name": team, "tags": { "team": team }, "external_id": format!("{team}-x") });
        world.post("/actors", body).await;
    }
    let blue = world.get("/actors?external_id=blue-x").await.body["data"][0]["id"].clone();
    let page = ada.world.get("/actors").await.body;
    assert_eq!(page["total"], json!(page["data"].as_array().expect("a list").len()));
    assert!(names(&page).iter().all(|name| name == "red") && page["total"] != 0, "{page}");
    let hidden = ada.world.get("/actors?external_id=blue-x").await.body;
    assert_eq!((&hidden["total"], &hidden["data"]), (&json!(0), &json!([])), "filters find nothing either");
    // Nor does making one that is there already show it.
    let project = world.default_project().await;
    ada.may(&[allow(&["actors:CreateActor"], &["*"])]).await;
    let body = json!({ "name": "mine", "external_id": "blue-x", "project_id": project });
    let found = ada.world.post("/actors", body).await;
    assert_eq!(found.outcome(), (403, "FORBIDDEN"));
    assert!(!found.text.contains(blue.as_str().expect("an id")));
}

#[tokio::test]
async fn formations_and_projects_are_listed_as_they_can_be_got() {
    let world = World::new().await;
    let here = world.default_project().await;
    let there = world.made("/projects", json!({ "name": "there" })).await;
    let mine = world.made("/formations", json!({ "name": "mine", "template": memories(1) })).await;
    for name in ["other", "another"] {
        world.made("/formations", json!({ "name": name, "template": { "resources": {} } })).await;
    }
    let own = format!("srn:{here}:formation:{mine}");
    let statements = [
        allow(&["formations:ListFormations", "projects:ListProjects"], &["*"]),
        allow(&["formations:GetFormation"], &[&own]),
        allow(&["projects:GetProject"], &[&format!("srn:{there}:project:*")]),
    ];
    let ada = world.person("ada", &statements).await;
    let formations = ada.world.get("/formations").await.body;
    assert_eq!((names(&formations), &formations["total"]), (vec!["mine".to_owned()], &json!(1)));
    let projects = ada.world.get("/projects").await.body;
    assert_eq!((names(&projects), &projects["total"]), (vec!["there".to_owned()], &json!(1)));
    assert_eq!(ada.world.get(&format!("/projects/{here}")).await.status, 404);
    ada.may(&[allow(&["formations:ListFormations"], &["*"])]).await;
    assert_eq!(ada.world.get("/formations").await.body["total"], 0);
}

/// The ids of a page, and how many there are in all.
fn ids(page: &Json, of: Option<&str>) -> (Vec<String>, u64) {
    let all = page["data"].as_array().unwrap_or_else(|| panic!("no list in {page}"));
    let item = |item: &Json| of.map_or_else(|| item.clone(), |name| item[name].clone());
    let ids = all.iter().map(|found| item(found)["id"].as_str().expect("an id").to_owned());
    (ids.collect(), page["total"].as_u64().expect("a total"))
}

#[tokio::test]
async fn what_an_item_lists_is_narrowed_and_paged_like_any_list() {
    let world = World::new().await;
    let here = world.default_project().await;
    let formation = world.deployed(&crate::world::agent()).await;
    let agent = world.get(&format!("/formations/{formation}")).await.body["outputs"]["botId"].clone();
    let session = world.made("/sessions", json!({ "agent_id": agent })).await;
    let mut forks = Vec::new();
    for _ in 0..3 {
        forks.push(world.made(&format!("/sessions/{session}/fork"), json!({})).await);
    }
    let trace = |parent: &Json| json!({ "agent_id": agent, "parent_trace_id": parent });
    let root = world.made("/traces", trace(&Json::Null)).await;
    let hidden = world.made("/traces", trace(&json!(root))).await;
    let below = world.made("/traces", trace(&json!(hidden))).await;
    let srn = |kind: &str, id: &str| format!("srn:{here}:{kind}:{id}");
    let statements = [
        allow(&["agents:ListSessions"], &["*"]),
        allow(&["agents:GetSession"], &[&srn("session", &session), &srn("session", &forks[2])]),
        allow(&["traces:GetTraceTree"], &["*"]),
        allow(&["traces:GetTrace"], &[&srn("trace", &root), &srn("trace", &below)]),
    ];
    let ada = world.person("ada", &statements).await;
    let path = format!("/sessions/{session}/forks");
    assert_eq!(ids(&world.get(&path).await.body, None), (forks.clone(), 3));
    assert_eq!(
        ids(&world.get(&format!("{path}?limit=1&offset=1")).await.body, None),
        (vec![forks[1].clone()], 3)
    );
    assert_eq!(ids(&ada.world.get(&path).await.body, None), (vec![forks[2].clone()], 1));
    let path = format!("/traces/{root}/tree");
    assert_eq!(ids(&world.get(&path).await.body, Some("trace")).1, 3);
    assert_eq!(ids(&ada.world.get(&path).await.body, Some("trace")), (vec![root, below], 2));
    assert_eq!(world.get(&format!("{path}?limit=0")).await.outcome(), (400, "VALIDATION_FAILED"));
    // A fork shows what was said: it takes reading the session too.
    ada.may(&[allow(&["agents:CreateSession"], &["*"])]).await;
    let refused = ada.world.post(&format!("/sessions/{session}/fork"), json!({})).await;
    assert_eq!(refused.outcome(), (404, "RESOURCE_NOT_FOUND"));
}

#[tokio::test]
async fn a_conversation_shows_the_messages_of_the_sessions_that_its_reader_could_read() {
    let world = World::new().await;
    let here = world.default_project().await;
    let formation = world.deployed(&crate::world::agent()).await;
    let agent = world.get(&format!("/formations/{formation}")).await.body["outputs"]["botId"].clone();
    let session = world.post("/sessions", json!({ "agent_id": agent })).await;
    let (id, conversation) =
        (session.id(), session.body["conversation_id"].as_str().expect("one").to_owned());
    let mut said = Vec::new();
    for text in ["a", "b", "c"] {
        said.push(world.made(&format!("/sessions/{id}/messages"), json!({ "message": text })).await);
    }
    let path = format!("/conversations/{conversation}/messages");
    assert_eq!(
        ids(&world.get(&format!("{path}?limit=2&offset=1")).await.body, None),
        (said[1..].to_vec(), 3)
    );
    let ada = world.person("ada", &[allow(&["conversations:GetConversation"], &["*"])]).await;
    assert_eq!(ids(&ada.world.get(&path).await.body, None), (Vec::new(), 0), "they can read none one by one");
    let own = format!("srn:{here}:session:{id}");
    ada.may(&[allow(&["conversations:GetConversation"], &["*"]), allow(&["agents:GetSession"], &[&own])])
        .await;
    assert_eq!(ids(&ada.world.get(&path).await.body, None), (said, 3));
}
