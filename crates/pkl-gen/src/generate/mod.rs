//! Random programs.

mod body;
mod class;
mod collections;
mod expression;
mod library;
mod members;
mod module;
mod names;
mod risk;
mod scope;

use crate::choices::Choices;
use class::Class;
use names::{ClassId, Kind, Name};
use risk::Risk;
use scope::{Scope, ScopeKind, Scopes};

/// How deep expressions nest.
const DEPTH: usize = 3;

/// A program: one module, or two of which the second is built on the first.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Program {
    /// The module that `main` extends or amends, as `base.pkl` beside it.
    pub base: Option<String>,
    /// The module that is evaluated.
    pub main: String,
}

impl std::fmt::Display for Program {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some(base) = &self.base {
            write!(f, "// base.pkl\n{base}\n// main.pkl\n")?;
        }
        f.write_str(&self.main)
    }
}

/// Writes a program.
pub fn program(choices: &mut Choices) -> Program {
    let risk = Risk::chosen(choices);
    let mut generator = Generator {
        choices,
        risk,
        classes: Vec::new(),
        functions: Vec::new(),
        inherited_functions: Vec::new(),
        scopes: Scopes::default(),
        class_limit: 0,
        base_classes: 0,
        plain_objects: false,
    };
    generator.program()
}

/// The state of writing a program.
struct Generator<'c> {
    choices: &'c mut Choices,
    /// What may fail.
    risk: Risk,
    /// The classes written so far.
    classes: Vec<Class>,
    /// Indices of the methods `m…` of the module, written so far.
    functions: Vec<u8>,
    /// Those of the module below it.
    inherited_functions: Vec<u8>,
    scopes: Scopes,
    /// Only classes of a lower number may be instantiated here.
    class_limit: ClassId,
    /// Classes of a lower number are in the module below.
    base_classes: ClassId,
    /// Whether dynamic objects have no elements, since the format of the output has no place for them.
    plain_objects: bool,
}

impl Generator<'_> {
    /// Writes something within one more scope.
    fn within<T>(&mut self, scope: Scope, write: impl FnOnce(&mut Self) -> T) -> T {
        self.scopes.stack.push(scope);
        let written = write(self);
        self.scopes.stack.pop();
        written
    }

    /// Writes the body of a function or `let`.
    fn with_variables<T>(&mut self, variables: &[(&str, Kind)], write: impl FnOnce(&mut Self) -> T) -> T {
        self.with(variables, !variables.is_empty(), write)
    }

    /// Writes what is in a `for` or a method.
    fn with_items<T>(&mut self, variables: &[(&str, Kind)], write: impl FnOnce(&mut Self) -> T) -> T {
        self.with(variables, false, write)
    }

    fn with<T>(
        &mut self,
        variables: &[(&str, Kind)],
        is_function: bool,
        write: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let mut scope = Scope::new(ScopeKind::Variables);
        scope.is_function = is_function;
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

    /// Writes several parts, each of which shrinking may leave out.
    fn several(&mut self, least: usize, most: usize, mut write: impl FnMut(&mut Self, usize)) {
        for number in 0..most {
            let begin = self.choices.part_begins();
            let more = number < least || self.choices.chance(75);
            if more {
                write(self, number);
            }
            self.choices.part_ends(begin);
            if !more {
                return;
            }
        }
    }

    /// The name of a variable; few of them, so that they shadow each other.
    fn variable(&mut self) -> &'static str {
        self.choices.pick(&["x", "y", "z"])
    }
}
