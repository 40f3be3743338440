//! What a `PklProject` says.

use indexmap::IndexMap;
use pkl_core::reader::file_path;
use serde::Deserialize;
use std::path::PathBuf;

use crate::settings::Settings;
use crate::uri::{PackageId, PackageUri};

/// The name of a project's definition.
pub const PROJECT_FILE: &str = "PklProject";

/// A project, evaluated.
#[derive(Clone, Debug, PartialEq)]
pub struct Project {
    /// The URI of its definition.
    pub file_uri: String,
    /// What is published of it, if anything.
    pub package: Option<Package>,
    /// Its test modules, by their paths from its directory.
    pub tests: Vec<String>,
    /// How its modules are evaluated.
    pub settings: Settings,
    /// What it depends on.
    pub dependencies: IndexMap<String, Declared>,
    /// The annotations of its definition, as published metadata has them.
    pub annotations: Vec<serde_json::Value>,
}

/// A dependency as a project declares it.
#[derive(Clone, Debug, PartialEq)]
pub enum Declared {
    /// A package.
    Remote(PackageUri),
    /// A project on this machine.
    Local(Box<Project>),
}

/// What is published of a project.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "the fields are those of `pkl:Project#Package`")]
pub struct Package {
    pub name: String,
    pub base_uri: String,
    pub version: String,
    pub package_zip_url: String,
    pub description: Option<String>,
    pub authors: Vec<String>,
    pub website: Option<String>,
    pub documentation: Option<String>,
    pub source_code: Option<String>,
    pub source_code_url_scheme: Option<String>,
    pub license: Option<String>,
    pub license_text: Option<String>,
    pub issue_tracker: Option<String>,
    pub api_tests: Vec<String>,
    pub exclude: Vec<String>,
    pub uri: String,
}

impl Package {
    /// The version that it is published as.
    ///
    /// # Errors
    /// Its URI is none of a package.
    pub fn id(&self) -> Result<PackageId, crate::uri::UriError> {
        PackageUri::parse(&self.uri).map(|uri| uri.id)
    }
}

impl Project {
    /// The directory that it is in, if it is on this machine.
    pub fn directory(&self) -> Option<PathBuf> {
        file_path(&self.file_uri)?.parent().map(PathBuf::from)
    }
}
