//! `plugin list` and `plugin info`: what is installed on this machine, as the agent that runs here would use it.

use super::PluginError;
use crate::args::{PluginInfo, PluginList};
use crate::commands::CommandError;
use crate::exit::Exit;
use crate::session::plugins;
use crate::ui::{json, text};
use formwork_config::{DataDir, Environment};
use formwork_model::{Json, Suggest, TypeRules as _};
use formwork_plugin_host::{Plugin, PluginTypeRules, Plugins};
use serde_json::json;
use std::fmt::Write as _;
use std::sync::Arc;

async fn installed() -> Result<Arc<Plugins>, CommandError> {
    let data_dir = DataDir::locate(&Environment::from_process())?;
    Ok(plugins::load(&data_dir).await?)
}

pub(super) async fn list(arguments: &PluginList) -> Result<Exit, CommandError> {
    let plugins = installed().await?;
    let outcome = print_list(plugins.all(), arguments);
    plugins.stop().await;
    outcome
}

pub(super) async fn info(arguments: &PluginInfo) -> Result<Exit, CommandError> {
    let plugins = installed().await?;
    let outcome = print_info(plugins.all(), arguments);
    plugins.stop().await;
    outcome
}

fn print_list(plugins: &[Plugin], arguments: &PluginList) -> Result<Exit, CommandError> {
    if arguments.json {
        let summaries: Vec<Json> = plugins.iter().map(summary).collect();
        json::print(&Json::from(summaries))?;
        return Ok(Exit::Done);
    }
    let mut page = String::new();
    for plugin in plugins {
        let version = if plugin.version.is_empty() { "-" } else { plugin.version.as_str() };
        let types = match plugin.types.len() {
            1 => "1 type".to_owned(),
            count => format!("{count} types"),
        };
        let (name, namespace, state) = (&plugin.name, &plugin.namespace, state(plugin));
        // Writing to a string cannot fail.
        let _ = writeln!(page, "{name:<20} {version:<12} {namespace:<16} {types:<10} {state}");
    }
    if plugins.is_empty() {
        page.push_str("no plugins are installed\n");
    }
    json::print_text(&text::lines(&page))?;
    Ok(Exit::Done)
}

fn print_info(plugins: &[Plugin], arguments: &PluginInfo) -> Result<Exit, CommandError> {
    let Some(plugin) = plugins.iter().find(|plugin| plugin.name == arguments.name) else {
        let names = plugins.iter().map(|plugin| plugin.name.as_str());
        let near = Suggest::default().nearest(&arguments.name, names).map(str::to_owned);
        return Err(PluginError::Unknown { name: arguments.name.clone(), near }.into());
    };
    if arguments.json {
        json::print(&detail(plugin))?;
    } else {
        json::print_text(&text::lines(&page(plugin)))?;
    }
    Ok(if plugin.faults.is_empty() { Exit::Done } else { Exit::Failed })
}

fn state(plugin: &Plugin) -> &'static str {
    match plugin {
        Plugin { disabled: true, .. } => "off",
        Plugin { faults, .. } if faults.is_empty() => "ok",
        _ => "broken",
    }
}

fn summary(plugin: &Plugin) -> Json {
    json!({
        "name": plugin.name,
        "version": plugin.version,
        "namespace": plugin.namespace,
        "state": state(plugin),
        "types": plugin.types.len(),
    })
}

fn detail(plugin: &Plugin) -> Json {
    let limit = plugin.rate_limit.max_requests_per_second_for_namespace;
    json!({
        "name": plugin.name,
        "version": plugin.version,
        "namespace": plugin.namespace,
        "state": state(plugin),
        "faults": plugin.faults,
        "directory": plugin.directory,
        "manifest": plugin.manifest,
        "environment": plugin.variables,
        "max_requests_per_second": (limit > 0).then_some(limit),
        "types": plugin.types.iter().map(|rules| described(rules)).collect::<Vec<_>>(),
    })
}

fn described(rules: &PluginTypeRules) -> Json {
    let schema = rules.schema();
    json!({
        "name": schema.type_name,
        "description": schema.doc,
        "properties": schema.names().collect::<Vec<_>>(),
        "capabilities": rules.capabilities(),
        "descriptor": rules.descriptor(),
        "unavailable": rules.unavailable(),
    })
}

fn page(plugin: &Plugin) -> String {
    let mut page = format!("{} {}   {}\n", plugin.name, plugin.version, state(plugin));
    let mut line = |what: &str, value: &str| {
        if !value.is_empty() {
            let _ = writeln!(page, "  {what:<12} {value}");
        }
    };
    let manifest = plugin.manifest.as_ref();
    line("summary", manifest.and_then(|it| it.summary.as_deref()).unwrap_or_default());
    line("namespace", &plugin.namespace);
    line("licence", manifest.map_or("", |it| it.license.as_str()));
    let directory = plugin.directory.as_ref().map(|it| it.display().to_string());
    line("directory", &directory.unwrap_or_default());
    line("environment", &plugin.variables.join(", "));
    match plugin.rate_limit.max_requests_per_second_for_namespace {
        0 => {}
        limit => line("rate limit", &format!("{limit} calls per second")),
    }
    for fault in &plugin.faults {
        line("fault", fault);
    }
    for rules in &plugin.types {
        let schema = rules.schema();
        let _ = write!(page, "\n  {}", schema.type_name);
        let _ = writeln!(page, "{}", if schema.doc.is_empty() { "" } else { "   " }.to_owned() + &schema.doc);
        for (name, property) in &schema.properties {
            let notes = notes(&property.hint);
            let doc = property.doc.lines().next().unwrap_or_default();
            let _ = writeln!(page, "{}", format!("    {name:<24} {notes:<24} {doc}").trim_end());
        }
    }
    page
}

fn notes(hint: &formwork_model::FieldHint) -> String {
    let notes = [
        (hint.required || hint.required_on_create, "required"),
        (hint.create_only, "immutable"),
        (hint.write_only, "write-only"),
        (hint.opaque, "secret"),
    ];
    let said: Vec<&str> = notes.into_iter().filter_map(|(holds, note)| holds.then_some(note)).collect();
    said.join(", ")
}
