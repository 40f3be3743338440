//! Which types take every value of another as it is.

/// Whether a column can change its type without any value losing something. Types are as PostgreSQL
/// spells them.
pub(super) fn is_widening(from: &str, to: &str) -> bool {
    let (one, limits) = parts(from);
    let (other, wider) = parts(to);
    match (&*one, &*other) {
        ("smallint", "integer" | "bigint")
        | ("integer", "bigint")
        | ("real", "double precision")
        | ("character varying", "text")
        | ("cidr", "inet") => true,
        ("smallint" | "integer" | "bigint", "numeric") => match wider[..] {
            [] => true,
            [precision, scale] => precision - scale >= digits(&one),
            _ => false,
        },
        ("numeric", "numeric") => match (&limits[..], &wider[..]) {
            (_, []) => true,
            ([precision, scale], [to_precision, to_scale]) => {
                to_scale >= scale && to_precision - to_scale >= precision - scale
            }
            _ => false,
        },
        (one, other) if one == other && has_longest(one) => match (&limits[..], &wider[..]) {
            (_, []) => true,
            ([from], [to]) => to >= from,
            _ => false,
        },
        _ => false,
    }
}

/// How many digits the values of a type of whole numbers have at most.
fn digits(integer: &str) -> i64 {
    match integer {
        "smallint" => 5,
        "integer" => 10,
        _ => 19,
    }
}

/// Whether a type's limit is a length or a precision, and without one there is none.
fn has_longest(name: &str) -> bool {
    matches!(name, "character varying" | "bit varying")
        || name.starts_with("time ")
        || name.starts_with("timestamp ")
}

/// The name of a type without its limits, and the limits: they stand in the middle of
/// `timestamp(3) with time zone`.
fn parts(text: &str) -> (String, Vec<i64>) {
    let whole = || (text.to_owned(), Vec::new());
    let (Some(open), Some(close)) = (text.find('('), text.find(')')) else { return whole() };
    let numbers: Option<Vec<i64>> =
        text[open + 1..close].split(',').map(|number| number.trim().parse().ok()).collect();
    match numbers {
        Some(numbers) => (format!("{}{}", &text[..open], &text[close + 1..]), numbers),
        None => whole(),
    }
}

#[cfg(test)]
mod tests {
    use super::is_widening;

    #[test]
    fn wider_types_are_known() {
        for (from, to) in [
            ("smallint", "bigint"),
            ("integer", "numeric"),
            ("integer", "numeric(12,2)"),
            ("character varying(10)", "character varying(20)"),
            ("character varying(10)", "character varying"),
            ("character varying(10)", "text"),
            ("numeric(10,2)", "numeric(12,3)"),
            ("timestamp(3) without time zone", "timestamp(6) without time zone"),
            ("timestamp(3) with time zone", "timestamp with time zone"),
        ] {
            assert!(is_widening(from, to), "{from} to {to}");
        }
    }

    #[test]
    fn nothing_that_may_lose_is_wider() {
        for (from, to) in [
            ("bigint", "integer"),
            ("bigint", "numeric(10,2)"),
            ("text", "character varying(10)"),
            ("character varying", "character varying(10)"),
            ("numeric(10,2)", "numeric(10,3)"),
            ("numeric", "numeric(10,2)"),
            ("timestamp without time zone", "timestamp(3) without time zone"),
            ("timestamp without time zone", "timestamp with time zone"),
            ("integer[]", "bigint[]"),
            ("text", "integer"),
            ("character(3)", "character(5)"),
            ("bigint", "double precision"),
        ] {
            assert!(!is_widening(from, to), "{from} to {to}");
        }
    }
}
