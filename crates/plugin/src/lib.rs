//! The author's side of a resource plugin: the trait, its requests and results.
