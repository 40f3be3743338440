//! The reference page, made from the tables so that it cannot differ from them.

use crate::{FILES, VARIABLES};
use std::fmt::Write as _;

/// The reference of all variables and files, in Markdown.
pub fn reference_page() -> String {
    let mut page = String::from("# Configuration\n\n## Environment variables\n\n");
    page.push_str("| Variable | Default | Meaning |\n|---|---|---|\n");
    for variable in VARIABLES {
        let secret = if variable.secret { " Secret: never shown or logged." } else { "" };
        // Writing to a string cannot fail.
        let _ = writeln!(page, "| `{}` | {} | {}{secret} |", variable.name, variable.default, variable.doc);
    }
    page.push_str("\n## Files\n\n| Path | Mode | Meaning |\n|---|---|---|\n");
    for file in FILES {
        let mode = file.mode.map(|mode| format!("{mode:04o}")).unwrap_or_default();
        let _ = writeln!(page, "| `{}` | {mode} | {} |", file.path, file.doc);
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_lists_everything_in_order() {
        insta::assert_snapshot!(reference_page());
    }
}
