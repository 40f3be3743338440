//! Deliberate bugs of the evaluator, one at a time, to prove that the tests find such bugs.
//!
//! Only with the feature `mutants`, which nothing that is shipped turns on; without it each switch point
//! is the constant `false`.

/// Whether a deliberate bug is switched on.
macro_rules! mutant {
    ($name:ident) => {
        crate::mutants::is_active(crate::mutants::Mutant::$name)
    };
}
pub(crate) use mutant;

macro_rules! mutants {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// A deliberate bug.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Mutant {
            $($(#[$doc])* $name,)*
        }

        impl Mutant {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$name,)*];
        }
    };
}

mutants! {
    /// A property is evaluated for the object that defines it, not for the receiver.
    LateBindingLost,
    /// The same, but only two amendments further down.
    LateBindingLostOnSecondAmend,
    /// A property that failed once fails forever, as if it were still being evaluated.
    FailureCached,
    /// An amending object takes over the values that its parent's properties have already.
    ValuesInherited,
    /// The same for elements and entries.
    ItemValuesInherited,
    /// The declared type of a property is not checked.
    PropertyUnchecked,
    /// `super.x` is evaluated for the parent, not for the receiver.
    SuperReceiver,
    /// `super[k]` is evaluated for the parent, not for the receiver.
    SuperItemReceiver,
    /// `super.x` skips a level.
    SuperSkipsLevel,
    /// Hidden properties are rendered.
    HiddenVisible,
    /// Hidden properties count in equality.
    HiddenInEquality,
    /// Objects of different classes can be equal.
    EqualityIgnoresClass,
    /// Objects with the same names are equal, whatever their values.
    EqualityIgnoresValues,
    /// `outer` is the object itself.
    WrongOuter,
    /// A captured variable of an outer scope is taken from the inner one.
    WrongCapture,
    /// `??` evaluates its right operand in any case.
    CoalesceIsEager,
    /// `&&` and `||` evaluate their right operand in any case.
    LogicIsEager,
    /// The first value of a key stays in a `Map`.
    MapKeepsFirst,
    /// A `Set` keeps repeated elements.
    SetKeepsRepeated,
    /// The key of `for` is its value.
    ForKeyIsValue,
    /// The members of `else` are ignored.
    ElseIgnored,
    /// Spread members come in reverse order.
    SpreadReversed,
    /// A predicate stops at the first member that matches.
    PredicateStopsEarly,
    /// An overridden element is appended.
    OverrideAppends,
    /// An overridden entry is ignored.
    EntryOverrideIgnored,
    /// A key may be defined twice.
    DuplicatesAllowed,
    /// Elements are checked when the listing is made.
    ElementsCheckedEagerly,
    /// Elements are not checked.
    ElementsUnchecked,
    /// The elements of a `List` are not checked.
    ListUnchecked,
    /// Constraints always hold.
    ConstraintsIgnored,
    /// Only the first member of a union counts.
    UnionFirstOnly,
    /// A class's type admits no instances of subclasses.
    SubclassRefused,
    /// New members ignore the `default` of their object.
    DefaultIgnored,
    /// `default` is always asked for the same key.
    DefaultKeyWrong,
    /// A function that is amended twice forgets the first body.
    AmendedFunctionForgets,
    /// `super.f()` runs for the superclass's prototype.
    SuperMethodReceiver,
    /// Arguments are not checked.
    ArgumentsUnchecked,
    /// The converter of the most general class applies.
    ConverterLeastSpecific,
    /// Converters of classes come before those of paths.
    ConverterClassFirst,
    /// `~/` rounds down.
    WholeDivisionFloors,
}

#[cfg(feature = "mutants")]
mod switch {
    use super::Mutant;
    use std::sync::atomic::{AtomicU8, Ordering};

    static ACTIVE: AtomicU8 = AtomicU8::new(u8::MAX);

    /// Switches one bug on for the whole process, or all off.
    pub fn activate(mutant: Option<Mutant>) {
        ACTIVE.store(mutant.map_or(u8::MAX, |mutant| mutant as u8), Ordering::Relaxed);
    }

    #[inline]
    pub(crate) fn is_active(mutant: Mutant) -> bool {
        ACTIVE.load(Ordering::Relaxed) == mutant as u8
    }
}

#[cfg(feature = "mutants")]
pub use switch::activate;
#[cfg(feature = "mutants")]
pub(crate) use switch::is_active;

#[cfg(not(feature = "mutants"))]
#[inline]
pub(crate) const fn is_active(_mutant: Mutant) -> bool {
    false
}
