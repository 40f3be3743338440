//! Steps, done.

use crate::declared::{Resource, Site, Within, possible, template};
use crate::effects::{Done, done};
use crate::person::unknown;
use crate::quiet::{edited, formations, objects, removed};
use crate::sequence::{Interruption, Planned, Sequence, Step};
use crate::violation::Violation;
use crate::world::{Ran, TOUCH, World};
use formwork_model::{Json, NativeId};
use formwork_plugin_fake_cloud::{RESOURCE, Script};
use serde_json::{Map, json};
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

/// How long an interruption waits for the moment that it is for.
const MOMENT: Duration = Duration::from_secs(3);

/// Properties that need not be declared.
const OPTIONAL: [&str; 3] = ["tags", "tier", "password"];

/// What is known of a stack, from what commands said.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stack {
    /// The formation's id, if there is one.
    pub(crate) formation: Option<String>,
    /// What was declared last.
    pub(crate) declared: Option<Vec<Resource>>,
}

/// A sequence that is played.
pub(crate) struct Play<'w, 's> {
    pub(crate) world: &'w mut World<'s>,
    pub(crate) stacks: BTreeMap<u8, Stack>,
    /// What goes wrong now.
    weather: Script,
}

impl<'w, 's> Play<'w, 's> {
    pub(crate) fn new(world: &'w mut World<'s>) -> Self {
        Self { world, stacks: BTreeMap::new(), weather: Script::default() }
    }

    pub(crate) fn all(&mut self, sequence: &Sequence) -> Result<(), Violation> {
        for (number, step) in sequence.steps.iter().enumerate() {
            self.world.trace.push(format!("step {number}: {}", summary(step)));
            self.step(step)?;
        }
        Ok(())
    }

    fn step(&mut self, step: &Step) -> Result<(), Violation> {
        match step {
            Step::Deploy { stack, resources, keep, planned, interruption } => {
                self.deploy(*stack, resources, *keep, *planned, *interruption)
            }
            Step::Destroy { stack, interruption } => self.destroy(*stack, *interruption),
            Step::Look { stack } => self.look(*stack),
            Step::Edit { place, value } => self.edit(*place, *value),
            Step::Remove { place } => self.remove(*place),
            Step::Insert { value } => self.insert(*value),
            Step::Weather(weather) => self.weather(weather.0.clone()),
        }
    }

    pub(crate) fn weather(&mut self, script: Script) -> Result<(), Violation> {
        self.world.cloud.script(&script).map_err(Violation::stuck)?;
        self.weather = script;
        Ok(())
    }

    /// The ids of the first stack's resources, where a declaration needs them.
    pub(crate) fn foreign(&mut self, resources: &[Resource]) -> Result<BTreeMap<String, String>, Violation> {
        let first = self.stacks.get(&0).and_then(|stack| stack.formation.clone());
        match first.filter(|_| resources.iter().any(|one| matches!(one.within, Within::Foreign(_)))) {
            Some(id) => {
                let shown = self.world.run(&["get-formation", &id])?;
                let there = self.world.look()?.0;
                let mut ids = objects(&shown.json()).0;
                ids.retain(|_, id| there.objects.contains_key(&NativeId::from(id.as_str())));
                Ok(ids)
            }
            None => Ok(BTreeMap::new()),
        }
    }

    /// Whether nothing goes wrong on purpose that a deploy of a stack could notice.
    fn is_fair(&mut self, stack: u8, interruption: Interruption) -> Result<bool, Violation> {
        if !self.weather.rules.is_empty()
            || !self.weather.lag.is_empty()
            || interruption != Interruption::None
        {
            return Ok(false);
        }
        let state = self.world.look()?.0;
        let prefix = format!("s{stack}-");
        let is_own =
            |name: Option<&Json>| name.and_then(Json::as_str).is_some_and(|name| name.starts_with(&prefix));
        let entangled = state.objects.iter().any(|(id, object)| {
            is_own(object.properties.get("name"))
                && state.children(id).any(|child| {
                    !is_own(state.objects.get(child).and_then(|child| child.properties.get("name")))
                })
        });
        Ok(!state.is_pending() && !entangled)
    }

    /// The arguments of a deploy, but for what it begins with.
    pub(crate) fn prepare(
        &mut self,
        stack: u8,
        resources: &[Resource],
        foreign: &BTreeMap<String, String>,
    ) -> Result<Vec<String>, Violation> {
        let (directory, canary) = (self.world.cloud_directory(), self.world.canary.clone());
        let site = Site { stack, directory: &directory, canary: &canary, foreign };
        let (template, parameters) = template(resources, &site);
        let file = format!("s{stack}.json");
        self.world.write(&file, &template.to_string())?;
        let mut arguments = vec!["--template-file".to_owned(), file];
        arguments.extend(parameters.into_iter().flat_map(|one| ["--parameter".to_owned(), one]));
        Ok(arguments)
    }

    fn deploy(
        &mut self,
        stack: u8,
        resources: &[Resource],
        keep: bool,
        planned: Planned,
        interruption: Interruption,
    ) -> Result<(), Violation> {
        let foreign = self.foreign(resources)?;
        let (directory, canary) = (self.world.cloud_directory(), self.world.canary.clone());
        let site = Site { stack, directory: &directory, canary: &canary, foreign: &foreign };
        let resources = possible(resources, &site);
        let source = self.prepare(stack, &resources, &foreign)?;
        let fair = self.is_fair(stack, interruption)?;
        let formation = self.stacks.get(&stack).and_then(|stack| stack.formation.clone());
        let failure = if keep { "keep" } else { "rollback" };
        let (plan, hash) = match planned {
            Planned::No => (None, None),
            Planned::Shown => (self.plan(formation.as_deref(), &source, failure, false, fair)?, None),
            Planned::Kept => {
                let plan = self.plan(formation.as_deref(), &source, failure, true, fair)?;
                let hash = plan.as_ref().and_then(|plan| Some(plan["plan_hash"].as_str()?.to_owned()));
                (plan, hash)
            }
        };
        let name = format!("s{stack}");
        let mut arguments: Vec<String> = match (&hash, &formation) {
            (Some(hash), Some(_)) => vec!["apply-plan".into(), hash.clone()],
            (Some(hash), None) => vec!["apply-plan".into(), hash.clone(), "--name".into(), name],
            (None, Some(id)) => vec!["update-formation".into(), "--formation-id".into(), id.clone()],
            (None, None) => vec!["create-formation".into(), "--name".into(), name],
        };
        if hash.is_none() {
            arguments.extend(source);
            arguments.extend(["--on-failure".into(), failure.into()]);
        }
        self.stacks.entry(stack).or_default().declared = Some(resources.clone());
        let before = self.world.lines()?;
        let ran = self.carry_out(stack, &arguments, interruption)?;
        self.settle_formation(stack, &ran, interruption)?;
        if ran.is_ok() && ran.json()["status"] == "active" {
            self.expect_exactly(stack, &resources, &foreign, &ran.json(), fair)?;
        }
        if fair {
            self.judge_fair(stack, &ran, plan.as_ref(), before)?;
        }
        Ok(())
    }

    /// A plan, which must change nothing.
    fn plan(
        &mut self,
        formation: Option<&str>,
        source: &[String],
        failure: &str,
        keep: bool,
        fair: bool,
    ) -> Result<Option<Json>, Violation> {
        let mut arguments = vec!["plan-formation"];
        arguments.extend(formation.into_iter().flat_map(|id| ["--formation-id", id]));
        arguments.extend(source.iter().map(String::as_str));
        arguments.extend(["--on-failure", failure]);
        arguments.extend(keep.then_some("--save"));
        let before = self.world.lines()?;
        let ran = self.world.run(&arguments)?;
        let effects = done(&self.world.look()?.1[before..]);
        if !effects.is_empty() {
            return Err(Violation::new("INV-5", format!("a plan did something: {effects:?}")));
        }
        if fair && !ran.is_ok() {
            return Err(Violation::new(
                "INV-12",
                format!("nothing is wrong, and a plan fails: {}", ran.stderr),
            ));
        }
        Ok(ran.is_ok().then(|| ran.json()))
    }

    /// Runs a command, with what comes in between.
    fn carry_out(
        &mut self,
        stack: u8,
        arguments: &[String],
        interruption: Interruption,
    ) -> Result<Ran, Violation> {
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let before = self.world.lines()?;
        let mut started = self.world.start(&arguments)?;
        let lines = match interruption {
            Interruption::None => return self.world.finish(started),
            Interruption::KillServer(lines)
            | Interruption::KillPlugin(lines)
            | Interruption::Cancel { lines, .. } => before + usize::from(lines),
        };
        let until = Instant::now() + MOMENT;
        while self.world.lines()? < lines && !World::has_ended(&mut started) && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(2));
        }
        match interruption {
            Interruption::KillServer(_) => self.world.kill_server(&mut started)?,
            Interruption::KillPlugin(_) => self.world.kill_plugin()?,
            Interruption::Cancel { force, .. } => self.cancel(stack, force)?,
            Interruption::None => {}
        }
        let ran = self.world.finish(started)?;
        if ran.code.is_none() {
            // It served itself; the next that changes something finishes what was cut off.
            self.world.run(&TOUCH)?;
        }
        Ok(ran)
    }

    fn cancel(&mut self, stack: u8, force: bool) -> Result<(), Violation> {
        let list = self.world.json(&["list-formations", "--limit", "100"])?;
        let name = format!("s{stack}");
        let formation =
            list["data"].as_array().into_iter().flatten().find(|one| one["name"] == name.as_str());
        let Some(id) = formation.and_then(|one| one["id"].as_str()) else { return Ok(()) };
        let shown = self.world.run(&["get-formation", id])?.json();
        let Some(operation) = shown["operation_id"].as_str() else { return Ok(()) };
        let mut arguments = vec!["cancel-operation", operation];
        arguments.extend(force.then_some("--force"));
        self.world.run(&arguments).map(drop)
    }

    /// Finds out whether the formation of a stack is there.
    fn settle_formation(
        &mut self,
        stack: u8,
        ran: &Ran,
        interruption: Interruption,
    ) -> Result<(), Violation> {
        let answered = ran.json()["id"].as_str().filter(|id| id.starts_with("form_")).map(str::to_owned);
        let formation = match answered {
            Some(id) if interruption == Interruption::None => Some(id),
            _ => {
                self.wait()?;
                let name = format!("s{stack}");
                let list = self.world.json(&["list-formations", "--limit", "100"])?;
                let found =
                    list["data"].as_array().into_iter().flatten().find(|one| one["name"] == name.as_str());
                found.and_then(|one| Some(one["id"].as_str()?.to_owned()))
            }
        };
        self.stacks.entry(stack).or_default().formation = formation;
        Ok(())
    }

    /// Waits until nothing runs any more.
    pub(crate) fn wait(&mut self) -> Result<(), Violation> {
        let until = Instant::now() + Duration::from_secs(90);
        loop {
            let list = self.world.json(&["list-formations", "--limit", "100"])?;
            let runs =
                |one: &Json| matches!(one["status"].as_str(), Some("creating" | "updating" | "deleting"));
            if !list["data"].as_array().into_iter().flatten().any(runs) {
                return Ok(());
            }
            if Instant::now() > until {
                return Err(Violation::stuck(format!("something runs for ever: {list}")));
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn destroy(&mut self, stack: u8, interruption: Interruption) -> Result<(), Violation> {
        let Some(id) = self.stacks.get(&stack).and_then(|stack| stack.formation.clone()) else {
            return Ok(());
        };
        let fair = self.is_fair(stack, interruption)?;
        let ran = self.carry_out(stack, &["delete-formation".to_owned(), id], interruption)?;
        let stderr = ran.stderr.clone();
        self.settle_formation(stack, &Ran { stdout: String::new(), ..ran }, interruption)?;
        let stands = self.stacks.get(&stack).is_some_and(|stack| stack.formation.is_some());
        if fair && stands && unknown(&stderr).is_empty() && !stderr.contains("too early") {
            return Err(Violation::new(
                "INV-12",
                format!("nothing is wrong, and a teardown fails: {stderr}"),
            ));
        }
        Ok(())
    }

    fn look(&mut self, stack: u8) -> Result<(), Violation> {
        let Some(id) = self.stacks.get(&stack).and_then(|stack| stack.formation.clone()) else {
            return Ok(());
        };
        let before = self.world.lines()?;
        self.world.run(&["drift", &id])?;
        self.world.run(&["get-formation", &id])?;
        let effects = done(&self.world.look()?.1[before..]);
        if effects.is_empty() {
            return Ok(());
        }
        Err(Violation::new("INV-5", format!("looking did something: {effects:?}")))
    }

    fn edit(&mut self, place: u8, value: u8) -> Result<(), Violation> {
        let Some(id) = self.at(place, |_, _| true)? else { return Ok(()) };
        let changes: Map<String, Json> =
            [("value".to_owned(), json!(format!("edited {value}")))].into_iter().collect();
        self.world.trace.push(format!("! `{id}` is edited"));
        self.world.cloud.edit(&id, &changes).map(drop).map_err(Violation::stuck)
    }

    fn remove(&mut self, place: u8) -> Result<(), Violation> {
        let has_none =
            |state: &formwork_plugin_fake_cloud::State, id: &NativeId| state.children(id).next().is_none();
        let Some(id) = self.at(place, has_none)? else { return Ok(()) };
        self.world.trace.push(format!("! `{id}` is removed"));
        self.world.cloud.remove(&id).map(drop).map_err(Violation::stuck)
    }

    fn insert(&mut self, value: u8) -> Result<(), Violation> {
        let properties =
            json!({ "name": format!("by-hand-{value}"), "value": "by hand", "tier": "standard" });
        let Json::Object(properties) = properties else { return Ok(()) };
        self.world.cloud.insert(RESOURCE, properties).map(drop).map_err(Violation::stuck)
    }

    /// The object at a place among those that qualify.
    fn at(
        &mut self,
        place: u8,
        qualifies: impl Fn(&formwork_plugin_fake_cloud::State, &NativeId) -> bool,
    ) -> Result<Option<NativeId>, Violation> {
        let state = self.world.look()?.0;
        let ids: Vec<&NativeId> = state.objects.keys().filter(|id| qualifies(state, id)).collect();
        Ok(ids.get(usize::from(place) % ids.len().max(1)).map(|id| (*id).clone()))
    }

    /// After a deploy that worked: the provider has exactly what was declared. Where reads may fail or lag behind
    /// (`fair` is false), an edit may have gone unseen.
    pub(crate) fn expect_exactly(
        &mut self,
        stack: u8,
        resources: &[Resource],
        foreign: &BTreeMap<String, String>,
        formation: &Json,
        fair: bool,
    ) -> Result<(), Violation> {
        let (ids, _) = objects(formation);
        let (directory, canary) = (self.world.cloud_directory(), self.world.canary.clone());
        let site = Site { stack, directory: &directory, canary: &canary, foreign };
        let (state, lines) = self.world.look()?;
        let unseen = if fair { BTreeSet::new() } else { edited(lines) };
        for resource in resources {
            let label = resource.label();
            let wrong = |detail: String| Err(Violation::new("INV-4", format!("`s{stack}.{label}` {detail}")));
            let Some(id) = ids.get(&label) else {
                return wrong("has no object after a deploy that worked".into());
            };
            let native_id = NativeId::from(id.as_str());
            if unseen.contains(&native_id) {
                continue;
            }
            let Some(object) = state.objects.get(&native_id) else {
                if !fair && removed(lines).contains(&native_id) {
                    continue;
                }
                return wrong(format!("has `{id}` after a deploy that worked, which is not there"));
            };
            let expected = resource.expected(&site, &ids, &object.properties);
            if !expected.as_ref().is_some_and(|expected| fits(&object.properties, expected)) {
                let (is, should) = (json!(object.properties), json!(expected));
                return wrong(format!("(`{id}`) is {is} after a deploy that worked, and should be {should}"));
            }
        }
        let declared = |label: &String| resources.iter().any(|resource| resource.label() == **label);
        match ids.keys().find(|label| !declared(label)) {
            Some(label) => Err(Violation::new(
                "INV-4",
                format!("`s{stack}.{label}` is not declared, and still has an object"),
            )),
            None => Ok(()),
        }
    }

    /// After a deploy during which nothing went wrong on purpose.
    fn judge_fair(
        &mut self,
        stack: u8,
        ran: &Ran,
        plan: Option<&Json>,
        before: usize,
    ) -> Result<(), Violation> {
        let text = format!("{}{}", ran.stderr, ran.stdout);
        if !ran.is_ok() {
            if unknown(&text).is_empty() && !text.contains("too early") {
                let detail = format!("nothing is wrong, and a deploy of `s{stack}` fails: {}", ran.stderr);
                return Err(Violation::new("INV-12", detail));
            }
            return Ok(());
        }
        let Some(plan) = plan else { return Ok(()) };
        let done = done(&self.world.look()?.1[before..]);
        let mut planned: BTreeMap<&str, &str> = BTreeMap::new();
        for change in plan["changes"].as_array().into_iter().flatten() {
            let text = |key: &str| change[key].as_str().unwrap_or_default();
            planned.insert(text("logical_id"), text("action"));
        }
        let nothing = Done::default();
        for label in planned.keys().copied().chain(done.keys().map(String::as_str)) {
            let did = done.get(label).unwrap_or(&nothing);
            let fits = match planned.get(label).copied() {
                Some("create") => {
                    did.created == 1 && did.updated == 0 && did.deleted == 0 || label == "Cloud"
                }
                Some("update") => did.created == 0 && did.deleted == 0,
                Some("replace") => did.created <= 1 && did.updated <= 1,
                Some("delete") => did.created == 0 && did.updated == 0,
                Some("no-op") | None => *did == nothing,
                Some(_) => true,
            };
            if !fits {
                let action = planned.get(label).copied().unwrap_or("nothing");
                let detail =
                    format!("`s{stack}.{label}`: the plan says {action}, and what was done is {did:?}");
                return Err(Violation::new("INV-4", detail));
            }
        }
        Ok(())
    }

    /// All formations, once nothing runs.
    pub(crate) fn formations(&mut self) -> Result<Vec<crate::quiet::Formation>, Violation> {
        self.wait()?;
        formations(self.world)
    }
}

/// Whether an object is what was declared. What is declared no longer may stay: a template speaks of what it declares,
/// and of nothing else.
fn fits(is: &Map<String, Json>, declared: &Map<String, Json>) -> bool {
    let may_stay = |name: &String| declared.contains_key(name) || OPTIONAL.contains(&name.as_str());
    declared.iter().all(|(name, value)| is.get(name) == Some(value)) && is.keys().all(may_stay)
}

fn summary(step: &Step) -> String {
    match step {
        Step::Deploy { stack, resources, keep, planned, interruption } => {
            let labels: Vec<String> = resources.iter().map(Resource::label).collect();
            let keep = if *keep { ", keep" } else { "" };
            format!("deploy s{stack} [{}], plan {planned:?}{keep}, {interruption:?}", labels.join(" "))
        }
        other => format!("{other:?}"),
    }
}
