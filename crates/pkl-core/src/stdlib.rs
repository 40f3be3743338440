//! The declarations of the standard library: parsed when this crate is built.

use pkl_parser::ast::{self, Ast};
use pkl_parser::{FixedNames, Parsed};

/// A module of the library.
struct Module {
    name: &'static str,
    source: &'static str,
    /// The syntax tree, as `build.rs` wrote it.
    tree: &'static [u8],
}

static MODULES: &[Module] = include!(concat!(env!("OUT_DIR"), "/stdlib.rs"));

/// The names in the trees of the library.
static NAMES: FixedNames = include!(concat!(env!("OUT_DIR"), "/names.rs"));

/// Tells programs apart that write trees down differently, or begin with other names.
pub(crate) const FORM: u64 = include!(concat!(env!("OUT_DIR"), "/form.rs"));

fn module(name: &str) -> Option<&'static Module> {
    let position = MODULES.binary_search_by_key(&name, |candidate| candidate.name).ok()?;
    Some(&MODULES[position])
}

/// The source of `pkl:name`.
pub(crate) fn source(name: &str) -> Option<&'static str> {
    Some(module(name)?.source)
}

/// The tree of the module at `uri`, if it is one of the library with this very source. Its names are those
/// of an interner that starts with [`fixed_names`].
pub(crate) fn tree(uri: &str, source: &str) -> Option<Parsed<ast::Module>> {
    let module = module(uri.strip_prefix("pkl:")?).filter(|module| module.source == source)?;
    let (ast, root): (Ast, _) = postcard::from_bytes(module.tree).expect("the tree was written by the build");
    Some(Parsed { ast, root, diagnostics: Vec::new() })
}

/// The names of an interner that can read the library's trees.
pub(crate) fn fixed_names() -> FixedNames {
    NAMES
}

/// The names of all modules of the library.
pub fn names() -> impl Iterator<Item = &'static str> {
    MODULES.iter().map(|module| module.name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use pkl_parser::{Interner, dump_module, parse_module};

    #[test]
    fn the_trees_are_those_of_the_sources() {
        let (read, parsed) = (Interner::starting_with(fixed_names()), Interner::new());
        for module in MODULES {
            let tree = tree(&format!("pkl:{}", module.name), module.source).unwrap();
            let fresh = parse_module(module.source, &parsed);
            assert_eq!(
                dump_module(module.source, &tree, &read),
                dump_module(module.source, &fresh, &parsed),
                "{}",
                module.name
            );
        }
    }

    #[test]
    fn another_text_is_no_module_of_the_library() {
        assert!(tree("pkl:base", "module pkl.base").is_none());
        assert!(tree("pkl:absent", "").is_none());
        assert!(tree("file:///base.pkl", source("base").unwrap()).is_none());
    }
}
