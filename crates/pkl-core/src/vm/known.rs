//! Classes and names of the base module that the machine itself knows.

use pkl_parser::{Interner, Symbol};

use super::Vm;
use crate::error::Result;
use crate::value::{ClassId, Value};

macro_rules! known {
    ($($variant:ident),* $(,)?) => {
        /// A class of the base module.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Known { $($variant),* }

        impl Known {
            pub(crate) const ALL: [Self; Self::COUNT] = [$(Self::$variant),*];
            pub(crate) const COUNT: usize = [$(Self::$variant),*].len();

            pub(crate) const fn name(self) -> &'static str {
                match self { $(Self::$variant => stringify!($variant)),* }
            }
        }
    };
}

known! {
    Any, Null, Boolean, Number, Int, Float, String, Bytes, Duration, DataSize, Pair, IntSeq, Regex, Collection,
    List, Set, Map, Object, Dynamic, Typed, Listing, Mapping, Function, Function0, Function1, Function2,
    Function3, Function4, Function5, Class, TypeAlias, Module, ModuleOutput, Resource, RegexMatch, Annotation,
    ValueRenderer, ModuleInfo, Deprecated, FileOutput, RenderDirective, BytesRenderer,
}

macro_rules! words {
    ($($field:ident = $text:literal),* $(,)?) => {
        /// Names the machine looks for.
        pub(crate) struct Words { $(pub(crate) $field: Symbol),* }

        impl Words {
            pub(crate) fn new(interner: &Interner) -> Self {
                Self { $($field: interner.intern($text)),* }
            }
        }
    };
}

words! {
    default = "default", to_string = "toString", output = "output", value = "value", text = "text", bytes = "bytes",
    files = "files", converters = "converters", uri = "uri",
    mixin = "Mixin", apply = "apply", start = "start", end = "end", groups = "groups",
}

impl Vm<'_> {
    /// A class of the base module.
    pub(crate) fn known(&mut self, class: Known) -> Result<ClassId> {
        if let Some(id) = self.known[class as usize] {
            return Ok(id);
        }
        let base = self.base_module()?;
        let name = self.store.symbol(class.name());
        let id = self.declared_class(base, name)?;
        let id = id.unwrap_or_else(|| panic!("the base module declares {}", class.name()));
        Ok(id)
    }

    /// Notes a class of the base module that was made.
    pub(super) fn note_known(&mut self, name: &str, id: ClassId) {
        if let Some(&class) = Known::ALL.iter().find(|class| class.name() == name) {
            self.known[class as usize] = Some(id);
        }
    }

    /// Whether a class is a known one.
    pub(crate) fn is_known(&self, id: ClassId, class: Known) -> bool {
        match self.known[class as usize] {
            Some(known) => known == id,
            // Nobody has asked for the known class yet, so that it can only be told by its name.
            None => {
                let record = self.heap.class(id);
                let module = self.module(record.module).ir;
                &*module.uri == "pkl:base" && &*self.text_of(record.name) == class.name()
            }
        }
    }

    /// The class of a value.
    pub(crate) fn class_of(&mut self, value: Value) -> Result<ClassId> {
        let known = match value {
            Value::Object(id) => return Ok(self.heap.object(id).class),
            Value::Null(_) => Known::Null,
            Value::Bool(_) => Known::Boolean,
            Value::Int(_) => Known::Int,
            Value::Float(_) => Known::Float,
            Value::String(_) => Known::String,
            Value::Bytes(_) => Known::Bytes,
            Value::Duration(_) => Known::Duration,
            Value::DataSize(_) => Known::DataSize,
            Value::Pair(_) => Known::Pair,
            Value::IntSeq(_) => Known::IntSeq,
            Value::Regex(_) => Known::Regex,
            Value::List(_) => Known::List,
            Value::Set(_) => Known::Set,
            Value::Map(_) => Known::Map,
            Value::Function(id) => match self.heap.function(id).arity {
                0 => Known::Function0,
                1 => Known::Function1,
                2 => Known::Function2,
                3 => Known::Function3,
                4 => Known::Function4,
                _ => Known::Function5,
            },
            Value::Class(_) => Known::Class,
            Value::TypeAlias(_) => Known::TypeAlias,
        };
        self.known(known)
    }

    pub(crate) fn is_subclass(&self, class: ClassId, of: ClassId) -> bool {
        let depth = self.heap.class(of).display.len() - 1;
        self.heap.class(class).is_subclass_of(of, depth)
    }

    /// Whether a class is a known one or one of its subclasses.
    pub(crate) fn is_kind(&mut self, class: ClassId, of: Known) -> Result<bool> {
        let of = self.known(of)?;
        Ok(self.is_subclass(class, of))
    }
}
