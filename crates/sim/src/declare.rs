//! Declarations of the simulated world: small enough to roll at random, rich enough to reach every
//! rule of the planner.

use crate::catalog::Backend;
use formwork_model::{
    DeletionPolicy, Dependency, Desired, EdgeKind, Expr, ExprLeaf, Json, Label, Matching, Mode, OnFailure,
    Ownership, Part, Path, ProjectId, Ref, RefPath, RefTarget, ResourceDesired, Secret, SourceMap,
    StackDesired, StackId, StackKey, Visibility,
};
use indexmap::IndexMap;
use std::sync::Arc;

/// What a stack should be.
#[derive(Clone, Debug, PartialEq)]
pub struct Declaration {
    /// The stack's name.
    pub stack: String,
    /// What a failed step means for the rest.
    pub on_failure: OnFailure,
    /// Which fields it owns.
    pub ownership: Ownership,
    /// Its resources; each refers only to earlier ones.
    pub resources: Vec<Declared>,
}

/// What one resource should be.
#[derive(Clone, Debug, PartialEq)]
pub struct Declared {
    /// Its label.
    pub label: String,
    /// Its type.
    pub backend: Backend,
    /// A property that can change in place.
    pub size: i64,
    /// A property that can't.
    pub zone: i64,
    /// A property that may be absent.
    pub note: Option<String>,
    /// A secret.
    pub password: Option<String>,
    /// Resources whose native ids it holds.
    pub uses: Vec<String>,
    /// Resources whose size it holds, the first one as a text.
    pub knows: Vec<String>,
    /// Resources that must be there first, without a reference.
    pub after: Vec<String>,
    /// What becomes of its object when it is no longer wanted.
    pub policy: DeletionPolicy,
}

impl Declared {
    /// A resource that stands alone.
    pub fn new(label: &str, backend: Backend) -> Self {
        Self {
            label: label.to_owned(),
            backend,
            size: 1,
            zone: 1,
            note: None,
            password: None,
            uses: Vec::new(),
            knows: Vec::new(),
            after: Vec::new(),
            policy: DeletionPolicy::Delete,
        }
    }

    /// Holds the native id of another.
    #[must_use]
    pub fn uses(mut self, label: &str) -> Self {
        self.uses.push(label.to_owned());
        self
    }

    /// Holds the size of another.
    #[must_use]
    pub fn knows(mut self, label: &str) -> Self {
        self.knows.push(label.to_owned());
        self
    }

    /// Comes after another.
    #[must_use]
    pub fn after(mut self, label: &str) -> Self {
        self.after.push(label.to_owned());
        self
    }

    /// Of this size.
    #[must_use]
    pub fn size(mut self, size: i64) -> Self {
        self.size = size;
        self
    }

    /// In this zone.
    #[must_use]
    pub fn zone(mut self, zone: i64) -> Self {
        self.zone = zone;
        self
    }

    /// With a secret.
    #[must_use]
    pub fn password(mut self, password: &str) -> Self {
        self.password = Some(password.to_owned());
        self
    }

    /// With a deletion policy.
    #[must_use]
    pub fn policy(mut self, policy: DeletionPolicy) -> Self {
        self.policy = policy;
        self
    }

    /// The labels it depends on.
    pub fn dependencies(&self) -> impl Iterator<Item = &String> {
        self.uses.iter().chain(&self.knows).chain(&self.after)
    }

    fn lower(&self, stack: &str) -> ResourceDesired {
        let path = Path::of(["resources", &self.label]);
        let depends_on = self.after.iter().enumerate().map(|(index, label)| Dependency {
            on: Label::from(label.as_str()),
            kind: EdgeKind::Dependency,
            path: path.key("depends_on").index(index),
        });
        ResourceDesired {
            label: Label::from(self.label.as_str()),
            alias: None,
            type_name: self.backend.type_name(),
            target: None,
            properties: self.properties(stack),
            depends_on: depends_on.collect(),
            import: None,
            deletion_policy: self.policy,
            metadata: None,
            properties_path: path.key("properties"),
            path,
        }
    }

    fn properties(&self, stack: &str) -> Expr {
        let mut members: IndexMap<Arc<str>, Expr> = IndexMap::new();
        members.insert("name".into(), Json::from(self.name(stack)).into());
        members.insert("size".into(), Json::from(self.size).into());
        members.insert("zone".into(), Json::from(self.zone).into());
        if let Some(note) = &self.note {
            members.insert("note".into(), Json::from(note.as_str()).into());
        }
        if let Some(password) = &self.password {
            let secret = ExprLeaf::Secret(Secret::new(Json::from(password.as_str())));
            members.insert("password".into(), Expr::Leaf(secret));
        }
        if !self.uses.is_empty() {
            let uses =
                self.uses.iter().map(|label| Expr::Leaf(ExprLeaf::Ref(Ref::native_id(label.as_str()))));
            members.insert("uses".into(), Expr::array(uses.collect()));
        }
        if !self.knows.is_empty() {
            let knows = self.knows.iter().enumerate().map(|(index, label)| match index {
                0 => Expr::Leaf(ExprLeaf::Template(vec![
                    Part::Text("size ".into()),
                    Part::Ref(size_of(label)),
                ])),
                _ => Expr::Leaf(ExprLeaf::Ref(size_of(label))),
            });
            members.insert("knows".into(), Expr::array(knows.collect()));
        }
        Expr::object(members)
    }

    /// The value of its property `name`, unique over all stacks.
    pub fn name(&self, stack: &str) -> String {
        format!("{stack}-{}", self.label)
    }
}

fn size_of(label: &str) -> Ref {
    Ref {
        to: RefTarget::Resource { stack: None, type_name: None, label: Label::from(label) },
        path: RefPath::Property(Path::of(["size"])),
        json: None,
        visibility: Visibility::Clear,
    }
}

impl Declaration {
    /// An empty stack that rolls back.
    pub fn new(stack: &str) -> Self {
        Self {
            stack: stack.to_owned(),
            on_failure: OnFailure::RollBack,
            ownership: Ownership::DeclaredOnly,
            resources: Vec::new(),
        }
    }

    /// With one more resource.
    #[must_use]
    pub fn with(mut self, resource: Declared) -> Self {
        self.resources.push(resource);
        self
    }

    /// Goes on after a failure.
    #[must_use]
    pub fn keep_going(mut self) -> Self {
        self.on_failure = OnFailure::Continue;
        self
    }

    /// The stack with nothing in it: its teardown.
    #[must_use]
    pub fn emptied(&self) -> Self {
        Self { resources: Vec::new(), ..self.clone() }
    }

    /// The resource of this label.
    pub fn get(&self, label: &str) -> Option<&Declared> {
        self.resources.iter().find(|resource| resource.label == label)
    }

    /// The resource of this label, to be changed.
    pub fn get_mut(&mut self, label: &str) -> Option<&mut Declared> {
        self.resources.iter_mut().find(|resource| resource.label == label)
    }

    /// The stack's id.
    pub fn stack_id(&self) -> StackId {
        StackId::new(format!("form_{}", self.stack))
    }

    /// The project of every stack here.
    pub fn project() -> ProjectId {
        ProjectId::from("proj_sim")
    }

    /// What the front ends would make of it.
    pub fn desired(&self) -> Desired {
        let stack = StackDesired {
            id: self.stack_id(),
            key: StackKey::new(Self::project(), self.stack.as_str()),
            mode: Mode::Reconcile,
            ownership: self.ownership,
            matching: Matching::Label,
            on_failure: self.on_failure,
            resources: self.resources.iter().map(|resource| resource.lower(&self.stack)).collect(),
            outputs: IndexMap::new(),
            metadata: None,
        };
        Desired { project: Self::project(), stacks: vec![stack], source_map: Arc::new(SourceMap::default()) }
    }
}
