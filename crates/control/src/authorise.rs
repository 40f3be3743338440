//! What a principal may do. Decided before any effect; every decision on a write is audited: one
//! that allows in the transaction of the effect, a refusal by itself.

use crate::{Control, ControlError, Principal};
use formwork_iam::{Context, Decision, Srn, decide};
use formwork_model::{Json, ProjectId, WireCode};
use formwork_store::{AuditRecord, DomainError, DomainTx};
use std::borrow::Cow;

/// What is to be decided.
#[derive(Clone, Debug)]
pub(crate) struct Question<'a> {
    /// The action (`agents:CreateAgent`).
    pub(crate) action: Cow<'a, str>,
    /// On what.
    pub(crate) srn: Srn,
    /// In which project it is; `None` for what is in none.
    pub(crate) project: Option<&'a ProjectId>,
    /// What conditions may ask of it.
    pub(crate) context: Context,
    /// Whether it takes the admin role beside the action.
    pub(crate) admin_only: bool,
}

impl<'a> Question<'a> {
    /// About something in a project.
    pub(crate) fn new(action: impl Into<Cow<'a, str>>, project: &'a ProjectId, srn: Srn) -> Self {
        Self {
            action: action.into(),
            srn,
            project: Some(project),
            context: Context::new(),
            admin_only: false,
        }
    }

    /// About something in no project, which only admins may do.
    pub(crate) fn global(action: impl Into<Cow<'a, str>>, srn: Srn) -> Self {
        Self { action: action.into(), srn, project: None, context: Context::new(), admin_only: true }
    }

    /// About something that only admins may do.
    #[must_use]
    pub(crate) fn for_admins(mut self) -> Self {
        self.admin_only = true;
        self
    }
}

/// A write that was allowed. Whoever carries it out writes this down in the same transaction.
#[derive(Debug)]
#[must_use = "a decision on a write is audited with its effect"]
pub(crate) struct Permit(AuditRecord);

impl Permit {
    /// The line of the audit, now that it is known what the effect is on.
    pub(crate) fn record(self, subject: &str, detail: Json) -> AuditRecord {
        let mut record = self.0;
        record.subject = cut(subject);
        if let (Json::Object(members), Json::Object(more)) = (&mut record.detail, detail) {
            members.extend(more);
        }
        record
    }
}

/// The most characters that the audit keeps of a text that a caller chose: more than any id has.
const LONGEST: usize = 128;

/// What the audit keeps of a text.
fn cut(text: &str) -> String {
    text.chars().take(LONGEST).collect()
}

/// The answer to whoever may not.
pub(crate) fn forbidden() -> ControlError {
    ControlError::new(WireCode::Forbidden, "Forbidden")
}

impl Control {
    /// The project a request is for: the one it names, else the credential's own, else the default
    /// one (`formations-behaviour.md` §1.2, notes).
    pub(crate) fn project_of(p: &Principal, named: Option<&ProjectId>) -> Result<ProjectId, ControlError> {
        match (named, &p.scope) {
            (Some(named), Some(scope)) if named != scope => Err(ControlError::new(
                WireCode::ApiKeyProjectScope,
                "The credential is confined to another project.",
            )
            .with_meta(serde_json::json!({ "scoped_project": scope, "requested_project": named }))),
            (Some(named), _) => Ok(named.clone()),
            (None, Some(scope)) => Ok(scope.clone()),
            (None, None) => p.default_project.clone().ok_or_else(|| {
                ControlError::validation("Missing required field(s): project_id").with_meta(
                    serde_json::json!({
                        "missingFields": ["project_id"],
                        "hint": "Name a project: `GET /api/v1/projects` lists those that you may see",
                    }),
                )
            }),
        }
    }

    /// The project that something is to be written in.
    ///
    /// # Errors
    /// As [`project_of`](Self::project_of); that the credential is confined to another project is a
    /// refusal like others, and in the audit by then.
    pub(crate) async fn project_to_write(
        &self,
        p: &Principal,
        named: Option<&ProjectId>,
        action: &str,
    ) -> Result<ProjectId, ControlError> {
        let project = Self::project_of(p, named);
        if let Err(error) = &project
            && error.code == WireCode::ApiKeyProjectScope
        {
            let record = AuditRecord {
                at: self.clock.now(),
                actor: p.actor.to_string(),
                // Theirs: nobody writes into the audit of a project that they cannot reach.
                project: p.scope.clone(),
                action: action.to_owned(),
                subject: String::new(),
                allowed: false,
                detail: serde_json::json!({
                    "by": "the project that the credential is confined to",
                    "requested_project": named.map(|named| cut(named.as_str())),
                }),
            };
            self.store.audit(record).await?;
        }
        project
    }

    /// Whether the credential reaches into a project at all.
    pub(crate) fn sees(p: &Principal, project: &ProjectId) -> bool {
        p.scope.as_ref().is_none_or(|scope| scope == project)
    }

    fn decision(p: &Principal, question: &Question<'_>) -> Decision {
        let mut decision = decide(&p.subject, &question.action, &question.srn, &question.context);
        let in_reach = question.project.is_none_or(|project| Self::sees(p, project));
        decision.allowed &= in_reach && (!question.admin_only || p.is_admin());
        decision
    }

    /// Whether the principal may do something. For what only reads.
    pub(crate) fn may(p: &Principal, question: &Question<'_>) -> bool {
        Self::decision(p, question).allowed
    }

    /// Demands that the principal may read something; a refusal is not audited.
    pub(crate) fn demand(p: &Principal, question: &Question<'_>) -> Result<(), ControlError> {
        if Self::may(p, question) { Ok(()) } else { Err(forbidden()) }
    }

    /// Demands that the principal may write something. `subject` is what it is, as far as that is
    /// known by now.
    ///
    /// # Errors
    /// `FORBIDDEN`; that is in the audit by then.
    pub(crate) async fn permit(
        &self,
        p: &Principal,
        question: &Question<'_>,
        subject: &str,
    ) -> Result<Permit, ControlError> {
        let record = self.judged(p, question, subject);
        if record.allowed {
            return Ok(Permit(record));
        }
        self.store.audit(record).await?;
        Err(forbidden())
    }

    /// What is decided, as the audit has it.
    pub(crate) fn judged(&self, p: &Principal, question: &Question<'_>, subject: &str) -> AuditRecord {
        let decision = Self::decision(p, question);
        AuditRecord {
            at: self.clock.now(),
            actor: p.actor.to_string(),
            project: question.project.map(|project| cut(project.as_str()).into()),
            action: question.action.to_string(),
            subject: cut(subject),
            allowed: decision.allowed,
            detail: serde_json::json!({ "srn": cut(&question.srn.to_string()), "by": decision.by.to_string() }),
        }
    }

    /// Writes down that something which was permitted as such is refused for what it contains.
    pub(crate) async fn refuse(
        &self,
        permit: Permit,
        subject: &str,
        detail: Json,
    ) -> Result<(), ControlError> {
        let record = AuditRecord { allowed: false, ..permit.record(subject, detail) };
        Ok(self.store.audit(record).await?)
    }

    /// The projects in which the principal may do what reads things of a type; `None` is all.
    ///
    /// Where no project is named, every project is asked for: a policy may name them by pattern, and
    /// deny single ones.
    pub(crate) async fn reach(
        &self,
        p: &Principal,
        named: Option<&ProjectId>,
        action: &str,
        srn_type: &str,
    ) -> Result<Option<Vec<ProjectId>>, ControlError> {
        let candidates = match (named, &p.scope) {
            (None, None) if p.is_unlimited() => return Ok(None),
            (None, None) => self.project_ids().await?,
            _ => vec![Self::project_of(p, named)?],
        };
        let may =
            |project: &ProjectId| Self::may(p, &Question::new(action, project, Srn::any(project, srn_type)));
        Ok(Some(candidates.into_iter().filter(may).collect()))
    }
}

/// Refuses what would be made in a project that is gone by now: projects are deleted empty, so
/// whatever is made must be made while its project is there.
pub(crate) fn demand_project(tx: &mut dyn DomainTx, project: &ProjectId) -> Result<(), DomainError> {
    let found = tx.get(project.as_str())?;
    if found.is_some_and(|object| object.type_name == crate::projects::TYPE) {
        return Ok(());
    }
    Err(DomainError::Refused {
        code: WireCode::ResourceNotFound.as_str().to_owned(),
        message: format!("Project '{project}' not found."),
        meta: None,
    })
}
