//! Numbers and units against the official evaluator.

mod support;

use pkl_data::number::{
    Number, float_to_int, float_to_string, parse_boolean, parse_float, parse_int, to_fixed, to_radix_string,
};
use pkl_data::units::{DataSize, DataSizeUnit, Duration, DurationUnit, Unit, iso_string};
use support::{Ours, Random, compare, float_literal, literal};

fn show(value: f64) -> String {
    float_to_string(value)
}

#[test]
fn floats_print_and_round_as_the_oracle_does() {
    let mut random = Random(1);
    let mut cases: Vec<(String, Ours)> = Vec::new();
    for _ in 0..900 {
        let value = random.double();
        let text = float_literal(value);
        cases.push((text.clone(), Ok(show(value))));
        let decimals = random.below(21);
        if value.abs() < 1e30 {
            cases.push((format!("{text}.toFixed({decimals})"), Ok(to_fixed(Number::Float(value), decimals))));
        }
        cases.push((format!("{text}.round()"), Ok(show(value.round_ties_even()))));
        cases.push((
            format!("{text}.toInt()"),
            float_to_int(value).map(|n| n.to_string()).map_err(|e| e.to_string()),
        ));
    }
    compare("", &cases);
}

#[test]
fn ints_print_as_the_oracle_does() {
    let mut random = Random(2);
    let mut cases: Vec<(String, Ours)> = Vec::new();
    for _ in 0..300 {
        let value = (random.next() >> random.below(63) >> 1).cast_signed();
        let radix = 2 + u32::try_from(random.below(35)).expect("fits");
        cases.push((format!("(-{value}).toRadixString({radix})"), Ok(to_radix_string(-value, radix))));
        let decimals = random.below(21);
        cases.push((format!("{value}.toFixed({decimals})"), Ok(to_fixed(Number::Int(value), decimals))));
        let by = i64::try_from(random.below(200)).expect("fits") - 100;
        cases.push((format!("(-{value}).shl({by})"), Ok(pkl_data::number::shl(-value, by).to_string())));
        cases.push((format!("(-{value}).shr({by})"), Ok(pkl_data::number::shr(-value, by).to_string())));
        cases.push((format!("(-{value}).ushr({by})"), Ok(pkl_data::number::ushr(-value, by).to_string())));
    }
    compare("", &cases);
}

#[test]
fn text_parses_as_the_oracle_parses_it() {
    let mut random = Random(3);
    let mut cases: Vec<(String, Ours)> = Vec::new();
    let pieces = [
        "0",
        "1",
        "9",
        "12",
        "_",
        ".",
        "e",
        "E",
        "-",
        "+",
        "x",
        "0x",
        "p",
        "f",
        "d",
        "NaN",
        "Infinity",
        " ",
        "a",
        "true",
        "TRUE",
        "fAlse",
        "٣",
        "7",
        "1_0",
        "1.5",
        "e5",
        "9223372036854775807",
    ];
    for _ in 0..900 {
        let text: String = (0..=random.below(5)).map(|_| *random.pick(&pieces)).collect();
        let quoted = literal(&text);
        cases.push((
            format!("{quoted}.toIntOrNull()"),
            Ok(parse_int(&text).map_or("null".into(), |n| n.to_string())),
        ));
        cases.push((
            format!("{quoted}.toFloatOrNull()"),
            Ok(parse_float(&text).map_or("null".into(), float_to_string)),
        ));
        cases.push((
            format!("{quoted}.toBooleanOrNull()"),
            Ok(parse_boolean(&text).map_or("null".into(), |b| b.to_string())),
        ));
    }
    compare("", &cases);
}

fn amounts<U: Unit>(seed: u64) -> Vec<(String, Ours)> {
    type A<U> = pkl_data::units::Amount<U>;
    let mut random = Random(seed);
    let mut cases: Vec<(String, Ours)> = Vec::new();
    for _ in 0..400 {
        let mut amount = || {
            let unit = *random.pick(U::ALL);
            let value = match random.below(3) {
                0 => f64::from(u32::try_from(random.below(5000)).expect("fits")),
                _ => random.double(),
            };
            (format!("{}.{}", float_literal(value), unit.as_str()), A::<U>::new(value, unit))
        };
        let ((a_text, a), (b_text, b)) = (amount(), amount());
        let unit = *random.pick(U::ALL);
        let factor = random.double();
        let factor_text = float_literal(factor);
        let factor = Number::Float(factor);
        cases.push((a_text.clone(), Ok(a.to_string())));
        cases.push((format!("{a_text}.value"), Ok(a.number().to_string())));
        cases.push((format!("{a_text} + {b_text}"), Ok(a.plus(b).to_string())));
        cases.push((format!("{a_text} - {b_text}"), Ok(a.minus(b).to_string())));
        cases.push((format!("{a_text} / {b_text}"), Ok(show(a.ratio(b)))));
        cases.push((format!("{a_text} * {factor_text}"), Ok(a.times(factor).to_string())));
        cases.push((format!("{a_text} / {factor_text}"), Ok(a.divided_by(factor).to_string())));
        cases.push((format!("{a_text} % {factor_text}"), Ok(a.remainder(factor).to_string())));
        cases.push((format!("{a_text}.toUnit(\"{}\")", unit.as_str()), Ok(a.to_unit(unit).to_string())));
        cases.push((format!("{a_text} == {b_text}"), Ok((a == b).to_string())));
        cases.push((format!("{a_text} < {b_text}"), Ok(a.compare(b).is_lt().to_string())));
        cases.push((format!("{a_text} >= {b_text}"), Ok(a.compare(b).is_ge().to_string())));
        cases.push((format!("{a_text}.isPositive"), Ok(a.is_positive().to_string())));
        let converted = a.to_unit(unit);
        cases.push((
            format!("{a_text} == {a_text}.toUnit(\"{}\")", unit.as_str()),
            Ok((a == converted).to_string()),
        ));
    }
    cases
}

#[test]
fn durations_calculate_as_the_oracle_does() {
    compare("", &amounts::<DurationUnit>(904));
}

#[test]
fn data_sizes_calculate_as_the_oracle_does() {
    let mut cases = amounts::<DataSizeUnit>(5);
    let mut random = Random(6);
    for _ in 0..200 {
        let unit = *random.pick(DataSizeUnit::ALL);
        let size = DataSize::new(random.double(), unit);
        let text = format!("{}.{}", float_literal(size.value), unit.as_str());
        cases.push((format!("{text}.toBinaryUnit()"), Ok(size.to_binary_unit().to_string())));
        cases.push((format!("{text}.toDecimalUnit()"), Ok(size.to_decimal_unit().to_string())));
        cases.push((format!("{text}.isBinaryUnit"), Ok(unit.is_binary().to_string())));
        cases.push((format!("{text}.isDecimalUnit"), Ok(unit.is_decimal().to_string())));
    }
    compare("", &cases);
}

#[test]
fn numbers_that_are_none_compare_as_in_the_oracle() {
    let mut cases: Vec<(String, Ours)> = Vec::new();
    let values = [f64::NAN, 0.0, -0.0, 1.0, f64::NEG_INFINITY, f64::INFINITY];
    for (a, b) in values.into_iter().flat_map(|a| values.map(|b| (a, b))) {
        let (left, right) =
            (DataSize::new(a, DataSizeUnit::Megabytes), DataSize::new(b, DataSizeUnit::Kilobytes));
        let (a, b) = (float_literal(a), float_literal(b));
        let order = left.compare(right);
        for (operator, holds) in [
            ("==", left == right),
            ("<", order.is_lt()),
            ("<=", order.is_le()),
            (">", order.is_gt()),
            (">=", order.is_ge()),
        ] {
            cases.push((format!("{a}.mb {operator} {b}.kb"), Ok(holds.to_string())));
        }
        let holds = left.is_between(right, right);
        cases.push((format!("{a}.mb.isBetween({b}.kb, {b}.kb)"), Ok(holds.to_string())));
    }
    compare("", &cases);
}

#[test]
fn durations_print_as_iso_8601_as_the_oracle_prints_them() {
    let mut random = Random(7);
    let mut cases: Vec<(String, Ours)> = Vec::new();
    for _ in 0..600 {
        let unit = *random.pick(DurationUnit::ALL);
        let value = match random.below(3) {
            0 => f64::from(u32::try_from(random.below(10_000)).expect("fits")),
            1 => {
                f64::from(u32::try_from(random.below(100_000)).expect("fits"))
                    / 10_f64.powi(i32::try_from(random.below(12)).expect("fits"))
            }
            _ => random.double(),
        };
        let duration = Duration::new(value, unit);
        let text = format!("{}.{}", float_literal(value), unit.as_str());
        let expected =
            iso_string(duration).ok_or(format!("Cannot convert duration `{duration}` to ISO 8601 duration."));
        cases.push((format!("{text}.isoString"), expected));
    }
    compare("", &cases);
}
