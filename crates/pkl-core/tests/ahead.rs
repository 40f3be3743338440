//! Modules that are read ahead on a second thread: what a program sees is as if they weren't.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use pkl_core::host::{Listed, ModuleReader, ReadError};
use pkl_core::reader::Allowed;
use pkl_core::{Error, Evaluator, ModuleSource};
use pkl_data::tree::Tree;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// Modules in memory, and how often each was read: ahead, and when it was asked for.
#[derive(Clone, Default)]
struct Shelf {
    modules: Arc<BTreeMap<String, String>>,
    is_at_hand: bool,
    reads: Arc<Mutex<BTreeMap<String, [usize; 2]>>>,
}

impl Shelf {
    fn new(is_at_hand: bool, text: impl Fn(usize) -> String) -> Self {
        let modules = (0..60).map(|number| (format!("m{number:02}.pkl"), text(number))).collect();
        Self { modules: Arc::new(modules), is_at_hand, ..Self::default() }
    }

    fn find(&self, uri: &str, kind: usize) -> Option<String> {
        let name = uri.strip_prefix("shelf:/")?;
        self.reads.lock().unwrap().entry(name.to_owned()).or_default()[kind] += 1;
        self.modules.get(name).cloned()
    }

    fn evaluate(&self, expression: &str) -> Result<Tree, Error> {
        self.evaluate_where(Allowed::All, expression)
    }

    fn evaluate_where(&self, allowed: Allowed, expression: &str) -> Result<Tree, Error> {
        let evaluator = Evaluator::builder().module_reader(self.clone()).allowed_modules(allowed).build();
        let text = "local all = import*(\"*.pkl\")\n".to_owned();
        let module = ModuleSource::Text { uri: "shelf:/main.pkl".to_owned(), text };
        evaluator.evaluate_expression(&module, expression)
    }

    fn most_reads_of_one(&self) -> usize {
        self.reads.lock().unwrap().values().map(|[ahead, asked]| ahead + asked).max().unwrap_or(0)
    }
}

impl ModuleReader for Shelf {
    fn scheme(&self) -> &'static str {
        "shelf"
    }

    fn read(&self, uri: &str) -> Result<String, ReadError> {
        self.find(uri, 1).ok_or(ReadError::NotFound)
    }

    fn read_ahead(&self, uri: &str, _longest: usize) -> Option<String> {
        if self.is_at_hand { self.find(uri, 0) } else { None }
    }

    fn list(&self, _uri: &str) -> Result<Vec<Listed>, ReadError> {
        let listed = |name: &String| Listed { name: name.clone(), is_directory: false };
        Ok(self.modules.keys().map(listed).collect())
    }
}

const SUM: &str = "all.toMap().values.fold(0, (sum, it) -> sum + it.number)";

#[test]
fn all_modules_of_a_pattern_are_read_once() {
    for is_at_hand in [true, false] {
        let shelf = Shelf::new(is_at_hand, |number| format!("number = {number}"));
        assert_eq!(shelf.evaluate(SUM).unwrap(), Tree::Int((0..60).sum()));
        assert_eq!(shelf.reads.lock().unwrap().len(), 60);
        assert_eq!(shelf.most_reads_of_one(), 1);
    }
}

#[test]
fn the_first_module_that_is_wrong_is_told_of() {
    let shelf = Shelf::new(true, |number| match number {
        20.. => "number = ".to_owned(),
        _ => format!("number = {number}"),
    });
    for _ in 0..20 {
        let error = shelf.evaluate(SUM).unwrap_err();
        assert_eq!(&*error.trace[0].place.uri, "shelf:/m20.pkl");
        assert_eq!(error.message, "Unexpected end of file.");
    }
}

#[test]
fn a_module_that_is_wrong_and_not_asked_for_does_no_harm() {
    let shelf = Shelf::new(true, |number| match number {
        9.. => "}".to_owned(),
        _ => format!("number = {number}"),
    });
    let some = "List(0, 1, 2, 3, 4, 5, 6, 7, 8).map((it) -> all[\"m0\\(it).pkl\"].number).last";
    assert_eq!(shelf.evaluate(some).unwrap(), Tree::Int(8));
}

#[test]
fn a_module_that_may_not_be_loaded_is_not_read() {
    let shelf = Shelf::new(true, |number| format!("number = {number}"));
    let allowed = Allowed::patterns(["shelf:/(main|m[0-3])", "pkl:", "repl:"]).unwrap();
    let error = shelf.evaluate_where(allowed, SUM).unwrap_err();
    assert!(error.message.contains("Refusing to load module `shelf:/m40.pkl`"), "{error}");
    assert!(shelf.reads.lock().unwrap().keys().all(|name| &**name < "m40.pkl"));
}
