//! A deterministic simulator of operations under crashes and faults.
