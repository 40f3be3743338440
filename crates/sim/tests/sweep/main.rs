//! The sweep: handwritten scenarios with a fault at every point, and the checks that it would find
//! each protection missing.

mod every_point;
mod mutation;
mod scenarios;
