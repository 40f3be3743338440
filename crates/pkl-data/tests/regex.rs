//! Regular expressions against the official evaluator.

mod support;

use std::fmt::Write as _;

use pkl_regex::{Budget, Regex};
use support::{Ours, Random, compare, literal};

const PREAMBLE: &str = "
const local function m(p: String, s: String) =
  Regex(p).findMatchesIn(s)
    .map((x) -> \"\\(x.start)-\\(x.end)\" + x.groups.drop(1).map((g) -> if (g == null) \"~\" else \"(\\(g.start)-\\(g.end))\").join(\"\"))
    .join(\" \")
";

/// What `m` gives for our own matches. The official evaluator counts in UTF-16 units.
fn ours(pattern: &str, text: &str) -> Ours {
    let regex = Regex::new(pattern).map_err(|error| format!("Syntax error in regex `{pattern}`: {error}"))?;
    let units = |at: usize| text[..at].encode_utf16().count();
    let mut budget = Budget::default();
    let mut shown = Vec::new();
    for found in regex.matches(text, &mut budget) {
        let found = found.map_err(|error| error.to_string())?;
        let mut line = format!("{}-{}", units(found.start()), units(found.end()));
        for group in found.groups().skip(1) {
            let _ = match group {
                Some((start, end)) => write!(line, "({}-{})", units(start), units(end)),
                None => write!(line, "~"),
            };
        }
        shown.push(line);
    }
    Ok(shown.join(" "))
}

fn case(pattern: &str, text: &str) -> (String, Ours) {
    (format!("m({}, {})", literal(pattern), literal(text)), ours(pattern, text))
}

/// Pattern and text, a case per line; `\n` and the like in the text are escapes of Pkl.
const CASES: &str = include_str!("regex_cases.txt");

#[test]
fn syntax_and_meaning_are_those_of_the_oracle() {
    let cases: Vec<(String, Ours)> = CASES
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with("//"))
        .map(|line| {
            let (pattern, text): (String, String) =
                serde_json::from_str(line).expect("a case is a JSON pair");
            case(&pattern, &text)
        })
        .collect();
    compare(PREAMBLE, &cases);
}

#[test]
fn random_patterns_match_as_in_the_oracle() {
    let mut random = Random(31);
    let atoms = [
        "a",
        "b",
        "c",
        "ab",
        ".",
        "\\d",
        "\\w",
        "\\s",
        "\\W",
        "[ab]",
        "[^a]",
        "[a-c&&[^b]]",
        "^",
        "$",
        "\\b",
        "\\B",
        "é",
        "😀",
        "\\R",
        "\\A",
        "\\z",
        "\\Z",
        "\\p{L}",
        "\\P{Lu}",
        "(?i)B",
        "(?-i)",
        "\\1",
        "\\2",
        "x",
        "1",
        "[\\w&&\\D]",
        "(?s).",
        "(?m)^",
        "(?m)$",
        "\\G",
        "(?i)é",
        "[é-ü]",
    ];
    let quantifiers = [
        "", "", "", "", "*", "+", "?", "*?", "+?", "??", "*+", "++", "?+", "{2}", "{1,2}", "{0,2}?", "{1,}",
        "{2,3}",
    ];
    let groups = ["(", "(?:", "(?>", "(?=", "(?!", "(?<=", "(?<!", "(?i:", "(?<n>"];
    let texts = [
        "", "a", "ab", "abc", "aab", "aaab", "abab", "ABab", "a\nb", "a\r\nb\n", "éa1 b", "xay", "😀a",
        "aaaa", "b a", "cabbac", "a1b2", "ÉéB", "\na\n",
    ];
    let mut cases = Vec::new();
    for _ in 0..1500 {
        let mut pattern = String::new();
        let mut open = 0;
        for _ in 0..=random.below(6) {
            match random.below(8) {
                0 => {
                    pattern.push_str(groups[random.below(groups.len())]);
                    open += 1;
                    continue;
                }
                1 if open > 0 => {
                    pattern.push(')');
                    open -= 1;
                }
                2 => {
                    pattern.push('|');
                    continue;
                }
                _ => pattern.push_str(atoms[random.below(atoms.len())]),
            }
            pattern.push_str(quantifiers[random.below(quantifiers.len())]);
        }
        pattern.push_str(&")".repeat(open));
        for _ in 0..2 {
            let text = texts[random.below(texts.len())];
            // How far Java looks behind overflows with repetitions without a bound.
            if pattern.contains("(?<=") || pattern.contains("(?<!") {
                let unbounded = ["*", "+", ",}", "\\1", "\\2", "\\R"];
                if unbounded.iter().any(|part| pattern.contains(part)) {
                    continue;
                }
            }
            // Java leaves what a group took in a negative look-ahead that did not match in the end.
            let captures = pattern.replace("(?<n>", "(").replace("(?", "");
            if pattern.contains("(?!") && captures.contains('(') {
                continue;
            }
            // The official evaluator also finds nothing in the middle of a surrogate pair.
            if !text.contains('😀') {
                cases.push(case(&pattern, text));
            }
        }
    }
    compare(PREAMBLE, &cases);
}
