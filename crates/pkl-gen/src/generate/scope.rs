//! What can be named where.

use super::names::{Kind, Name};

/// What a lexical scope belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ScopeKind {
    Module,
    Class,
    /// The body of an object.
    Object,
    /// Parameters, `let` and `for` variables.
    Variables,
}

/// A lexical scope.
#[derive(Debug, Clone)]
pub(crate) struct Scope {
    pub(crate) kind: ScopeKind,
    /// Names defined in it.
    pub(crate) names: Vec<Name>,
    /// Those of them that are local, and so no members.
    pub(crate) locals: Vec<Name>,
    /// Names that `this` has besides: inherited, or of its class.
    pub(crate) inherited: Vec<Name>,
    /// Variables with their kinds.
    pub(crate) variables: Vec<(String, Kind)>,
    /// Whether it is that of a function or `let`, in which `outer` is the innermost object itself.
    pub(crate) is_function: bool,
    /// In a listing: how many elements are known to come before.
    pub(crate) elements: Option<usize>,
}

impl Scope {
    pub(crate) fn new(kind: ScopeKind) -> Self {
        Self {
            kind,
            names: Vec::new(),
            locals: Vec::new(),
            inherited: Vec::new(),
            variables: Vec::new(),
            is_function: false,
            elements: None,
        }
    }

    fn members(&self) -> impl Iterator<Item = &Name> {
        self.names.iter().filter(|name| !self.locals.contains(name)).chain(&self.inherited)
    }
}

/// The scopes around the place that is being written, innermost last.
#[derive(Debug, Default)]
pub(crate) struct Scopes {
    pub(crate) stack: Vec<Scope>,
    /// Only names of a lower index may be used.
    pub(crate) limit: u8,
    /// The member whose value is being written, if its parent may have it too.
    pub(crate) overridden: Option<Name>,
}

impl Scopes {
    /// Every way to name a value of a kind here, the simplest first.
    pub(crate) fn references(&self, kind: Kind) -> Vec<String> {
        let mut found = self.variables(kind);
        found.extend(self.lexical(kind));
        found.extend(self.receivers(kind));
        if let Some(name) = self.overridden.filter(|name| name.kind == kind) {
            found.push(format!("super.{name}"));
            found.push(format!("super.{name}"));
        }
        found
    }

    /// Names of instances and dynamic objects that members may be read of.
    pub(crate) fn allows(&self, name: Name) -> bool {
        name.index < self.limit
    }

    fn variables(&self, kind: Kind) -> Vec<String> {
        let mut seen: Vec<&str> = Vec::new();
        let mut found = Vec::new();
        for (variable, of) in self.stack.iter().rev().flat_map(|scope| scope.variables.iter().rev()) {
            if !seen.contains(&variable.as_str()) {
                seen.push(variable);
                if *of == kind {
                    found.push(variable.clone());
                }
            }
        }
        found
    }

    fn lexical(&self, kind: Kind) -> Vec<String> {
        let mut in_class = false;
        let mut found: Vec<String> = Vec::new();
        for scope in self.stack.iter().rev() {
            let only_const = in_class && scope.kind == ScopeKind::Module;
            for name in scope.names.iter().filter(|name| name.kind == kind && self.allows(**name)) {
                if (name.is_const || !only_const) && !found.contains(&name.to_string()) {
                    found.push(name.to_string());
                }
            }
            in_class |= scope.kind == ScopeKind::Class;
        }
        found
    }

    /// By `this`, `outer`, `module`, and by the plain name of what only `this` has.
    fn receivers(&self, kind: Kind) -> Vec<String> {
        let wanted = |name: &&Name| name.kind == kind && self.allows(**name);
        let mut objects = self.stack.iter().rev().filter(|scope| scope.kind != ScopeKind::Variables);
        let mut found = Vec::new();
        let Some(this) = objects.next() else { return found };
        for name in this.members().filter(wanted) {
            found.push(format!("this.{name}"));
        }
        for name in this.inherited.iter().filter(wanted) {
            found.push(name.to_string());
        }
        let mut inside = self.stack.iter().rev().take_while(|scope| scope.kind == ScopeKind::Variables);
        if inside.any(|scope| scope.is_function) {
            found.extend(this.members().filter(wanted).map(|name| format!("outer.{name}")));
        } else if this.kind == ScopeKind::Object
            && let Some(outer) = objects.next()
            && !(outer.kind == ScopeKind::Module && self.in_class())
        {
            found.extend(outer.members().filter(wanted).map(|name| format!("outer.{name}")));
        }
        if !self.in_class()
            && let Some(module) = self.stack.first()
        {
            found.extend(module.members().filter(wanted).take(3).map(|name| format!("module.{name}")));
        }
        found
    }

    /// Whether the place is inside a class.
    pub(crate) fn in_class(&self) -> bool {
        self.stack.iter().any(|scope| scope.kind == ScopeKind::Class)
    }

    /// The innermost scope that is an object, class or module.
    pub(crate) fn this(&self) -> Option<&Scope> {
        self.stack.iter().rev().find(|scope| scope.kind != ScopeKind::Variables)
    }
}
