//! What a project says about how its modules are evaluated: `evaluatorSettings`.

use indexmap::IndexMap;
use serde::Deserialize;
use std::time::Duration;

/// The settings of `pkl:EvaluatorSettings`. What isn't said is `None`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[expect(missing_docs, reason = "the fields are those of `pkl:EvaluatorSettings`")]
pub struct Settings {
    pub external_properties: Option<IndexMap<String, String>>,
    pub env: Option<IndexMap<String, String>>,
    pub allowed_modules: Option<Vec<String>>,
    pub allowed_resources: Option<Vec<String>>,
    pub color: Option<String>,
    pub no_cache: Option<bool>,
    pub module_path: Option<Vec<String>>,
    pub timeout: Option<Time>,
    pub module_cache_dir: Option<String>,
    pub root_dir: Option<String>,
    pub http: Option<Http>,
    pub external_module_readers: Option<IndexMap<String, ExternalReader>>,
    pub external_resource_readers: Option<IndexMap<String, ExternalReader>>,
    pub trace_mode: Option<String>,
}

/// How requests are made.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Http {
    /// The proxy that they go through.
    pub proxy: Option<Proxy>,
    /// What the starts of URLs are replaced by.
    pub rewrites: Option<IndexMap<String, String>>,
}

/// The proxy that requests go through.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Proxy {
    /// Its URL.
    pub address: Option<String>,
    /// The hosts that are reached without it.
    pub no_proxy: Vec<String>,
}

/// A process that reads modules or resources.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct ExternalReader {
    /// The program.
    pub executable: String,
    /// Its arguments.
    #[serde(default)]
    pub arguments: Option<Vec<String>>,
}

/// A duration as Pkl has it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Time {
    value: f64,
    unit: String,
}

impl Time {
    /// The duration, if it isn't negative.
    pub fn duration(&self) -> Option<Duration> {
        let seconds = match self.unit.as_str() {
            "ns" => 1e-9,
            "us" => 1e-6,
            "ms" => 1e-3,
            "s" => 1.0,
            "min" => 60.0,
            "h" => 3600.0,
            "d" => 86_400.0,
            _ => return None,
        };
        Duration::try_from_secs_f64(self.value * seconds).ok()
    }
}
