//! `--parameter` and `--env-file` (seed 4, "Providing Parameter Values via the CLI").

use crate::env_file::EnvFile;
use formwork_api::json::{self, JsonError, JsonProblem};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// What is wrong with a parameter on the command line. Values are never in the message.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ParameterError {
    #[error("`--parameter` needs a name before `=`")]
    EmptyName,
    #[error("Missing environment variable: {0}")]
    MissingVariable(String),
    #[error("Use either --parameter or --parameters, not both.")]
    Both,
    #[error("`--parameters` is not a JSON object: {0}")]
    NotAnObject(String),
}

/// Where variables are looked up: the env file first, then the process's environment.
pub(crate) struct Variables<'a> {
    pub(crate) file: &'a EnvFile,
    pub(crate) process: &'a BTreeMap<String, String>,
}

impl Variables<'_> {
    fn get(&self, name: &str) -> Option<&str> {
        self.file.get(name).or_else(|| self.process.get(name).map(String::as_str))
    }
}

/// The parameters of a request; `None` if none were given at all.
///
/// # Errors
/// [`ParameterError`].
pub(crate) fn parameters(
    given: &[&str],
    bag: Option<&str>,
    variables: &Variables<'_>,
) -> Result<Option<Map<String, Value>>, ParameterError> {
    match (given, bag) {
        ([], None) => Ok(None),
        ([], Some(bag)) => match json::parse(bag.as_bytes(), json::REQUEST_DEPTH) {
            Ok(Value::Object(members)) => Ok(Some(members)),
            Ok(_) => Err(ParameterError::NotAnObject("it is another kind of value".to_owned())),
            Err(error) => Err(ParameterError::NotAnObject(json_problem(&error))),
        },
        (_, Some(_)) => Err(ParameterError::Both),
        (given, None) => {
            let mut members = Map::new();
            for text in given {
                let (name, value) = parameter(text, variables)?;
                if let Some(value) = value {
                    members.insert(name, Value::String(value));
                }
            }
            Ok(Some(members))
        }
    }
}

/// What is wrong with the JSON of a flag. The text may hold secrets: of them only the place is told.
pub(crate) fn json_problem(error: &JsonError) -> String {
    match error.problem {
        JsonProblem::Syntax(_) => {
            // A flag is one line in most cases, and its line says nothing then.
            if error.line == 1 {
                format!("syntax error at column {}", error.column)
            } else {
                format!("syntax error at line {}, column {}", error.line, error.column)
            }
        }
        _ => error.to_string(),
    }
}

/// One `--parameter`. No value: its variable is not set, and the server decides whether the stored
/// value serves.
fn parameter(text: &str, variables: &Variables<'_>) -> Result<(String, Option<String>), ParameterError> {
    let (name, value) = match text.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (text, None),
    };
    if name.trim().is_empty() {
        return Err(ParameterError::EmptyName);
    }
    let value = match value {
        None => variables.get(name).map(str::to_owned),
        Some(value) => match (value.strip_prefix('@'), shell_variable(value)) {
            (Some(variable), _) if is_name(variable) => variables.get(variable).map(str::to_owned),
            (_, Some(variable)) => {
                let found = variables.get(variable);
                Some(found.ok_or_else(|| ParameterError::MissingVariable(variable.to_owned()))?.to_owned())
            }
            _ => Some(value.to_owned()),
        },
    };
    Ok((name.to_owned(), value))
}

/// The variable of `$VAR` or `${VAR}`.
fn shell_variable(value: &str) -> Option<&str> {
    let name = value.strip_prefix('$')?;
    let name = name.strip_prefix('{').map_or(Some(name), |name| name.strip_suffix('}'))?;
    is_name(name).then_some(name)
}

fn is_name(text: &str) -> bool {
    let mut letters = text.chars();
    letters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
        && letters.all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn with(given: &[&str]) -> Result<Value, ParameterError> {
        let file = EnvFile::parse("APP=from-file\nSHARED=file\n").expect("valid");
        let process = [("SHARED", "process"), ("SHELL_ONLY", "shell")];
        let process = process.map(|(name, value)| (name.to_owned(), value.to_owned())).into_iter().collect();
        let variables = Variables { file: &file, process: &process };
        Ok(parameters(given, None, &variables)?.map_or(Value::Null, Value::Object))
    }

    #[test]
    fn a_literal_is_taken_as_it_is() {
        assert_eq!(
            with(&["Url=https://a/?x=1", "Empty="]),
            Ok(json!({"Url": "https://a/?x=1", "Empty": ""}))
        );
        assert_eq!(
            with(&["Price=$5.00", "At=@not a name"]),
            Ok(json!({"Price": "$5.00", "At": "@not a name"}))
        );
    }

    #[test]
    fn the_env_file_wins_over_the_environment() {
        assert_eq!(
            with(&["A=@SHARED", "B=$SHARED", "SHARED"]),
            Ok(json!({"A": "file", "B": "file", "SHARED": "file"}))
        );
        assert_eq!(with(&["A=${SHELL_ONLY}", "APP"]), Ok(json!({"A": "shell", "APP": "from-file"})));
    }

    #[test]
    fn an_unset_variable_is_omitted_unless_it_was_written_as_the_shells() {
        assert_eq!(with(&["A=@NOPE", "NOPE"]), Ok(json!({})));
        assert_eq!(with(&["A=$NOPE"]), Err(ParameterError::MissingVariable("NOPE".to_owned())));
        assert_eq!(with(&["A=${NOPE}"]), Err(ParameterError::MissingVariable("NOPE".to_owned())));
    }

    #[test]
    fn a_bag_of_parameters_has_each_name_once() {
        let (file, process) = (EnvFile::parse("").expect("valid"), BTreeMap::new());
        let variables = Variables { file: &file, process: &process };
        let refused = |bag| parameters(&[], Some(bag), &variables).expect_err("refused").to_string();
        assert_eq!(
            refused(r#"{"A": "x", "A": "canary"}"#),
            "`--parameters` is not a JSON object: the key `A` stands twice in one object at line 1, column 14"
        );
        assert_eq!(
            refused(r#"{"A": canary}"#),
            "`--parameters` is not a JSON object: syntax error at column 7"
        );
    }

    #[test]
    fn a_parameter_without_a_name_is_refused() {
        assert_eq!(with(&["=x"]), Err(ParameterError::EmptyName));
    }
}
