//! Arguments of the formation commands (`formations-behaviour.md` §1.5).

use super::{Page, secret};
use clap::{Args, ValueEnum};
use formwork_secret::Secret;
use std::path::PathBuf;

/// Where a template comes from.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct TemplateArgs {
    /// The template, inline as JSON
    #[arg(long, value_name = "JSON", conflicts_with_all = ["template_file", "template_path"])]
    pub(crate) template: Option<String>,
    /// File with the template, JSON or YAML; `-` is standard input
    #[arg(long, value_name = "FILE", conflicts_with = "template_path")]
    pub(crate) template_file: Option<PathBuf>,
    /// The same as `--template-file`
    #[arg(long, value_name = "FILE", hide = true)]
    pub(crate) template_path: Option<PathBuf>,
}

impl TemplateArgs {
    /// The file, under either name.
    pub(crate) fn file(&self) -> Option<&PathBuf> {
        self.template_file.as_ref().or(self.template_path.as_ref())
    }
}

/// The parameters of a deploy.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct ParameterArgs {
    /// A parameter: `K=text`, `K=$VAR` (must be set), `K=@VAR` or `VAR` (left out if unset); can be
    /// repeated
    #[arg(long, value_name = "K=V", value_parser = secret)]
    pub(crate) parameter: Vec<Secret<String>>,
    /// All parameters as one JSON object
    #[arg(long, value_name = "JSON", conflicts_with = "parameter", value_parser = secret)]
    pub(crate) parameters: Option<Secret<String>>,
    /// File of `KEY=value` lines; its variables win over the environment's
    #[arg(long, value_name = "FILE")]
    pub(crate) env_file: Option<PathBuf>,
}

/// What the failure of one resource means for the rest of a deploy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OnFailure {
    /// Delete again what this deploy created
    Rollback,
    /// Go on with what does not depend on it, and leave what was made
    Keep,
}

impl OnFailure {
    /// As a request says it.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Rollback => "rollback",
            Self::Keep => "keep",
        }
    }
}

/// What a deploy does about a failure.
#[derive(Clone, Copy, Debug, Default, Args)]
pub(crate) struct OnFailureArgs {
    /// What a failure means for the rest; `rollback` if left out
    #[arg(long, value_enum, value_name = "WHAT")]
    on_failure: Option<OnFailure>,
}

impl OnFailureArgs {
    pub(crate) fn get(self) -> Option<&'static str> {
        self.on_failure.map(OnFailure::as_str)
    }
}

/// Names a formation.
#[derive(Clone, Debug, Args)]
pub(crate) struct FormationId {
    /// The formation's id (`form_…`)
    #[arg(value_name = "FORMATION_ID", required_unless_present = "formation_id")]
    id: Option<String>,
    /// The formation's id (`form_…`)
    #[arg(long, visible_alias = "id", value_name = "ID", conflicts_with = "id")]
    formation_id: Option<String>,
}

impl FormationId {
    pub(crate) fn get(&self) -> &str {
        self.id.as_deref().or(self.formation_id.as_deref()).unwrap_or_default()
    }
}

#[derive(Debug, Args)]
pub(crate) struct ValidateFormation {
    #[command(flatten)]
    pub(crate) template: TemplateArgs,
    #[command(flatten)]
    pub(crate) parameters: ParameterArgs,
}

#[derive(Debug, Args)]
pub(crate) struct PlanFormation {
    #[command(flatten)]
    pub(crate) template: TemplateArgs,
    #[command(flatten)]
    pub(crate) parameters: ParameterArgs,
    /// The project, for a new formation
    #[arg(long, value_name = "ID")]
    pub(crate) project_id: Option<String>,
    /// The formation that would be deployed again
    #[arg(long, value_name = "ID")]
    pub(crate) formation_id: Option<String>,
    /// Plan this revision's template
    #[arg(long, value_name = "N", requires = "formation_id", conflicts_with_all = ["template", "template_file", "template_path"])]
    pub(crate) revision: Option<u64>,
    /// Plan from the ledger, without looking at what is there
    #[arg(long)]
    pub(crate) no_refresh: bool,
    #[command(flatten)]
    pub(crate) on_failure: OnFailureArgs,
    /// Keep the plan, for `get-plan` and `apply-plan`
    #[arg(long)]
    pub(crate) save: bool,
    /// Exit with 10 if there are changes
    #[arg(long)]
    pub(crate) detailed_exitcode: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CreateFormation {
    #[command(flatten)]
    pub(crate) template: TemplateArgs,
    #[command(flatten)]
    pub(crate) parameters: ParameterArgs,
    /// The project; the credential's own if left out
    #[arg(long, value_name = "ID")]
    pub(crate) project_id: Option<String>,
    /// The formation's name, unique in its project
    #[arg(long)]
    pub(crate) name: String,
    /// Static annotations, as JSON
    #[arg(long, value_name = "JSON")]
    pub(crate) metadata: Option<String>,
    /// Deploy exactly this plan, or refuse
    #[arg(long, value_name = "HASH")]
    pub(crate) plan_hash: Option<String>,
    #[command(flatten)]
    pub(crate) on_failure: OnFailureArgs,
    /// Do not wait for the deploy to end
    #[arg(long)]
    pub(crate) no_wait: bool,
}

#[derive(Debug, Args)]
pub(crate) struct UpdateFormation {
    #[command(flatten)]
    pub(crate) formation: FormationId,
    #[command(flatten)]
    pub(crate) template: TemplateArgs,
    #[command(flatten)]
    pub(crate) parameters: ParameterArgs,
    /// Apply this revision's template again
    #[arg(long, value_name = "N", conflicts_with_all = ["template", "template_file", "template_path"])]
    pub(crate) revision: Option<u64>,
    /// Static annotations, as JSON; `null` clears them
    #[arg(long, value_name = "JSON")]
    pub(crate) metadata: Option<String>,
    /// Deploy exactly this plan, or refuse
    #[arg(long, value_name = "HASH")]
    pub(crate) plan_hash: Option<String>,
    #[command(flatten)]
    pub(crate) on_failure: OnFailureArgs,
    #[command(flatten)]
    pub(crate) decisions: Decisions,
    /// Do not wait for the deploy to end
    #[arg(long)]
    pub(crate) no_wait: bool,
}

/// What became of creates whose outcome is not known.
#[derive(Debug, Args)]
pub(crate) struct Decisions {
    /// A create whose outcome is unknown made this object: take it over
    #[arg(long, value_name = "LOGICAL_ID=PHYSICAL_ID")]
    pub(crate) adopt: Vec<String>,
    /// A create whose outcome is unknown made nothing: make it again
    #[arg(long, value_name = "LOGICAL_ID")]
    pub(crate) discard: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct DeleteFormation {
    #[command(flatten)]
    pub(crate) formation: FormationId,
    #[command(flatten)]
    pub(crate) decisions: Decisions,
    /// Do not wait for the teardown to end
    #[arg(long)]
    pub(crate) no_wait: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Drift {
    #[command(flatten)]
    pub(crate) formation: FormationId,
    /// Exit with 10 if anything differs
    #[arg(long)]
    pub(crate) detailed_exitcode: bool,
}

#[derive(Debug, Args)]
pub(crate) struct FormationRevision {
    #[command(flatten)]
    pub(crate) formation: FormationId,
    /// Which revision
    #[arg(long, value_name = "N")]
    pub(crate) revision: u64,
}

#[derive(Debug, Args)]
pub(crate) struct DiffFormationRevisions {
    #[command(flatten)]
    pub(crate) formation: FormationId,
    /// The revision before
    #[arg(long, value_name = "N")]
    pub(crate) from: u64,
    /// The revision after
    #[arg(long, value_name = "M")]
    pub(crate) to: u64,
}

#[derive(Debug, Args)]
pub(crate) struct ListFormations {
    /// Only those of this project
    #[arg(long, value_name = "ID")]
    pub(crate) project_id: Option<String>,
    #[command(flatten)]
    pub(crate) page: Page,
}

/// Names a kept plan.
#[derive(Debug, Args)]
pub(crate) struct PlanHash {
    /// The plan's hash, as `plan-formation --save` answered it
    #[arg(value_name = "PLAN_HASH")]
    pub(crate) plan_hash: String,
}

#[derive(Debug, Args)]
pub(crate) struct ApplyPlan {
    #[command(flatten)]
    pub(crate) plan: PlanHash,
    /// The name of the formation, for a plan that makes one
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// Do not wait for the deploy to end
    #[arg(long)]
    pub(crate) no_wait: bool,
}
