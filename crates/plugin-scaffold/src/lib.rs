//! The files that a new plugin begins with.
//!
//! They are those of the tutorial's plugin under another name, so that what is scaffolded is compiled and
//! tested wherever the tutorial is. Nothing here touches a file.

use std::path::{Path, PathBuf};

/// A file of the tutorial's plugin, by its path there.
macro_rules! tutorial {
    ($($path:literal)*) => {
        [$(($path, include_str!(concat!("../../../examples/plugin-tutorial/", $path)))),*]
    };
}

/// The files that are the tutorial's.
const TUTORIAL: [(&str, &str); 11] = tutorial! {
    "formae-plugin.pkl"
    "scenarios/notes.yaml"
    "scenarios/notes-replace.yaml"
    "scenarios/notes-update.yaml"
    "schema/pkl/PklProject"
    "schema/pkl/notes.pkl"
    "src/lib.rs"
    "src/main.rs"
    "src/note.rs"
    "src/store.rs"
    "tests/conformance.rs"
};

/// The files that only a plugin outside of this repository has.
const OWN: [(&str, &str); 3] = [
    ("Cargo.toml", include_str!("Cargo.toml.txt")),
    (".github/workflows/ci.yml", include_str!("ci.yml.txt")),
    (".gitignore", "/target\n"),
];

/// The longest name.
const LONGEST: usize = 40;

/// A name that a plugin can have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    name: String,
    namespace: String,
}

/// Why a plugin can't have a name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// It has other characters, or too many.
    #[error(
        "a plugin's name has small letters, digits and single dashes between them, begins with a letter, and has \
         at most {LONGEST} characters: `{0}` doesn't"
    )]
    Shape(String),
    /// It is the name of something that the plugin uses.
    #[error("`{0}` is the name of a module that every plugin imports: choose another")]
    Taken(String),
    /// Its namespace has other characters, or too many.
    #[error(
        "a namespace has letters and digits, begins with a capital letter, and has at most {LONGEST} characters: \
         `{0}` doesn't"
    )]
    Namespace(String),
}

/// Where the plugin finds Formwork's crates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// In its repository, at the version of this program.
    Repository,
    /// In a checkout of it.
    Checkout(PathBuf),
}

/// A file to write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Its path in the plugin's directory.
    pub path: String,
    /// What is in it.
    pub text: String,
}

impl Name {
    /// A name as a person gives it.
    ///
    /// # Errors
    /// If a plugin can't have it.
    pub fn parse(text: &str) -> Result<Self, NameError> {
        let is_word = |word: &str| {
            !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
        };
        let begins = text.starts_with(|letter: char| letter.is_ascii_lowercase());
        if !begins || text.len() > LONGEST || !text.split('-').all(is_word) {
            return Err(NameError::Shape(text.to_owned()));
        }
        if matches!(text, "formae" | "formwork" | "pkl") {
            return Err(NameError::Taken(text.to_owned()));
        }
        Ok(Self { name: text.to_owned(), namespace: text.replace('-', "").to_uppercase() })
    }

    /// The same name with another namespace than the name in capitals.
    ///
    /// # Errors
    /// If a plugin can't have it.
    pub fn with_namespace(self, namespace: &str) -> Result<Self, NameError> {
        let begins = namespace.starts_with(|letter: char| letter.is_ascii_uppercase());
        if !begins || namespace.len() > LONGEST || !namespace.bytes().all(|it| it.is_ascii_alphanumeric()) {
            return Err(NameError::Namespace(namespace.to_owned()));
        }
        Ok(Self { namespace: namespace.to_owned(), ..self })
    }

    /// The name itself.
    pub fn as_str(&self) -> &str {
        &self.name
    }

    /// The namespace of its types: `MYCLOUD` for `my-cloud`, if nothing else was said.
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    fn snake(&self) -> String {
        self.name.replace('-', "_")
    }

    fn pascal(&self) -> String {
        let capital = |word: &str| word[..1].to_uppercase() + &word[1..];
        self.name.split('-').map(capital).collect()
    }

    /// A text of the tutorial under this name.
    fn put_into(&self, text: &str) -> String {
        // The longer ones first, since the others are within them.
        text.replace("formwork-plugin-notes", &format!("formwork-plugin-{}", self.name))
            .replace("formwork_plugin_notes", &format!("formwork_plugin_{}", self.snake()))
            .replace("NotesPlugin", &format!("{}Plugin", self.pascal()))
            .replace("NOTES", &self.namespace)
            .replace("module notes\n", &format!("module {}\n", self.snake()))
            .replace("pkl/notes.pkl", &format!("pkl/{}.pkl", self.snake()))
            .replace("/notes\"", &format!("/{}\"", self.name))
            .replace("/notes@", &format!("/{}@", self.name))
            .replace("\"notes\"", &format!("\"{}\"", self.name))
    }
}

/// The files of a new plugin, by path.
pub fn files(name: &Name, source: &Source) -> Vec<File> {
    let mut files: Vec<File> = TUTORIAL
        .iter()
        .chain(&OWN)
        .map(|(path, text)| File { path: name.put_into(path), text: name.put_into(text) })
        .collect();
    for file in &mut files {
        file.text = with_source(&file.text, source);
    }
    files.sort_by(|left, right| left.path.cmp(&right.path));
    files
}

/// The dependencies that are Formwork's crates, from where they are.
fn with_source(text: &str, source: &Source) -> String {
    let line = |line: &str| {
        let Some((package, rest)) = line.split_once(" = { @SOURCE@") else { return format!("{line}\n") };
        let place = match source {
            Source::Repository => format!(
                "git = \"{}\", tag = \"v{}\"",
                env!("CARGO_PKG_REPOSITORY"),
                env!("CARGO_PKG_VERSION")
            ),
            Source::Checkout(root) => format!("path = {:?}", crate_in(root, package).to_string_lossy()),
        };
        format!("{package} = {{ {place}{rest}\n")
    };
    text.lines().map(line).collect()
}

fn crate_in(root: &Path, package: &str) -> PathBuf {
    root.join("crates").join(package.strip_prefix("formwork-").unwrap_or(package))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rendered(name: &str, source: &Source) -> Vec<File> {
        files(&Name::parse(name).expect("it is a name"), source)
    }

    fn text<'a>(files: &'a [File], path: &str) -> &'a str {
        &files.iter().find(|file| file.path == path).unwrap_or_else(|| panic!("there is no {path}")).text
    }

    #[test]
    fn a_plugin_has_its_own_name_everywhere() {
        let files = rendered("my-cloud2", &Source::Repository);
        let paths: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
        assert!(paths.is_sorted() && paths.contains(&"schema/pkl/my_cloud2.pkl"), "{paths:?}");
        assert!(text(&files, "formae-plugin.pkl").contains("name = \"my-cloud2\""));
        assert!(text(&files, "formae-plugin.pkl").contains("namespace = \"MYCLOUD2\""));
        assert!(text(&files, "schema/pkl/my_cloud2.pkl").contains("module my_cloud2\n"));
        assert!(text(&files, "schema/pkl/my_cloud2.pkl").contains("type = \"MYCLOUD2::Book::Note\""));
        assert!(text(&files, "schema/pkl/PklProject").contains("https://example.com/my-cloud2@"));
        assert!(text(&files, "src/main.rs").contains("use formwork_plugin_my_cloud2::MyCloud2Plugin;"));
        let cargo = text(&files, "Cargo.toml");
        assert!(
            cargo.contains("name = \"formwork-plugin-my-cloud2\"") && cargo.contains("name = \"my-cloud2\"")
        );
        for file in &files {
            for left in ["NOTES", "NotesPlugin", "plugin-notes", "plugin_notes", "\"notes\"", "@SOURCE@"] {
                assert!(!file.text.contains(left), "{} has {left}", file.path);
            }
        }
    }

    #[test]
    fn the_tutorials_own_name_changes_nothing() {
        let files = rendered("notes", &Source::Repository);
        for (path, original) in TUTORIAL {
            assert_eq!(text(&files, path), original, "{path}");
        }
    }

    #[test]
    fn the_crates_come_from_the_repository_or_a_checkout() {
        let files = rendered("notes", &Source::Repository);
        let version = env!("CARGO_PKG_VERSION");
        let line = format!(
            "formwork-plugin = {{ git = \"https://github.com/formwork/formwork\", tag = \"v{version}\", \
             features = [\"serve\"] }}\n"
        );
        assert!(text(&files, "Cargo.toml").contains(&line));
        let files = rendered("notes", &Source::Checkout("/src/formwork".into()));
        assert!(
            text(&files, "Cargo.toml")
                .contains("formwork-model = { path = \"/src/formwork/crates/model\" }\n")
        );
    }

    #[test]
    fn a_namespace_can_be_another_than_the_name() {
        let name = |namespace: &str| Name::parse("my-cloud").and_then(|name| name.with_namespace(namespace));
        let files = files(&name("MyCloud").expect("it is one"), &Source::Repository);
        assert!(text(&files, "formae-plugin.pkl").contains("namespace = \"MyCloud\""));
        assert!(text(&files, "scenarios/notes.yaml").contains("type: MyCloud::Book::Note"));
        for bad in ["", "my", "1A", "A-B", "A::B", &"A".repeat(41)] {
            assert_eq!(name(bad), Err(NameError::Namespace(bad.to_owned())));
        }
    }

    #[test]
    fn only_what_can_be_a_name_is_one() {
        for good in ["a", "my-cloud", "s3", "a-1"] {
            assert_eq!(Name::parse(good).map(|name| name.as_str().to_owned()), Ok(good.to_owned()));
        }
        for bad in ["", "A", "1a", "-a", "a-", "a--b", "a_b", "a b", "ä", "../a", "a/b", &"a".repeat(41)] {
            assert_eq!(Name::parse(bad), Err(NameError::Shape(bad.to_owned())));
        }
        assert_eq!(Name::parse("formae"), Err(NameError::Taken("formae".to_owned())));
    }
}
