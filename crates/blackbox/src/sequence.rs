//! Sequences: what is done, one step after the other, each with all that it needs.

use crate::declared::{Resource, Sort, Within};
use crate::dice::Dice;
use formwork_model::OperationErrorCode as Code;
use formwork_plugin::Operation;
use formwork_plugin_fake_cloud::{Outcome, Pause, Rule, SETTLE_MILLIS, Script, Told};
use std::collections::BTreeMap;

/// The most stacks.
const STACKS: u8 = 3;
/// The slots of each sort.
const SLOTS: u8 = 3;

/// What is done, from first to last.
#[derive(Clone, Debug, PartialEq)]
pub struct Sequence {
    /// What made it.
    pub seed: u64,
    /// Whether an agent runs; otherwise each command serves itself.
    pub agent: bool,
    /// The steps.
    pub steps: Vec<Step>,
}

/// One thing that is done.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// A deploy.
    Deploy {
        /// Of which stack.
        stack: u8,
        /// Of what.
        resources: Vec<Resource>,
        /// Whether what was made stays when something fails.
        keep: bool,
        /// Whether a plan is looked at before.
        planned: Planned,
        /// What comes in between.
        interruption: Interruption,
    },
    /// A teardown.
    Destroy {
        /// Of which stack.
        stack: u8,
        /// What comes in between.
        interruption: Interruption,
    },
    /// Commands that change nothing.
    Look {
        /// At which stack.
        stack: u8,
    },
    /// Somebody changes an object behind Formwork's back.
    Edit {
        /// Which, by its place among all there are.
        place: u8,
        /// To what.
        value: u8,
    },
    /// Somebody deletes an object that nothing is in.
    Remove {
        /// Which, by its place among all there are.
        place: u8,
    },
    /// Somebody makes an object.
    Insert {
        /// Its value.
        value: u8,
    },
    /// What goes wrong from now on.
    Weather(Weather),
}

/// What goes wrong.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Weather(pub Script);

/// Whether a plan is looked at before a deploy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Planned {
    /// It isn't.
    No,
    /// It is shown.
    Shown,
    /// It is kept, and carried out by its hash.
    Kept,
}

/// What comes in between while something is carried out. It comes when the provider has seen so many lines more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interruption {
    /// Nothing.
    None,
    /// SIGKILL of the process that carries it out.
    KillServer(u8),
    /// SIGKILL of the plugin's process.
    KillPlugin(u8),
    /// A person cancels.
    Cancel {
        /// After so many lines.
        lines: u8,
        /// Without taking anything back.
        force: bool,
    },
}

/// What a generator keeps in mind: what each stack declares, whether or not it came to be.
struct Author {
    dice: Dice,
    stacks: u8,
    declared: BTreeMap<u8, Vec<Resource>>,
    rules: u32,
}

/// The seeds of sequences that found something.
pub fn kept_seeds() -> Vec<u64> {
    let lines = include_str!("../seeds.txt").lines().filter_map(|line| line.split('#').next());
    lines.filter_map(|line| line.trim().parse().ok()).collect()
}

impl Sequence {
    /// The sequence of a seed.
    pub fn of(seed: u64) -> Self {
        let mut dice = Dice::new(seed);
        let agent = dice.chance(75);
        let stacks = 1 + dice.small(STACKS);
        let stormy = dice.chance(80);
        let steps = 3 + dice.below(7);
        let mut author = Author { dice, stacks, declared: BTreeMap::new(), rules: 0 };
        let mut made = vec![author.deploy(stormy)];
        for _ in 0..steps {
            made.push(author.step(stormy));
        }
        Self { seed, agent, steps: made }
    }
}

impl Author {
    fn step(&mut self, stormy: bool) -> Step {
        match self.dice.below(100) {
            0..45 => self.deploy(stormy),
            45..53 => {
                Step::Destroy { stack: self.dice.small(self.stacks), interruption: self.interruption(stormy) }
            }
            53..60 => Step::Look { stack: self.dice.small(self.stacks) },
            60..67 => Step::Edit { place: self.dice.small(12), value: 200 + self.dice.small(20) },
            67..72 => Step::Remove { place: self.dice.small(12) },
            72..75 => Step::Insert { value: self.dice.small(100) },
            _ if !stormy => self.deploy(stormy),
            _ => self.weather(),
        }
    }

    fn deploy(&mut self, stormy: bool) -> Step {
        let stack = self.dice.small(self.stacks);
        let mut resources = self.declared.remove(&stack).unwrap_or_default();
        let edits = if resources.is_empty() { 4 + self.dice.small(4) } else { self.dice.small(5) };
        for _ in 0..edits {
            self.amend(stack, &mut resources);
        }
        self.declared.insert(stack, resources.clone());
        let planned = match self.dice.below(100) {
            0..65 => Planned::No,
            65..85 => Planned::Shown,
            _ => Planned::Kept,
        };
        Step::Deploy {
            stack,
            resources,
            keep: self.dice.chance(25),
            planned,
            interruption: self.interruption(stormy),
        }
    }

    /// Adds, changes or removes one resource.
    fn amend(&mut self, stack: u8, resources: &mut Vec<Resource>) {
        if resources.is_empty() || self.dice.chance(45) {
            let one = self.resource(stack, resources);
            if !resources.iter().any(|other| other.label() == one.label()) {
                resources.push(one);
            }
            return;
        }
        let at = usize::from(self.dice.small(u8::try_from(resources.len()).unwrap_or(1)));
        match self.dice.below(100) {
            0..20 => drop(resources.remove(at)),
            20..55 => resources[at].value = self.dice.small(100),
            55..65 => resources[at].version = self.dice.small(4),
            65..72 => resources[at].tier = self.dice.chance(70).then(|| self.dice.small(5)),
            72..82 => resources[at].tags = self.tags(),
            82..90 => resources[at].password = self.password(),
            _ => resources[at].uses = self.dice.chance(70).then(|| self.dice.small(SLOTS)),
        }
    }

    fn resource(&mut self, stack: u8, resources: &[Resource]) -> Resource {
        let slots = |sort: Sort| -> Vec<u8> {
            resources.iter().filter(|one| one.sort == sort).map(|one| one.slot).collect()
        };
        let (roots, children) = (slots(Sort::Resource), slots(Sort::Child));
        let foreign = stack > 0 && self.dice.chance(30);
        let (sort, within) = match self.dice.below(100) {
            0..25 => (Sort::Resource, Within::Nothing),
            25..35 => (Sort::Named, Within::Nothing),
            35..70 if foreign => (Sort::Child, Within::Foreign(self.dice.small(SLOTS))),
            35..70 => match self.dice.pick(&roots) {
                Some(slot) => (Sort::Child, Within::Own(*slot)),
                None => (Sort::Resource, Within::Nothing),
            },
            _ => match self.dice.pick(&children) {
                Some(slot) => (Sort::GrandChild, Within::Own(*slot)),
                None => (Sort::Named, Within::Nothing),
            },
        };
        Resource {
            sort,
            slot: self.dice.small(SLOTS),
            within,
            value: self.dice.small(100),
            uses: self.dice.chance(25).then(|| self.dice.small(SLOTS)),
            version: self.dice.small(2),
            tier: self.dice.chance(30).then(|| self.dice.small(5)),
            tags: self.tags(),
            password: self.password(),
        }
    }

    fn tags(&mut self) -> Vec<u8> {
        let many = self.dice.small(4);
        let mut tags: BTreeMap<u8, u8> = BTreeMap::new();
        for _ in 0..many {
            let tag = self.dice.small(16);
            tags.insert(tag % 4, tag);
        }
        let mut tags: Vec<u8> = tags.into_values().collect();
        if self.dice.chance(50) {
            tags.reverse();
        }
        tags
    }

    fn password(&mut self) -> Option<u8> {
        self.dice.chance(50).then(|| self.dice.small(6))
    }

    fn interruption(&mut self, stormy: bool) -> Interruption {
        if !stormy {
            return Interruption::None;
        }
        let lines = self.dice.small(20);
        match self.dice.below(100) {
            0..12 => Interruption::KillServer(lines),
            12..20 => Interruption::KillPlugin(lines),
            20..26 => Interruption::Cancel { lines, force: self.dice.chance(30) },
            _ => Interruption::None,
        }
    }

    fn weather(&mut self) -> Step {
        let mut script = Script::default();
        if self.dice.chance(25) {
            return Step::Weather(Weather(script));
        }
        if self.dice.chance(15) {
            let sorts = [Sort::Resource, Sort::Child, Sort::GrandChild, Sort::Named];
            let lag = 20 + self.dice.below(SETTLE_MILLIS - 40);
            script.lag = sorts.into_iter().map(|sort| (sort.type_name().to_owned(), lag)).collect();
            return Step::Weather(Weather(script));
        }
        for _ in 0..=self.dice.below(3) {
            script.rules.push(self.rule());
        }
        Step::Weather(Weather(script))
    }

    fn rule(&mut self) -> Rule {
        self.rules += 1;
        let sorts = [Sort::Resource, Sort::Child, Sort::GrandChild, Sort::Named];
        let operations = [
            Operation::Create,
            Operation::Create,
            Operation::Create,
            Operation::Update,
            Operation::Delete,
            Operation::Read,
            Operation::CheckStatus,
        ];
        let sort = self.dice.pick(&sorts).copied();
        let of_one_type = self.dice.chance(70);
        let rule = Rule {
            id: format!("rule-{}", self.rules),
            operation: self.dice.pick(&operations).copied(),
            type_name: sort.filter(|_| of_one_type).map(|sort| sort.type_name().to_owned()),
            skip: u32::from(self.dice.small(3)),
            times: 1 + u32::from(self.dice.small(2)),
            ..Rule::default()
        };
        self.misfortune(rule)
    }

    /// What a rule does. A call that is over before its caller hears of it is over before its deadline, or soon after:
    /// what a provider may do later than its types say, nobody could find out.
    fn misfortune(&mut self, rule: Rule) -> Rule {
        let told = |code| Told { code, message: "it is told to fail, with `{password}`".to_owned() };
        let soon = 20 + self.dice.below(SETTLE_MILLIS / 2);
        match self.dice.below(100) {
            0..14 => Rule { outcome: Outcome::Refuse(told(Code::Throttling)), ..rule },
            14..22 => Rule { outcome: Outcome::Refuse(told(Code::InvalidRequest)), ..rule },
            22..27 => Rule { outcome: Outcome::Refuse(told(Code::AccessDenied)), ..rule },
            27..33 => Rule { outcome: Outcome::Refuse(told(Code::ServiceUnavailable)), ..rule },
            33..37 => Rule { outcome: Outcome::Refuse(told(Code::InternalFailure)), ..rule },
            37..40 => Rule { outcome: Outcome::Refuse(told(Code::NotStabilized)), ..rule },
            40..46 => Rule { outcome: Outcome::Half(told(Code::InternalFailure)), ..rule },
            46..54 => Rule { outcome: Outcome::Deny(told(Code::ServiceUnavailable)), ..rule },
            54..70 => Rule { outcome: Outcome::Later { millis: soon }, ..rule },
            70..74 => Rule { outcome: Outcome::Later { millis: soon }, after: Pause::Crash, ..rule },
            74..80 => Rule { before: Pause::Crash, ..rule },
            80..87 => Rule { after: Pause::Crash, ..rule },
            87..90 => Rule { before: Pause::Hang, times: 1, ..rule },
            90..94 => Rule { after: Pause::Hang, times: 1, ..rule },
            _ => Rule { before: Pause::For(soon), after: Pause::For(soon), ..rule },
        }
    }
}
