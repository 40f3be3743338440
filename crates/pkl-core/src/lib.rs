//! The evaluator of the Pkl language.
