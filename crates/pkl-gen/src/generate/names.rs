//! Names, which tell their kind of value: `i2` is an integer wherever it is defined.
//!
//! So a name may be defined in many scopes at once and each way of resolving it gives a value of the
//! right kind, but another value: that is what a wrong resolution shows itself by.
//!
//! Names have an index too, and a member's value only uses names of a lower index, whatever they
//! resolve to. So no program of ours ever recurses without end.

use std::fmt;

/// How many indices there are.
pub(crate) const INDICES: u8 = 6;

/// A class of the program, by number.
pub(crate) type ClassId = u8;

/// A kind of value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    Int,
    Float,
    Text,
    Bool,
    /// `Int?`
    Maybe,
    Duration,
    /// `List<Int>`
    Ints,
    /// `List<String>`
    Texts,
    /// `Set<Int>`
    IntSet,
    /// `Map<String, Int>`
    Table,
    /// `Listing<Int>`
    IntListing,
    /// `Mapping<String, Int>`
    IntMapping,
    /// `Listing` of a class
    Objects(ClassId),
    /// `Mapping<String, …>` of a class
    ObjectMapping(ClassId),
    Dynamic,
    Instance(ClassId),
    /// `(Int) -> Int`
    Function,
}

impl Kind {
    /// Those without a class, the simplest first.
    pub(crate) const PLAIN: [Self; 14] = [
        Self::Int,
        Self::Text,
        Self::Bool,
        Self::IntListing,
        Self::IntMapping,
        Self::Dynamic,
        Self::Ints,
        Self::Texts,
        Self::Table,
        Self::Maybe,
        Self::Float,
        Self::IntSet,
        Self::Duration,
        Self::Function,
    ];

    /// Whether its values can be given a body.
    pub(crate) fn is_object(self) -> bool {
        matches!(
            self,
            Self::IntListing
                | Self::IntMapping
                | Self::Objects(_)
                | Self::ObjectMapping(_)
                | Self::Dynamic
                | Self::Instance(_)
        )
    }

    fn prefix(self) -> String {
        match self {
            Self::Int => "i".to_owned(),
            Self::Float => "f".to_owned(),
            Self::Text => "s".to_owned(),
            Self::Bool => "b".to_owned(),
            Self::Maybe => "n".to_owned(),
            Self::Duration => "d".to_owned(),
            Self::Ints => "li".to_owned(),
            Self::Texts => "ls".to_owned(),
            Self::IntSet => "st".to_owned(),
            Self::Table => "mp".to_owned(),
            Self::IntListing => "gi".to_owned(),
            Self::IntMapping => "mi".to_owned(),
            Self::Objects(class) => format!("g{}", letter(class)),
            Self::ObjectMapping(class) => format!("m{}", letter(class)),
            Self::Dynamic => "o".to_owned(),
            Self::Instance(class) => format!("c{}", letter(class)),
            Self::Function => "fn".to_owned(),
        }
    }

    /// Its type as one writes it.
    pub(crate) fn type_name(self) -> String {
        match self {
            Self::Int => "Int".to_owned(),
            Self::Float => "Float".to_owned(),
            Self::Text => "String".to_owned(),
            Self::Bool => "Boolean".to_owned(),
            Self::Maybe => "Int?".to_owned(),
            Self::Duration => "Duration".to_owned(),
            Self::Ints => "List<Int>".to_owned(),
            Self::Texts => "List<String>".to_owned(),
            Self::IntSet => "Set<Int>".to_owned(),
            Self::Table => "Map<String, Int>".to_owned(),
            Self::IntListing => "Listing<Int>".to_owned(),
            Self::IntMapping => "Mapping<String, Int>".to_owned(),
            Self::Objects(class) => format!("Listing<{}>", class_name(class)),
            Self::ObjectMapping(class) => format!("Mapping<String, {}>", class_name(class)),
            Self::Dynamic => "Dynamic".to_owned(),
            Self::Instance(class) => class_name(class),
            Self::Function => "(Int) -> Int".to_owned(),
        }
    }
}

/// `A` for the first class.
pub(crate) fn class_name(class: ClassId) -> String {
    char::from(b'A' + class).to_string()
}

fn letter(class: ClassId) -> char {
    char::from(b'a' + class)
}

/// The name of a property.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Name {
    pub(crate) kind: Kind,
    pub(crate) index: u8,
    /// Whether it is a `const` of the module, which classes may use.
    pub(crate) is_const: bool,
}

impl Name {
    pub(crate) fn new(kind: Kind, index: u8) -> Self {
        Self { kind, index, is_const: false }
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}{}", if self.is_const { "k" } else { "" }, self.kind.prefix(), self.index)
    }
}
