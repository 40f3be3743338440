//! `explain`: a page per error code, compiled in; the same pages are the reference of the docs.

mod pages;

use super::CommandError;
use crate::args::Explain;
use crate::exit::Exit;
use crate::ui::json;
use formwork_model::{DiagnosticCode, OperationErrorCode, Suggest, WireCode};

pub(crate) fn run(arguments: &Explain) -> Result<Exit, CommandError> {
    let Some(code) = &arguments.code else {
        let line = |code| format!("{code:<34} {}\n", title(pages::page(code).unwrap_or_default()));
        json::print_text(&codes().map(line).collect::<String>())?;
        return Ok(Exit::Done);
    };
    let Some(page) = pages::page(code) else {
        let near = Suggest::default().nearest(code, codes()).map(str::to_owned);
        return Err(CommandError::UnknownCode { code: code.clone(), near });
    };
    json::print_text(page)?;
    Ok(Exit::Done)
}

/// All codes: of diagnostics, of the wire, of providers.
pub(crate) fn codes() -> impl Iterator<Item = &'static str> {
    let diagnostics = DiagnosticCode::ALL.iter().map(|code| code.as_str());
    let wire = WireCode::ALL.iter().map(|code| code.as_str());
    diagnostics.chain(wire).chain(OperationErrorCode::ALL.iter().map(|code| code.as_str()))
}

/// The title of a page: what stands after the code in its first line.
fn title(page: &str) -> &str {
    let line = page.lines().next().unwrap_or_default();
    line.split_once(": ").map_or(line, |(_, title)| title)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_a_page_that_names_it() {
        for code in codes() {
            let page = pages::page(code).unwrap_or_else(|| panic!("`{code}` has no page"));
            assert!(
                page.starts_with(&format!("# {code}: ")),
                "the page of `{code}` does not begin with its name"
            );
            assert!(page.lines().count() >= 5, "the page of `{code}` says too little");
        }
    }

    #[test]
    fn a_misspelt_code_is_recognised() {
        let near = |code| Suggest::default().nearest(code, codes());
        assert_eq!(near("unkown-property"), Some("unknown-property"));
        assert_eq!(near("name_conflict"), Some("NAME_CONFLICT"));
        assert_eq!(near("zzzzzzzz"), None);
    }
}
