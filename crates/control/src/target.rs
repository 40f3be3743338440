//! The type `target`: where resources of plugins live, as a resource of its own.
//!
//! A target is a row like any other: it is created before what lives at it and deleted after, its
//! configuration may refer to other resources, and the secrets in it are sealed with the row. Nothing
//! is called to make one. The engine tells a plugin the `config` of the target that an object names.

use async_trait::async_trait;
use formwork_model::{
    CheckContext, Diagnostic, DiagnosticCode, Expr, ExprLeaf, ImmutableRule, Json, Kind, LookupRule, Part,
    Path, PropertySchema, Ref, RetryRule, Schema, Secret, Segment, TARGET_TYPE, TypeCapabilities, TypeRules,
    Visibility, sha256_hex,
};
use formwork_plugin::{
    CallContext, CreateRequest, DeleteRequest, Operation, PluginError, ProgressResult, ReadRequest,
    ReadResult, ResourcePlugin, UpdateRequest,
};
use std::sync::Arc;

/// Parts of the names under which configurations keep credentials.
const CREDENTIALS: [&str; 7] =
    ["password", "passwd", "secret", "token", "credential", "privatekey", "apikey"];

/// The rules of the type.
#[derive(Debug)]
pub(crate) struct TargetRules {
    schema: Arc<Schema>,
    capabilities: TypeCapabilities,
}

impl TargetRules {
    pub(crate) fn new() -> Self {
        let namespace = "The namespace of the types that may name it: the first part of their names.";
        let config = "What the plugin is told of it: endpoint and credentials, as the plugin wants them.";
        let properties = [
            ("namespace", PropertySchema::new(Kind::String, namespace).required().create_only()),
            ("config", PropertySchema::new(Kind::Object, config).required()),
        ];
        let schema = Schema {
            type_name: TARGET_TYPE.into(),
            doc: "A place where resources of plugins live.".into(),
            properties: properties.into_iter().map(|(name, property)| (name.into(), property)).collect(),
        };
        let message = "`{field}` of a target can't change: declare another target, and move its resources";
        let capabilities = TypeCapabilities {
            read: false,
            list: false,
            retry: RetryRule::Never,
            lookup: LookupRule::Token,
            on_immutable: ImmutableRule::Refuse { message: message.into() },
            ..TypeCapabilities::of_plugin()
        };
        Self { schema: Arc::new(schema), capabilities }
    }
}

impl TypeRules for TargetRules {
    fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    fn capabilities(&self) -> &TypeCapabilities {
        &self.capabilities
    }

    fn check(&self, properties: &Expr, context: &mut CheckContext<'_>) {
        let namespace = properties.at(&Path::of(["namespace"]));
        if let Some(Expr::Plain(Json::String(text))) = namespace
            && !is_namespace(&text)
        {
            context.report(&Path::of(["namespace"]), |path| {
                let message = format!("`{text}` is no namespace: a capital letter, then letters and digits");
                Diagnostic::error(DiagnosticCode::InvalidValue, path, message)
            });
        }
        properties.for_each_leaf(&mut |at, leaf| {
            if is_lost(leaf) {
                context.report(at, |path| {
                    let message = "A secret in the configuration of a target must be a value of its own, from \
                                   a parameter: what is made of other resources' secrets can't be kept";
                    Diagnostic::error(DiagnosticCode::InvalidValue, path, message)
                });
            }
        });
    }

    /// What stands under a name that says so.
    fn sensitive(&self, properties: &Expr) -> Vec<Path> {
        let mut found = Vec::new();
        if let Some(config) = properties.at(&config_path()) {
            credentials(&config, &config_path(), &mut found);
        }
        found
    }
}

fn config_path() -> Path {
    Path::of(["config"])
}

/// Where credentials stand in the clear.
fn credentials(value: &Expr, path: &Path, found: &mut Vec<Path>) {
    if let Expr::Array(_) | Expr::Plain(Json::Array(_)) = value {
        let items = (0..).map_while(|at| Some((at, value.child(&Segment::Index(at))?)));
        items.for_each(|(at, item)| credentials(&item, &path.index(at), found));
        return;
    }
    for (name, member) in value.members().into_iter().flatten() {
        let path = path.key(name.clone());
        match member.as_plain() {
            Some(Json::String(_) | Json::Number(_)) if is_credential(&name) => found.push(path),
            _ => credentials(&member, &path, found),
        }
    }
}

/// Whether a name says that a credential stands under it, however it is spelt.
fn is_credential(name: &str) -> bool {
    let letters = name.chars().filter(char::is_ascii_alphanumeric);
    let name: String = letters.map(|letter| letter.to_ascii_lowercase()).collect();
    CREDENTIALS.iter().any(|part| name.contains(part))
}

/// Whether the ledger could not keep a value sealed, so that nobody could reach the target again: a
/// secret has to be a value of its own.
fn is_lost(leaf: &ExprLeaf) -> bool {
    let opaque = |reference: &Ref| reference.visibility == Visibility::Opaque;
    match leaf {
        ExprLeaf::Ref(reference) => opaque(reference),
        ExprLeaf::Template(parts) => parts.iter().any(|part| match part {
            Part::Text(_) => false,
            Part::Ref(reference) => opaque(reference),
            Part::Secret(_) => true,
        }),
        ExprLeaf::Secret(_) | ExprLeaf::KeepPrevious | ExprLeaf::Once(_) => false,
    }
}

fn is_namespace(text: &str) -> bool {
    let mut letters = text.chars();
    letters.next().is_some_and(|first| first.is_ascii_uppercase())
        && letters.all(|letter| letter.is_ascii_alphanumeric())
}

/// What makes targets: nobody is called, so that a call never fails and a repeated one is the same.
#[derive(Debug)]
pub(crate) struct TargetPlugin;

#[async_trait]
impl ResourcePlugin for TargetPlugin {
    fn namespace(&self) -> &str {
        TARGET_TYPE
    }

    async fn create(
        &self,
        context: &CallContext,
        request: CreateRequest,
    ) -> Result<ProgressResult, PluginError> {
        let row = context.row.as_ref().map_or("", |row| row.as_str());
        let native_id = format!("tgt_{}", &sha256_hex(row.as_bytes())[..16]);
        Ok(ProgressResult::success(Operation::Create, native_id.into(), shown(&request.properties)))
    }

    /// Nothing is there to be read: what was declared is what it is.
    async fn read(&self, _: &CallContext, request: ReadRequest) -> Result<ReadResult, PluginError> {
        let properties = request.prior_properties.unwrap_or_default();
        Ok(ReadResult::present(request.resource_type, request.native_id, properties))
    }

    async fn update(&self, _: &CallContext, request: UpdateRequest) -> Result<ProgressResult, PluginError> {
        let shown = shown(&request.desired_properties);
        Ok(ProgressResult::success(Operation::Update, request.native_id, shown))
    }

    async fn delete(&self, _: &CallContext, request: DeleteRequest) -> Result<ProgressResult, PluginError> {
        Ok(ProgressResult::deleted(request.native_id))
    }
}

/// What others may see and refer to of a target.
fn shown(properties: &Secret<Json>) -> Json {
    let namespace = properties.expose().get("namespace").cloned().unwrap_or_default();
    serde_json::json!({ "namespace": namespace })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn credentials_are_told_by_their_names() {
        let config = json!({
            "host": "db", "port": 5432, "Password": "p", "tls": { "client_private_key": "k", "mode": "require" },
            "users": [{ "name": "a", "api-key": "x" }], "token": null,
        });
        let found = TargetRules::new().sensitive(&Expr::Plain(json!({ "namespace": "P", "config": config })));
        let found: Vec<String> = found.iter().map(ToString::to_string).collect();
        assert_eq!(found, ["config.Password", "config.tls.client_private_key", "config.users[0].api-key"]);
    }
}
