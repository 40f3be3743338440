//! "Did you mean": the nearest of the names that exist.

/// Finds near names: at most about a third of the letters differ, case and the marks between words
/// aside. The one rule for every "did you mean".
///
/// It works within a budget: a text with very many names and very many mistakes must not cost their
/// product. One `Suggest` serves all mistakes of a text.
pub struct Suggest {
    budget: usize,
}

/// What comparing with one name costs, when it is near enough in length to be worth it.
const COMPARISON: usize = 20;
/// Longer names are not compared.
const LONGEST: usize = 64;

impl Default for Suggest {
    fn default() -> Self {
        Self { budget: 2_000_000 }
    }
}

impl Suggest {
    /// The candidate nearest to a name that does not exist.
    pub fn nearest<'c>(
        &mut self,
        wrong: &str,
        candidates: impl IntoIterator<Item = &'c str>,
    ) -> Option<&'c str> {
        if wrong.len() > LONGEST {
            return None;
        }
        let folded = fold(wrong);
        let most = (wrong.chars().count() + 1) / 3;
        let mut best: Option<(usize, &str)> = None;
        for candidate in candidates {
            self.budget = self.budget.checked_sub(1)?;
            if candidate.len().abs_diff(wrong.len()) > most + 2 || candidate.len() > LONGEST {
                continue;
            }
            self.budget = self.budget.checked_sub(COMPARISON)?;
            let folded_candidate = fold(candidate);
            if folded_candidate == folded {
                return Some(candidate);
            }
            let distance = strsim::osa_distance(&folded, &folded_candidate);
            if distance <= most && best.is_none_or(|(least, _)| distance < least) {
                best = Some((distance, candidate));
            }
        }
        best.map(|(_, candidate)| candidate)
    }

    /// The hint that names the nearest candidate.
    pub fn hint<'c>(&mut self, wrong: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<String> {
        self.nearest(wrong, candidates).map(|name| format!("did you mean `{name}`?"))
    }
}

/// A name without what people get wrong first: case, and the marks between words.
fn fold(name: &str) -> String {
    name.chars().filter(|c| !matches!(c, '_' | '-' | ' ')).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_case_is_the_nearest_of_all() {
        let names = ["default_models", "default_model"];
        assert_eq!(Suggest::default().nearest("defaultModel", names), Some("default_model"));
    }

    #[test]
    fn swapped_letters_are_found_and_strangers_are_not() {
        assert_eq!(Suggest::default().nearest("nmae", ["model", "name"]), Some("name"));
        assert_eq!(Suggest::default().nearest("temperature", ["model", "name"]), None);
    }

    #[test]
    fn one_letter_is_not_another() {
        assert_eq!(Suggest::default().nearest("B", ["A"]), None);
    }

    #[test]
    fn a_spent_budget_suggests_nothing() {
        assert_eq!(Suggest { budget: 3 }.nearest("nmae", ["name"]), None);
    }
}
