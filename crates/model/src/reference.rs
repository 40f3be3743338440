//! References: one resource's property, in another's.

use crate::{Label, Path, StackKey, TargetName, TypeName};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;

/// A reference as declared.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Ref {
    /// What is referred to.
    pub to: RefTarget,
    /// Which part of it.
    pub path: RefPath,
    /// A path into the part, when the part is itself JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub json: Option<Path>,
    /// Whether the value may be shown.
    #[serde(default)]
    pub visibility: Visibility,
}

/// What a reference points to.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RefTarget {
    /// A resource, by its author's name.
    Resource {
        /// Its stack; `None` is the stack that the reference stands in.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        stack: Option<StackKey>,
        /// Its type, where labels are unique only per type.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        type_name: Option<TypeName>,
        /// Its label.
        label: Label,
    },
    /// A stack.
    Stack(StackKey),
    /// A target.
    Target(TargetName),
    /// A policy.
    Policy(Arc<str>),
}

/// Which part of the thing referred to.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RefPath {
    /// The provider's id.
    NativeId,
    /// A property, as the provider last answered it.
    Property(Path),
    /// A named output of its type.
    Output(Arc<str>),
}

/// Whether a referenced value may be shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Visibility {
    /// It may.
    #[default]
    Clear,
    /// It is secret, and whatever contains it is.
    Opaque,
}

impl Ref {
    /// A reference to the native id of a resource of the same stack (seed 4, "Ref Expressions").
    pub fn native_id(label: impl Into<Label>) -> Self {
        Self {
            to: RefTarget::Resource { stack: None, type_name: None, label: label.into() },
            path: RefPath::NativeId,
            json: None,
            visibility: Visibility::Clear,
        }
    }
}

impl fmt::Display for Ref {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.to {
            RefTarget::Resource { stack: Some(stack), label, .. } => write!(f, "{}/{label}", stack.name)?,
            RefTarget::Resource { stack: None, label, .. } => write!(f, "{label}")?,
            RefTarget::Stack(stack) => write!(f, "stack {}", stack.name)?,
            RefTarget::Target(target) => write!(f, "target {target}")?,
            RefTarget::Policy(policy) => write!(f, "policy {policy}")?,
        }
        match &self.path {
            RefPath::NativeId => Ok(()),
            RefPath::Property(path) => write!(f, ".{path}"),
            RefPath::Output(name) => write!(f, ".{name}"),
        }
    }
}
