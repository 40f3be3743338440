//! What handlers of custom types say of a declaration before anything is planned (seed 4, "What
//! each optional capability buys").

use crate::{Control, ControlError, Principal};
use formwork_handler::Known;
use formwork_model::{
    Catalog as _, Desired, Diagnostic, DiagnosticCode, Diagnostics, Expr, ExprLeaf, Json, Path,
    ResourceDesired, Schema, Secret, WireCode,
};
use formwork_plugin::{PluginError, PropertyProblem, ResourcePlugin, ValidateRequest};
use formwork_secret::Redactor;
use futures_util::stream::{self, StreamExt as _};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

/// How many handlers are asked side by side.
const PARALLEL: usize = 8;
/// The longest message of a handler that is shown, in characters.
const LONGEST_MESSAGE: usize = 2048;

impl Control {
    /// Asks the handlers of those types that have the capability `validate`, when it is the
    /// principal's turn. Only for a declaration that is valid as far as it can be told here, and for
    /// somebody who may have it checked. The first handler that can't say ends it.
    ///
    /// # Errors
    /// `FORMATION_HANDLER_FAILED`: a handler could not say; `RATE_LIMITED`.
    pub(crate) async fn ask_handlers(
        &self,
        p: &Principal,
        desired: &Desired,
    ) -> Result<Diagnostics, ControlError> {
        let mut questions = Vec::new();
        let mut calls = Vec::new();
        for resource in desired.stacks.iter().flat_map(|stack| &stack.resources) {
            let Some((question, call)) = self.question(resource) else { continue };
            questions.push(question);
            calls.push(call);
        }
        let mut all = Diagnostics::default();
        if questions.is_empty() {
            return Ok(all);
        }
        let visit = Arc::new(self.turns.enter(&p.owner)?);
        let mut answers: Vec<Answer> = Vec::with_capacity(calls.len());
        for Call { plugin, request } in calls {
            let visit = Arc::clone(&visit);
            answers.push(Box::pin(async move { visit.call(plugin.validate(request)).await }));
        }
        // In the order of the declaration, whoever answers first.
        let mut answers = stream::iter(answers).buffered(PARALLEL);
        let mut questions = questions.iter();
        while let (Some(answer), Some(question)) = (answers.next().await, questions.next()) {
            all.extend(question.diagnostics(answer)?);
        }
        all.locate(|diagnostic| desired.source_map.place(&diagnostic.path));
        Ok(all)
    }

    /// What there is to ask about a resource, and whom; `None` if nobody is asked.
    fn question<'r>(&self, resource: &'r ResourceDesired) -> Option<(Question<'r>, Call)> {
        let rules = self.catalog.get(&resource.type_name)?;
        if !rules.capabilities().validate {
            return None;
        }
        let plugin = self.registry.plugin(&resource.type_name)?;
        let redactor = secrets_of(&resource.properties, rules.schema());
        let (properties, left_out) = Known::of(&resource.properties).without_unknown();
        let request = ValidateRequest {
            resource_type: resource.type_name.clone(),
            label: resource.label.clone(),
            properties,
        };
        Some((Question { resource, left_out, redactor }, Call { plugin, request }))
    }
}

/// A call to a handler that is yet to be made.
struct Call {
    plugin: Arc<dyn ResourcePlugin>,
    request: ValidateRequest,
}

/// What a handler will say.
type Answer = Pin<Box<dyn Future<Output = Result<Vec<PropertyProblem>, PluginError>> + Send>>;

/// A question to a handler.
struct Question<'r> {
    resource: &'r ResourceDesired,
    /// What it was not told, since it is not known yet.
    left_out: Vec<Path>,
    redactor: Redactor,
}

impl Question<'_> {
    fn diagnostics(
        &self,
        answer: Result<Vec<PropertyProblem>, PluginError>,
    ) -> Result<Vec<Diagnostic>, ControlError> {
        let Self { resource, left_out, redactor } = self;
        let problems = answer.map_err(|error| failed(error, resource, redactor))?;
        // What a handler says of something it was not told says nothing.
        let told = |problem: &PropertyProblem| {
            !left_out.iter().any(|path| !path.is_root() && path.contains(&problem.path))
        };
        let told = problems.into_iter().filter(told);
        Ok(told.map(|problem| diagnostic(resource, &problem, redactor)).collect())
    }
}

fn diagnostic(resource: &ResourceDesired, problem: &PropertyProblem, redactor: &Redactor) -> Diagnostic {
    let path = resource.properties_path.join(&problem.path);
    Diagnostic::error(DiagnosticCode::InvalidValue, path, shown(&problem.message, redactor))
}

fn failed(error: PluginError, resource: &ResourceDesired, redactor: &Redactor) -> ControlError {
    let message = shown(&error.to_string(), redactor);
    let (code, mut meta) = match error {
        PluginError::Failed { code, meta, .. } => (code, meta),
        _ => (WireCode::PluginUnavailable, serde_json::json!({})),
    };
    if let Some(facts) = meta.as_object_mut() {
        facts.insert("logical_id".to_owned(), resource.label.as_str().into());
    }
    ControlError::new(code, message).with_meta(meta)
}

/// A handler's words, without the secrets that it was sent.
fn shown(text: &str, redactor: &Redactor) -> String {
    let redacted = redactor.redact(text);
    match redacted.char_indices().nth(LONGEST_MESSAGE) {
        Some((cut, _)) => format!("{}…", &redacted[..cut]),
        None => redacted.into_owned(),
    }
}

/// What must not be shown of a declaration: its secrets, and what stands where credentials do.
fn secrets_of(properties: &Expr, schema: &Schema) -> Redactor {
    let mut redactor = Redactor::new();
    properties.for_each_leaf(&mut |_, leaf| {
        if let ExprLeaf::Secret(secret) = leaf {
            redactor.add_json(secret.expose());
        }
    });
    let opaque = schema.properties.iter().filter(|(_, property)| property.hint.opaque);
    for (name, _) in opaque {
        if let Some(Expr::Plain(value)) = properties.at(&Path::of([name])) {
            let value: Secret<Json> = Secret::new(value);
            redactor.add_json(value.expose());
        }
    }
    redactor
}
