//! The target of a resource: where the object lives, as another resource of the template.

use super::{Checker, Labels};
use crate::check::properties::TypeInfo;
use crate::item::Item;
use formwork_model::{Diagnostic, DiagnosticCode, Json, Label, Path, TARGET_TYPE};

impl Checker<'_> {
    /// Checks the `target` of a resource: it must be there where the type lives at targets, must not
    /// be there where it doesn't, and must be one of the type's namespace.
    pub(super) fn target(
        &mut self,
        resource: Item<'_>,
        declared: Option<Item<'_>>,
        path: &Path,
        labels: &Labels,
        info: Option<&TypeInfo>,
    ) -> Option<(Label, Path)> {
        let path = path.key("target");
        let namespace = info.map(|info| info.rules.target_namespace());
        let Some(declared) = declared else {
            if let (Some(info), Some(Some(namespace))) = (info, namespace) {
                let message = format!("{} lives at a target, and none is named", info.sentence_title());
                let mut error = Diagnostic::error(DiagnosticCode::MissingProperty, path, message);
                error.hint = Some(in_words(&of_namespace(labels, namespace), namespace));
                self.report.push(resource.key_span(), error);
            }
            return None;
        };
        if let (Some(info), Some(None)) = (info, namespace) {
            let message = format!("{} has no target: it lives in one place only", info.sentence_title());
            self.error(declared.key_span(), DiagnosticCode::UnknownKey, path, message);
            return None;
        }
        let Some(name) = declared.value.as_str() else {
            let message = "`target` must be a string: the logical id of a target";
            self.error(declared.span(), DiagnosticCode::WrongType, path, message);
            return None;
        };
        let problem = match labels.get(name) {
            None => Some(format!("target references unknown resource '{name}'")),
            Some(other) if type_of(other) != Some(TARGET_TYPE) => {
                Some(format!("'{name}' is no target: its type is not `{TARGET_TYPE}`"))
            }
            Some(other) => match (namespace_of(other), namespace.flatten()) {
                (Some(theirs), Some(ours)) if theirs != ours => {
                    Some(format!("'{name}' is a target of `{theirs}`, not of `{ours}`"))
                }
                _ => None,
            },
        };
        let Some(message) = problem else { return Some((name.into(), path)) };
        let candidates: Vec<&str> = match namespace.flatten() {
            Some(namespace) => of_namespace(labels, namespace),
            None => targets(labels).map(|(name, _)| name).collect(),
        };
        let mut error = Diagnostic::error(DiagnosticCode::UnknownReference, path, message);
        error.hint = self.suggest.hint(name, candidates.iter().copied());
        self.report.push(declared.span(), error);
        None
    }
}

fn type_of(declaration: &Json) -> Option<&str> {
    declaration.get("type")?.as_str()
}

/// The namespace of a target, if the template says it outright.
fn namespace_of(declaration: &Json) -> Option<&str> {
    declaration.get("properties")?.get("namespace")?.as_str()
}

fn targets(labels: &Labels) -> impl Iterator<Item = (&str, &Json)> {
    let is_target = |(_, declaration): &(&str, &Json)| type_of(declaration) == Some(TARGET_TYPE);
    labels.iter().map(|(name, declaration)| (name.as_str(), declaration)).filter(is_target)
}

/// The targets of a namespace, and those of which the template doesn't say it outright.
fn of_namespace<'a>(labels: &'a Labels, namespace: &str) -> Vec<&'a str> {
    let fits = |declaration| namespace_of(declaration).is_none_or(|theirs| theirs == namespace);
    targets(labels).filter(|(_, declaration)| fits(*declaration)).map(|(name, _)| name).collect()
}

fn in_words(targets: &[&str], namespace: &str) -> String {
    match targets {
        [] => format!(
            "declare one: `type: {TARGET_TYPE}`, with `namespace: {namespace}` and its `config` as properties"
        ),
        names => format!("name it with `target`: {}", names.join(", ")),
    }
}
