//! Tests of the parser from outside.

mod acceptance;
mod depth;
mod goldens;
mod lists;
mod oracle;
mod soup;
