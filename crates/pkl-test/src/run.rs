//! Test modules, evaluated.

use pkl_core::reader::file_path;
use pkl_core::{Error, Evaluator, Item, ModuleSource, Session};
use pkl_data::render::pcf;
use pkl_data::tree::{Member, Tree};

use crate::results::{Failure, FailureKind, Group, ModuleResults, TestError};

/// What a module's examples are compared with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expected {
    /// The URI of the file with the expected examples.
    pub uri: String,
    /// Its text; `None` if there is none, or if it is to be written anew.
    pub text: Option<String>,
    /// The URI of the file that the examples are written to where they differ.
    pub actual_uri: String,
}

/// What came of a module, and what is to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tested {
    /// What came of it.
    pub results: ModuleResults,
    /// The text of the file of expected examples, if it is to be written.
    pub expected: Option<String>,
    /// The text of the file of actual examples, if they differ.
    pub actual: Option<String>,
}

/// Why a module can't be tested.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// It can't be evaluated.
    #[error("{0}")]
    Evaluation(#[from] Box<Error>),
    /// The file of expected examples is none.
    #[error("Test output file `{path}` has invalid structure (delete the file and rerun the test).")]
    Expected {
        /// The file.
        path: String,
    },
}

impl From<Error> for RunError {
    fn from(error: Error) -> Self {
        Self::Evaluation(Box::new(error))
    }
}

/// A value as a file of examples has it, where nothing else is around it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Example {
    text: String,
    /// The line of the file that it begins on.
    line: usize,
    place: String,
}

/// A named group of examples.
struct Examples {
    name: String,
    place: String,
    values: Vec<Example>,
    errors: Vec<TestError>,
}

/// Runs the tests of a module.
///
/// # Errors
/// The module or the expected examples can't be evaluated. A test that fails is a result, no error.
pub fn run(evaluator: &Evaluator, module: &ModuleSource, expected: &Expected) -> Result<Tested, RunError> {
    let found = evaluator.session(module, |session| {
        let results = ModuleResults {
            module: session.name().to_owned(),
            uri: session.uri().to_owned(),
            error: None,
            facts: Vec::new(),
            examples: Vec::new(),
        };
        let module = session.module();
        let class = session.class_of(module)?;
        if &*class.module != "pkl.test" {
            let error =
                format!("–– Pkl Error ––\nExpected value of type `pkl.test`, but got type `{class}`.");
            return Ok((ModuleResults { error: Some(error), ..results }, None));
        }
        let facts = facts(session)?;
        let examples = examples(session)?;
        Ok((ModuleResults { facts, ..results }, examples))
    })?;
    match found {
        (results, None) => Ok(Tested { results, expected: None, actual: None }),
        (results, Some((tree, examples))) => judge(evaluator, results, &tree, &examples, expected),
    }
}

/// An error in the member `path` of the module, which is what its outermost place is called.
fn error_of(session: &Session<'_, '_>, mut error: Error, path: &str) -> TestError {
    if let Some(frame) = error.trace.last_mut()
        && frame.member == session.name()
    {
        frame.member = format!("{}#{path}", session.name());
    }
    TestError {
        message: error.message.trim_end().to_owned(), full: format!("–– Pkl Error ––\n{error}")
    }
}

/// Where a member is, as reports show it.
fn place_of(item: &Item) -> String {
    match &item.place {
        Some(place) => format!("({}, line {})", place.uri, place.line),
        None => "(source:unavailable)".to_owned(),
    }
}

fn facts(session: &mut Session<'_, '_>) -> Result<Vec<Group>, Error> {
    let mut groups = Vec::new();
    for item in property_items(session, "facts")?.unwrap_or_default() {
        let (name, path) = names(session, "facts", &item)?;
        let mut group = Group::new(name);
        match session.force(&item) {
            Err(error) => {
                group.asserts = 1;
                group.errors.push(error_of(session, error, &path));
            }
            Ok(facts) => {
                for fact in session.items(facts) {
                    group.asserts += 1;
                    match session.force(&fact).and_then(|value| session.export(value)) {
                        Ok(Tree::Bool(true)) => {}
                        Ok(_) => {
                            let text = format!("{} {}", fact.source, place_of(&fact));
                            group.failures.push(Failure { kind: FailureKind::Fact, text });
                        }
                        Err(error) => {
                            let path = format!("{path}[#{}]", group.asserts);
                            group.errors.push(error_of(session, error, &path));
                        }
                    }
                }
            }
        }
        groups.push(group);
    }
    Ok(groups)
}

/// The examples of a module as a tree, and each by itself.
fn examples(session: &mut Session<'_, '_>) -> Result<Option<(Tree, Vec<Examples>)>, Error> {
    let Some(items) = property_items(session, "examples")? else { return Ok(None) };
    let mut groups = Vec::new();
    let mut trees = Vec::new();
    for item in items {
        let key = session.key(&item);
        let key = session.export(key)?;
        let (name, path) = names(session, "examples", &item)?;
        let mut group = Examples { name, place: place_of(&item), values: Vec::new(), errors: Vec::new() };
        let mut values = Vec::new();
        let elements = match session.force(&item) {
            Ok(value) => session.items(value),
            Err(error) => {
                group.errors.push(error_of(session, error, &path));
                Vec::new()
            }
        };
        for element in elements {
            match session.force(&element).and_then(|value| session.export(value)) {
                Ok(value) => {
                    values.push(value);
                    let place = place_of(&element);
                    group.values.push(Example { text: String::new(), line: 0, place });
                }
                // What comes after an error isn't looked at.
                Err(error) => {
                    let path = format!("{path}[#{}]", values.len() + 1);
                    group.errors.push(error_of(session, error, &path));
                    break;
                }
            }
        }
        trees.push((key, values));
        groups.push(group);
    }
    let tree = document(&trees);
    let mut line = 2;
    for ((key, values), group) in trees.iter().zip(&mut groups) {
        line += key_lines(key);
        for (value, example) in values.iter().zip(&mut group.values) {
            example.text = element_text(value)?;
            example.line = line;
            line += example.text.split('\n').count();
        }
        line += 1;
    }
    Ok(Some((tree, groups)))
}

/// The file of examples as a value.
fn document(groups: &[(Tree, Vec<Tree>)]) -> Tree {
    let entry = |(key, values): &(Tree, Vec<Tree>)| Member::Entry(key.clone(), Tree::Listing(values.clone()));
    let examples = Tree::Dynamic(groups.iter().map(entry).collect());
    Tree::Dynamic(vec![Member::Property("examples".into(), examples)])
}

/// What a group is called, and which member it is.
fn names(session: &mut Session<'_, '_>, of: &str, item: &Item) -> Result<(String, String), Error> {
    let key = session.key(item);
    let name = session.text_of(key)?;
    let path = match session.export(key)? {
        Tree::String(_) => format!("{of}[\"{name}\"]"),
        _ => format!("{of}[{name}]"),
    };
    Ok((name, path))
}

fn property_items(session: &mut Session<'_, '_>, name: &str) -> Result<Option<Vec<Item>>, Error> {
    let module = session.module();
    let value = session.property(module, name)?;
    if session.class_of(value)?.is("pkl.base", "Null") {
        return Ok(None);
    }
    Ok(Some(session.items(value)))
}

fn rendered(document: &Tree) -> Result<String, Error> {
    pcf::document(document, &options()).map_err(|error| unrendered(&error))
}

fn options() -> pcf::Options {
    pcf::Options { use_custom_string_delimiters: true, ..pcf::Options::default() }
}

fn unrendered(error: &dyn std::fmt::Display) -> Error {
    let (code, message) = (pkl_core::ErrorCode::Render, error.to_string());
    Error { code, message, hint: None, trace: Vec::new() }
}

/// A value as reports show it.
fn element_text(value: &Tree) -> Result<String, Error> {
    let text = pcf::value(value, &options()).map_err(|error| unrendered(&error))?;
    let is_object = matches!(value, Tree::Listing(_) | Tree::Mapping(_) | Tree::Dynamic(_) | Tree::Typed(_));
    Ok(if is_object && value.render_directive().is_none() { format!("new {text}") } else { text })
}

/// How many lines an entry takes before its members.
fn key_lines(key: &Tree) -> usize {
    let member = Member::Entry(key.clone(), Tree::Listing(vec![Tree::Int(0)]));
    let lines = rendered(&Tree::Dynamic(vec![member])).map_or(0, |text| text.trim().lines().count());
    // The value and the brace.
    lines.saturating_sub(2).max(1)
}

fn judge(
    evaluator: &Evaluator,
    mut results: ModuleResults,
    tree: &Tree,
    actual: &[Examples],
    expected: &Expected,
) -> Result<Tested, RunError> {
    let Some(text) = &expected.text else {
        let sound = actual.iter().all(|group| group.errors.is_empty());
        results.examples = actual.iter().map(written).collect();
        let expected = if sound { Some(rendered(tree)?) } else { None };
        return Ok(Tested { results, expected, actual: None });
    };
    let known = expected_examples(evaluator, &expected.uri, text)?;
    for group in actual {
        let other = known.iter().find(|other| other.name == group.name);
        results.examples.push(compared(group, other, expected));
    }
    for group in known.iter().filter(|known| !actual.iter().any(|group| group.name == known.name)) {
        let mut missing = Group::new(group.name.clone());
        missing.asserts = 1;
        let told = format!("\"{}\" exists in expected but not in actual output", group.name);
        missing.failures.push(mismatch(FailureKind::Group, &group.place, &told));
        results.examples.push(missing);
    }
    let differs = results.examples.iter().any(|group| !group.failures.is_empty());
    let sound = actual.iter().all(|group| group.errors.is_empty());
    let actual = if differs && sound { Some(rendered(tree)?) } else { None };
    Ok(Tested { results, expected: None, actual })
}

fn written(group: &Examples) -> Group {
    let mut result = Group::new(group.name.clone());
    result.asserts = 1;
    result.errors.clone_from(&group.errors);
    result.written = group.errors.is_empty().then(|| group.place.clone());
    result
}

/// The examples of a file that an earlier run wrote.
fn expected_examples(evaluator: &Evaluator, uri: &str, text: &str) -> Result<Vec<Examples>, RunError> {
    let module = ModuleSource::Text { uri: uri.to_owned(), text: text.to_owned() };
    let found = evaluator.session(&module, |session| {
        let module = session.module();
        if session.find_property(module, "examples")?.is_none() {
            return Ok(None);
        }
        examples(session)
    })?;
    let Some((_, mut groups)) = found else {
        let path = file_path(uri).map_or_else(|| uri.to_owned(), |path| path.display().to_string());
        return Err(RunError::Expected { path });
    };
    for group in &mut groups {
        // A file that a person has changed has its own lines.
        for example in &mut group.values {
            let line = example.place.rsplit("line ").next().map(|line| line.trim_end_matches(')'));
            example.line = line.and_then(|line| line.parse().ok()).unwrap_or(example.line);
        }
    }
    Ok(groups)
}

fn compared(group: &Examples, known: Option<&Examples>, files: &Expected) -> Group {
    let mut result = Group::new(group.name.clone());
    let name = &group.name;
    if !group.errors.is_empty() {
        result.asserts = 1;
        result.errors.clone_from(&group.errors);
        return result;
    }
    let Some(known) = known else {
        result.asserts = 1;
        let told = format!("\"{name}\" exists in actual but not in expected output");
        result.failures.push(mismatch(FailureKind::Group, &group.place, &told));
        return result;
    };
    let (wanted, found) = (known.values.len(), group.values.len());
    if wanted != found {
        result.asserts = 1;
        let told = format!("Expected \"{name}\" to contain {wanted} examples, but found {found}");
        result.failures.push(mismatch(FailureKind::Length, &group.place, &told));
        return result;
    }
    for (position, (actual, known)) in group.values.iter().zip(&known.values).enumerate() {
        result.asserts += 1;
        if actual.text != known.text {
            let text = format!(
                "#{position}: {}\n  Expected: ({}, line {})\n{}\n  Actual: ({}, line {})\n{}",
                actual.place,
                files.uri,
                known.line,
                indented(&known.text),
                files.actual_uri,
                actual.line,
                indented(&actual.text)
            );
            result.failures.push(Failure { kind: FailureKind::Example, text });
        }
    }
    result
}

fn mismatch(kind: FailureKind, place: &str, told: &str) -> Failure {
    Failure { kind, text: format!("{place}\nOutput mismatch: {told}") }
}

fn indented(text: &str) -> String {
    text.split('\n').map(|line| format!("  {line}")).collect::<Vec<_>>().join("\n")
}
