//! Every declaration of the inventory must occur in a corpus file of its class.
//!
//! A file `stdlib/<module>/<Class>_<topic>.pkl` belongs to that class, its subclasses and superclasses; the
//! members of a module itself belong to `module_<topic>.pkl` and its type aliases to `alias_<topic>.pkl`.
//! Outside of `pkl:base`, the file of a module's function or property may show the classes of its results
//! too.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// What a line of the inventory declares.
#[derive(Debug)]
struct Declaration {
    module: String,
    /// The class that the member belongs to, or none for what a module itself has.
    class: Option<String>,
    name: String,
    kind: Kind,
}

#[derive(Debug, PartialEq, Eq)]
enum Kind {
    Class,
    Alias,
    Member,
}

#[derive(Default)]
struct Inventory {
    declarations: Vec<Declaration>,
    /// The superclass of each class of a module, by its simple name.
    superclasses: BTreeMap<(String, String), String>,
}

const MODIFIERS: [&str; 6] = ["abstract ", "const ", "external ", "fixed ", "hidden ", "open "];

fn inventory(text: &str) -> Inventory {
    let mut inventory = Inventory::default();
    let mut module = String::new();
    let mut class = None;
    for line in text.lines() {
        let indent = line.len() - line.trim_start().len();
        let mut declaration = line.trim_start();
        while let Some(rest) = MODIFIERS.iter().find_map(|it| declaration.strip_prefix(it)) {
            declaration = rest;
        }
        if let Some(rest) = declaration.strip_prefix("module pkl.") {
            module = String::from(identifier(rest));
            class = None;
            continue;
        }
        if indent == 0 || declaration.starts_with('@') || declaration.starts_with("import ") {
            continue;
        }
        if let Some(rest) = declaration.strip_prefix("class ") {
            let name = identifier(rest).to_owned();
            if let Some((_, supertype)) = rest.split_once(" extends ") {
                let supertype = supertype.rsplit('#').next().unwrap_or(supertype);
                inventory
                    .superclasses
                    .insert((module.clone(), name.clone()), identifier(supertype).to_owned());
            }
            inventory.declarations.push(Declaration {
                module: module.clone(),
                class: Some(name.clone()),
                name: name.clone(),
                kind: Kind::Class,
            });
            class = Some(name);
        } else {
            let (kind, rest) = match declaration.strip_prefix("typealias ") {
                Some(rest) => (Kind::Alias, rest),
                None => (Kind::Member, declaration.strip_prefix("function ").unwrap_or(declaration)),
            };
            inventory.declarations.push(Declaration {
                module: module.clone(),
                class: if indent > 2 { class.clone() } else { None },
                name: identifier(rest).to_owned(),
                kind,
            });
        }
    }
    inventory
}

fn identifier(text: &str) -> &str {
    let end = text.find(|it: char| !it.is_alphanumeric() && it != '_').unwrap_or(text.len());
    &text[..end]
}

impl Inventory {
    /// Whether the first class is the second one or below it.
    fn is_subclass(&self, module: &str, class: &str, of: &str) -> bool {
        let mut current = class;
        loop {
            if current == of {
                return true;
            }
            match self.superclasses.get(&(module.to_owned(), current.to_owned())) {
                Some(superclass) => current = superclass,
                None => return false,
            }
        }
    }

    fn is_covered(&self, declaration: &Declaration, corpus: &Corpus) -> bool {
        let Some(files) = corpus.get(&declaration.module) else {
            return false;
        };
        files.iter().any(|(owner, text)| {
            let belongs = match (&declaration.class, &declaration.kind) {
                (None, Kind::Alias) => owner == "alias" || owner == "module" || owner == "Parser",
                (None, _) => owner == "module",
                (Some(_), Kind::Class) => true,
                (Some(class), _) => {
                    (owner == "module" && declaration.module != "base")
                        || self.is_subclass(&declaration.module, class, owner)
                        || self.is_subclass(&declaration.module, owner, class)
                }
            };
            belongs && has_word(text, &declaration.name)
        })
    }
}

fn has_word(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(at, _)| {
        let is_part = |it: char| it.is_alphanumeric() || it == '_';
        !text[..at].ends_with(is_part) && !text[at + word.len()..].starts_with(is_part)
    })
}

/// The owner and text of each file, by module.
type Corpus = BTreeMap<String, Vec<(String, String)>>;

fn corpus(root: &Path) -> Corpus {
    let mut corpus = Corpus::new();
    for directory in entries(root) {
        let module = name(&directory);
        for file in entries(&directory) {
            if file.extension().is_some_and(|it| it == "pkl") {
                let text = fs::read_to_string(&file).expect("a corpus file is readable text");
                let owner = name(&file).split('_').next().unwrap_or_default().to_owned();
                corpus.entry(module.clone()).or_default().push((owner, text));
            }
        }
    }
    corpus
}

fn entries(directory: &Path) -> Vec<PathBuf> {
    fs::read_dir(directory)
        .expect("the directory exists")
        .map(|entry| entry.expect("the directory is readable").path())
        .collect()
}

fn name(path: &Path) -> String {
    path.file_name().expect("an entry has a name").to_string_lossy().into_owned()
}

#[test]
fn every_declaration_has_a_corpus_file() {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let text =
        fs::read_to_string(tests.join("inventory/inventory.txt")).expect("the inventory is readable text");
    let inventory = inventory(&text);
    let corpus = corpus(&tests.join("corpus/stdlib"));
    assert!(inventory.declarations.len() > 900, "{}", inventory.declarations.len());
    let missing: Vec<String> = inventory
        .declarations
        .iter()
        .filter(|declaration| !inventory.is_covered(declaration, &corpus))
        .map(|it| format!("{}#{}.{}", it.module, it.class.as_deref().unwrap_or("module"), it.name))
        .collect();
    assert!(missing.is_empty(), "no corpus file uses:\n{}", missing.join("\n"));
}

#[test]
fn a_word_is_not_part_of_another() {
    assert!(has_word("List(1).take(2)", "take"));
    assert!(!has_word("List(1).takeLast(2)", "take"));
    assert!(!has_word("List(1).retake(2)", "take"));
}
