//! SIGKILL at random moments of deploys and teardowns: the next process finishes or rolls back by
//! itself, and nothing is lost, doubled or orphaned (INV-1, INV-2, INV-3, INV-12).
//!
//! `FORMWORK_KILLS=200` kills that often; a run of the test suite kills a few times. Times of
//! recovery are printed, with `--nocapture`.

mod common;

use common::{Agent, Home, finish, many, text, wait_for};
use serde_json::Value;
use std::collections::BTreeSet;
use std::process::Child;
use std::thread::sleep;
use std::time::{Duration, Instant};

const RESOURCES: usize = 200;
/// A command that changes something, if only it found it: so it recovers first.
const TOUCH: [&str; 2] = ["delete-memory", "mem_AAAAAAAAAAAAAAAA"];

fn kills() -> usize {
    std::env::var("FORMWORK_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(12)
}

/// A small generator of numbers that only have to be different.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }

    /// A moment: often soon, sometimes late.
    fn pause(&mut self) -> Duration {
        let most = [15, 150, 700][usize::try_from(self.below(3)).expect("small")];
        Duration::from_millis(self.below(most))
    }
}

/// The second template: some changed, some gone, some new.
fn second() -> String {
    let text = many(RESOURCES + 20);
    let mut template: Value = serde_json::from_str(&text).expect("JSON");
    let resources = template["resources"].as_object_mut().expect("an object");
    for index in (0..40).step_by(4) {
        for label in [format!("Secret{}", index + 2), format!("Tool{}", index + 3)] {
            resources.shift_remove(&label);
        }
        resources[&format!("Entry{}", index + 1)]["properties"]["content"] = Value::from("changed");
    }
    template.to_string()
}

/// Compares the ledger with what is there; answers the formation's status.
#[track_caller]
fn verified(home: &Home, formation: &str) -> String {
    let formation = home.json(&["get-formation", formation]);
    let status = text(&formation, "status").to_owned();
    let rows: Vec<_> = formation["resources"]
        .as_array()
        .expect("rows")
        .iter()
        .filter(|row| row["status"] != "deleted")
        .filter_map(|row| row["physical_resource_id"].as_str())
        .collect();
    let objects = home.objects();
    let there: BTreeSet<_> = objects.iter().map(|object| text(object, "id")).collect();
    assert_eq!(there.len(), objects.len(), "no object is listed twice");
    assert_eq!(rows.iter().copied().collect::<BTreeSet<_>>(), there, "lost or orphaned, formation {status}");
    assert_eq!(rows.len(), there.len(), "two rows share an object");
    let names: BTreeSet<_> = objects
        .iter()
        .map(|it| (it["name"].to_string(), it["content"].to_string(), it["memory_id"].to_string()))
        .collect();
    assert_eq!(names.len(), objects.len(), "an object is there twice under two ids");
    status
}

/// What a process does that may be killed.
trait Life {
    /// Begins an operation; answers its formation and its id.
    fn begin(&mut self, home: &Home, arguments: &[&str]) -> (String, String);
    /// Kills the process, starts the next; answers when the operation was seen going on.
    fn kill_and_restart(&mut self, home: &Home, operation: &str) -> Duration;
    /// Waits until the operation is over.
    fn finish(&mut self, home: &Home, operation: &str);
}

fn final_status(home: &Home, operation: &str) -> Option<String> {
    let status = text(&home.json(&["get-operation", operation]), "status").to_owned();
    matches!(status.as_str(), "succeeded" | "failed").then_some(status)
}

fn progress(home: &Home, operation: &str) -> (usize, bool) {
    let operation = home.json(&["get-operation", operation]);
    let events = operation["events"].as_array().map_or(0, Vec::len);
    (events, matches!(text(&operation, "status"), "succeeded" | "failed"))
}

struct InAgent(Option<Agent>);

impl Life for InAgent {
    fn begin(&mut self, home: &Home, arguments: &[&str]) -> (String, String) {
        if self.0.is_none() {
            self.0 = Some(home.agent());
        }
        let begun = home.json(&[arguments, &["--no-wait"]].concat());
        (text(&begun, "formation_id").to_owned(), text(&begun, "operation_id").to_owned())
    }

    fn kill_and_restart(&mut self, home: &Home, operation: &str) -> Duration {
        let (before, _) = progress(home, operation);
        self.0.take().expect("it runs").kill();
        let began = Instant::now();
        self.0 = Some(home.agent());
        wait_for("the operation to go on", || {
            let (events, over) = progress(home, operation);
            over || events > before
        });
        began.elapsed()
    }

    fn finish(&mut self, home: &Home, operation: &str) {
        wait_for("the operation to end", || final_status(home, operation).is_some());
    }
}

struct Embedded(Option<Child>);

impl Life for Embedded {
    fn begin(&mut self, home: &Home, arguments: &[&str]) -> (String, String) {
        let last = |home: &Home| {
            let formations = home.json(&["list-formations"]);
            let formation = formations["data"][0]["id"].as_str()?.to_owned();
            let history = home.json(&["list-formation-events", &formation, "--limit", "100"]);
            let operation = history["data"].as_array()?.last()?["id"].as_str()?.to_owned();
            Some((formation, operation))
        };
        let before = last(home);
        self.0 = Some(home.command(arguments).spawn().expect("it starts"));
        let mut begun = None;
        wait_for("the operation to begin", || {
            begun = last(home);
            begun.is_some() && begun != before
                || self.0.as_mut().is_some_and(|child| child.try_wait().is_ok_and(|it| it.is_some()))
        });
        begun.or(before).expect("there is an operation")
    }

    fn kill_and_restart(&mut self, home: &Home, operation: &str) -> Duration {
        let mut child = self.0.take().expect("it runs");
        // It may have ended by itself.
        let _ = child.kill();
        drop(finish(child));
        let (before, _) = progress(home, operation);
        let began = Instant::now();
        self.0 = Some(home.command(&TOUCH).spawn().expect("it starts"));
        wait_for("the operation to go on", || {
            let (events, over) = progress(home, operation);
            over || events > before
        });
        began.elapsed()
    }

    fn finish(&mut self, home: &Home, operation: &str) {
        if let Some(child) = self.0.take() {
            drop(finish(child));
        }
        home.run(&TOUCH).exits(1);
        assert!(
            final_status(home, operation).is_some(),
            "a command that changes something finishes it first"
        );
    }
}

struct Soak<L> {
    life: L,
    dice: Dice,
    left: usize,
    recoveries: Vec<Duration>,
}

impl<L: Life> Soak<L> {
    /// Carries an operation out, killing its process a few times on the way.
    fn operation(&mut self, home: &Home, arguments: &[&str]) -> String {
        let (formation, operation) = self.life.begin(home, arguments);
        for _ in 0..=self.dice.below(3) {
            sleep(self.dice.pause());
            if self.left == 0 {
                break;
            }
            self.left -= 1;
            let took = self.life.kill_and_restart(home, &operation);
            self.recoveries.push(took);
        }
        self.life.finish(home, &operation);
        formation
    }

    /// A stack's life: made, changed, made right, torn down.
    fn round(&mut self, home: &Home) {
        let formation =
            self.operation(home, &["create-formation", "--name", "s", "--template-file", "first.json"]);
        verified(home, &formation);
        let update = |file| ["update-formation", "--formation-id", &formation, "--template-file", file];
        self.operation(home, &update("second.json"));
        verified(home, &formation);
        home.run(&update("second.json")).ok();
        assert_eq!(verified(home, &formation), "active");
        home.run(&update("second.json")).ok();
        assert!(home.last_events(&formation).iter().all(|(_, action)| action == "no-op"));
        let delete = ["delete-formation", "--formation-id", &formation];
        self.operation(home, &delete);
        if home.run(&["get-formation", &formation]).code == Some(0) {
            home.run(&delete).ok();
        }
        assert_eq!(home.objects(), Vec::<Value>::new());
        assert_eq!(home.json(&["list-formations"])["total"], 0);
    }

    fn run(mut self, name: &str) {
        let home = Home::new();
        home.write("first.json", many(RESOURCES));
        home.write("second.json", second());
        while self.left > 0 {
            self.round(&home);
        }
        self.recoveries.sort();
        let at = |part: usize| self.recoveries[(self.recoveries.len() - 1) * part / 100];
        println!(
            "{name}: {} kills; recovery in p50 {:?}, p95 {:?}, most {:?}",
            self.recoveries.len(),
            at(50),
            at(95),
            at(100)
        );
    }
}

fn seed() -> u64 {
    let seed = std::env::var("FORMWORK_SEED").ok().and_then(|text| text.parse().ok());
    let seed = seed.unwrap_or_else(|| u64::from(std::process::id()));
    println!("FORMWORK_SEED={seed}");
    seed
}

#[test]
fn an_agent_that_is_killed_leaves_nothing_lost_doubled_or_orphaned() {
    let left = kills().div_ceil(2);
    Soak { life: InAgent(None), dice: Dice(seed()), left, recoveries: Vec::new() }.run("agent");
}

#[test]
fn a_command_that_is_killed_leaves_nothing_lost_doubled_or_orphaned() {
    let left = kills() / 2;
    Soak { life: Embedded(None), dice: Dice(seed() + 1), left, recoveries: Vec::new() }.run("embedded");
}
