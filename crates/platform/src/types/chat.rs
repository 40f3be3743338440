//! `chat`: a provider and instructions for completions without an agent. It never changes: another
//! declaration is another chat.

use super::model_choice;
use crate::{Definition, DependentRule, Dependents, Findings, Node, PlatformType, RestRoute};
use formwork_model::{DiagnosticCode, ImmutableRule, Json, Kind, Path, ProjectId, PropertySchema};
use formwork_store::{DomainError, DomainTx};

pub(super) struct Chat;

static ROUTE: RestRoute = RestRoute {
    type_name: "chat",
    path: "/chats",
    id_param: "chat_id",
    module: "chats",
    create: Some("CreateChat"),
    list: "ListChats",
    get: "GetChat",
    delete: Some("DeleteChat"),
    ..RestRoute::USUAL
};

static DEPENDENTS: [Dependents; 1] =
    [Dependents { type_name: "actor", fields: &["chat_id"], rule: DependentRule::Detach }];

impl PlatformType for Chat {
    fn define(&self) -> Definition {
        let text = |doc: &'static str| PropertySchema::new(Kind::String, doc).nullable().create_only();
        Definition {
            name: "chat",
            title: "chat",
            noun: "Chat",
            id_prefix: "chat",
            doc: "A provider and instructions for completions without an agent.",
            properties: vec![
                (
                    "ai_provider_id",
                    text("The provider of its model; cannot change.").refers_to("ai_provider"),
                ),
                ("name", text("What people call it; cannot change.")),
                ("instructions", text("The system text that its model is given; cannot change.")),
                ("model", text("The model, if not the provider's default; cannot change.")),
            ],
            on_immutable: ImmutableRule::Replace,
            srn_type: "chat",
            dependents: &DEPENDENTS,
            route: &ROUTE,
        }
    }

    fn check(&self, properties: Node<'_>, findings: &mut Findings) {
        if properties.member("model").is_some() && properties.member("ai_provider_id").is_none() {
            let message = "model requires an ai_provider_id; a model is named within its provider.";
            findings.error(DiagnosticCode::ConflictingProperties, Path::root(), message);
        }
    }

    fn admit(
        &self,
        tx: &mut dyn DomainTx,
        project: &ProjectId,
        properties: &Json,
    ) -> Result<(), DomainError> {
        model_choice::admit(tx, project, properties, "A chat", self.model_bindings())
    }

    fn model_bindings(&self) -> &'static [&'static str] {
        &["ai_provider_id"]
    }
}
