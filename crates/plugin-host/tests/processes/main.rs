//! Plugins as real processes: good ones, and each way of being bad.

mod misbehaviour;
mod serving;
mod unruly;
mod world;

/// The process of the plugins of the other tests.
#[test]
#[ignore = "it is the process of a plugin, which the other tests start"]
fn serves() {
    unruly::main();
}
