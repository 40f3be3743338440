//! What a call to a plugin's process costs: its overhead one after the other, and 10,000 creates side by side. The
//! plugin is this program itself, started again; it answers at once.

use async_trait::async_trait;
use formwork_model::{ClientToken, Json, NativeId, Secret, Timestamp};
use formwork_plugin::{
    CallContext, CreateRequest, DeleteRequest, Operation, PluginError, PluginType, ProgressResult,
    ReadRequest, ReadResult, ResourcePlugin, UpdateRequest,
};
use formwork_plugin_host::{HostOptions, Plugins};
use futures_util::StreamExt as _;
use serde_json::json;
use std::error::Error;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

const TYPE: &str = "BENCH::Test::Thing";
const CALLS: usize = 10_000;
const SIDE_BY_SIDE: usize = 64;

fn main() -> ExitCode {
    if std::env::var_os("FORMWORK_PLUGIN_SOCKET").is_some() {
        return formwork_plugin::run(formwork_plugin::about!(), Echo);
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let measured = runtime.map_err(Into::into).and_then(|runtime| runtime.block_on(measure()));
    match measured {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("process_bench: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn measure() -> Result<(), Box<dyn Error>> {
    let directory = tempfile::tempdir()?;
    install(directory.path())?;
    let options = || HostOptions {
        directories: vec![directory.path().join("plugins")],
        cache: Some(directory.path().join("cache")),
        ..HostOptions::new(directory.path())
    };
    let began = Instant::now();
    Plugins::load(options()).await.stop().await;
    println!("looking at a new plugin, its process included   {:>8.1} ms", millis(began.elapsed()));
    let began = Instant::now();
    let plugins = Plugins::load(options()).await;
    println!("looking at a plugin that is known               {:>8.1} ms", millis(began.elapsed()));
    let (plugin, _) = plugins.registrations().pop().ok_or("the plugin is not served")?;
    let began = Instant::now();
    create(&*plugin, 0).await?;
    println!("the first call, which starts its process        {:>8.1} ms", millis(began.elapsed()));

    let mut times = Vec::with_capacity(CALLS);
    for number in 0..CALLS {
        let began = Instant::now();
        create(&*plugin, number).await?;
        times.push(began.elapsed());
    }
    times.sort_unstable();
    let at = |part: usize| millis(times[(CALLS * part / 1000).min(CALLS - 1)]);
    println!(
        "a call, one after the other                     p50 {:.3} ms   p99 {:.3} ms   p99.9 {:.3} ms",
        at(500),
        at(990),
        at(999)
    );

    let began = Instant::now();
    let creates = (0..CALLS).map(|number| {
        let plugin = Arc::clone(&plugin);
        async move { create(&*plugin, number).await }
    });
    let mut made = futures_util::stream::iter(creates).buffer_unordered(SIDE_BY_SIDE);
    while let Some(outcome) = made.next().await {
        outcome?;
    }
    println!(
        "{CALLS} creates, {SIDE_BY_SIDE} side by side                    {:>8.2} s",
        began.elapsed().as_secs_f64()
    );
    plugins.stop().await;
    Ok(())
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

async fn create(plugin: &dyn ResourcePlugin, number: usize) -> Result<(), PluginError> {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let deadline = Timestamp(i64::try_from(now.as_millis()).unwrap_or(i64::MAX)).plus(60_000);
    let context = CallContext {
        token: Some(ClientToken([7; 32])),
        label: Some("Thing".into()),
        ..CallContext::observing("proj_1".into(), "user_1".into(), deadline)
    };
    let properties = json!({
        "Name": format!("thing-{number}"),
        "Tags": [{ "Key": "team", "Value": "core" }, { "Key": "stage", "Value": "test" }],
        "Settings": { "Size": 10, "Ratio": 0.5, "Enabled": true },
    });
    let request = CreateRequest {
        resource_type: TYPE.into(),
        properties: Secret::new(properties),
        target_config: Secret::new(json!({ "Region": "here" })),
        secret_paths: Vec::new(),
    };
    plugin.create(&context, request).await.map(drop)
}

/// Installs this program as a plugin.
fn install(directory: &Path) -> Result<(), Box<dyn Error>> {
    let place = directory.join("plugins/bench/v0.1.0");
    fs::create_dir_all(place.join("schema/pkl"))?;
    fs::write(
        place.join("formae-plugin.pkl"),
        "amends \"@formae/plugin-manifest.pkl\"\nname = \"bench\"\nversion = \"0.1.0\"\nnamespace = \"BENCH\"\n\
         license = \"MIT\"\nminFormaeVersion = \"0.80.0\"\n",
    )?;
    fs::write(
        place.join("schema/pkl/things.pkl"),
        format!(
            "module things\nimport \"@formae/formae.pkl\"\n@formae.ResourceHint {{ type = \"{TYPE}\"; identifier = \"Name\" }}\n\
             class Thing extends formae.Resource {{\n  fixed hidden type: String = \"{TYPE}\"\n  @formae.FieldHint\n  name: String\n}}\n"
        ),
    )?;
    let program = std::env::current_exe()?;
    let path = place.join("bench");
    fs::write(&path, format!("#!/bin/sh\nexec '{}'\n", program.display()))?;
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755))?;
    Ok(())
}

/// Answers with what it was sent.
struct Echo;

#[async_trait]
impl ResourcePlugin for Echo {
    fn namespace(&self) -> &'static str {
        "BENCH"
    }

    fn types(&self) -> Vec<PluginType> {
        vec![PluginType::new(TYPE)]
    }

    async fn create(&self, _: &CallContext, request: CreateRequest) -> Result<ProgressResult, PluginError> {
        let properties: Json = request.properties.into_exposed();
        let id = properties["Name"].as_str().unwrap_or("thing").to_owned();
        Ok(ProgressResult::success(Operation::Create, NativeId::from(id), properties))
    }

    async fn read(&self, _: &CallContext, request: ReadRequest) -> Result<ReadResult, PluginError> {
        Ok(ReadResult::absent(request.resource_type, request.native_id))
    }

    async fn update(&self, _: &CallContext, request: UpdateRequest) -> Result<ProgressResult, PluginError> {
        let properties = request.desired_properties.into_exposed();
        Ok(ProgressResult::success(Operation::Update, request.native_id, properties))
    }

    async fn delete(&self, _: &CallContext, request: DeleteRequest) -> Result<ProgressResult, PluginError> {
        Ok(ProgressResult::deleted(request.native_id))
    }
}
