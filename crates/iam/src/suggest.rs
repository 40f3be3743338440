//! What was probably meant by a name that does not exist.

/// The name that is nearest to a wrong one, if it is near: at most a third of its letters differ.
pub(crate) fn nearest<'a>(wrong: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let most = (wrong.chars().count() / 3).max(1);
    let distance =
        |name: &str| strsim::damerau_levenshtein(&wrong.to_ascii_lowercase(), &name.to_ascii_lowercase());
    let near = names.into_iter().map(|name| (distance(name), name)).filter(|(distance, _)| *distance <= most);
    near.min_by_key(|(distance, _)| *distance).map(|(_, name)| name)
}

/// A hint that names it.
pub(crate) fn did_you_mean<'a>(wrong: &str, names: impl IntoIterator<Item = &'a str>) -> Option<String> {
    nearest(wrong, names).map(|name| format!("did you mean `{name}`?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_near_is_suggested() {
        let names = ["effect", "action", "resource", "condition"];
        assert_eq!(nearest("resources", names), Some("resource"));
        assert_eq!(nearest("Effect", names), Some("effect"));
        assert_eq!(nearest("version", names), None);
    }
}
