//! The fake cloud, and the conformance suite tried on it.

mod cloud;
mod conformance;
mod support;
