//! The driver that carries operations out, recovery, observation.
