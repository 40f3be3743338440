//! What is wrong with a pattern.

use std::fmt;

/// A pattern that isn't one. Displays as Java's `PatternSyntaxException` does: the description, the
/// pattern, and a caret under the place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    /// What is wrong.
    pub description: String,
    /// About where, counted in code points; `None` if it can't be said.
    pub index: Option<usize>,
    /// The pattern.
    pub pattern: String,
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.description)?;
        if let Some(index) = self.index {
            write!(f, " near index {index}")?;
        }
        write!(f, "\n{}", self.pattern)?;
        if let Some(index) = self.index
            && index < self.pattern.chars().count()
        {
            // A width that is given to `write!` must be small.
            write!(f, "\n{}^", " ".repeat(index))?;
        }
        Ok(())
    }
}

impl std::error::Error for SyntaxError {}
