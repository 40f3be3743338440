//! The session API: values as handles, places, and the collecting export.

use pkl_core::reader::Allowed;
use pkl_core::{Error, Evaluator, ModuleSource, Session};
use pkl_data::tree::{ClassName, Tree};

fn with<T: Send>(text: &str, work: impl FnOnce(&mut Session<'_, '_>) -> Result<T, Error> + Send) -> T {
    let module = ModuleSource::Text { uri: "file:///birds.pkl".to_owned(), text: text.to_owned() };
    Evaluator::builder().build().session(&module, work).expect("the program is right")
}

#[test]
fn properties_are_read_one_by_one() {
    let name = with("bird { name = \"Dodo\"; bad = throw(\"never read\") }", |session| {
        let bird = session.property(session.module(), "bird")?;
        let name = session.property(bird, "name")?;
        assert!(session.find_property(bird, "nothing")?.is_none());
        session.export(name)
    });
    assert_eq!(name, Tree::string("Dodo"));
}

#[test]
fn an_error_leaves_the_session_usable() {
    let value = with("a = throw(\"no\")\nb = 2", |session| {
        let module = session.module();
        assert_eq!(session.property(module, "a").expect_err("it throws").message, "no");
        assert_eq!(session.property(module, "a").expect_err("it throws again").message, "no");
        let b = session.property(module, "b")?;
        session.export(b)
    });
    assert_eq!(value, Tree::Int(2));
}

#[test]
fn classes_are_named_with_their_module() {
    let classes = with("class Bird\na = new Bird {}\nb = 1", |session| {
        let (a, b) = (session.property(session.module(), "a")?, session.property(session.module(), "b")?);
        Ok((session.class_of(a)?, session.class_of(b)?, session.class_of(session.module())?))
    });
    assert_eq!(classes.0, ClassName::new("birds", "Bird"));
    assert_eq!(classes.1, ClassName::new("pkl.base", "Int"));
    assert_eq!(classes.2, ClassName::module("birds"));
}

#[test]
fn functions_and_methods_are_called() {
    let value = with("add = (a, b) -> a + b\nfunction twice(x) = x + x", |session| {
        let add = session.property(session.module(), "add")?;
        let (a, b) = (session.string("a"), session.string("b"));
        let sum = session.call(add, &[a, b])?;
        let twice = session.call_method(session.module(), "twice", &[sum])?;
        session.export(twice)
    });
    assert_eq!(value, Tree::string("abab"));
}

#[test]
fn a_place_is_that_of_the_last_amendment() {
    let program = "class Bird {\n  name = \"a\"\n  age = 1\n}\nfirst = new Bird {\n  name = \"b\"\n}\nlast = (first) {\n  name = \"c\"\n}";
    let (name, age) = with(program, |session| {
        let last = session.property(session.module(), "last")?;
        Ok((session.place(last, "name"), session.place(last, "age")))
    });
    let name = name.expect("the name has a place");
    assert_eq!(name.place.line, 9);
    assert_eq!(name.overridden.iter().map(|place| place.line).collect::<Vec<_>>(), [6, 2]);
    assert_eq!(age.expect("the age has a place").place.line, 3);
}

#[test]
fn a_collecting_export_goes_on_after_an_error() {
    let tree = with("a = 1\nb {\n  c = throw(\"no\")\n  d = 2\n}", |session| {
        let module = session.module();
        session.export_collecting(module)
    });
    let Tree::Typed(module) = tree else { panic!("a module is an object") };
    let Some(Tree::Dynamic(members)) = module.property("b") else { panic!("b is an object") };
    let Tree::Error(error) = members[0].value() else { panic!("c failed") };
    assert_eq!((&*error.code, &*error.message), ("thrown", "no"));
    assert_eq!(error.place.as_ref().map(|place| place.line), Some(3));
    assert_eq!(members[1].value(), &Tree::Int(2));
}

/// A network in which there is one host.
struct Web;

impl pkl_core::host::ModuleReader for Web {
    fn scheme(&self) -> &'static str {
        "https"
    }

    fn read(&self, uri: &str) -> Result<String, pkl_core::host::ReadError> {
        match uri {
            "https://example.com/birds/dodo.pkl" => {
                Ok("import \"name.pkl\" as other\nname = other.value".to_owned())
            }
            "https://example.com/birds/name.pkl" => Ok("value = \"Dodo\"".to_owned()),
            _ => Err(pkl_core::host::ReadError::NotFound),
        }
    }
}

#[test]
fn a_host_may_give_a_client_for_the_network() {
    let module = ModuleSource::text("bird = import(\"https://example.com/birds/dodo.pkl\").name");
    let read = |evaluator: Evaluator| evaluator.evaluate_expression(&module, "bird");
    assert_eq!(
        read(Evaluator::builder().module_reader(Web).build()).expect("it is there"),
        Tree::string("Dodo")
    );
    let without = read(Evaluator::builder().build()).expect_err("there is no network");
    assert_eq!(without.code, pkl_core::ErrorCode::NotFound);
    let allowed = Allowed::patterns(["repl:", r"https://[^/]+/birds/d"]).expect("patterns");
    let confined = read(Evaluator::builder().module_reader(Web).allowed_modules(allowed).build());
    assert_eq!(confined.expect_err("the second module isn't allowed").code, pkl_core::ErrorCode::NotAllowed);
}

#[test]
fn a_module_given_as_text_must_be_allowed_too() {
    let allowed = Allowed::patterns(["file:"]).expect("a pattern");
    let evaluator = Evaluator::builder().allowed_modules(allowed).build();
    let error = evaluator.output_text(&ModuleSource::text("x = 1")).expect_err("it isn't allowed");
    assert_eq!(error.code, pkl_core::ErrorCode::NotAllowed);
}

#[test]
fn files_are_in_the_order_of_the_program() {
    let module = ModuleSource::text(
        "output { files { [\"z\"] { text = \"1\" }; [\"a/b\"] { text = \"2\" }; [\"m\"] { text = \"3\" } } }",
    );
    let files = Evaluator::builder().build().output_files(&module).expect("the program is right");
    let paths: Vec<&str> = files.iter().map(|(path, _)| path.as_str()).collect();
    assert_eq!(paths, ["z", "a/b", "m"]);
}

#[test]
fn an_evaluator_that_ends_drops_its_readers() {
    struct Held(std::sync::Arc<()>);

    impl pkl_core::host::ModuleReader for Held {
        fn scheme(&self) -> &'static str {
            "held"
        }

        fn read(&self, _uri: &str) -> Result<String, pkl_core::host::ReadError> {
            Ok(format!("count = {}", std::sync::Arc::strong_count(&self.0)))
        }
    }

    let held = std::sync::Arc::new(());
    let evaluator = Evaluator::builder().module_reader(Held(std::sync::Arc::clone(&held))).build();
    let value = evaluator.evaluate_expression(&ModuleSource::Uri("held:it".to_owned()), "count");
    assert_eq!(value.expect("it is well formed"), Tree::Int(2));
    evaluator.end();
    assert_eq!(std::sync::Arc::strong_count(&held), 1);
}
