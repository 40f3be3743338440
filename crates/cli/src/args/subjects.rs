//! The help of the whole program: its commands by subject.

use super::kebab;
use clap::Command;
use clap::builder::StyledStr;
use formwork_platform::rest_routes;
use std::fmt::Write as _;

/// How wide the help is at most, as that of each command.
const WIDTH: usize = 100;

/// Commands that belong together.
struct Subject {
    heading: &'static str,
    /// Those with types of their own, in the order in which people meet them.
    commands: &'static [&'static str],
    /// The resource types whose commands follow.
    types: &'static [&'static str],
}

const SUBJECTS: [Subject; 12] = [
    Subject { heading: "Formae", commands: &["apply", "destroy", "eval", "inventory"], types: &[] },
    Subject {
        heading: "Formations",
        commands: &[
            "validate-formation",
            "plan-formation",
            "create-formation",
            "update-formation",
            "list-formations",
            "get-formation",
            "delete-formation",
            "list-formation-events",
            "drift",
            "list-formation-revisions",
            "get-formation-revision",
            "diff-formation-revisions",
            "graph",
            "formation-schema",
        ],
        types: &[],
    },
    Subject {
        heading: "Plans and operations",
        commands: &["get-plan", "apply-plan", "get-operation", "watch-operation", "cancel-operation"],
        types: &[],
    },
    Subject {
        heading: "Projects",
        commands: &[
            "list-projects",
            "create-project",
            "get-project",
            "update-project",
            "delete-project",
            "get-project-prices",
            "update-project-prices",
        ],
        types: &["project_price", "quota"],
    },
    Subject {
        heading: "People and access",
        commands: &[
            "login",
            "bootstrap-user",
            "get-current-user",
            "list-users",
            "create-user",
            "get-user",
            "delete-user",
            "attach-user-policies",
            "list-tokens",
            "create-token",
            "delete-token",
            "list-audit-entries",
        ],
        types: &["policy", "api_key"],
    },
    Subject {
        heading: "Agents and models",
        commands: &[],
        types: &["agent", "agent_version", "ai_provider", "model_route", "generation", "trace"],
    },
    Subject {
        heading: "Sessions and conversations",
        commands: &[],
        types: &["session", "message", "conversation", "actor", "chat"],
    },
    Subject {
        heading: "Tools, secrets and guardrails",
        commands: &[],
        types: &["tool", "secret", "guardrail", "guardrail_version"],
    },
    Subject {
        heading: "Knowledge and files",
        commands: &["upload-file", "download-file"],
        types: &["file", "document", "memory", "memory_entry", "ingestion_rule"],
    },
    Subject {
        heading: "Orchestrations, workflows and triggers",
        commands: &["validate-orchestration"],
        types: &[
            "orchestration",
            "orchestration_version",
            "orchestration_run",
            "workflow",
            "workflow_version",
            "task",
            "task_transition",
            "trigger",
            "trigger_firing",
            "webhook",
        ],
    },
    Subject {
        heading: "Evaluations",
        commands: &[],
        types: &["dataset", "dataset_item", "eval", "eval_run"],
    },
    Subject {
        heading: "This program",
        commands: &[
            "agent",
            "admin",
            "plugin",
            "configure",
            "explain",
            "pkl",
            "completions",
            "list-commands",
        ],
        types: &[],
    },
];

impl Subject {
    /// The names of its commands.
    fn names(&self) -> impl Iterator<Item = String> {
        let routes =
            self.types.iter().filter_map(|name| rest_routes().iter().find(|it| it.type_name == *name));
        let of_types = routes.flat_map(|route| route.operations().map(kebab));
        self.commands.iter().map(ToString::to_string).chain(of_types)
    }
}

/// The tree with a help that lists its commands by subject.
pub(super) fn by_subject(tree: Command) -> Command {
    let help = template(&tree);
    tree.help_template(help)
}

fn template(tree: &Command) -> StyledStr {
    let column = shown(tree).map(|command| command.get_name().len()).max().unwrap_or(0) + 4;
    let (header, literal) = (tree.get_styles().get_header(), tree.get_styles().get_literal());
    let mut text = "{before-help}{about-with-newline}\n{usage-heading} {usage}\n".to_owned();
    for subject in &SUBJECTS {
        let commands: Vec<&Command> = subject
            .names()
            .filter_map(|name| shown(tree).find(|command| command.get_name() == name))
            .collect();
        if commands.is_empty() {
            continue;
        }
        let _ = writeln!(text, "\n{header}{}:{header:#}", subject.heading);
        for command in commands {
            let name = command.get_name();
            let gap = column - 2 - name.len();
            let mut about = command.get_about().map(ToString::to_string).unwrap_or_default();
            for alias in command.get_visible_aliases() {
                let _ = write!(about, " [alias: {alias}]");
            }
            let about = wrapped(&about, column, WIDTH - column);
            let _ = writeln!(text, "  {literal}{name}{literal:#}{:gap$}{about}", "");
        }
    }
    let _ = write!(text, "\n{header}Options:{header:#}\n{{options}}{{after-help}}");
    StyledStr::from(text)
}

fn shown(tree: &Command) -> impl Iterator<Item = &Command> {
    tree.get_subcommands().filter(|command| !command.is_hide_set())
}

/// A sentence in lines of at most this width, all but the first indented.
fn wrapped(text: &str, indent: usize, width: usize) -> String {
    let mut lines = String::new();
    let mut length = 0;
    for word in text.split(' ') {
        let letters = word.chars().count();
        if length > 0 && length + 1 + letters > width {
            let _ = write!(lines, "\n{:indent$}", "");
            length = 0;
        } else if length > 0 {
            lines.push(' ');
            length += 1;
        }
        lines.push_str(word);
        length += letters;
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn every_command_has_one_subject_and_every_subject_commands_that_exist() {
        let tree = super::super::command_tree();
        let mut subjects: BTreeMap<String, usize> = BTreeMap::new();
        for name in SUBJECTS.iter().flat_map(Subject::names) {
            *subjects.entry(name).or_default() += 1;
        }
        for command in shown(&tree) {
            assert_eq!(subjects.remove(command.get_name()), Some(1), "{}", command.get_name());
        }
        assert_eq!(subjects, BTreeMap::new(), "they name no command");
    }

    #[test]
    fn long_sentences_are_wrapped_under_themselves() {
        assert_eq!(wrapped("one two three", 4, 7), "one two\n    three");
        assert_eq!(wrapped("unbreakable", 4, 3), "unbreakable");
    }
}
