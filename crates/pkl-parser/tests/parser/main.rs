//! Tests of the parser from outside.

mod acceptance;
mod depth;
mod lists;
mod soup;
