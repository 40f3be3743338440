//! Terraform's variables as a resource: `tfvars:<path>` is the JSON of a file's variables.

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use hcl::expr::{Operation, TemplateExpr, UnaryOperator};
use hcl::template::Element;
use hcl::{Expression, Number, Structure, Template};
use pkl_core::ErrorCode;
use pkl_core::host::{ReadError, Resource, ResourceReader};
use pkl_core::reader::percent_decode;
use serde_json::{Map, Value};

/// The scheme of the variables.
pub const SCHEME: &str = "tfvars";

/// The longest file that is read, in bytes.
const LONGEST: u64 = 4 << 20;
/// How deep values may nest.
const DEEPEST: usize = 100;

/// Reads variables from the files below a directory.
#[derive(Clone, Debug)]
pub struct TfvarsReader {
    directory: PathBuf,
}

impl TfvarsReader {
    /// Paths are seen from this directory, and must not lead out of it.
    pub fn new(directory: impl Into<PathBuf>) -> Self {
        Self { directory: directory.into() }
    }

    /// A file's text.
    fn text(&self, path: &Path) -> Result<String, ReadError> {
        let failed = |error: io::Error| match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => ReadError::NotFound,
            _ => ReadError::Failed(error.to_string()),
        };
        let root = self.directory.canonicalize().map_err(failed)?;
        let real = root.join(path).canonicalize().map_err(failed)?;
        if !real.starts_with(&root) {
            return Err(ReadError::OutsideRoot);
        }
        if fs::metadata(&real).map_err(failed)?.len() > LONGEST {
            return Err(refused(path, &format!("it is longer than {LONGEST} bytes")));
        }
        fs::read_to_string(real).map_err(failed)
    }
}

impl ResourceReader for TfvarsReader {
    fn scheme(&self) -> &'static str {
        SCHEME
    }

    fn is_hierarchical(&self) -> bool {
        false
    }

    fn read(&self, uri: &str) -> Result<Option<Resource>, ReadError> {
        let path = PathBuf::from(percent_decode(uri.strip_prefix("tfvars:").unwrap_or(uri)));
        if path.extension().is_none_or(|extension| extension != "tfvars") {
            return Err(ReadError::InvalidUri("Only files that end with `.tfvars` are read.".to_owned()));
        }
        let is_inside = |part| matches!(part, Component::Normal(_) | Component::CurDir);
        if !path.components().all(is_inside) {
            return Err(ReadError::InvalidUri(
                "A path of variables is seen from the project's directory, and must not lead out of it."
                    .to_owned(),
            ));
        }
        let text = match self.text(&path) {
            Ok(text) => text,
            Err(ReadError::NotFound) => return Ok(None),
            Err(error) => return Err(error),
        };
        let variables = variables(&text).map_err(|reason| refused(&path, &reason))?;
        Ok(Some(Resource::Bytes(Value::Object(variables).to_string().into_bytes().into())))
    }
}

fn refused(path: &Path, reason: &str) -> ReadError {
    let message = format!("Cannot read the variables of `{}`: {reason}.", path.display());
    ReadError::Told { code: ErrorCode::Parse, message, hint: None }
}

/// The variables that a text sets.
fn variables(text: &str) -> Result<Map<String, Value>, String> {
    if is_too_deep(text) {
        return Err(format!("values are nested more than {DEEPEST} deep"));
    }
    let body = hcl::parse(text).map_err(|error| error.to_string().trim_end().to_owned())?;
    let mut variables = Map::new();
    for structure in body {
        let attribute = match structure {
            Structure::Attribute(attribute) => attribute,
            Structure::Block(block) => {
                return Err(format!("`{}` is a block, not a variable", block.identifier()));
            }
        };
        let name = attribute.key().to_owned();
        let value =
            literal(attribute.expr()).map_err(|what| format!("`{name}` has {what}, not a literal"))?;
        if variables.insert(name.clone(), value).is_some() {
            return Err(format!("`{name}` is set twice"));
        }
    }
    Ok(variables)
}

/// Whether brackets outside of quotes nest too deeply for a parser that calls itself.
fn is_too_deep(text: &str) -> bool {
    let (mut depth, mut is_quoted, mut is_escaped) = (0_usize, false, false);
    for byte in text.bytes() {
        match byte {
            _ if std::mem::take(&mut is_escaped) => {}
            b'\\' if is_quoted => is_escaped = true,
            b'"' => is_quoted = !is_quoted,
            // A text doesn't go on in the next line, and within it only what is refused anyway nests.
            b'\n' => is_quoted = false,
            b'[' | b'{' | b'(' => depth += 1,
            b']' | b'}' | b')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > DEEPEST {
            return true;
        }
    }
    false
}

/// The value of a literal, or what else it is.
fn literal(expression: &Expression) -> Result<Value, &'static str> {
    Ok(match expression {
        Expression::Null => Value::Null,
        Expression::Bool(value) => Value::Bool(*value),
        Expression::Number(number) => numeral(number)?,
        Expression::String(text) => Value::String(text.clone()),
        Expression::TemplateExpr(template) => Value::String(text(template)?),
        Expression::Array(items) => Value::Array(items.iter().map(literal).collect::<Result<_, _>>()?),
        Expression::Object(entries) => {
            let mut object = Map::new();
            for (key, value) in entries {
                let key = match key {
                    hcl::ObjectKey::Identifier(name) => name.to_string(),
                    hcl::ObjectKey::Expression(key) => match literal(key)? {
                        Value::String(key) => key,
                        other @ (Value::Number(_) | Value::Bool(_)) => other.to_string(),
                        _ => return Err("a key that is no text"),
                    },
                    _ => return Err("a key of another kind"),
                };
                object.insert(key, literal(value)?);
            }
            Value::Object(object)
        }
        Expression::Parenthesis(inner) => literal(inner)?,
        Expression::Operation(operation) => match &**operation {
            Operation::Unary(unary) if unary.operator == UnaryOperator::Neg => match &unary.expr {
                Expression::Number(number) => numeral(&-*number)?,
                _ => return Err("an operation"),
            },
            _ => return Err("an operation"),
        },
        Expression::Variable(_) | Expression::Traversal(_) => return Err("a reference"),
        Expression::FuncCall(_) => return Err("a call"),
        Expression::Conditional(_) => return Err("a condition"),
        Expression::ForExpr(_) => return Err("a `for`"),
        _ => return Err("an expression of another kind"),
    })
}

fn numeral(number: &Number) -> Result<Value, &'static str> {
    let whole = number.as_i64().map(Value::from).or_else(|| number.as_u64().map(Value::from));
    let float = || number.as_f64().and_then(serde_json::Number::from_f64).map(Value::Number);
    whole.or_else(float).ok_or("a number that is none")
}

/// A text in which nothing is filled in.
fn text(template: &TemplateExpr) -> Result<String, &'static str> {
    let template = Template::from_expr(template).map_err(|_| "a template that is not well formed")?;
    let part = |element: &Element| match element {
        Element::Literal(text) => Ok(text.clone()),
        _ => Err("a template"),
    };
    template.elements().iter().map(part).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use serde_json::json;

    fn read(text: &str) -> Value {
        Value::Object(variables(text).unwrap())
    }

    #[test]
    fn literals_are_read() {
        let text = "# c\nname = \"wren \\\"1\\\" $${x}\" // c\ncount=3\nratio = -2.5\non = true\nnone = null\n\
                    list = [1, \"a\", [true],]\nmap = {\n  a = 1\n  \"b c\" : { d = \"e\" }\n}\n\
                    text = <<-EOT\n    one\n      two\n    EOT\nbig = 1e3\n/* end */\n";
        assert_eq!(
            read(text),
            json!({
                "name": "wren \"1\" ${x}", "count": 3, "ratio": -2.5, "on": true, "none": null,
                "list": [1, "a", [true]], "map": { "a": 1, "b c": { "d": "e" } },
                "text": "one\n  two\n", "big": 1000
            })
        );
        assert_eq!(read(""), json!({}));
    }

    #[test]
    fn what_is_no_literal_is_refused_with_its_variable() {
        for (text, told) in [
            ("a = var.b", "`a` has a reference, not a literal"),
            ("a = upper(\"b\")", "`a` has a call, not a literal"),
            ("a = \"x ${b}\"", "`a` has a template, not a literal"),
            ("a = [1 + 2]", "`a` has an operation, not a literal"),
            ("a = true ? 1 : 2", "`a` has a condition, not a literal"),
            ("b \"c\" {}", "`b` is a block, not a variable"),
        ] {
            assert_eq!(variables(text).unwrap_err(), told, "{text}");
        }
        assert!(variables("a = ").is_err() && variables("= 1").is_err());
        assert!(variables("a = 1\na = 2").is_err());
        let deep = format!("a = {}{}", "[".repeat(100_000), "]".repeat(100_000));
        assert_eq!(variables(&deep).unwrap_err(), "values are nested more than 100 deep");
    }

    #[test]
    fn files_are_read_below_the_directory_only() {
        let directory = tempfile::tempdir().unwrap();
        let project = directory.path().join("project");
        fs::create_dir(&project).unwrap();
        fs::write(project.join("a b.tfvars"), "x = 1").unwrap();
        fs::write(project.join("a.txt"), "x = 1").unwrap();
        fs::write(directory.path().join("secret.tfvars"), "x = 1").unwrap();
        std::os::unix::fs::symlink("../secret.tfvars", project.join("link.tfvars")).unwrap();
        let reader = TfvarsReader::new(&project);
        let Some(Resource::Bytes(bytes)) = reader.read("tfvars:a%20b.tfvars").unwrap() else {
            panic!("no bytes")
        };
        assert_eq!(&*bytes, br#"{"x":1}"#);
        assert_eq!(reader.read("tfvars:missing.tfvars"), Ok(None));
        assert_eq!(reader.read("tfvars:link.tfvars"), Err(ReadError::OutsideRoot));
        for uri in ["tfvars:a.txt", "tfvars:../secret.tfvars", "tfvars:/etc/x.tfvars", "tfvars:"] {
            assert!(matches!(reader.read(uri), Err(ReadError::InvalidUri(_))), "{uri}");
        }
    }
}
