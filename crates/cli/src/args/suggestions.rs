//! What is suggested in place of a command that there isn't.

use clap::error::{ContextKind, ContextValue};
use formwork_model::Suggest;

/// How many commands are suggested in place of one that there isn't.
const MOST_SUGGESTIONS: usize = 3;

/// With the nearest commands alone: there are hundreds, and many sound alike.
pub(super) fn fewer(mut error: clap::Error) -> clap::Error {
    let Some(ContextValue::Strings(all)) = error.remove(ContextKind::SuggestedSubcommand) else {
        return error;
    };
    let wrong = match error.get(ContextKind::InvalidSubcommand) {
        Some(ContextValue::String(wrong)) => wrong.clone(),
        _ => String::new(),
    };
    let mut suggest = Suggest::default();
    let mut nearest = Vec::new();
    while nearest.len() < MOST_SUGGESTIONS {
        let left = all.iter().filter(|name| !nearest.contains(*name)).map(String::as_str);
        let Some(name) = suggest.nearest(&wrong, left) else { break };
        nearest.push(name.to_owned());
    }
    if !nearest.is_empty() {
        error.insert(ContextKind::SuggestedSubcommand, ContextValue::Strings(nearest));
    }
    error
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Command;

    fn suggested(wrong: &str) -> Vec<String> {
        let names = ["get-agent", "get-agents-of", "get-agents", "get-agent-tags", "list-agents", "login"];
        let tree = Command::new("f").subcommands(names.map(Command::new));
        let error = fewer(tree.try_get_matches_from(["f", wrong]).expect_err("no such command"));
        match error.get(ContextKind::SuggestedSubcommand) {
            Some(ContextValue::Strings(names)) => names.clone(),
            _ => Vec::new(),
        }
    }

    #[test]
    fn of_the_commands_that_sound_alike_the_three_nearest_are_suggested() {
        let found = suggested("get-agnt");
        assert_eq!(found.first().map(String::as_str), Some("get-agent"));
        assert!(found.len() <= MOST_SUGGESTIONS, "{found:?}");
        assert_eq!(suggested("deploy"), Vec::<String>::new());
    }
}
