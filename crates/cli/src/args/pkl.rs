//! Arguments of the `pkl` commands: the flags of the official command line of 0.30.2.
//!
//! Flags of what is not supported yet are taken too, so that they can be refused by name.

use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;

/// Commands of the Pkl language.
#[derive(Debug, Subcommand)]
pub(crate) enum Pkl {
    /// Evaluate modules and print what they put out
    Eval(Box<PklEval>),
    /// Look at modules without evaluating them
    #[command(subcommand)]
    Analyze(PklAnalyze),
    /// Format modules, or check how they are formatted
    Format(PklFormat),
}

/// What can be found out about modules.
#[derive(Debug, Subcommand)]
pub(crate) enum PklAnalyze {
    /// Print the graph of what modules import
    Imports(Box<PklImports>),
}

#[derive(Debug, Args)]
pub(crate) struct PklEval {
    #[command(flatten)]
    pub(crate) modules: PklModules,
    /// Write to this file; `%{moduleDir}`, `%{moduleName}` and `%{outputFormat}` stand for the module's
    #[arg(short, long, value_name = "PATH")]
    pub(crate) output_path: Option<String>,
    /// Write the files of `output.files` into this directory, and nowhere else
    #[arg(short, long, value_name = "DIRECTORY", conflicts_with_all = ["output_path", "expression"])]
    pub(crate) multiple_file_output_path: Option<PathBuf>,
    /// Print this expression's value instead, evaluated in the module
    #[arg(short = 'x', long, value_name = "EXPRESSION", allow_hyphen_values = true)]
    pub(crate) expression: Option<String>,
    /// What stands between the outputs of two modules
    #[arg(long, value_name = "TEXT", default_value = "---", allow_hyphen_values = true)]
    pub(crate) module_output_separator: String,
    #[command(flatten)]
    pub(crate) host: PklHost,
    #[command(flatten)]
    pub(crate) unsupported: PklUnsupported,
}

#[derive(Debug, Args)]
pub(crate) struct PklImports {
    #[command(flatten)]
    pub(crate) modules: PklModules,
    /// Write to this file
    #[arg(short, long, value_name = "PATH")]
    pub(crate) output_path: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) host: PklHost,
    #[command(flatten)]
    pub(crate) unsupported: PklUnsupported,
}

/// Which modules, and how to print.
#[derive(Debug, Args)]
pub(crate) struct PklModules {
    /// Modules: paths, URIs, or `-` for standard input
    #[arg(value_name = "MODULE", required = true)]
    pub(crate) modules: Vec<String>,
    /// The output's format: json, jsonnet, pcf, properties, plist, textproto, xml or yaml
    #[arg(short, long, value_name = "FORMAT")]
    pub(crate) format: Option<String>,
    /// Say on standard error how long each module took
    #[arg(long)]
    pub(crate) timings: bool,
}

/// What programs may read, and how long they may take.
#[derive(Debug, Args)]
pub(crate) struct PklHost {
    /// Regular expressions for modules' URIs, separated by commas
    #[arg(long, value_name = "PATTERNS", value_delimiter = ',')]
    pub(crate) allowed_modules: Option<Vec<String>>,
    /// Regular expressions for resources' URIs, separated by commas
    #[arg(long, value_name = "PATTERNS", value_delimiter = ',')]
    pub(crate) allowed_resources: Option<Vec<String>>,
    /// Read only files below this directory
    #[arg(long, value_name = "DIRECTORY")]
    pub(crate) root_dir: Option<PathBuf>,
    /// The directory that relative paths are in
    #[arg(short, long, value_name = "DIRECTORY")]
    pub(crate) working_dir: Option<PathBuf>,
    /// Directories in which `modulepath:` URIs are searched
    #[arg(long, value_name = "DIRECTORIES", value_delimiter = ':')]
    pub(crate) module_path: Vec<PathBuf>,
    /// An external property, read as `prop:NAME` (repeatable)
    #[arg(short, long, value_name = "NAME=VALUE", value_parser = assignment, allow_hyphen_values = true)]
    pub(crate) property: Vec<Assignment>,
    /// A variable, read as `env:NAME`, instead of those of the environment (repeatable)
    #[arg(short, long, value_name = "NAME=VALUE", value_parser = assignment, allow_hyphen_values = true)]
    pub(crate) env_var: Vec<Assignment>,
    /// How many seconds a module may take
    #[arg(short, long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) timeout: Option<u64>,
    /// Evaluate although there is a `PklProject`, and without it
    #[arg(long)]
    pub(crate) no_project: bool,
    /// Keep no packages; none are kept
    #[arg(long, hide = true)]
    no_cache: bool,
    /// Leave the settings of a `PklProject` out; they are never used
    #[arg(long, hide = true)]
    omit_project_settings: bool,
    /// How `trace` prints
    #[arg(long, value_enum, default_value_t, value_name = "STYLE", hide = true)]
    pub(crate) trace_mode: TraceMode,
}

/// How `trace` prints.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum TraceMode {
    /// A line each.
    #[default]
    Compact,
    /// Values over several lines.
    Pretty,
}

/// Flags that the official command line has and this one refuses.
#[derive(Debug, Args)]
pub(crate) struct PklUnsupported {
    #[arg(long, hide = true)]
    cache_dir: Option<String>,
    #[arg(long, hide = true)]
    settings: Option<String>,
    #[arg(long, hide = true)]
    ca_certificates: Option<String>,
    #[arg(long, hide = true)]
    http_proxy: Option<String>,
    #[arg(long, hide = true)]
    http_no_proxy: Option<String>,
    #[arg(long, hide = true)]
    http_rewrite: Option<String>,
    #[arg(long, hide = true)]
    external_module_reader: Option<String>,
    #[arg(long, hide = true)]
    external_resource_reader: Option<String>,
    #[arg(long, hide = true)]
    project_dir: Option<String>,
}

impl PklUnsupported {
    /// The first flag that was given.
    pub(crate) fn given(&self) -> Option<&'static str> {
        let flags = [
            ("--cache-dir", &self.cache_dir),
            ("--settings", &self.settings),
            ("--ca-certificates", &self.ca_certificates),
            ("--http-proxy", &self.http_proxy),
            ("--http-no-proxy", &self.http_no_proxy),
            ("--http-rewrite", &self.http_rewrite),
            ("--external-module-reader", &self.external_module_reader),
            ("--external-resource-reader", &self.external_resource_reader),
            ("--project-dir", &self.project_dir),
        ];
        flags.into_iter().find_map(|(flag, value)| value.is_some().then_some(flag))
    }
}

#[derive(Debug, Args)]
pub(crate) struct PklFormat {
    /// Files and directories; `-` is standard input
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// Write what differs back, and print the names of those files
    #[arg(short, long)]
    pub(crate) write: bool,
    /// Print only the names of the files that differ
    #[arg(long, visible_alias = "names")]
    pub(crate) diff_name_only: bool,
    /// Print nothing
    #[arg(short, long)]
    pub(crate) silent: bool,
    /// The version of the grammar
    #[arg(long, value_name = "VERSION", default_value_t = 2, value_parser = clap::value_parser!(u8).range(1..=2), hide = true)]
    pub(crate) grammar_version: u8,
}

/// A name, and what is assigned to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Assignment {
    pub(crate) name: String,
    pub(crate) value: Option<String>,
}

/// Parses `NAME=VALUE`, or a bare `NAME`.
#[expect(clippy::unnecessary_wraps, reason = "the form of a parser of arguments")]
fn assignment(text: &str) -> Result<Assignment, std::convert::Infallible> {
    Ok(match text.split_once('=') {
        Some((name, value)) => Assignment { name: name.to_owned(), value: Some(value.to_owned()) },
        None => Assignment { name: text.to_owned(), value: None },
    })
}
