//! Formae, evaluated where the command line is.

use super::PklError;
use super::host::{Host, nearest_project, working_directory};
use crate::args::{Assignment, PklHost, PklProject};
use formwork_forma::{Forma, FormaError, FormaRequest, evaluate};
use formwork_model::{Diagnostics, Json, ProjectId};
use indexmap::IndexMap;
use pkl_core::ModuleSource;
use std::path::Path;
use std::sync::Arc;

/// An evaluator for one forma.
pub(crate) struct FormaHost {
    host: Host,
    module: ModuleSource,
}

impl FormaHost {
    /// For a forma in a file, in the project that is nearest above it.
    ///
    /// # Errors
    /// The file or its project can't be read.
    pub(crate) fn new(
        file: &Path,
        given: &[Assignment],
        command: &str,
        mode: &str,
    ) -> Result<Self, PklError> {
        let read = |source| PklError::Read { name: file.display().to_string(), source };
        let path = std::path::absolute(file).map_err(read)?;
        let module = ModuleSource::file(&path).map_err(read)?;
        let known =
            |name: &str, value: &str| Assignment { name: name.to_owned(), value: Some(value.to_owned()) };
        let mut property = given.to_vec();
        property.extend([known("$cmd", command), known("$mode", mode)]);
        let project_dir = path.parent().and_then(nearest_project);
        let project = PklProject { no_project: project_dir.is_none(), project_dir, ..PklProject::default() };
        let host = Host::new(&PklHost { property, ..PklHost::default() }, &project, None)?;
        Ok(Self { host, module })
    }

    /// What the forma declares.
    ///
    /// # Errors
    /// All that is wrong with it.
    pub(crate) fn evaluate(&self, project: &ProjectId) -> Result<(Forma, Diagnostics), FormaError> {
        let base = working_directory(None).ok();
        let request = FormaRequest {
            module: &self.module,
            base: base.as_deref(),
            project,
            drawn: Some(&self.host.drawn),
        };
        let evaluated = evaluate(&self.host.evaluator, &request);
        self.host.keep_trees();
        evaluated
    }

    /// The values that can be given on the command line, by name.
    ///
    /// # Errors
    /// They can't be evaluated.
    pub(crate) fn properties(&self) -> Result<IndexMap<Arc<str>, Json>, FormaError> {
        formwork_forma::properties(&self.host.evaluator, &self.module)
    }

    /// An error of the evaluation, whose places are shown as the person likes it.
    pub(crate) fn linked(&self, error: pkl_core::Error) -> PklError {
        self.host.linked(error)
    }
}
