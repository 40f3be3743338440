//! Numbers as Pkl has them: text, parsing, rounding.

/// An `Int` or a `Float`: `5.min` and `5.0.min` are not the same value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// An `Int`.
    Int(i64),
    /// A `Float`.
    Float(f64),
}

impl Number {
    /// The nearest `Float`.
    #[expect(clippy::cast_precision_loss, reason = "the rounding of Int.toFloat()")]
    pub fn to_f64(self) -> f64 {
        match self {
            Self::Int(value) => value as f64,
            Self::Float(value) => value,
        }
    }
}

impl From<i64> for Number {
    fn from(value: i64) -> Self {
        Self::Int(value)
    }
}

impl From<f64> for Number {
    fn from(value: f64) -> Self {
        Self::Float(value)
    }
}
