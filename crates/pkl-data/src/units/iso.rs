//! ISO 8601 text of a duration.

use std::fmt::Write as _;

use super::{Duration, DurationUnit};

/// `Duration.isoString`: hours, minutes and seconds, the seconds with up to nine decimals.
/// `None` for what isn't finite.
pub fn iso_string(duration: Duration) -> Option<String> {
    if !duration.value.is_finite() {
        return None;
    }
    if duration.value == 0.0 {
        return Some("PT0S".to_owned());
    }
    let mut text = String::from(if duration.value < 0.0 { "-PT" } else { "PT" });
    let seconds = duration.value.abs() * seconds_of(duration.unit);
    let hours = whole(seconds / 3600.0);
    let minutes = whole(seconds / 60.0) % 60;
    let rest = whole(seconds % 60.0);
    let fraction = nine_decimals(seconds);
    if hours > 0 {
        let _ = write!(text, "{hours}H");
    }
    if minutes > 0 {
        let _ = write!(text, "{minutes}M");
    }
    match (rest, fraction.as_str()) {
        (0, "") => {}
        (_, "") => {
            let _ = write!(text, "{rest}S");
        }
        (_, fraction) => {
            let _ = write!(text, "{rest}.{fraction}S");
        }
    }
    Some(text)
}

/// The decimals of a number of seconds, cut after nine, without zeros at the end.
fn nine_decimals(seconds: f64) -> String {
    if seconds.fract() == 0.0 {
        return String::new();
    }
    let nanos = whole(seconds * 1e9 % 1e9);
    format!("{nanos:09}").trim_end_matches('0').to_owned()
}

fn seconds_of(unit: DurationUnit) -> f64 {
    match unit {
        DurationUnit::Nanos => 1e-9,
        DurationUnit::Micros => 1e-6,
        DurationUnit::Millis => 1e-3,
        DurationUnit::Seconds => 1.0,
        DurationUnit::Minutes => 60.0,
        DurationUnit::Hours => 3600.0,
        DurationUnit::Days => 86400.0,
    }
}

#[expect(clippy::cast_possible_truncation, reason = "saturates")]
fn whole(value: f64) -> i64 {
    value as i64
}
