//! How long to wait before trying again: doubling, bounded, with jitter from the operation's seed.

use crate::Limits;
use crate::facts::Key;

/// The pause before the next attempt, in milliseconds: between half of the doubled pause and all
/// of it. The same seed, step and attempt give the same pause.
pub(crate) fn pause(limits: &Limits, seed: u64, key: Key, failures: u32) -> u64 {
    let doublings = failures.min(32);
    let whole = limits.backoff_millis.saturating_mul(1 << doublings).min(limits.backoff_most_millis);
    let half = whole / 2;
    let place = (u64::from(key.step.0) << 33) | (u64::from(key.undo) << 32) | u64::from(failures);
    half + scramble(seed ^ scramble(place)) % (whole - half + 1)
}

/// SplitMix64's finaliser: spreads neighbouring numbers over the whole range.
fn scramble(number: u64) -> u64 {
    let mut mixed = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}
