//! Each operation with each way of misbehaving: what the deploy says of it, what is there
//! afterwards, and that the next deploy and the teardown come to a good end.

use crate::common::text;
use crate::golden;
use crate::world::{CANARY, World, scrubbed};
use formwork_example_handler::Deed;
use serde_json::{Value, json};

/// Ways to misbehave: what it is called, whether the deed is done all the same, what is answered.
fn misdeeds() -> Vec<(&'static str, bool, Deed)> {
    let message = Some("the number is taken".to_owned());
    let location = "http://127.0.0.1:1/".to_owned();
    vec![
        ("refuses", false, Deed::Fail { status: 422, message }),
        ("fails without a word", false, Deed::Fail { status: 500, message: None }),
        ("does it and fails", true, Deed::Fail { status: 503, message: None }),
        ("is slow", false, Deed::Delay { millis: 300 }),
        ("does it and hangs", true, Deed::Hang),
        ("hangs", false, Deed::Hang),
        ("does it and answers garbage", true, Deed::Garbage),
        ("does it and answers a list", true, Deed::NotAnObject),
        ("does it and answers nothing", true, Deed::Nothing),
        ("redirects", false, Deed::Redirect { status: 307, location }),
        ("does it and answers too much", true, Deed::TooMuch),
        ("does it and breaks off", true, Deed::BreakOff),
        ("makes another", false, Deed::Replace),
        ("has forgotten it", false, Deed::Forget),
    ]
}

/// A memory, and a channel that comes after it.
fn template(name: &str, kind: &str) -> Value {
    json!({
        "resources": {
            "Memory": { "type": "memory", "properties": { "name": format!("memory of {name}") } },
            "Chan": {
                "type": "channel",
                "depends_on": ["Memory"],
                "properties": { "name": name, "kind": kind, "access_token": CANARY },
            },
        },
        "outputs": { "Inbox": { "ref_attr": "Chan.inbox_url" } },
    })
}

/// What one case comes to.
struct Case<'w> {
    world: &'w World,
    asked: usize,
    text: String,
}

impl<'w> Case<'w> {
    fn new(world: &'w World, name: &str) -> Self {
        Self { world, asked: world.asked().len(), text: format!("== {name}\n") }
    }

    fn step(&mut self, what: &str, exit: Option<i32>, id: &str) {
        let exit = exit.map_or_else(|| "killed".to_owned(), |code| code.to_string());
        self.text += &format!("{what}: exit {exit}\n");
        let asked: Vec<_> = self.world.asked()[self.asked..].to_vec();
        self.asked += asked.len();
        for line in asked {
            self.text += &format!("  asked {line}\n");
        }
        if !id.is_empty() {
            for line in self.world.events(id) {
                self.text += &format!("  event {line}\n");
            }
        }
    }

    fn state(&mut self, id: &str) {
        self.text += &format!("{}\n", self.world.shown(id));
        self.text += &format!("channels {}\n", self.world.channels().join(" "));
    }

    fn teardown(&mut self, id: &str) {
        let ran = self.world.home.run(&["delete-formation", id]);
        self.step("teardown", ran.code, "");
        self.text += &format!("channels {}\n", self.world.channels().join(" "));
    }
}

fn matrix(operation: &str, run: impl Fn(&mut Case<'_>, &str, &dyn Fn())) -> String {
    let world = World::new();
    let agent = world.home.agent();
    let mut whole = String::new();
    for (number, (name, act, deed)) in misdeeds().into_iter().enumerate() {
        let mut case = Case::new(&world, &format!("{operation}: the handler {name}"));
        run(&mut case, &format!("s{number}"), &|| world.misbehave(operation, act, deed.clone()));
        world.handler.behave();
        whole += &scrubbed(&case.text);
        whole.push('\n');
    }
    drop(agent);
    world.assert_no_canary();
    assert!(!whole.contains(CANARY));
    whole
}

#[test]
fn a_create_whose_handler_misbehaves_is_rolled_back_or_is_not_known() {
    let text = matrix("create", |case, name, misbehave| {
        misbehave();
        let ran = case.world.create(name, &template("a", "sms"));
        let id = text(&ran.json(), "id").to_owned();
        case.step("deploy", ran.code, &id);
        case.state(&id);
        let ran = case.world.update(&id, &template("a", "sms"));
        case.step("again", ran.code, &id);
        if ran.code != Some(0) {
            // A credential is always sent, so what was found never looks as declared.
            let ran = case.world.update(&id, &template("a", "sms")).ok();
            case.step("once more", ran.code, &id);
        }
        case.teardown(&id);
    });
    golden!("create matrix", text);
}

#[test]
fn an_update_whose_handler_misbehaves_fails_and_the_next_one_heals() {
    let text = matrix("update", |case, name, misbehave| {
        let id = text(&case.world.create(name, &template("a", "sms")).ok().json(), "id").to_owned();
        case.step("deploy", Some(0), "");
        misbehave();
        let ran = case.world.update(&id, &template("b", "sms"));
        case.step("update", ran.code, &id);
        case.state(&id);
        let ran = case.world.update(&id, &template("b", "sms"));
        case.step("again", ran.code, &id);
        case.state(&id);
        case.teardown(&id);
    });
    golden!("update matrix", text);
}

#[test]
fn a_delete_whose_handler_misbehaves_fails_and_can_be_repeated() {
    let text = matrix("delete", |case, name, misbehave| {
        let id = text(&case.world.create(name, &template("a", "sms")).ok().json(), "id").to_owned();
        case.step("deploy", Some(0), "");
        misbehave();
        let ran = case.world.home.run(&["delete-formation", &id]);
        let gone = ran.code == Some(0);
        case.step("teardown", ran.code, if gone { "" } else { &id });
        if !gone {
            case.state(&id);
            case.teardown(&id);
        }
    });
    golden!("delete matrix", text);
}

#[test]
fn a_read_whose_handler_misbehaves_fails_no_deploy() {
    let text = matrix("read", |case, name, misbehave| {
        let id = text(&case.world.create(name, &template("a", "sms")).ok().json(), "id").to_owned();
        case.step("deploy", Some(0), "");
        misbehave();
        case.world.home.write("template.json", template("a", "sms").to_string());
        let plan = ["plan-formation", "--formation-id", &id, "--template-file", "template.json"];
        let ran = case.world.home.run(&plan).ok();
        case.step("plan", ran.code, "");
        let plan = ran.json();
        for change in plan["changes"].as_array().into_iter().flatten() {
            case.text += &format!("  change {} {}\n", text(change, "logical_id"), text(change, "action"));
        }
        for warning in plan["warnings"].as_array().into_iter().flatten() {
            case.text += &format!("  warning {}: {}\n", text(warning, "path"), text(warning, "message"));
        }
        misbehave();
        let ran = case.world.update(&id, &template("b", "sms"));
        case.step("update", ran.code, &id);
        case.state(&id);
        case.teardown(&id);
    });
    golden!("read matrix", text);
}

#[test]
fn a_validation_whose_handler_misbehaves_fails_before_anything_is_done() {
    let text = matrix("validate", |case, name, misbehave| {
        misbehave();
        let ran = case.world.create(name, &template("a", "sms"));
        case.step("deploy", ran.code, "");
        if ran.code == Some(0) {
            let id = text(&ran.json(), "id").to_owned();
            case.teardown(&id);
        } else {
            case.text += &ran.stderr;
            case.text += &format!("channels {}\n", case.world.channels().join(" "));
        }
    });
    golden!("validate matrix", text);
}
