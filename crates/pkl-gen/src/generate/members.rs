//! What the classes of a program have.

use super::Generator;
use super::class::{Class, Property};
use super::names::{ClassId, Name};

impl Generator<'_> {
    /// The class and those above it, itself first.
    fn lineage(&self, class: ClassId) -> Vec<&Class> {
        let mut found = Vec::new();
        let mut next = Some(class);
        while let Some(class) = next.and_then(|class| self.classes.get(usize::from(class))) {
            found.push(class);
            next = class.parent;
        }
        found
    }

    /// All properties that can be read, each as it is defined lowest.
    pub(super) fn properties_of(&self, class: ClassId) -> Vec<Property> {
        let mut found: Vec<Property> = Vec::new();
        for property in self.lineage(class).into_iter().flat_map(|class| &class.properties) {
            if !property.is_local && !found.iter().any(|other| other.name == property.name) {
                found.push(*property);
            }
        }
        found
    }

    pub(super) fn members_of(&self, class: ClassId) -> Vec<Name> {
        self.properties_of(class).into_iter().map(|property| property.name).collect()
    }

    /// Indices of all methods `m…`.
    pub(super) fn methods_of(&self, class: ClassId) -> Vec<u8> {
        let mut found: Vec<u8> = self.lineage(class).iter().flat_map(|class| class.methods.clone()).collect();
        found.sort_unstable();
        found.dedup();
        found
    }
}
