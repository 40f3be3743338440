//! Flags may be written in kebab, snake or camel case (`formations-behaviour.md` §1.5); clap gets
//! them in kebab case.

use std::ffi::OsString;

/// The arguments with the names of their long flags in kebab case. Values, and everything after a
/// lone `--`, stay as they are.
pub(crate) fn normalised(arguments: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut literal = false;
    arguments
        .into_iter()
        .map(|argument| {
            literal |= argument == "--";
            match argument.to_str().and_then(|text| text.strip_prefix("--")) {
                Some(flag) if !literal && !flag.is_empty() => format!("--{}", normalised_flag(flag)).into(),
                _ => argument,
            }
        })
        .collect()
}

fn normalised_flag(flag: &str) -> String {
    match flag.split_once('=') {
        Some((name, value)) => format!("{}={value}", kebab(name)),
        None => kebab(flag),
    }
}

/// A name in kebab case: `projectId`, `project_id` and `project-id` are one.
pub(crate) fn kebab(name: &str) -> String {
    let mut kebab = String::with_capacity(name.len() + 4);
    for letter in name.chars() {
        if letter == '_' {
            kebab.push('-');
        } else if letter.is_ascii_uppercase() {
            if !kebab.is_empty() && !kebab.ends_with('-') {
                kebab.push('-');
            }
            kebab.push(letter.to_ascii_lowercase());
        } else {
            kebab.push(letter);
        }
    }
    kebab
}

/// The command line, `help COMMAND` being `COMMAND --help`.
pub(super) fn asking_for_help(mut arguments: Vec<OsString>) -> Vec<OsString> {
    if arguments.get(1).is_some_and(|first| first == "help") {
        arguments.remove(1);
        arguments.push("--help".into());
    }
    arguments
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(arguments: &[&str]) -> Vec<String> {
        let normalised = normalised(arguments.iter().map(OsString::from));
        normalised.into_iter().map(|argument| argument.into_string().expect("text")).collect()
    }

    #[test]
    fn the_three_spellings_of_a_flag_are_one() {
        assert_eq!(
            line(&["--projectId", "p", "--project_id=p", "--project-id", "x"]),
            ["--project-id", "p", "--project-id=p", "--project-id", "x"]
        );
    }

    #[test]
    fn values_stay_as_they_are() {
        assert_eq!(
            line(&["--parameter", "aiName=A_b", "--parameter=aiName=A_b"]),
            ["--parameter", "aiName=A_b", "--parameter=aiName=A_b"]
        );
        assert_eq!(line(&["--", "--someThing"]), ["--", "--someThing"]);
        assert_eq!(line(&["-x", "--"]), ["-x", "--"]);
    }
}
