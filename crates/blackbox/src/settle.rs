//! The end of a sequence: nothing goes wrong any more, and a person makes things right with ordinary commands.

use crate::declared::{Resource, Site, possible};
use crate::effects::done;
use crate::person::insist;
use crate::play::Play;
use crate::quiet::{compare, drift};
use crate::violation::Violation;
use formwork_model::Json;
use formwork_plugin_fake_cloud::Script;
use std::collections::BTreeSet;
use std::thread::sleep;
use std::time::{Duration, Instant};

impl Play<'_, '_> {
    /// Ends what goes wrong, and waits until nothing is on its way any more.
    pub(crate) fn calm(&mut self) -> Result<(), Violation> {
        self.weather(Script::default())?;
        self.wait()?;
        let until = Instant::now() + Duration::from_secs(5);
        while self.world.look()?.0.is_pending() && Instant::now() < until {
            sleep(Duration::from_millis(10));
        }
        Ok(())
    }

    /// What must hold now, before anything is made right.
    pub(crate) fn quiet(&mut self) -> Result<Vec<Violation>, Violation> {
        let formations = self.formations()?;
        let (state, lines) = self.world.look()?;
        let mut found = compare(state, lines, &formations);
        for formation in &formations {
            found.extend(drift(self.world, formation)?);
        }
        Ok(found)
    }

    /// From any status, what was declared last can be had; a second time there is nothing to do; and in the end nothing
    /// is left (INV-12, INV-13).
    pub(crate) fn settle(&mut self) -> Result<(), Violation> {
        let stacks: Vec<u8> = self.stacks.keys().copied().collect();
        for stack in &stacks {
            self.make_right(*stack)?;
        }
        // Whatever is in another stack's objects goes first.
        for stack in stacks.iter().rev() {
            self.tear_down(*stack)?;
        }
        let left = self.formations()?;
        if let Some(formation) = left.first() {
            return Err(Violation::new("INV-12", format!("`{}` stays", formation.name)));
        }
        let state = self.world.look()?.0;
        match state.objects.iter().find(|(_, object)| object.row.is_some()) {
            Some((id, object)) => {
                let label = object.label.as_deref().unwrap_or_default();
                Err(Violation::new(
                    "INV-12",
                    format!("`{id}` of `{label}` is left when everything is torn down"),
                ))
            }
            None => Ok(()),
        }
    }

    /// The objects that resources of any formation have.
    fn owned(&mut self) -> Result<BTreeSet<String>, Violation> {
        let formations = self.formations()?;
        Ok(formations.into_iter().flat_map(|formation| formation.objects.into_values()).collect())
    }

    fn make_right(&mut self, stack: u8) -> Result<(), Violation> {
        let known = self.stacks.get(&stack).cloned().unwrap_or_default();
        let (Some(id), Some(declared)) = (known.formation, known.declared) else { return Ok(()) };
        let foreign = self.foreign(&declared)?;
        let (directory, canary) = (self.world.cloud_directory(), self.world.canary.clone());
        let site = Site { stack, directory: &directory, canary: &canary, foreign: &foreign };
        let resources: Vec<Resource> = possible(&declared, &site);
        let source = self.prepare(stack, &resources, &foreign)?;
        let mut arguments = vec!["update-formation", "--formation-id", &id];
        arguments.extend(source.iter().map(String::as_str));
        let owned = self.owned()?;
        let ran = insist(self.world, stack, &owned, &arguments)?;
        // Objects of other stacks in its own may keep old ones from going, which is reported and tried again.
        let formation = ran.json();
        if !ran.is_ok() || formation["status"] != "active" {
            let detail = format!("what is declared of `s{stack}` can't be had: {}", ran.stderr);
            return Err(Violation::new("INV-12", detail));
        }
        self.expect_exactly(stack, &resources, &foreign, &formation, true)?;
        self.expect_nothing_to_do(stack, &arguments, &formation)
    }

    fn expect_nothing_to_do(
        &mut self,
        stack: u8,
        arguments: &[&str],
        formation: &Json,
    ) -> Result<(), Violation> {
        if !formation["error"].is_null() {
            return Ok(());
        }
        let before = self.world.lines()?;
        let ran = self.world.run(arguments)?;
        let effects = done(&self.world.look()?.1[before..]);
        if !ran.is_ok() || !effects.is_empty() {
            let detail = format!("a second deploy of `s{stack}` does {effects:?}: {}", ran.stderr);
            return Err(Violation::new("INV-13", detail));
        }
        Ok(())
    }

    fn tear_down(&mut self, stack: u8) -> Result<(), Violation> {
        let Some(id) = self.stacks.get(&stack).and_then(|stack| stack.formation.clone()) else {
            return Ok(());
        };
        let owned = self.owned()?;
        let ran = insist(self.world, stack, &owned, &["delete-formation", &id])?;
        if ran.is_ok() {
            return Ok(());
        }
        Err(Violation::new("INV-12", format!("`s{stack}` can't be torn down: {}", ran.stderr)))
    }
}
