//! Which modifiers stand where.

use super::{Checker, Origin};
use crate::DiagnosticCode;
use crate::ast::{List, Modifier, ModifierKind, ModifierSet};

/// What modifiers stand before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Module,
    AmendingModule,
    Class,
    TypeAlias,
    Property,
    Method,
    ObjectMember,
    ObjectMethod,
}

impl Place {
    fn allows(self, kind: ModifierKind) -> bool {
        use ModifierKind as M;
        match self {
            Self::Module => matches!(kind, M::Abstract | M::Open),
            Self::AmendingModule => false,
            Self::Class => matches!(kind, M::Abstract | M::Open | M::External | M::Local),
            Self::TypeAlias => matches!(kind, M::External | M::Local),
            Self::Property => kind != M::Open,
            Self::Method => matches!(kind, M::Abstract | M::External | M::Local | M::Const),
            Self::ObjectMember | Self::ObjectMethod => matches!(kind, M::Local | M::Const),
        }
    }

    const fn plural(self) -> &'static str {
        match self {
            Self::Module => "modules",
            Self::AmendingModule => "modules that amend another module",
            Self::Class => "classes",
            Self::TypeAlias => "type aliases",
            Self::Property => "properties",
            Self::Method => "methods",
            Self::ObjectMember | Self::ObjectMethod => "object members",
        }
    }
}

impl ModifierSet {
    pub(super) const fn is_abstract(self) -> bool {
        self.contains(ModifierKind::Abstract)
    }

    pub(super) const fn is_external(self) -> bool {
        self.contains(ModifierKind::External)
    }

    pub(super) const fn is_local(self) -> bool {
        self.contains(ModifierKind::Local)
    }

    /// The modifiers that no object member can have.
    pub(super) fn without_local_and_const(self) -> Self {
        self.iter().filter(|kind| !Place::ObjectMember.allows(*kind)).collect()
    }
}

impl Checker<'_> {
    /// Reports modifiers that can't stand at a place, alone or together; gives them as a set.
    pub(super) fn modifiers(&mut self, modifiers: List<Modifier>, place: Place) -> ModifierSet {
        let ast = self.ast;
        let set = ast.modifier_set(modifiers);
        for modifier in &ast[modifiers] {
            if let Some(text) = self.modifier_error(modifier.kind, set, place) {
                self.report(DiagnosticCode::InvalidModifier, modifier.span, &text);
            }
        }
        set
    }

    fn modifier_error(&self, kind: ModifierKind, set: ModifierSet, place: Place) -> Option<String> {
        use ModifierKind as M;
        let name = kind.as_str();
        if !place.allows(kind) {
            // What no module can have is not the fault of amending.
            let amends = place == Place::AmendingModule && Place::Module.allows(kind);
            let place = if place == Place::AmendingModule && !amends { Place::Module } else { place };
            return Some(format!("Modifier `{name}` is not applicable to {}.", place.plural()));
        }
        match kind {
            M::External if self.origin == Origin::User => {
                Some("External members can only be defined by standard library modules.".to_owned())
            }
            // What can't stand here at all is reported first.
            _ if set.iter().any(|other| !place.allows(other)) => None,
            M::Open if set.is_abstract() => Some(redundant(name, "abstract")),
            M::Hidden | M::Fixed if set.is_local() => Some(redundant(name, "local")),
            M::Const if place == Place::ObjectMember && !set.is_local() => Some(
                "Modifier `const` can only be applied to object members that are also `local`.".to_owned(),
            ),
            _ => None,
        }
    }
}

fn redundant(name: &str, other: &str) -> String {
    format!("Modifier `{name}` is redundant here; just use `{other}`.")
}
