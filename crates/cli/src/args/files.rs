//! The bytes of files, price lists, and graphs to be checked.

use super::{Page, ProjectId};
use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct UploadFile {
    /// The file to upload, 5 MiB at most; `-` is standard input
    #[arg(long, value_name = "PATH")]
    pub(crate) path: PathBuf,
    /// The project; the credential's own if left out
    #[arg(long, value_name = "ID")]
    pub(crate) project_id: Option<String>,
    /// The directory it is to stand in
    #[arg(long, value_name = "TEXT")]
    pub(crate) prefix: Option<String>,
    /// Its name there; that of the path if left out
    #[arg(long, value_name = "TEXT")]
    pub(crate) filename: Option<String>,
    /// What its bytes are
    #[arg(long, value_name = "TEXT")]
    pub(crate) content_type: Option<String>,
    /// Anything else about it, as JSON text
    #[arg(long, value_name = "TEXT")]
    pub(crate) metadata: Option<String>,
    /// Texts by name, to find it by
    #[arg(long, value_name = "JSON")]
    pub(crate) tags: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct DownloadFile {
    /// The file's id (`file_…`)
    #[arg(value_name = "FILE_ID", required_unless_present = "file_id")]
    id: Option<String>,
    /// The file's id (`file_…`)
    #[arg(long, visible_alias = "id", value_name = "ID", conflicts_with = "id")]
    file_id: Option<String>,
    /// Where to write it; standard output if left out, or `-`
    #[arg(long, value_name = "PATH")]
    pub(crate) output: Option<PathBuf>,
    /// Overwrite the file if it is there already
    #[arg(long, requires = "output")]
    pub(crate) force: bool,
}

impl DownloadFile {
    pub(crate) fn get(&self) -> &str {
        self.id.as_deref().or(self.file_id.as_deref()).unwrap_or_default()
    }
}

#[derive(Debug, Args)]
pub(crate) struct ProjectPrices {
    #[command(flatten)]
    pub(crate) project: ProjectId,
    #[command(flatten)]
    pub(crate) page: Page,
}

#[derive(Debug, Args)]
pub(crate) struct UpdateProjectPrices {
    #[command(flatten)]
    pub(crate) project: ProjectId,
    /// The prices, as an array of objects: all of them are set, or none
    #[arg(long, value_name = "JSON")]
    pub(crate) prices: String,
}

#[derive(Debug, Args)]
pub(crate) struct ValidateOrchestration {
    /// The project; the credential's own if left out
    #[arg(long, value_name = "ID")]
    pub(crate) project_id: Option<String>,
    /// The nodes, as an array
    #[arg(long, value_name = "JSON")]
    pub(crate) nodes: String,
    /// The edges, as an array
    #[arg(long, value_name = "JSON")]
    pub(crate) edges: String,
    /// The JSON Schema of the state
    #[arg(long, value_name = "JSON")]
    pub(crate) state_schema: Option<String>,
    /// The JSON Schema of the input
    #[arg(long, value_name = "JSON")]
    pub(crate) input_schema: Option<String>,
}
