//! Lexical scopes: which names a place in a program sees, and how far away what they name is.

use pkl_parser::Symbol;
use rustc_hash::FxHashMap;
use std::sync::Arc;

use super::Method;
use crate::heap::PropertyKey;

/// A property declared in a scope.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Name {
    pub(crate) key: PropertyKey,
    pub(crate) constant: bool,
    /// Whether only a generator declares it, so that an object of the body may lack it.
    pub(crate) sometimes: bool,
    /// What is meant where an object lacks it: the property of the same name that a local hides, and whether
    /// an object may lack that too.
    pub(crate) hides: Option<(PropertyKey, bool)>,
}

impl Name {
    pub(crate) fn new(key: PropertyKey, constant: bool) -> Self {
        Self { key, constant, sometimes: false, hides: None }
    }
}

/// A method declared in a scope.
#[derive(Clone, Debug)]
pub(crate) struct MethodRef {
    /// The method itself if it is local, else it is found through the receiver's class.
    pub(crate) local: Option<Arc<Method>>,
    pub(crate) constant: bool,
}

/// What an object body, class or module declares.
#[derive(Debug, Default)]
pub(crate) struct Names {
    pub(crate) properties: FxHashMap<Symbol, Name>,
    pub(crate) methods: FxHashMap<Symbol, MethodRef>,
    /// Whether it is an object body: its const members may use all that it declares.
    pub(crate) of_body: bool,
}

impl Names {
    /// Whether there is a property of this name that isn't local.
    pub(crate) fn has_public(&self, name: Symbol) -> bool {
        self.properties.get(&name).is_some_and(|name| matches!(name.key, PropertyKey::Named(_)))
    }

    /// The names of all properties that aren't local.
    pub(crate) fn public_properties(&self) -> impl Iterator<Item = Symbol> {
        self.properties.keys().copied().filter(|name| self.has_public(*name))
    }
}

/// A type parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TypeParameter {
    /// Of an alias, which is applied to types: its position.
    OfAlias(u32),
    /// Of a class or method: nothing says what it stands for.
    Free,
}

/// A kind of scope.
#[derive(Debug)]
pub(crate) enum ScopeKind {
    /// An object body, a class or a module.
    Object(Arc<Names>),
    /// A variable of a frame.
    Variable { name: Option<Symbol>, slot: u32 },
    /// `this` is a variable: in a constraint or predicate.
    This { slot: u32 },
    /// The body of a function or `let`, in which `outer` is the innermost object itself.
    Function,
    /// What is outside has been captured, its variables from `base` on.
    Captured { base: u32 },
    /// Type parameters.
    TypeParameters { names: Box<[Symbol]>, alias: bool },
    /// From outside only const members may be used.
    Barrier(Barrier),
    /// What is evaluated with a body that is written in a const member: keys, conditions, iterated values, and all
    /// that is in a `for`. It is no part of the member, so that it may use `this` and what isn't const.
    Header,
}

/// Why only const members of what is outside may be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Barrier {
    /// It is a const member.
    Const(Symbol),
    Alias(Symbol),
    Class,
    Annotation,
}

/// A scope and those around it.
#[derive(Debug)]
pub(crate) struct Scope {
    pub(crate) parent: Option<Arc<Self>>,
    pub(crate) kind: ScopeKind,
}

/// Where a name was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    Local(u32),
    Captured {
        depth: u32,
        index: u32,
    },
    Property {
        level: u32,
        key: PropertyKey,
    },
    /// It would be a property, but must be const.
    NotConst,
    Nowhere,
}

/// Where a method was found.
#[derive(Clone, Debug)]
pub(crate) enum FoundMethod {
    Class { level: u32 },
    Local { level: u32, method: Arc<Method> },
    NotConst,
    Nowhere,
}

fn variable(depth: u32, slot: u32, base: u32) -> Found {
    if depth == 0 { Found::Local(slot) } else { Found::Captured { depth: depth - 1, index: slot - base } }
}

impl Scope {
    pub(crate) fn root(kind: ScopeKind) -> Arc<Self> {
        Arc::new(Self { parent: None, kind })
    }

    pub(crate) fn inside(self: &Arc<Self>, kind: ScopeKind) -> Arc<Self> {
        Arc::new(Self { parent: Some(Arc::clone(self)), kind })
    }

    fn chain(&self) -> impl Iterator<Item = &Self> {
        std::iter::successors(Some(self), |scope| scope.parent.as_deref())
    }

    /// The scopes from the innermost on, each with whether only const members of it may be used.
    fn guarded_chain(&self) -> impl Iterator<Item = (&Self, bool)> {
        let (mut outside, mut next, mut header) = (false, false, false);
        self.chain().map(move |scope| {
            match &scope.kind {
                ScopeKind::Header => header = true,
                ScopeKind::Barrier(Barrier::Const(_)) if header => {}
                ScopeKind::Barrier(Barrier::Const(_) | Barrier::Alias(_)) => next = true,
                ScopeKind::Barrier(_) => outside = true,
                ScopeKind::Object(names) => {
                    let guarded = outside || (next && !names.of_body);
                    outside |= std::mem::take(&mut next);
                    return (scope, guarded);
                }
                _ => {}
            }
            (scope, outside)
        })
    }

    /// Where `name` is, as a property or variable. `sometimes` is called with the level and key of each
    /// property that comes first, but that its object may lack.
    pub(crate) fn find(&self, name: Symbol, mut sometimes: impl FnMut(u32, PropertyKey)) -> Found {
        let (mut level, mut depth, mut base) = (0, 0, 0);
        for (scope, guarded) in self.guarded_chain() {
            match &scope.kind {
                ScopeKind::Variable { name: Some(candidate), slot } if *candidate == name => {
                    return variable(depth, *slot, base);
                }
                ScopeKind::Object(names) => {
                    if let Some(found) = names.properties.get(&name) {
                        if guarded && !found.constant {
                            return Found::NotConst;
                        }
                        if !found.sometimes {
                            return Found::Property { level, key: found.key };
                        }
                        sometimes(level, found.key);
                        match found.hides {
                            Some((key, false)) => return Found::Property { level, key },
                            Some((key, true)) => sometimes(level, key),
                            None => {}
                        }
                    }
                    level += 1;
                }
                ScopeKind::Captured { base: new_base } => {
                    depth += 1;
                    base = *new_base;
                }
                _ => {}
            }
        }
        Found::Nowhere
    }

    /// Where the method `name` is.
    pub(crate) fn find_method(&self, name: Symbol) -> FoundMethod {
        let mut level = 0;
        for (scope, guarded) in self.guarded_chain() {
            let ScopeKind::Object(names) = &scope.kind else { continue };
            if let Some(found) = names.methods.get(&name) {
                return match &found.local {
                    _ if guarded && !found.constant => FoundMethod::NotConst,
                    Some(method) => FoundMethod::Local { level, method: Arc::clone(method) },
                    None => FoundMethod::Class { level },
                };
            }
            level += 1;
        }
        FoundMethod::Nowhere
    }

    /// Whether this is the code of a const member of a class or module itself: not of a function, `let` or body in
    /// it. There `this` may not be used.
    pub(crate) fn is_const(&self) -> bool {
        let mut constant = false;
        for scope in self.chain() {
            match &scope.kind {
                ScopeKind::Barrier(Barrier::Const(_) | Barrier::Alias(_)) => constant = true,
                ScopeKind::Object(names) => return constant && !names.of_body,
                ScopeKind::Function | ScopeKind::This { .. } | ScopeKind::Header => return false,
                _ => {}
            }
        }
        false
    }

    /// Whether this is somewhere in a const member.
    pub(crate) fn is_in_const(&self) -> bool {
        self.chain().any(|scope| matches!(scope.kind, ScopeKind::Barrier(Barrier::Const(_))))
    }

    /// Whether the innermost object is made by a body.
    pub(crate) fn is_body(&self) -> bool {
        let innermost = self.chain().find_map(|scope| match &scope.kind {
            ScopeKind::Object(names) => Some(names.of_body),
            _ => None,
        });
        innermost.unwrap_or(false)
    }

    /// Why only const members of the module may be used, if so.
    pub(crate) fn module_barrier(&self) -> Option<Barrier> {
        let barriers = self.chain().filter_map(|scope| match scope.kind {
            ScopeKind::Barrier(barrier) => Some(barrier),
            _ => None,
        });
        // The innermost name, unless it is in a class or annotation.
        let mut found = None;
        for barrier in barriers {
            match barrier {
                Barrier::Const(_) | Barrier::Alias(_) => found = found.or(Some(barrier)),
                Barrier::Class | Barrier::Annotation => return Some(barrier),
            }
        }
        found
    }

    /// Whether only const members of the object so many levels outward may be used.
    pub(crate) fn is_guarded(&self, level: u32) -> bool {
        let objects = self.guarded_chain().filter(|(scope, _)| matches!(scope.kind, ScopeKind::Object(_)));
        objects.into_iter().nth(level as usize).is_some_and(|(_, guarded)| guarded)
    }

    /// The variable that `this` is, if it is one.
    pub(crate) fn this_variable(&self) -> Option<Found> {
        let (mut depth, mut base) = (0, 0);
        for scope in self.chain() {
            match &scope.kind {
                ScopeKind::This { slot } => return Some(variable(depth, *slot, base)),
                ScopeKind::Object(_) => return None,
                ScopeKind::Captured { base: new_base } => {
                    depth += 1;
                    base = *new_base;
                }
                _ => {}
            }
        }
        None
    }

    /// How many objects outward `outer` is.
    pub(crate) fn outer_level(&self) -> u32 {
        let inside = self.chain().take_while(|scope| !matches!(scope.kind, ScopeKind::Object(_)));
        u32::from(!inside.into_iter().any(|scope| matches!(scope.kind, ScopeKind::Function)))
    }

    /// How many objects enclose the place, the innermost included.
    pub(crate) fn levels(&self) -> u32 {
        let objects = self.chain().filter(|scope| matches!(scope.kind, ScopeKind::Object(_))).count();
        u32::try_from(objects).expect("nesting is bounded by the parser")
    }

    /// The type parameter of this name.
    pub(crate) fn type_parameter(&self, name: Symbol) -> Option<TypeParameter> {
        self.chain().find_map(|scope| match &scope.kind {
            ScopeKind::TypeParameters { names, alias } => {
                let position = names.iter().zip(0..).find(|(candidate, _)| **candidate == name)?.1;
                Some(if *alias { TypeParameter::OfAlias(position) } else { TypeParameter::Free })
            }
            _ => None,
        })
    }

    /// All names visible as properties or variables, for hints.
    pub(crate) fn visible_names(&self) -> Vec<Symbol> {
        let mut names = Vec::new();
        for scope in self.chain() {
            match &scope.kind {
                ScopeKind::Object(object) => names.extend(object.properties.keys()),
                ScopeKind::Variable { name, .. } => names.extend(name),
                _ => {}
            }
        }
        names
    }
}
