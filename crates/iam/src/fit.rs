//! Whether something is meant, where not all of it is known.

/// How well a pattern or a condition fits. What may fit counts against whoever asks: it denies what
/// it would deny, and allows nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Fit {
    /// It does not.
    No,
    /// It depends on something that is not known yet.
    Maybe,
    /// It does.
    Yes,
}

impl From<bool> for Fit {
    fn from(fits: bool) -> Self {
        if fits { Self::Yes } else { Self::No }
    }
}

/// All of them must fit.
pub(crate) fn all(fits: impl IntoIterator<Item = Fit>) -> Fit {
    fits.into_iter().min().unwrap_or(Fit::Yes)
}

/// One of them must fit.
pub(crate) fn any(fits: impl IntoIterator<Item = Fit>) -> Fit {
    fits.into_iter().max().unwrap_or(Fit::No)
}
