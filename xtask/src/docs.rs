//! Documents that are generated from the code, so that they cannot say something else.

use crate::{TaskError, protocol, root, wire};
use formwork_model::{Catalog as _, ImmutableRule, Json, Kind, PropertySchema, TypeRules};
use formwork_platform::{Platform, rest_routes};
use std::fmt::Write as _;
use std::fs;

/// Writes all generated documents.
pub(crate) fn write() -> Result<(), TaskError> {
    for (path, text) in generated()? {
        let full = root().join(&path);
        if let Some(directory) = full.parent() {
            fs::create_dir_all(directory).map_err(|source| TaskError::File { path: path.clone(), source })?;
        }
        fs::write(&full, text).map_err(|source| TaskError::File { path, source })?;
    }
    Ok(())
}

/// Whether all generated documents are what the code says.
pub(crate) fn check() -> Result<(), TaskError> {
    let stale: Vec<_> = generated()?
        .into_iter()
        .filter(|(path, text)| fs::read_to_string(root().join(path)).ok().as_deref() != Some(text))
        .map(|(path, _)| path)
        .collect();
    if stale.is_empty() { Ok(()) } else { Err(TaskError::Stale(stale)) }
}

fn generated() -> Result<Vec<(String, String)>, TaskError> {
    let catalog = Platform::catalog();
    let mut files = vec![
        ("docs/reference/environment.md".to_owned(), formwork_config::reference_page()),
        ("crates/server/openapi.json".to_owned(), format!("{:#}\n", formwork_server::openapi_document())),
    ];
    let mut index = String::from(
        "# Resource types\n\nGenerated from the code (`cargo xtask docs`).\n\n| type | what it is |\n|---|---|\n",
    );
    for name in catalog.names() {
        let Some(rules) = catalog.get(&name) else { continue };
        let _ = writeln!(index, "| [`{name}`]({name}.md) | {} |", cell(&rules.schema().doc));
        files.push((format!("docs/reference/types/{name}.md"), type_page(&*rules)));
    }
    files.push(("docs/reference/types/README.md".to_owned(), index));
    files.push(protocol::page()?);
    files.push(wire::generated()?);
    Ok(files)
}

fn type_page(rules: &dyn TypeRules) -> String {
    let schema = rules.schema();
    let name = &schema.type_name;
    let mut page = format!(
        "# `{name}`\n\n{}\n\n| property | type | required | notes |\n|---|---|---|---|\n",
        schema.doc
    );
    for (property, definition) in &schema.properties {
        let required =
            if definition.hint.required || definition.hint.required_on_create { "yes" } else { "" };
        let _ =
            writeln!(page, "| `{property}` | {} | {required} | {} |", kind(definition), notes(definition));
    }
    let capabilities = rules.capabilities();
    page.push_str("\nEvery value may be an expression.\n");
    if schema.properties.values().any(|property| property.hint.create_only) {
        let what = match &capabilities.on_immutable {
            ImmutableRule::Refuse { .. } => "is refused",
            ImmutableRule::Replace => {
                "replaces the resource: a new one is created, then the old one is deleted"
            }
            ImmutableRule::ReplaceDeleteFirst => {
                "replaces the resource: the old one is deleted, then a new one is created"
            }
        };
        let _ = writeln!(page, "\nA change of an immutable property {what}. The plan shows it.");
    }
    if let Some(iam) = &capabilities.iam {
        let update = iam.update.as_deref().unwrap_or("none");
        let _ = writeln!(
            page,
            "\n## Permissions\n\nCreate `{}`, update `{update}`, delete `{}`; SRN type `{}`.",
            iam.create, iam.delete, iam.srn_type
        );
    }
    if let Some(route) = rest_routes().iter().find(|route| name.as_str() == route.type_name) {
        let _ = writeln!(
            page,
            "\n## Routes\n\n`POST` and `GET /api/v1{0}`; `GET`,{2} and `DELETE /api/v1{0}/{{{1}}}`. The [OpenAPI document](../../../crates/server/openapi.json) has the details.",
            route.path,
            route.id_param,
            if route.update.is_some() { " update" } else { "" }
        );
    }
    page
}

fn kind(property: &PropertySchema) -> String {
    let kind = match property.kind {
        Kind::String => "string",
        Kind::Boolean => "boolean",
        Kind::Integer => "integer",
        Kind::Number => "number",
        Kind::Array => "array",
        Kind::Object => "object",
        Kind::Any => "any",
    };
    if property.nullable { format!("{kind} or null") } else { kind.to_owned() }
}

fn notes(property: &PropertySchema) -> String {
    let mut notes = vec![cell(&property.doc)];
    if !property.allowed.is_empty() {
        let allowed: Vec<_> = property.allowed.iter().map(|value| format!("`{}`", plain(value))).collect();
        notes.push(format!("One of {}.", allowed.join(", ")));
    }
    if !property.refers_to.is_empty() {
        let types: Vec<_> = property.refers_to.iter().map(|name| format!("`{name}`")).collect();
        notes.push(format!("Refers to {}.", types.join(", ")));
    }
    if let Some(default) = &property.default {
        notes.push(format!("Default `{}`.", plain(default)));
    }
    if property.hint.create_only {
        notes.push("Immutable.".to_owned());
    }
    if property.hint.write_only {
        notes.push("Write-only, secret.".to_owned());
    }
    notes.retain(|note| !note.is_empty());
    notes.join(" ")
}

fn plain(value: &Json) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}
