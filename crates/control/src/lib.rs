//! The use cases: validate, plan, deploy, destroy, and what they keep.
