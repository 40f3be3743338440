//! Moments as the wire spells them: ISO 8601 with milliseconds and `Z`.

use formwork_model::Timestamp;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::fmt;
use utoipa::ToSchema;

/// A moment (`2026-01-01T00:00:00.000Z`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, ToSchema)]
#[schema(value_type = String, format = DateTime)]
pub struct Time(pub Timestamp);

impl From<Timestamp> for Time {
    fn from(at: Timestamp) -> Self {
        Self(at)
    }
}

impl fmt::Display for Time {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Beyond the years a calendar can show, the nearest moment that it can.
        let nearest = if self.0.0 < 0 { jiff::Timestamp::MIN } else { jiff::Timestamp::MAX };
        let moment = jiff::Timestamp::from_millisecond(self.0.0).unwrap_or(nearest);
        write!(formatter, "{moment:.3}")
    }
}

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let moment: jiff::Timestamp = text
            .parse()
            .map_err(|_| de::Error::custom("expected a moment such as 2026-01-01T00:00:00.000Z"))?;
        Ok(Self(Timestamp(moment.as_millisecond())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_has_milliseconds_and_a_z() {
        assert_eq!(Time(Timestamp(0)).to_string(), "1970-01-01T00:00:00.000Z");
        assert_eq!(Time(Timestamp(1_767_225_601_007)).to_string(), "2026-01-01T00:00:01.007Z");
        assert_eq!(Time(Timestamp(-1)).to_string(), "1969-12-31T23:59:59.999Z");
    }

    #[test]
    fn a_moment_comes_back() {
        let at = Time(Timestamp(1_767_225_601_007));
        let text = serde_json::to_string(&at).expect("serialises");
        assert_eq!(serde_json::from_str::<Time>(&text).expect("and back"), at);
        assert!(serde_json::from_str::<Time>("\"yesterday\"").is_err());
    }

    #[test]
    fn a_moment_beyond_the_calendar_is_shown_as_its_edge() {
        assert_eq!(Time(Timestamp(i64::MAX)).to_string(), "9999-12-30T22:00:00.999Z");
        assert_eq!(Time(Timestamp(i64::MIN)).to_string(), "-009999-01-02T01:59:59.000Z");
    }
}
