//! `plugin test`: a plugin tried out as its users would use it, whether it is installed or not.

use super::PluginError;
use crate::args::PluginTest;
use crate::commands::CommandError;
use crate::exit::Exit;
use crate::session::{log, plugins};
use crate::ui::{json, text};
use formwork_config::{DataDir, Environment, Settings, is_private_variable};
use formwork_model::Json;
use formwork_plugin_conformance::conformance::{Finding, Verdict};
use formwork_plugin_conformance::lifecycle::{PhaseFinding, ScenarioReport};
use formwork_plugin_host::{Plugin, Plugins, Staged};
use formwork_plugin_test::{Trial, TrialReport, scenarios};
use formwork_secret::{hex, random_bytes};
use serde_json::json;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Instant;
use tempfile::TempDir;

/// The parameters of scenarios that have a value without being given one: an empty directory, and what tells two runs
/// apart that share a provider.
const DIRECTORY: &str = "ScratchDirectory";
const RUN: &str = "RunId";

pub(super) async fn run(arguments: PluginTest) -> Result<Exit, CommandError> {
    let began = Instant::now();
    log::install(Settings::from_environment(&Environment::from_process())?.log);
    let staged = Staged::of(&arguments.path, arguments.program.as_deref()).map_err(PluginError::Stage)?;
    let scratch =
        tempfile::tempdir().map_err(|source| CommandError::Write { path: std::env::temp_dir(), source })?;
    let scenarios = read_scenarios(&arguments, &staged, &scratch)?;
    let loading = load(&arguments, &staged);
    let overdue = |_| PluginError::Overdue { seconds: arguments.timeout.as_secs() };
    let plugins = tokio::time::timeout(arguments.timeout, loading).await.map_err(overdue)??;
    let outcome = match usable(&plugins, &staged) {
        Ok(_) => {
            let trial = Trial::new(plugins.clone(), plugins.registrations(), scenarios);
            let left = arguments.timeout.saturating_sub(began.elapsed());
            match trial.map_err(PluginError::Scenario) {
                Ok(trial) => trial.run(left).await.map_err(PluginError::Bench),
                Err(error) => Err(error),
            }
        }
        Err(error) => Err(error),
    };
    plugins.stop().await;
    let report = outcome?;
    if arguments.json {
        json::print(&document(&staged, &report))?;
    } else {
        json::print_text(&text::lines(&page(&staged, &report)))?;
    }
    Ok(if report.is_passed() { Exit::Done } else { Exit::Failed })
}

fn read_scenarios(
    arguments: &PluginTest,
    staged: &Staged,
    scratch: &TempDir,
) -> Result<Vec<formwork_plugin_conformance::lifecycle::Scenario>, PluginError> {
    let directory = arguments.scenarios.clone().unwrap_or_else(|| staged.source.join("scenarios"));
    if !directory.is_dir() {
        return Err(PluginError::NoScenarios(directory));
    }
    let mut values = BTreeMap::from([
        (DIRECTORY.to_owned(), scratch.path().display().to_string()),
        (RUN.to_owned(), hex(&random_bytes::<4>())),
    ]);
    values.extend(arguments.values.iter().cloned());
    Ok(scenarios(&directory, &values)?)
}

/// The plugin alone, as it would run if it were installed, with the variables that are named besides.
async fn load(arguments: &PluginTest, staged: &Staged) -> Result<Arc<Plugins>, CommandError> {
    let environment = Environment::from_process();
    let mut variables = BTreeMap::new();
    for name in &arguments.environment {
        let refused = |why| PluginError::Variable { name: name.clone(), why };
        if is_private_variable(name) {
            return Err(refused("it is one of Formwork's own").into());
        }
        let value = environment.secret(name).ok_or_else(|| refused("it is not set, or no text"))?;
        variables.insert(name.clone(), value);
    }
    let data_dir = DataDir::locate(&environment)?;
    Ok(plugins::load_from(&data_dir, staged.directory(), &staged.name, variables).await?)
}

fn usable<'p>(plugins: &'p Plugins, staged: &Staged) -> Result<&'p Plugin, PluginError> {
    let name = staged.name.clone();
    match plugins.all() {
        [plugin] if plugin.faults.is_empty() => Ok(plugin),
        [plugin] => Err(PluginError::Faulty { name, faults: plugin.faults.clone() }),
        _ => Err(PluginError::Faulty { name, faults: vec!["it serves no resources".to_owned()] }),
    }
}

fn document(staged: &Staged, report: &TrialReport) -> Json {
    let contract = |finding: &Finding| {
        let (verdict, detail) = told(&finding.verdict);
        json!({ "type": finding.type_name, "contract": finding.contract, "verdict": verdict, "detail": detail })
    };
    let phase = |finding: &PhaseFinding| {
        let (verdict, detail) = told(&finding.verdict);
        json!({ "phase": finding.phase, "verdict": verdict, "detail": detail })
    };
    let scenario = |scenario: &ScenarioReport| json!({ "name": scenario.name, "phases": scenario.findings.iter().map(phase).collect::<Vec<_>>() });
    json!({
        "name": staged.name,
        "version": staged.version,
        "passed": report.is_passed(),
        "overdue_seconds": report.overdue.map(|limit| limit.as_secs()),
        "contracts": report.contracts.findings.iter().map(contract).collect::<Vec<_>>(),
        "scenarios": report.scenarios.iter().map(scenario).collect::<Vec<_>>(),
        "untried": report.untried,
    })
}

fn told(verdict: &Verdict) -> (&'static str, Option<&str>) {
    match verdict {
        Verdict::Kept => ("kept", None),
        Verdict::Broken { instead } => ("broken", Some(instead)),
        Verdict::NotTried { because } => ("not-tried", Some(because)),
    }
}

fn page(staged: &Staged, report: &TrialReport) -> String {
    let mut page = format!("{} {}\n\n{report}\n", staged.name, staged.version);
    let contracts = report.contracts.findings.iter().map(|finding| &finding.verdict);
    let phases = report.scenarios.iter().flat_map(|it| &it.findings).map(|finding| &finding.verdict);
    let all: Vec<&Verdict> = contracts.chain(phases).collect();
    let kept = all.iter().filter(|verdict| matches!(verdict, Verdict::Kept)).count();
    let broken = report.broken();
    if let Some(limit) = report.overdue {
        // Writing to a string cannot fail.
        let _ = writeln!(
            page,
            "not over within {} s: what the plugin made by then may still be there",
            limit.as_secs()
        );
    }
    let outcome = if report.is_passed() { "passed" } else { "failed" };
    let rest = all.len() - kept - broken;
    let _ = writeln!(page, "{outcome}: {kept} kept, {broken} broken, {rest} not tried");
    page
}
