//! Hexadecimal floating-point text, as `0x1.8p3`.

/// Reads what follows `0x`: digits with an optional point, then `p` and a decimal exponent.
/// Rounds half to even.
pub(super) fn parse(text: &str) -> Option<f64> {
    let (mantissa, exponent) = text.split_once(['p', 'P'])?;
    let exponent = parse_exponent(exponent)?;
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let mut significand = 0_u128;
    let mut dropped = false;
    let mut scale = 0_i64;
    for (index, byte) in whole.bytes().chain(fraction.bytes()).enumerate() {
        let digit = char::from(byte).to_digit(16)?;
        if significand >> 120 == 0 {
            significand = significand << 4 | u128::from(digit);
        } else {
            dropped |= digit != 0;
            scale += 4;
        }
        if index >= whole.len() {
            scale -= 4;
        }
    }
    // The lowest bit stands for everything that was dropped.
    significand |= u128::from(dropped);
    Some(scaled(significand, scale.saturating_add(exponent)))
}

fn parse_exponent(text: &str) -> Option<i64> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let magnitude = digits.parse::<i64>().unwrap_or(1 << 40).min(1 << 40);
    Some(if text.starts_with('-') { -magnitude } else { magnitude })
}

/// `significand · 2^exponent`, rounded once.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "in range as checked")]
fn scaled(significand: u128, exponent: i64) -> f64 {
    if significand == 0 {
        return 0.0;
    }
    let bits = i64::from(128 - significand.leading_zeros());
    if bits + exponent > 1024 {
        return f64::INFINITY;
    }
    // The exponent of the value's lowest kept bit: 53 bits, fewer among the subnormal numbers.
    let lowest = (bits + exponent - 53).max(-1074);
    let mantissa = shifted_right(significand, lowest - exponent);
    let (mantissa, lowest) =
        if mantissa >> 53 == 0 { (mantissa, lowest) } else { (mantissa >> 1, lowest + 1) };
    if mantissa >> 52 == 0 {
        return f64::from_bits(mantissa as u64);
    }
    let biased = lowest + 52 + 1023;
    if biased > 2046 {
        return f64::INFINITY;
    }
    f64::from_bits((biased as u64) << 52 | (mantissa as u64 & ((1 << 52) - 1)))
}

/// The significand without its lowest bits, rounded half to even.
fn shifted_right(significand: u128, by: i64) -> u128 {
    if by <= 0 {
        return significand << -by;
    }
    if by > 127 {
        return 0;
    }
    let kept = significand >> by;
    let rest = significand & ((1 << by) - 1);
    let half = 1_u128 << (by - 1);
    kept + u128::from(rest > half || (rest == half && kept & 1 == 1))
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn values_round_half_to_even_and_reach_every_exponent() {
        for (text, value) in [
            ("1p3", Some(8.0)),
            ("1.8p3", Some(12.0)),
            (".8p0", Some(0.5)),
            ("1.p0", Some(1.0)),
            ("0p9", Some(0.0)),
            ("1p-1074", Some(f64::from_bits(1))),
            ("1p-1075", Some(0.0)),
            ("1.8p-1075", Some(f64::from_bits(1))),
            ("1p1024", Some(f64::INFINITY)),
            ("1.fffffffffffffp1023", Some(f64::MAX)),
            ("1.fffffffffffff8p1023", Some(f64::INFINITY)),
            ("1.00000000000008p0", Some(1.0)),
            ("1.000000000000080000000000000000000000001p0", Some(1.0 + f64::EPSILON)),
            ("1p99999999999999999999", Some(f64::INFINITY)),
            ("1p-99999999999999999999", Some(0.0)),
            ("1.2.3p1", None),
            ("p1", None),
            ("1", None),
            ("1p", None),
            ("g1p1", None),
        ] {
            assert_eq!(parse(text), value, "{text}");
        }
    }
}
