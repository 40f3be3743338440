//! Plugins that are processes, through the binary. The plugins' processes are this test program, started again.

#[path = "../common/mod.rs"]
mod common;

mod author;
mod deployed;
mod formae;
mod matrix;
mod mixed;
mod processes;
mod real;
mod tried;
mod unruly;
