//! Cron expressions of five fields, in UTC: minute, hour, day of month, month, day of week. As in
//! every cron, when both days are restricted, either one is enough.

use formwork_model::Timestamp;
use jiff::{ToSpan, civil, tz::Offset};

/// A leap day can be eight years off (2096 to 2104), and nothing that ever comes is further.
const MOST_DAYS: usize = 366 * 9;

const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const WEEKDAYS: [&str; 7] = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

/// Why a text is no cron expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CronError {
    /// It does not have five fields.
    FieldCount,
    /// A field says nothing that a clock can show, or the date never comes.
    Invalid,
}

/// When something is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cron {
    minutes: Values,
    hours: Values,
    days: Values,
    months: Values,
    weekdays: Values,
}

/// The values of a field, and whether it says anything at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Values {
    bits: u64,
    starts_with_star: bool,
}

/// What a field may hold.
struct Field {
    least: u8,
    most: u8,
    /// Names of values, from `least` on.
    names: &'static [&'static str],
}

impl Values {
    fn has(self, value: i8) -> bool {
        u32::try_from(value).is_ok_and(|value| (self.bits >> value) & 1 == 1)
    }
}

impl Field {
    fn parse(&self, text: &str) -> Option<Values> {
        let mut bits = 0;
        for part in text.split(',') {
            bits |= self.part(part)?;
        }
        Some(Values { bits, starts_with_star: text.starts_with('*') })
    }

    /// `*`, `a`, `a-b`, and `*` or `a-b` with `/step`.
    fn part(&self, text: &str) -> Option<u64> {
        let (range, step) = match text.split_once('/') {
            Some((range, step)) => (range, Some(number(step).filter(|step| *step > 0)?)),
            None => (text, None),
        };
        let (from, to) = match range.split_once('-') {
            _ if range == "*" => (self.least, self.most),
            Some((from, to)) => (self.value(from)?, self.value(to)?),
            None if step.is_some() => return None,
            None => (self.value(range)?, self.value(range)?),
        };
        if from > to {
            return None;
        }
        let step = usize::from(step.unwrap_or(1));
        Some((from..=to).step_by(step).fold(0, |bits, value| bits | (1_u64 << value)))
    }

    fn value(&self, text: &str) -> Option<u8> {
        let named = self.names.iter().position(|name| name.eq_ignore_ascii_case(text));
        let value = match named {
            Some(index) => self.least + u8::try_from(index).ok()?,
            None => number(text)?,
        };
        (self.least..=self.most).contains(&value).then_some(value)
    }
}

/// Digits only: `parse` alone would take a sign.
fn number(text: &str) -> Option<u8> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

impl Cron {
    /// Reads an expression.
    ///
    /// # Errors
    /// [`CronError`].
    pub(crate) fn parse(text: &str) -> Result<Self, CronError> {
        let fields: Vec<&str> = text.split_ascii_whitespace().collect();
        let [minutes, hours, days, months, weekdays] = *fields else { return Err(CronError::FieldCount) };
        let parse = |least, most, names, text| Field { least, most, names }.parse(text);
        let cron = || {
            let mut weekdays = parse(0, 7, &WEEKDAYS[..], weekdays)?;
            // Sunday is 0 and 7.
            weekdays.bits |= weekdays.bits >> 7;
            Some(Self {
                minutes: parse(0, 59, &[], minutes)?,
                hours: parse(0, 23, &[], hours)?,
                days: parse(1, 31, &[], days)?,
                months: parse(1, 12, &MONTHS, months)?,
                weekdays,
            })
        };
        let cron = cron().ok_or(CronError::Invalid)?;
        cron.next_after(Timestamp(0)).ok_or(CronError::Invalid)?;
        Ok(cron)
    }

    /// The first moment after `now` at which it is due; `None` if there is none.
    pub(crate) fn next_after(&self, now: Timestamp) -> Option<Timestamp> {
        let now = Offset::UTC.to_datetime(jiff::Timestamp::from_millisecond(now.0).ok()?);
        let mut date = now.date();
        for _ in 0..MOST_DAYS {
            if self.is_day(date) {
                let after = (date == now.date()).then(|| (now.hour(), now.minute()));
                if let Some((hour, minute)) = self.first_time(after) {
                    let due = Offset::UTC.to_timestamp(date.at(hour, minute, 0, 0)).ok()?;
                    return Some(Timestamp(due.as_millisecond()));
                }
            }
            date = date.checked_add(1.day()).ok()?;
        }
        None
    }

    fn is_day(&self, date: civil::Date) -> bool {
        let by_date = self.days.has(date.day());
        let by_weekday = self.weekdays.has(date.weekday().to_sunday_zero_offset());
        let is_either = if self.days.starts_with_star || self.weekdays.starts_with_star {
            by_date && by_weekday
        } else {
            by_date || by_weekday
        };
        self.months.has(date.month()) && is_either
    }

    /// The first hour and minute of a day, later than `after`.
    fn first_time(&self, after: Option<(i8, i8)>) -> Option<(i8, i8)> {
        let hours = (0..24).filter(|hour| self.hours.has(*hour));
        let minutes =
            |hour| (0..60).filter(|minute| self.minutes.has(*minute)).map(move |minute| (hour, minute));
        hours.flat_map(minutes).find(|time| after.is_none_or(|after| *time > after))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::iso;

    fn moment(text: &str) -> Timestamp {
        Timestamp(text.parse::<jiff::Timestamp>().expect("a moment").as_millisecond())
    }

    fn next(expression: &str, now: &str) -> String {
        let cron = Cron::parse(expression).expect("an expression");
        iso(cron.next_after(moment(now)).expect("a next time"))
    }

    #[test]
    fn the_next_time_is_later_and_matches_all_fields() {
        for (expression, now, expected) in [
            ("* * * * *", "2025-01-01T00:00:30Z", "2025-01-01T00:01:00.000Z"),
            ("0 0 * * *", "2025-01-01T00:00:00Z", "2025-01-02T00:00:00.000Z"),
            ("*/15 9-10 * * *", "2025-01-01T10:45:00Z", "2025-01-02T09:00:00.000Z"),
            ("5,50 8 1 * *", "2025-01-01T08:05:00Z", "2025-01-01T08:50:00.000Z"),
            ("0 6 * * mon-fri", "2025-01-03T06:00:00Z", "2025-01-06T06:00:00.000Z"),
            ("0 0 * * 7", "2025-01-01T00:00:00Z", "2025-01-05T00:00:00.000Z"),
            ("0 0 29 FEB *", "2096-03-01T00:00:00Z", "2104-02-29T00:00:00.000Z"),
            ("0 0 31 * *", "2025-04-01T00:00:00Z", "2025-05-31T00:00:00.000Z"),
        ] {
            assert_eq!(next(expression, now), expected, "{expression}");
        }
    }

    #[test]
    fn of_two_restricted_days_either_is_enough() {
        assert_eq!(next("0 0 13 * fri", "2025-06-01T00:00:00Z"), "2025-06-06T00:00:00.000Z");
        assert_eq!(next("0 0 3 * fri", "2025-06-01T00:00:00Z"), "2025-06-03T00:00:00.000Z");
        assert_eq!(next("0 0 */2 * fri", "2025-06-01T00:00:00Z"), "2025-06-13T00:00:00.000Z");
    }

    #[test]
    fn anything_else_is_refused() {
        for text in ["", "* * * *", "* * * * * *", "@daily"] {
            assert_eq!(Cron::parse(text), Err(CronError::FieldCount), "{text}");
        }
        for text in [
            "60 * * * *",
            "* 24 * * *",
            "* * 0 * *",
            "* * * 13 *",
            "* * * * 8",
            "+1 * * * *",
            "5-1 * * * *",
            "*/0 * * * *",
            "5/2 * * * *",
            ", * * * *",
            "1- * * * *",
            "x * * * *",
            "999 * * * *",
            "0 0 30 2 *",
        ] {
            assert_eq!(Cron::parse(text), Err(CronError::Invalid), "{text}");
        }
    }
}
