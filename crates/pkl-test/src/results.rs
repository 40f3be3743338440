//! What came of a test module.

/// What came of the facts and examples of one module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModuleResults {
    /// The module's name.
    pub module: String,
    /// The module's URI.
    pub uri: String,
    /// Why there are no results: the module isn't one of tests.
    pub error: Option<String>,
    /// The groups of `facts`, in order.
    pub facts: Vec<Group>,
    /// The groups of `examples`, in order.
    pub examples: Vec<Group>,
}

/// A group of facts or examples: one test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// What the group is about.
    pub name: String,
    /// How many facts or examples were looked at.
    pub asserts: usize,
    /// What doesn't hold.
    pub failures: Vec<Failure>,
    /// What couldn't be evaluated.
    pub errors: Vec<TestError>,
    /// Where the group is, if its examples are written because there was nothing to compare with.
    pub written: Option<String>,
}

/// Something that doesn't hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// What kind of thing.
    pub kind: FailureKind,
    /// What and where, as it is shown.
    pub text: String,
}

/// What doesn't hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureKind {
    /// A fact isn't true.
    Fact,
    /// An example is another one than expected.
    Example,
    /// A group has more or fewer examples than expected.
    Length,
    /// A group is on one side only.
    Group,
}

/// Why a fact or example has no value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestError {
    /// What went wrong.
    pub message: String,
    /// The same with the places.
    pub full: String,
}

/// How many passed and failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// All.
    pub total: usize,
    /// Those that failed.
    pub failed: usize,
}

impl Group {
    /// An empty group.
    pub(crate) fn new(name: String) -> Self {
        Self { name, asserts: 0, failures: Vec::new(), errors: Vec::new(), written: None }
    }

    /// Whether everything holds.
    pub fn has_passed(&self) -> bool {
        self.failures.is_empty() && self.errors.is_empty()
    }

    /// How many of its facts or examples failed.
    pub fn failed_asserts(&self) -> usize {
        self.failures.len() + self.errors.len()
    }
}

impl ModuleResults {
    /// All groups.
    pub fn groups(&self) -> impl Iterator<Item = &Group> {
        self.facts.iter().chain(&self.examples)
    }

    /// Whether something doesn't hold.
    pub fn has_failed(&self) -> bool {
        self.error.is_some() || self.groups().any(|group| !group.has_passed())
    }

    /// How many groups of examples are written.
    pub fn written(&self) -> usize {
        self.groups().filter(|group| group.written.is_some()).count()
    }
}

impl Count {
    pub(crate) fn add(&mut self, total: usize, failed: usize) {
        self.total += total;
        self.failed += failed;
    }
}
