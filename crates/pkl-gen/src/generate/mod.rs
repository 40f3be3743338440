//! Random programs.

mod body;
mod class;
mod collections;
mod expression;
mod members;
mod module;
mod names;
mod scope;

use crate::choices::Choices;
use class::Class;
use names::{ClassId, Kind, Name};
use scope::{Scope, ScopeKind, Scopes};

/// How deep expressions nest.
const DEPTH: usize = 3;

/// Writes a program.
pub fn program(choices: &mut Choices) -> String {
    let mut generator = Generator {
        choices,
        classes: Vec::new(),
        functions: Vec::new(),
        scopes: Scopes::default(),
        class_limit: 0,
        method_limit: 0,
    };
    generator.module()
}

/// The state of writing a program.
struct Generator<'c> {
    choices: &'c mut Choices,
    /// The classes written so far.
    classes: Vec<Class>,
    /// Indices of the module's methods `m…`, written so far.
    functions: Vec<u8>,
    scopes: Scopes,
    /// Only classes of a lower number may be instantiated here.
    class_limit: ClassId,
    /// Methods of the own class that may be called here have a lower index.
    method_limit: u8,
}

impl Generator<'_> {
    /// Writes something within one more scope.
    fn within<T>(&mut self, scope: Scope, write: impl FnOnce(&mut Self) -> T) -> T {
        self.scopes.stack.push(scope);
        let written = write(self);
        self.scopes.stack.pop();
        written
    }

    /// Writes something that may use variables.
    fn with_variables<T>(&mut self, variables: &[(&str, Kind)], write: impl FnOnce(&mut Self) -> T) -> T {
        let mut scope = Scope::new(ScopeKind::Variables);
        scope.variables.extend(variables.iter().map(|(name, kind)| ((*name).to_owned(), *kind)));
        self.within(scope, write)
    }

    /// Writes the value of a member: it uses names of a lower index than the member's, and than that of
    /// each member around, since reading an object as a whole reads all that is in it.
    fn value_of<T>(&mut self, name: Name, overrides: bool, write: impl FnOnce(&mut Self) -> T) -> T {
        let before = (self.scopes.limit, self.scopes.overridden);
        self.scopes.limit = name.index.min(before.0);
        self.scopes.overridden = overrides.then_some(name);
        let written = write(self);
        (self.scopes.limit, self.scopes.overridden) = before;
        written
    }

    /// The name of a variable; few of them, so that they shadow each other.
    fn variable(&mut self) -> &'static str {
        self.choices.pick(&["x", "y", "z"])
    }
}
