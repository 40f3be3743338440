//! Tests of the formatter from outside.

mod comments;
mod corpus;
mod depth;
mod oracle;
mod same;
mod styles;
