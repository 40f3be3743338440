//! Finding the cases of a corpus and reading their header comments.

use crate::outcome::NoVerdict;
use crate::packages::fill_cache;
use std::fmt;
use std::path::{Path, PathBuf};

/// What begins a line of the header.
const DIRECTIVE: &str = "//:";

/// One program of the corpus.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Case {
    /// Path below the corpus, with `/` and without `.pkl`: what a person calls the case.
    pub name: String,
    /// The program, absolute if the corpus' directory was.
    pub path: PathBuf,
    /// What the header says.
    pub options: Options,
}

/// The header of a case.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Options {
    /// How to render, in this order; PCF when the header names nothing.
    pub renders: Vec<Render>,
    /// External properties, for `prop:`.
    pub properties: Vec<(String, String)>,
    /// The whole environment, for `env:`.
    pub environment: Vec<(String, String)>,
    /// Patterns of the modules that may be loaded; the official defaults if empty.
    pub allowed_modules: Vec<String>,
    /// Patterns of the resources that may be read; the official defaults if empty.
    pub allowed_resources: Vec<String>,
    /// Root directory for file access, below the case's directory.
    pub root: Option<PathBuf>,
    /// Directories of `modulepath:`, below the case's directory.
    pub module_path: Vec<PathBuf>,
    /// Whether the `PklProject` above the program counts.
    pub project: bool,
    /// The directory of the packages that are in the cache, below the case's directory.
    pub packages: Option<PathBuf>,
    /// Why the expectation is deliberately not what the official binary says.
    pub ours: Option<String>,
}

/// One way of rendering a case: one evaluation.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Render {
    /// `output.text` in a format (`pcf`, `json`, `yaml`, …).
    Format(String),
    /// The files of `output.files`.
    Files,
    /// The text of an expression within the module.
    Expression(String),
}

/// Formats of the official binary.
const FORMATS: [&str; 8] = ["pcf", "json", "yaml", "plist", "properties", "xml", "jsonnet", "textproto"];

impl fmt::Display for Render {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Format(name) => f.write_str(name),
            Self::Files => f.write_str("files"),
            Self::Expression(text) => write!(f, "expression {text}"),
        }
    }
}

/// Why a case can't be read.
#[derive(Debug, thiserror::Error)]
pub enum CaseError {
    /// A file or directory can't be read.
    #[error("cannot read `{path}`: {source}")]
    Read {
        /// The file or directory.
        path: String,
        /// Why.
        source: std::io::Error,
    },
    /// A line of a header means nothing.
    #[error("{path}: `{line}` is no line of a header: {reason}")]
    Header {
        /// The program.
        path: String,
        /// The line.
        line: String,
        /// What is wrong with it.
        reason: &'static str,
    },
}

impl Case {
    /// The case of a program; `root` is the corpus' directory.
    pub fn read(root: &Path, path: &Path) -> Result<Self, CaseError> {
        let shown = path.display().to_string();
        let source = std::fs::read(path);
        let source = source.map_err(|source| CaseError::Read { path: shown.clone(), source })?;
        let options = Options::parse(&String::from_utf8_lossy(&source))
            .map_err(|(line, reason)| CaseError::Header { path: shown, line, reason })?;
        let name = path.strip_prefix(root).unwrap_or(path).with_extension("");
        let name = name.iter().map(|part| part.to_string_lossy()).collect::<Vec<_>>().join("/");
        Ok(Self { name, path: path.to_owned(), options })
    }

    /// The directory that places and texts of this case are told relative to.
    pub fn directory(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new("."))
    }

    /// A new cache that has the case's packages, if it has some.
    ///
    /// # Errors
    /// They can't be written there.
    pub fn cache(&self) -> Result<Option<tempfile::TempDir>, NoVerdict> {
        let Some(packages) = &self.options.packages else { return Ok(None) };
        let filled = || {
            let cache = tempfile::tempdir()?;
            fill_cache(&self.directory().join(packages), cache.path())?;
            Ok(cache)
        };
        filled().map(Some).map_err(|error: std::io::Error| NoVerdict { reason: format!("packages: {error}") })
    }

    /// The file of the expectation.
    pub fn expected_path(&self) -> PathBuf {
        self.path.with_extension("expected")
    }
}

impl Options {
    /// Reads the header: the comment lines at the very beginning of a program.
    fn parse(source: &str) -> Result<Self, (String, &'static str)> {
        let mut options = Self::default();
        for line in source.lines().take_while(|line| line.starts_with("//") && !line.starts_with("///")) {
            if let Some(directive) = line.strip_prefix(DIRECTIVE) {
                options.directive(directive.trim()).map_err(|reason| (line.to_owned(), reason))?;
            }
        }
        if options.renders.is_empty() {
            options.renders.push(Render::Format("pcf".to_owned()));
        }
        Ok(options)
    }

    fn directive(&mut self, text: &str) -> Result<(), &'static str> {
        let (key, value) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        let value = value.trim();
        let words = || value.split_whitespace();
        match key {
            "format" => {
                for format in words() {
                    if !FORMATS.contains(&format) {
                        return Err("no such format");
                    }
                    self.renders.push(Render::Format(format.to_owned()));
                }
            }
            "files" => self.renders.push(Render::Files),
            "expression" => self.renders.push(Render::Expression(value.to_owned())),
            "prop" => self.properties.push(assignment(value)?),
            "env" => self.environment.push(assignment(value)?),
            "allow-modules" => self.allowed_modules.extend(words().map(str::to_owned)),
            "allow-resources" => self.allowed_resources.extend(words().map(str::to_owned)),
            "root" => self.root = Some(PathBuf::from(value)),
            "module-path" => self.module_path.extend(words().map(PathBuf::from)),
            "project" => self.project = true,
            "packages" => self.packages = Some(PathBuf::from(value)),
            "ours" if value.is_empty() => return Err("say why"),
            "ours" => self.ours = Some(value.to_owned()),
            _ => return Err("unknown key"),
        }
        Ok(())
    }
}

fn assignment(text: &str) -> Result<(String, String), &'static str> {
    let (name, value) = text.split_once('=').ok_or("expected `name=value`")?;
    Ok((name.to_owned(), value.to_owned()))
}

/// All cases below a directory, sorted by name.
///
/// A directory that has a `main.pkl` holds one group of cases: its cases are the files named
/// `main*.pkl`, and everything else in and below it only supports them. In every other directory each
/// `.pkl` file is a case.
pub fn discover(root: &Path) -> Result<Vec<Case>, CaseError> {
    let mut cases = Vec::new();
    let mut pending = vec![root.to_owned()];
    while let Some(directory) = pending.pop() {
        let group = directory.join("main.pkl").is_file();
        for path in entries(&directory)? {
            if path.is_dir() {
                if !group {
                    pending.push(path);
                }
            } else if is_case(&path, group) {
                cases.push(Case::read(root, &path)?);
            }
        }
    }
    cases.sort_by(|left, right| left.name.cmp(&right.name));
    Ok(cases)
}

fn is_case(path: &Path, group: bool) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    path.extension().is_some_and(|extension| extension == "pkl") && (!group || name.starts_with("main"))
}

fn entries(directory: &Path) -> Result<Vec<PathBuf>, CaseError> {
    let failed = |source| CaseError::Read { path: directory.display().to_string(), source };
    let listed = std::fs::read_dir(directory).map_err(failed)?;
    listed.map(|entry| entry.map(|entry| entry.path())).collect::<Result<_, _>>().map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(source: &str) -> Options {
        Options::parse(source).unwrap()
    }

    #[test]
    fn a_program_without_a_header_is_rendered_as_pcf() {
        assert_eq!(parse("x = 1\n//: format json").renders, [Render::Format("pcf".to_owned())]);
    }

    #[test]
    fn a_header_may_have_comments_between_its_lines() {
        let options = parse("//: format json yaml\n// Why.\n//: expression a + b\n//: env A=b=c\nx = 1");
        assert_eq!(
            options.renders,
            [
                Render::Format("json".to_owned()),
                Render::Format("yaml".to_owned()),
                Render::Expression("a + b".to_owned())
            ]
        );
        assert_eq!(options.environment, [("A".to_owned(), "b=c".to_owned())]);
    }

    #[test]
    fn an_unknown_key_is_refused() {
        assert_eq!(Options::parse("//: fromat json"), Err(("//: fromat json".to_owned(), "unknown key")));
        assert_eq!(Options::parse("//: ours"), Err(("//: ours".to_owned(), "say why")));
    }

    #[test]
    fn files_beside_a_main_file_only_support_it() {
        let root = tempfile::tempdir().unwrap();
        for path in ["a.pkl", "group/main.pkl", "group/main-2.pkl", "group/part.pkl", "group/below/b.pkl"] {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        }
        let names: Vec<_> = discover(root.path()).unwrap().into_iter().map(|case| case.name).collect();
        assert_eq!(names, ["a", "group/main", "group/main-2"]);
    }
}
