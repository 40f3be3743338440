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
    /// Run test modules
    Test(Box<PklTest>),
    /// Work on projects
    #[command(subcommand)]
    Project(PklProjects),
    /// Download packages into the package cache
    DownloadPackage(Box<PklDownload>),
    /// Answer another evaluator's reads of `libext:` and `tfvars:`, and imports of `formae:`, as its external
    /// reader
    Reader,
}

/// What can be done with projects.
#[derive(Debug, Subcommand)]
pub(crate) enum PklProjects {
    /// Choose the versions of projects' dependencies and write them to `PklProject.deps.json`
    Resolve(Box<PklResolve>),
    /// Test projects and prepare what is published of them: an archive, metadata, and their checksums
    Package(Box<PklPackage>),
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
    pub(crate) project: PklProject,
}

#[derive(Debug, Args)]
pub(crate) struct PklTest {
    /// Test modules; if there are none, those that the project names
    #[arg(value_name = "MODULE")]
    pub(crate) modules: Vec<String>,
    /// The format that modules see as the one asked for
    #[arg(short, long, value_name = "FORMAT", hide = true)]
    pub(crate) format: Option<String>,
    #[command(flatten)]
    pub(crate) reports: PklReports,
    #[command(flatten)]
    pub(crate) host: PklHost,
    #[command(flatten)]
    pub(crate) project: PklProject,
}

/// What comes of tests besides their report.
#[derive(Debug, Args)]
pub(crate) struct PklReports {
    /// Write reports in the format of JUnit into this directory
    #[arg(long, value_name = "DIRECTORY")]
    pub(crate) junit_reports: Option<PathBuf>,
    /// Write one report on all modules instead of one for each
    #[arg(long)]
    pub(crate) junit_aggregate_reports: bool,
    /// What that report is called
    #[arg(long, value_name = "NAME")]
    pub(crate) junit_aggregate_suite_name: Option<String>,
    /// Write the files of expected examples anew
    #[arg(long)]
    pub(crate) overwrite: bool,
}

#[derive(Debug, Args)]
pub(crate) struct PklPackage {
    /// Directories of projects, local dependencies among them; if there are none, the project of the working
    /// directory
    #[arg(value_name = "DIRECTORY")]
    pub(crate) directories: Vec<PathBuf>,
    /// Write into this directory; `%{name}` and `%{version}` stand for the package's
    #[arg(long, value_name = "PATH", default_value = ".out/%{name}@%{version}")]
    pub(crate) output_path: String,
    /// Prepare a package although one of its version was published with other contents
    #[arg(long)]
    pub(crate) skip_publish_check: bool,
    #[command(flatten)]
    pub(crate) tests: PklReports,
    #[command(flatten)]
    pub(crate) host: PklHost,
}

#[derive(Debug, Args)]
pub(crate) struct PklResolve {
    /// Directories of projects; if there are none, the project of the working directory
    #[arg(value_name = "DIRECTORY")]
    pub(crate) directories: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) host: PklHost,
}

#[derive(Debug, Args)]
pub(crate) struct PklDownload {
    /// URIs of packages
    #[arg(value_name = "PACKAGE", required = true)]
    pub(crate) packages: Vec<String>,
    /// Leave out what the packages depend on
    #[arg(long)]
    pub(crate) no_transitive: bool,
    #[command(flatten)]
    pub(crate) host: PklHost,
    #[command(flatten)]
    pub(crate) project: PklProject,
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
    pub(crate) project: PklProject,
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
#[derive(Debug, Default, Args)]
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
    /// Directories and archives in which `modulepath:` URIs are searched
    #[arg(long, value_name = "PATHS", value_delimiter = ':')]
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
    /// The directory that downloaded packages are kept in [default: `~/.pkl/cache`]
    #[arg(long, value_name = "DIRECTORY")]
    pub(crate) cache_dir: Option<PathBuf>,
    /// Keep downloaded packages nowhere
    #[arg(long)]
    pub(crate) no_cache: bool,
    /// Trust only the certificate authorities in this file or directory (repeatable)
    #[arg(long, value_name = "PATH")]
    pub(crate) ca_certificates: Vec<PathBuf>,
    /// The HTTP proxy that requests go through
    #[arg(long, value_name = "URL")]
    pub(crate) http_proxy: Option<String>,
    /// Hosts that are reached without the proxy, separated by commas
    #[arg(long, value_name = "HOSTS", value_delimiter = ',')]
    pub(crate) http_no_proxy: Option<Vec<String>>,
    /// Ask for URLs that begin with TO instead of those that begin with FROM (repeatable)
    #[arg(long, value_name = "FROM=TO", value_parser = rewrite)]
    pub(crate) http_rewrite: Vec<(String, String)>,
    /// Say where packages come from
    #[arg(short, long)]
    pub(crate) verbose: bool,
    /// How `trace` prints values
    #[arg(long, value_enum, value_name = "STYLE")]
    pub(crate) trace_mode: Option<TraceMode>,
    /// A process that reads the modules of a scheme (repeatable)
    #[arg(long, value_name = "SCHEME=COMMAND", value_parser = external_reader)]
    pub(crate) external_module_reader: Vec<ExternalReader>,
    /// A process that reads the resources of a scheme (repeatable)
    #[arg(long, value_name = "SCHEME=COMMAND", value_parser = external_reader)]
    pub(crate) external_resource_reader: Vec<ExternalReader>,
    /// Take `formae` packages from where their URIs say instead of from this program
    #[arg(long)]
    pub(crate) no_mirror: bool,
    /// The module of a person's settings [default: `~/.pkl/settings.pkl`, if it is there]
    #[arg(long, value_name = "MODULE")]
    pub(crate) settings: Option<String>,
}

/// How `trace` prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TraceMode {
    /// A line each.
    Compact,
    /// Values over several lines.
    Pretty,
}

/// Which project modules are evaluated in.
#[derive(Debug, Default, Args)]
pub(crate) struct PklProject {
    /// The directory of the project [default: the nearest one above the working directory]
    #[arg(long, value_name = "DIRECTORY")]
    pub(crate) project_dir: Option<PathBuf>,
    /// Leave the settings of the `PklProject` out
    #[arg(long)]
    pub(crate) omit_project_settings: bool,
    /// Evaluate without a project
    #[arg(long)]
    pub(crate) no_project: bool,
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

/// A scheme, and the words of the command that starts its reader.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ExternalReader {
    pub(crate) scheme: String,
    pub(crate) executable: String,
    pub(crate) arguments: Vec<String>,
}

/// Parses `SCHEME=COMMAND`, whose words are as a shell's.
fn external_reader(text: &str) -> Result<ExternalReader, String> {
    let (scheme, command) = text.split_once('=').ok_or("a reader is written `SCHEME=COMMAND`")?;
    if pkl_core::reader::scheme(&format!("{scheme}:")).is_none() {
        return Err(format!("`{scheme}` is no scheme of URIs"));
    }
    let words = shlex::split(command).ok_or("the command has a quote that does not end")?;
    let mut words = words.into_iter();
    let executable = words.next().ok_or("a reader needs a command")?;
    Ok(ExternalReader { scheme: scheme.to_owned(), executable, arguments: words.collect() })
}

/// Parses `FROM=TO`.
fn rewrite(text: &str) -> Result<(String, String), String> {
    let (from, to) = text.split_once('=').ok_or("a rewrite is written `FROM=TO`")?;
    for side in [from, to] {
        let host = side.strip_prefix("https://").or_else(|| side.strip_prefix("http://"));
        if !host.is_some_and(|host| host.ends_with('/') && !host.starts_with('/')) {
            return Err(format!(
                "`{side}` must begin with `http://` or `https://`, have a host and end with `/`"
            ));
        }
    }
    Ok((from.to_owned(), to.to_owned()))
}

/// Parses `NAME=VALUE`, or a bare `NAME`.
#[expect(clippy::unnecessary_wraps, reason = "the form of a parser of arguments")]
pub(super) fn assignment(text: &str) -> Result<Assignment, std::convert::Infallible> {
    Ok(match text.split_once('=') {
        Some((name, value)) => Assignment { name: name.to_owned(), value: Some(value.to_owned()) },
        None => Assignment { name: text.to_owned(), value: None },
    })
}
