//! The `ext/` modules with functions of the host: each call is made anew.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use formwork_forma::{library, package, tfvars};
use pkl_core::{Evaluator, ModuleSource};

fn evaluator() -> Evaluator {
    library::add_to(Evaluator::builder().module_reader(package::PackageReader)).build()
}

fn evaluate(text: &str, expression: &str) -> String {
    evaluator().expression_text(&ModuleSource::text(text), expression).unwrap()
}

fn error(text: &str, expression: &str) -> String {
    evaluator().expression_text(&ModuleSource::text(text), expression).unwrap_err().message
}

const IMPORTS: &str = "import \"formae:/ext/random.pkl\"\nimport \"formae:/ext/bcrypt.pkl\"\n\
                       import \"formae:/ext/crypto.pkl\"\nimport \"formae:/formae.pkl\"\n";

#[test]
fn two_calls_give_two_values_and_one_local_gives_one() {
    let text = format!(
        "{IMPORTS}local one = random.password(24, true)\n\
         calls = random.password(24, true) == random.password(24, true)\nlocals = one == one"
    );
    assert_eq!(evaluate(&text, "calls"), "false");
    assert_eq!(evaluate(&text, "locals"), "true");
}

#[test]
fn what_is_not_said_has_its_default() {
    assert_eq!(evaluate(IMPORTS, "random.password(null, false).length"), "12");
    assert_eq!(evaluate(IMPORTS, "random.id(null).toString().length"), "2");
    assert_eq!(evaluate(IMPORTS, "random.id(16).toString().length"), "16");
}

#[test]
fn a_generated_value_can_be_a_secret_that_is_set_once() {
    let value = evaluate(IMPORTS, "formae.value(random.password(24, false)).opaque.setOnce.`$strategy`");
    assert_eq!(value, "SetOnce");
}

#[test]
fn hashes_and_keys_are_made() {
    let hash = evaluate(IMPORTS, "bcrypt.hashPassword(\"a&b=ü %\")");
    assert!(bcrypt::verify("a&b=ü %", &hash).unwrap());
    let public = evaluate(IMPORTS, "crypto.keyPair(\"sec1\", null, \"384\").public");
    assert!(public.starts_with("-----BEGIN PUBLIC KEY-----"), "{public}");
    let private = evaluate(IMPORTS, "crypto.keyPair(\"sec1\", null, null).private");
    assert!(private.starts_with("-----BEGIN EC PRIVATE KEY-----"), "{private}");
}

#[test]
fn what_the_caller_can_mend_is_said_with_the_function() {
    assert_eq!(
        error(IMPORTS, "crypto.keyPair(\"pkcs1\", 512, null)"),
        "`crypto.keyPair`: the argument `bits` must be a whole number from 2048 to 8192, not `512`"
    );
    assert!(error(IMPORTS, "random.password(7, false)").contains("isBetween(8, 1024)"));
}

#[test]
fn the_package_is_read_from_the_program() {
    let text = "amends \"formae:/forma.pkl\"\nimport \"formae:/formae.pkl\"\nforma { new formae.Stack { label = \"s\" } }";
    let module = ModuleSource::text(text);
    let output = evaluator().output_text(&module).unwrap();
    assert!(output.contains("Label = \"s\""), "{output}");
}

#[test]
fn variables_of_terraform_are_an_object() {
    let directory = tempfile::tempdir().unwrap();
    let text = "region = \"eu\"\nsizes = [1, 2]\ntags = { team = \"red\" }\n";
    std::fs::write(directory.path().join("prod env.tfvars"), text).unwrap();
    let readers = Evaluator::builder().module_reader(package::PackageReader);
    let evaluator = readers.resource_reader(tfvars::TfvarsReader::new(directory.path())).build();
    let module = ModuleSource::text("import \"formae:/ext/terraform.pkl\"");
    let value = |expression| evaluator.expression_text(&module, expression);
    let whole = value("terraform.readTFVars(\"prod env.tfvars\")").unwrap();
    assert_eq!(whole, "new Dynamic { region = \"eu\"; sizes { 1; 2 }; tags { team = \"red\" } }");
    assert_eq!(value("terraform.readTFVars(\"prod env.tfvars\").tags.team").unwrap(), "red");
    let error = value("terraform.readTFVars(\"other.tfvars\")").unwrap_err();
    assert_eq!(error.message, "Cannot find resource `tfvars:other.tfvars`.");
}
