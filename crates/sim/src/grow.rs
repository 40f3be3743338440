//! Declarations at random, and changes to them.

use crate::catalog::Backend;
use crate::chance::Chance;
use crate::declare::{Declaration, Declared};
use formwork_model::{DeletionPolicy, OnFailure, Ownership};

/// Grows declarations. Labels are never used twice: an object that was kept on purpose may still
/// have the name.
#[derive(Debug)]
pub struct Grower {
    chance: Chance,
    labels: u64,
}

impl Grower {
    /// A grower with rolls of its own.
    pub fn new(chance: Chance) -> Self {
        Self { chance, labels: 0 }
    }

    /// A stack of about this many resources.
    pub fn declaration(&mut self, stack: &str, resources: usize) -> Declaration {
        let mut declaration = Declaration::new(stack);
        if self.chance.happens(350) {
            declaration.on_failure = OnFailure::Continue;
        }
        if self.chance.happens(300) {
            declaration.ownership = Ownership::Full;
        }
        for _ in 0..resources {
            self.add(&mut declaration);
        }
        declaration
    }

    /// Changes a declaration here and there.
    pub fn change(&mut self, declaration: &mut Declaration) {
        let changes = 1 + self.chance.below(4);
        for _ in 0..changes {
            match self.chance.below(10) {
                0 | 1 => self.add(declaration),
                2 | 3 => self.remove(declaration),
                _ => self.touch(declaration),
            }
        }
    }

    /// Lets go of everything that is protected or kept, so that a teardown leaves nothing. Nothing else
    /// lifts a protection: it has to be deployed before what it protected may leave the declaration.
    pub fn unprotect(declaration: &mut Declaration) {
        for resource in &mut declaration.resources {
            resource.policy = DeletionPolicy::Delete;
        }
    }

    fn add(&mut self, declaration: &mut Declaration) {
        self.labels += 1;
        let backend = Backend::ALL[self.chance.index(Backend::ALL.len())];
        let mut resource = Declared::new(&format!("r{}", self.labels), backend);
        resource.size = self.number();
        resource.zone = self.number();
        if self.chance.happens(300) {
            resource.note = Some(format!("note {}", self.chance.below(9)));
        }
        if self.chance.happens(250) {
            resource.password = Some(self.secret());
        }
        resource.policy = self.policy(backend);
        let others: Vec<String> = declaration.resources.iter().map(|other| other.label.clone()).collect();
        for _ in 0..self.chance.below(4) {
            let Some(other) = self.chance.pick(&others).cloned() else { break };
            if resource.dependencies().any(|label| *label == other) {
                continue;
            }
            match self.chance.below(4) {
                0 => resource.knows.push(other),
                1 => resource.after.push(other),
                _ => resource.uses.push(other),
            }
        }
        declaration.resources.push(resource);
    }

    fn remove(&mut self, declaration: &mut Declaration) {
        let unused: Vec<String> = declaration
            .resources
            .iter()
            .filter(|resource| resource.policy != DeletionPolicy::Protect)
            .map(|resource| resource.label.clone())
            .filter(|label| {
                !declaration.resources.iter().any(|other| other.dependencies().any(|used| used == label))
            })
            .collect();
        if let Some(label) = self.chance.pick(&unused) {
            declaration.resources.retain(|resource| resource.label != *label);
        }
    }

    fn touch(&mut self, declaration: &mut Declaration) {
        let at = self.chance.index(declaration.resources.len());
        let (what, number) = (self.chance.below(6), self.number());
        let (secret, forget) = (self.secret(), self.chance.happens(500));
        let Some(resource) = declaration.resources.get_mut(at) else { return };
        let movable = resource.backend.zone_may_change() && resource.policy == DeletionPolicy::Delete;
        match what {
            0 if movable => resource.zone = number,
            1 if forget => resource.note = None,
            1 => resource.note = Some(format!("other {number}")),
            2 if resource.password.is_some() => resource.password = Some(secret),
            3 if forget && resource.knows.len() > 1 => {
                resource.knows.pop();
            }
            4 => {}
            _ => resource.size = number,
        }
        if what == 4 && declaration.resources[at].policy != DeletionPolicy::Protect {
            let backend = declaration.resources[at].backend;
            declaration.resources[at].policy = self.policy(backend);
        }
    }

    /// Objects that callers name are never kept: their name would be taken for good.
    fn policy(&mut self, backend: Backend) -> DeletionPolicy {
        match self.chance.below(12) {
            0 if backend != Backend::Named => DeletionPolicy::Retain,
            1 => DeletionPolicy::Protect,
            _ => DeletionPolicy::Delete,
        }
    }

    fn number(&mut self) -> i64 {
        1 + i64::try_from(self.chance.below(5)).unwrap_or(0)
    }

    fn secret(&mut self) -> String {
        format!("canary-{:016x}", self.chance.any())
    }
}
