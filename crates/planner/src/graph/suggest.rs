//! "Did you mean …?": names close to one that does not exist.

/// How many names are suggested at most.
const MOST: usize = 3;

/// A hint that names the candidates closest to `wanted`, if any is close: at most a third of its
/// letters differ, case aside.
pub(crate) fn did_you_mean<'a>(wanted: &str, candidates: impl Iterator<Item = &'a str>) -> Option<String> {
    let lowered = wanted.to_lowercase();
    let allowed = (wanted.chars().count() / 3).max(1);
    let mut close: Vec<(usize, &str)> = candidates
        .filter(|name| name.len().abs_diff(wanted.len()) <= allowed * 4)
        .filter_map(|name| {
            let distance = strsim::damerau_levenshtein(&lowered, &name.to_lowercase());
            (distance <= allowed).then_some((distance, name))
        })
        .collect();
    close.sort_by_key(|(distance, _)| *distance);
    close.dedup();
    let names: Vec<String> = close.iter().take(MOST).map(|(_, name)| format!("`{name}`")).collect();
    let (last, rest) = names.split_last()?;
    if rest.is_empty() {
        return Some(format!("did you mean {last}?"));
    }
    Some(format!("did you mean {} or {last}?", rest.join(", ")))
}
