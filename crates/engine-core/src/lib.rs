//! One operation as a state machine without I/O.
