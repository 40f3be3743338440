//! A value while a program runs: sixteen bytes, `Copy`, its contents in the [`Heap`](crate::heap::Heap).

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident),* $(,)?) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
        pub(crate) struct $name(pub(crate) u32);

        impl $name {
            pub(crate) fn at(index: usize) -> Self {
                Self(u32::try_from(index).expect("the memory limit is reached before u32 numbers run out"))
            }

            pub(crate) const fn index(self) -> usize {
                self.0 as usize
            }
        }
    )*};
}

ids! {
    /// A string.
    StringId,
    /// Bytes.
    BytesId,
    /// A duration.
    DurationId,
    /// A data size.
    DataSizeId,
    /// A pair.
    PairId,
    /// A sequence of integers.
    IntSeqId,
    /// A regular expression.
    RegexId,
    /// A list.
    ListId,
    /// A set.
    SetId,
    /// A map.
    MapId,
    /// An object: `Dynamic`, `Listing`, `Mapping`, an instance of a class, or a module.
    ObjectId,
    /// A function value.
    FunctionId,
    /// A class.
    ClassId,
    /// A type alias.
    TypeAliasId,
    /// A null with a default.
    NullId,
    /// Captured variables.
    EnvId,
    /// The order and positions of an object's properties.
    ShapeId,
    /// A module of one evaluation.
    ModuleId,
    /// An object's elements and entries.
    ItemsId,
    /// A type to which the members of a collection are checked when they are read.
    CheckId,
}

/// A Pkl value. Ids name contents in the heap of the evaluation that made the value.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Value {
    /// `null`, with the default that amending it amends (`Null(x)`).
    Null(Option<NullId>),
    /// A `Boolean`.
    Bool(bool),
    /// An `Int`.
    Int(i64),
    /// A `Float`.
    Float(f64),
    /// A `String`.
    String(StringId),
    /// `Bytes`.
    Bytes(BytesId),
    /// A `Duration`.
    Duration(DurationId),
    /// A `DataSize`.
    DataSize(DataSizeId),
    /// A `Pair`.
    Pair(PairId),
    /// An `IntSeq`.
    IntSeq(IntSeqId),
    /// A `Regex`.
    Regex(RegexId),
    /// A `List`.
    List(ListId),
    /// A `Set`.
    Set(SetId),
    /// A `Map`.
    Map(MapId),
    /// A `Dynamic`, `Listing`, `Mapping`, `Typed` or module.
    Object(ObjectId),
    /// A `Function`.
    Function(FunctionId),
    /// A `Class`.
    Class(ClassId),
    /// A `TypeAlias`.
    TypeAlias(TypeAliasId),
}

impl Value {
    /// The predefined `null`.
    pub(crate) const NULL: Self = Self::Null(None);

    /// Whether it is null.
    pub(crate) const fn is_null(self) -> bool {
        matches!(self, Self::Null(_))
    }
}

const _: () = assert!(size_of::<Value>() == 16);
