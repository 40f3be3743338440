//! Calls of the standard library.

use super::Generator;
use super::names::Kind;

/// What calls give, and how they are written.
///
/// `{i}` stands for an expression: `b` Boolean, `d` Duration, `f` Float, `g` Listing, `i` Int, `l` List of
/// Int, `m` Map, `n` Int or null, `o` Dynamic, `p` Mapping, `s` String, `t` List of String, `u` Set; `{k}` for
/// a key. `{b:x}` may use the variable too: `c` is a String, the others are Int.
const CALLS: &[(Kind, &[&str])] = &[
    (
        Kind::Int,
        &[
            "{i}.abs",
            "{i}.sign",
            "{i}.inv",
            "{i}.shl(2)",
            "{i}.shr(1)",
            "{i}.ushr(60)",
            "{i}.and({i})",
            "{i}.or({i})",
            "{i}.xor({i})",
            "{f}.toInt()",
            "({f} ~/ 3)",
            "{l}.count((x) -> {b:x})",
            "({l}.indexOfOrNull({i}) ?? 9)",
            "({l}.lastIndexOfOrNull({i}) ?? 9)",
            "({l}.findOrNull((x) -> {b:x}) ?? 9)",
            "({l}.findLastOrNull((x) -> {b:x}) ?? 9)",
            "({l}.findIndexOrNull((x) -> {b:x}) ?? 9)",
            "({l}.maxByOrNull((x) -> {i:x}) ?? 0)",
            "({l}.minByOrNull((x) -> {i:x}) ?? 0)",
            "({l}.getOrNull({i}) ?? 1)",
            "{l}.foldIndexed(0, (y, acc, x) -> {i:y,acc,x})",
            "{l}.foldBack(0, (x, acc) -> {i:x,acc})",
            "({l}.reduceOrNull((acc, x) -> {i:acc,x}) ?? 0)",
            "({l}.singleOrNull ?? 0)",
            "{u}.length",
            "{u}.fold(1, (acc, x) -> {i:acc,x})",
            "{m}.fold(0, (acc, c, y) -> {i:acc,c,y})",
            "{p}.fold(0, (acc, c, y) -> {i:acc,c,y})",
            "{g}.fold(0, (acc, x) -> {i:acc,x})",
            "{g}.length",
            "{p}.length",
            "{p}.keys.length",
            "({s}.indexOfOrNull({s}) ?? 9)",
            "({s}.lastIndexOfOrNull(\"a\") ?? 9)",
            "({s}.toIntOrNull() ?? 3)",
            "{s}.codePoints.length",
            "Pair({i}, {s}).first",
            "IntSeq({i}, 9).step(2).fold(0, (acc, x) -> {i:acc,x})",
            "math.max({i}, {i})",
            "{o}.toMap().length",
            "{i}.ifNonNull((x) -> {i:x})",
        ],
    ),
    (
        Kind::Text,
        &[
            "{s}.toLowerCase()",
            "{s}.padStart(5, \"-\")",
            "{s}.padEnd(5, \".\")",
            "{s}.replaceFirst(\"a\", {s})",
            "{s}.replaceLast(\"a\", {s})",
            "{s}.replaceFirstMapped(Regex(\"[a-z]\"), (m) -> m.value.toUpperCase())",
            "{s}.replaceAllMapped(Regex(\"(.).\"), (m) -> m.groups[1].value)",
            "{s}.trimStart()",
            "{s}.trimEnd()",
            "{s}.decapitalize()",
            "{s}.takeLast(2)",
            "{s}.dropLast(1)",
            "{s}.takeWhile((c) -> {b:c})",
            "{s}.dropWhile((c) -> {b:c})",
            "{s}.takeLastWhile((c) -> {b:c})",
            "{s}.dropLastWhile((c) -> {b:c})",
            "({s}.getOrNull(1) ?? \"-\")",
            "{s}.base64",
            "{s}.md5",
            "{i}.toRadixString(16)",
            "{f}.toFixed(2)",
            "{f}.toString()",
            "{d}.toString()",
            "{d}.isoString",
            "{d}.unit",
            "({t}.firstOrNull ?? \"\")",
            "{t}.join({s})",
            "{t}.fold({s}, (a, c) -> a + c)",
            "{m}.keys.join(\",\")",
            "{g}.join(\",\")",
            "{u}.join(\";\")",
            "\"\\({l}.groupBy((x) -> {b:x}))\"",
            "\"\\({l}.partition((x) -> {b:x}))\"",
            "\"\\({l}.zip({t}))\"",
            "\"\\({u})\"",
            "\"\\({m}.entries)\"",
            "\"\\({d}.toUnit(\"min\"))\"",
            "\"\\({t}.toSet())\"",
            "\"\\({g}.toList().toSet()) \\({b})\"",
            "#\"\\n\\#({i})\"#",
            "\"\\(Regex(\"[a-z]\").findMatchesIn({s}).map((m) -> m.start))\"",
            "{s}.ifNonNull((c) -> {s:c})",
        ],
    ),
    (
        Kind::Bool,
        &[
            "{i}.isOdd",
            "{i}.isEven",
            "{i}.isPositive",
            "{i}.isNonZero",
            "{i}.isBetween({i}, {i})",
            "{f}.isNaN",
            "{f}.isFinite",
            "{s}.isEmpty",
            "{s}.isBlank",
            "{s}.contains({s})",
            "{s}.startsWith({s})",
            "{s}.endsWith({s})",
            "{s}.matches(Regex(\"[a-z]*\"))",
            "{s}.contains(Regex(\"[^a-c]\"))",
            "{l}.isEmpty",
            "{l}.isDistinct",
            "{l}.isDistinctBy((x) -> {i:x})",
            "{l}.startsWith({l})",
            "{l}.endsWith({l})",
            "{m}.containsKey({s})",
            "{m}.containsValue({i})",
            "{m}.every((c, y) -> {b:c,y})",
            "{m}.any((c, y) -> {b:c,y})",
            "{u}.contains({i})",
            "{p}.containsKey({s})",
            "{p}.isEmpty",
            "{b}.xor({b})",
            "{b}.implies({b})",
            "{d}.isPositive",
            "{d}.isBetween({d}, {d})",
            "{o}.hasProperty(\"s0\")",
            "{g}.isEmpty",
            "{g}.isDistinct",
            "({d} == {d})",
            "({d} < {d})",
            "({l} == {l})",
            "({u} == {u})",
            "({m} == {m})",
            "({f} == {i})",
            "({f} < {i})",
            "({n} == {i})",
            "({t} != {t})",
        ],
    ),
    (
        Kind::Float,
        &[
            "{f}.abs",
            "{f}.floor",
            "{f}.ceil",
            "{f}.truncate()",
            "{f}.sign",
            "({f} % 3)",
            "({i} / 7)",
            "({f} ** 2)",
            "{d}.toUnit(\"h\").value.toFloat()",
            "math.sqrt({f}.abs)",
            "math.min({f}, {f})",
        ],
    ),
    (
        Kind::Maybe,
        &[
            "{l}.findOrNull((x) -> {b:x})",
            "{l}.firstOrNull",
            "{l}.singleOrNull",
            "{m}.getOrNull({k})",
            "{s}.toIntOrNull()",
            "{s}.indexOfOrNull({s})",
            "{n}.ifNonNull((x) -> {i:x})",
        ],
    ),
    (
        Kind::Duration,
        &[
            "{d}.toUnit(\"min\")",
            "({d} - {d})",
            "({d} / 2)",
            "({d} ~/ 2)",
            "(-{d})",
            "({d} % 7)",
            "({d} ** 2)",
        ],
    ),
    (
        Kind::Ints,
        &[
            "{l}.add({i})",
            "{l}.flatMap((x) -> {l:x})",
            "{l}.flatMapIndexed((y, x) -> {l:y,x})",
            "{l}.mapIndexed((y, x) -> {i:y,x})",
            "{l}.filterIndexed((y, x) -> {b:y,x})",
            "{l}.mapNonNull((x) -> {n:x})",
            "{l}.mapNonNullIndexed((y, x) -> {n:y,x})",
            "{l}.takeWhile((x) -> {b:x})",
            "{l}.dropWhile((x) -> {b:x})",
            "{l}.takeLastWhile((x) -> {b:x})",
            "{l}.dropLastWhile((x) -> {b:x})",
            "{l}.takeLast(2)",
            "{l}.dropLast(1)",
            "{l}.sortBy((x) -> {i:x})",
            "{l}.sortWith((x, y) -> x > y)",
            "{l}.distinctBy((x) -> {i:x})",
            "{l}.groupBy((x) -> {b:x}).values.flatten()",
            "{l}.partition((x) -> {b:x}).first",
            "({l}.restOrNull ?? List())",
            "{l}.repeat(2)",
            "{u}.toList()",
            "{m}.values",
            "{s}.codePoints",
            "{g}.toList()",
            "{u}.intersect({u}).toList()",
            "{u}.difference({u}).toList()",
            "List({l}, {l}).flatten()",
            "{t}.map((c) -> {i:c})",
            "{m}.filter((c, y) -> {b:c,y}).values",
            "{m}.remove({k}).values",
            "{l}.zip({l}).map((p) -> p.second)",
            "{l}.filterNonNull()",
            "IntSeq(0, 6).step(4).map((x) -> {i:x}).toList()",
        ],
    ),
    (
        Kind::Texts,
        &[
            "{s}.chars",
            "{s}.split(Regex(\"[ab]\"))",
            "{s}.splitLimit(\"a\", 2)",
            "{t}.add({s})",
            "{l}.map((x) -> {s:x})",
            "{t}.sortBy((c) -> {i:c})",
            "{t}.filter((c) -> {b:c})",
            "{t}.flatMap((c) -> {t:c})",
            "{t}.map((c) -> {s:c})",
            "{t}.takeLast(1)",
            "{t}.toSet().toList()",
            "{t}.zip({l}).map((p) -> p.first)",
            "{m}.map((c, y) -> Pair({s:c,y}, y)).keys.toList()",
        ],
    ),
    (
        Kind::IntSet,
        &[
            "{u}.add({i})",
            "({u} + {u})",
            "{u}.intersect({u})",
            "{u}.difference({u})",
            "{u}.map((x) -> {i:x})",
            "{u}.filter((x) -> {b:x})",
            "{u}.take(1)",
            "{u}.reverse()",
            "Set({i}, {i})",
            "{l}.toSet()",
        ],
    ),
    (
        Kind::Table,
        &[
            "{m}.filter((c, y) -> {b:c,y})",
            "{m}.mapKeys((c, y) -> {s:c,y})",
            "{m}.map((c, y) -> Pair({s:c,y}, {i:c,y}))",
            "{m}.remove({k})",
            "{m}.flatMap((c, y) -> {m:c,y})",
            "{m}.entries.toMap((e) -> e.key, (e) -> e.value)",
            "{l}.toMap((x) -> {s:x}, (x) -> {i:x})",
            "{t}.toMap((c) -> c, (c) -> {i:c})",
        ],
    ),
    (Kind::IntListing, &["{l}.toListing()", "{g}.distinct", "{g}.distinctBy((x) -> {i:x})"]),
    (Kind::IntMapping, &["{m}.toMapping()", "{l}.toMap((x) -> {k}, (x) -> {i:x}).toMapping()"]),
];

impl Generator<'_> {
    /// A call that gives a value of a kind, if there are calls that do.
    pub(super) fn library(&mut self, kind: Kind, depth: usize) -> Option<String> {
        let (_, calls) = CALLS.iter().find(|(of, _)| *of == kind)?;
        let call = self.choices.pick(calls);
        let mut parts = call.split('{');
        let mut text = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let (hole, rest) = part.split_once('}').unwrap_or((part, ""));
            text.push_str(&self.fill(hole, depth));
            text.push_str(rest);
        }
        Some(text)
    }

    fn fill(&mut self, hole: &str, depth: usize) -> String {
        let (code, names) = hole.split_once(':').unwrap_or((hole, ""));
        if code == "k" {
            return self.key().to_owned();
        }
        let variables: Vec<(&str, Kind)> = names
            .split(',')
            .filter(|name| !name.is_empty())
            .map(|name| (name, kind_of_variable(name)))
            .collect();
        self.with_variables(&variables, |this| this.nested(kind_of(code), depth))
    }
}

fn kind_of_variable(name: &str) -> Kind {
    if name == "c" { Kind::Text } else { Kind::Int }
}

/// The kind that a letter stands for.
fn kind_of(code: &str) -> Kind {
    match code {
        "b" => Kind::Bool,
        "d" => Kind::Duration,
        "f" => Kind::Float,
        "g" => Kind::IntListing,
        "l" => Kind::Ints,
        "m" => Kind::Table,
        "n" => Kind::Maybe,
        "o" => Kind::Dynamic,
        "p" => Kind::IntMapping,
        "s" => Kind::Text,
        "t" => Kind::Texts,
        "u" => Kind::IntSet,
        _ => Kind::Int,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_hole_is_one_that_is_known() {
        for hole in CALLS.iter().flat_map(|(_, calls)| *calls).flat_map(|call| call.split('{').skip(1)) {
            let (hole, _) = hole.split_once('}').expect("a hole ends");
            let (code, _) = hole.split_once(':').unwrap_or((hole, ""));
            assert!("bdfgiklmnopstu".contains(code) && code.len() == 1, "{hole}");
        }
    }
}
