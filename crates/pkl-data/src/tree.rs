//! The exported value: what an evaluation leaves behind, owned and free of the evaluator.

use std::fmt;
use std::sync::Arc;

use crate::units::{DataSize, Duration};

/// How deep a [`Tree`] may be nested. Who builds one keeps to it; renderers refuse what is deeper.
///
/// Far above anything a real program has (the official evaluator gives up at about 200), and low
/// enough that walking and dropping a tree is safe on a thread of ordinary size.
pub const MAX_DEPTH: usize = 1_000;

/// A value as it leaves the evaluator: forced, converted, without hidden and local members.
#[derive(Clone, Debug, PartialEq)]
pub enum Tree {
    /// `null`.
    Null,
    /// A `Boolean`.
    Bool(bool),
    /// An `Int`.
    Int(i64),
    /// A `Float`.
    Float(f64),
    /// A `String`.
    String(Arc<str>),
    /// `Bytes`.
    Bytes(Arc<[u8]>),
    /// A `Duration`.
    Duration(Duration),
    /// A `DataSize`.
    DataSize(DataSize),
    /// A `Pair`.
    Pair(Box<(Tree, Tree)>),
    /// An `IntSeq`.
    IntSeq(IntSeq),
    /// A `Regex`, by its pattern.
    Regex(Arc<str>),
    /// A `List`.
    List(Vec<Tree>),
    /// A `Set`, in insertion order.
    Set(Vec<Tree>),
    /// A `Map`, in insertion order.
    Map(Vec<(Tree, Tree)>),
    /// A `Listing`.
    Listing(Vec<Tree>),
    /// A `Mapping`, in the order of definition.
    Mapping(Vec<(Tree, Tree)>),
    /// A `Dynamic`: its members in export order.
    Dynamic(Vec<Member>),
    /// An instance of a subclass of `Typed`, a module included.
    Typed(Box<Typed>),
    /// A `Class`.
    Class(ClassName),
    /// A `TypeAlias`.
    TypeAlias(ClassName),
    /// A function of so many parameters: nothing of it can be exported.
    Function {
        /// How many parameters it takes.
        parameters: usize,
    },
    /// A member that failed, where the export collects errors instead of stopping at the first.
    Error(Box<ErrorNode>),
}

/// `IntSeq(start, end).step(step)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IntSeq {
    /// The first number.
    pub start: i64,
    /// The bound, inclusive.
    pub end: i64,
    /// The distance between two numbers; never zero.
    pub step: i64,
}

impl fmt::Display for IntSeq {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "IntSeq({}, {})", self.start, self.end)?;
        if self.step == 1 { Ok(()) } else { write!(f, ".step({})", self.step) }
    }
}

/// One member of a `Dynamic`.
///
/// The members of one object body come as properties, entries, elements; members that an amending
/// body adds follow those of its parent.
#[derive(Clone, Debug, PartialEq)]
pub enum Member {
    /// `name = value`.
    Property(Arc<str>, Tree),
    /// `[key] = value`.
    Entry(Tree, Tree),
    /// `value`.
    Element(Tree),
}

impl Member {
    /// The member's value.
    pub fn value(&self) -> &Tree {
        match self {
            Self::Property(_, value) | Self::Entry(_, value) | Self::Element(value) => value,
        }
    }
}

/// An instance of a class.
#[derive(Clone, Debug, PartialEq)]
pub struct Typed {
    /// Its class.
    pub class: ClassName,
    /// The properties in the order of declaration, the superclass's first; neither hidden nor local ones.
    pub properties: Vec<(Arc<str>, Tree)>,
}

impl Typed {
    /// The value of a property, if it has one of this name.
    pub fn property(&self, name: &str) -> Option<&Tree> {
        self.properties.iter().find(|(key, _)| &**key == name).map(|(_, value)| value)
    }
}

/// The name of a class or type alias. Names are the same whatever their modules' addresses are.
#[derive(Clone, Debug)]
pub struct ClassName {
    /// The name of the module that declares it, as `pkl.base` or `com.example.Birds`.
    pub module: Arc<str>,
    /// The class's own name; for a module's class the last part of the module's name.
    pub name: Arc<str>,
    /// Whether this is the class of the module itself.
    pub is_module_class: bool,
    /// The module's URI; empty if it isn't known.
    pub uri: Arc<str>,
}

impl PartialEq for ClassName {
    fn eq(&self, other: &Self) -> bool {
        let this = (&self.module, &self.name, self.is_module_class);
        this == (&other.module, &other.name, other.is_module_class)
    }
}

impl Eq for ClassName {}

impl ClassName {
    /// A class or alias declared in a module.
    pub fn new(module: impl Into<Arc<str>>, name: impl Into<Arc<str>>) -> Self {
        Self { module: module.into(), name: name.into(), is_module_class: false, uri: Arc::default() }
    }

    /// The class of a module.
    pub fn module(module: impl Into<Arc<str>>) -> Self {
        let module = module.into();
        let name = module.rsplit('.').next().unwrap_or_default().into();
        Self { module, name, is_module_class: true, uri: Arc::default() }
    }

    /// The name with the URI of its module.
    #[must_use]
    pub fn at(self, uri: impl Into<Arc<str>>) -> Self {
        Self { uri: uri.into(), ..self }
    }

    /// The name without that of the module, which all classes of modules share.
    #[must_use]
    pub fn simple_name(&self) -> &str {
        if self.is_module_class { "ModuleClass" } else { &self.name }
    }

    /// Whether it is this class of this module.
    pub fn is(&self, module: &str, name: &str) -> bool {
        !self.is_module_class && &*self.module == module && &*self.name == name
    }
}

/// As messages show it: `String`, `birds#Parrot`, or for the class of a module the module's name.
impl fmt::Display for ClassName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_module_class {
            f.write_str(&self.module)
        } else if &*self.module == "pkl.base" {
            f.write_str(&self.name)
        } else {
            write!(f, "{}#{}", self.module, self.name)
        }
    }
}

/// What stands in the place of a member that failed.
#[derive(Clone, Debug, PartialEq)]
pub struct ErrorNode {
    /// The error's code, as of the evaluator.
    pub code: Arc<str>,
    /// The error's message.
    pub message: Arc<str>,
    /// Where the failing member is defined.
    pub place: Option<Place>,
}

/// A place in a source: line and column count from one, the column in code points.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The URI of the module.
    pub uri: Arc<str>,
    /// The line.
    pub line: u32,
    /// The column.
    pub column: u32,
}

impl Tree {
    /// A string value.
    pub fn string(text: impl Into<Arc<str>>) -> Self {
        Self::String(text.into())
    }

    /// The name of the value's class, as messages show it.
    pub fn class_name(&self) -> String {
        match self {
            Self::Null => "Null".to_owned(),
            Self::Bool(_) => "Boolean".to_owned(),
            Self::Int(_) => "Int".to_owned(),
            Self::Float(_) => "Float".to_owned(),
            Self::String(_) => "String".to_owned(),
            Self::Bytes(_) => "Bytes".to_owned(),
            Self::Duration(_) => "Duration".to_owned(),
            Self::DataSize(_) => "DataSize".to_owned(),
            Self::Pair(_) => "Pair".to_owned(),
            Self::IntSeq(_) => "IntSeq".to_owned(),
            Self::Regex(_) => "Regex".to_owned(),
            Self::List(_) => "List".to_owned(),
            Self::Set(_) => "Set".to_owned(),
            Self::Map(_) => "Map".to_owned(),
            Self::Listing(_) => "Listing".to_owned(),
            Self::Mapping(_) => "Mapping".to_owned(),
            Self::Dynamic(_) => "Dynamic".to_owned(),
            Self::Typed(typed) => typed.class.to_string(),
            Self::Class(_) => "Class".to_owned(),
            Self::TypeAlias(_) => "TypeAlias".to_owned(),
            Self::Function { parameters } => format!("Function{parameters}"),
            Self::Error(_) => "Error".to_owned(),
        }
    }

    /// The text of a `RenderDirective`: what every renderer writes as it is.
    pub fn render_directive(&self) -> Option<&str> {
        let Self::Typed(typed) = self else { return None };
        if !typed.class.is("pkl.base", "RenderDirective") {
            return None;
        }
        match typed.property("text") {
            Some(Self::String(text)) => Some(text),
            _ => None,
        }
    }

    /// The bytes that stand in for a `RenderDirective` where a format is one of bytes.
    pub fn render_directive_bytes(&self) -> Option<&[u8]> {
        let Self::Typed(typed) = self else { return None };
        if !typed.class.is("pkl.base", "RenderDirective") {
            return None;
        }
        match typed.property("bytes") {
            Some(Self::Bytes(bytes)) => Some(bytes),
            _ => None,
        }
    }

    /// What a `PcfRenderDirective` says: the value, and the text before and after it.
    pub fn pcf_directive(&self) -> Option<(&str, &Self, &str)> {
        let Self::Typed(typed) = self else { return None };
        if !typed.class.is("pkl.base", "PcfRenderDirective") {
            return None;
        }
        let text = |name| match typed.property(name) {
            Some(Self::String(text)) => &**text,
            _ => "",
        };
        Some((text("before"), typed.property("value")?, text("after")))
    }
}

impl From<bool> for Tree {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<i64> for Tree {
    fn from(value: i64) -> Self {
        Self::Int(value)
    }
}

impl From<f64> for Tree {
    fn from(value: f64) -> Self {
        Self::Float(value)
    }
}

impl From<&str> for Tree {
    fn from(value: &str) -> Self {
        Self::String(value.into())
    }
}
