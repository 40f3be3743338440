//! What is wrong with a manifest: each field by itself, whose rules are those of the module that it amends.

use super::{Mistake, Root};
use crate::installed::MANIFEST;
use crate::pkl;
use formwork_forma::package;
use pkl_core::{Evaluator, Handle, ModuleSource, Session};
use pkl_project::Version;
use std::collections::BTreeSet;
use std::path::Path;

/// The fields that hold one text.
const TEXTS: [&str; 9] = [
    "name",
    "type",
    "version",
    "namespace",
    "license",
    "minFormaeVersion",
    "summary",
    "description",
    "category",
];

/// Checks the manifest of a plugin; answers its namespace, if that can be told.
pub(super) fn check(root: &Root, mistakes: &mut BTreeSet<Mistake>) -> Option<String> {
    let path = root.directory.join(MANIFEST);
    if !path.is_file() {
        mistakes.insert(Mistake::of_file(MANIFEST, "the manifest is missing"));
        return None;
    }
    let module = match ModuleSource::file(&path) {
        Ok(module) => module,
        Err(error) => {
            mistakes.insert(Mistake::of_file(MANIFEST, error.to_string()));
            return None;
        }
    };
    let evaluator: Evaluator = pkl::evaluator(&root.directory);
    let read = evaluator.session(&module, |session| Ok(Fields::read(root, session, mistakes)));
    match read {
        Ok(fields) => fields.judge(root, mistakes),
        Err(error) => {
            mistakes.insert(root.mistake(MANIFEST, &error));
            None
        }
    }
}

/// The texts that could be read, with their places.
#[derive(Default)]
struct Fields(Vec<Field>);

struct Field {
    name: &'static str,
    value: Option<String>,
    /// Line and column, if the manifest says it.
    place: Option<(u32, u32)>,
}

impl Fields {
    fn read(root: &Root, session: &mut Session<'_, '_>, mistakes: &mut BTreeSet<Mistake>) -> Self {
        let module = session.module();
        let mut fields = Self::default();
        if session.find_property(module, "minFormaeVersion").is_ok_and(|found| found.is_none()) {
            let message = "the manifest must amend `@formae/plugin-manifest.pkl`";
            mistakes.insert(Mistake::of_file(MANIFEST, message));
            return fields;
        }
        for name in TEXTS {
            match text(session, module, name) {
                Ok(value) => {
                    let place = session.place(module, name).and_then(|places| {
                        let place = places.place;
                        (root.file(&place.uri)? == MANIFEST).then_some((place.line, place.column))
                    });
                    fields.0.push(Field { name, value, place });
                }
                Err(error) => {
                    mistakes.insert(wrong(root, name, &error));
                }
            }
        }
        if let Err(error) = session.property(module, "namespaces").and_then(|value| session.export(value)) {
            mistakes.insert(wrong(root, "namespaces", &error));
        }
        fields
    }

    fn field(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|field| field.name == name)?.value.as_deref()
    }

    /// What the fields say together, and where the plugin is.
    fn judge(self, root: &Root, mistakes: &mut BTreeSet<Mistake>) -> Option<String> {
        let mut wrong = |name: &str, message: String| {
            let place = self.0.iter().find(|field| field.name == name).and_then(|field| field.place);
            mistakes.insert(Mistake { place, ..Mistake::of_file(MANIFEST, message) });
        };
        if let Some(kind) = self.field("type").filter(|kind| *kind != "resource") {
            wrong("type", format!("a plugin of the type `{kind}` has no resource types"));
        }
        if let Some((name, version)) = installed(&root.directory) {
            for (field, found) in [("name", name), ("version", version)] {
                if let Some(said) = self.field(field).filter(|said| *said != found) {
                    let message = format!("the {field} is `{said}`, but its directory says `{found}`");
                    wrong(field, message);
                }
            }
        }
        let needed = self.field("minFormaeVersion");
        let parsed = needed.and_then(Version::parse).zip(Version::parse(package::VERSION));
        if let (Some(needed), Some((least, spoken))) = (needed, parsed)
            && least.precedence(&spoken).is_gt()
        {
            let message =
                format!("it needs formae {needed} or newer, and this program speaks {}", package::VERSION);
            wrong("minFormaeVersion", message);
        }
        self.field("namespace").map(str::to_owned)
    }
}

/// What is wrong with a field. One that must be there and isn't has no place of its own.
fn wrong(root: &Root, field: &str, error: &pkl_core::Error) -> Mistake {
    let mistake = root.mistake(MANIFEST, error);
    let message = match mistake.place {
        None => format!("`{field}` is missing"),
        Some(_) => format!("`{field}`: {}", mistake.message),
    };
    Mistake { message, ..mistake }
}

fn text(
    session: &mut Session<'_, '_>,
    module: Handle,
    name: &str,
) -> Result<Option<String>, pkl_core::Error> {
    let value = session.property(module, name)?;
    let tree = session.export(value)?;
    // The module's types let no other values be.
    Ok(pkl_core::from_tree(&tree).unwrap_or_default())
}

/// Name and version as the path of an installed plugin has them: `…/<name>/v<version>`.
fn installed(directory: &Path) -> Option<(&str, &str)> {
    let version = directory.file_name()?.to_str()?.strip_prefix('v')?;
    Version::parse(version)?;
    Some((directory.parent()?.file_name()?.to_str()?, version))
}
