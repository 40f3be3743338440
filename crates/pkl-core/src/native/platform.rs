//! `pkl:platform` and `pkl:release`: what a program runs on.

use std::sync::OnceLock;

use super::Table;
use crate::error::Result;
use crate::value::Value;
use crate::vm::Vm;

pub(super) static METHODS: Table = &[];

pub(super) static PROPERTIES: Table =
    &[("pkl.platform#current", current_platform), ("pkl.release#current", current_release)];

/// The level of the language that is implemented.
const LANGUAGE: (i64, i64, i64) = (0, 30, 2);

/// The name and version of this implementation.
const IMPLEMENTATION: (&str, &str) = (env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"));

fn language_version() -> String {
    let (major, minor, patch) = LANGUAGE;
    format!("{major}.{minor}.{patch}")
}

/// The operating system as the language names it.
fn operating_system() -> &'static str {
    match std::env::consts::OS {
        "linux" => "Linux",
        "macos" => "macOS",
        "windows" => "Windows",
        other => other,
    }
}

/// The release of the operating system where it says so, else nothing.
fn operating_system_version() -> &'static str {
    static VERSION: OnceLock<String> = OnceLock::new();
    VERSION.get_or_init(|| {
        let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
        release.trim().to_owned()
    })
}

/// The instruction set as the language names it.
fn architecture() -> &'static str {
    match std::env::consts::ARCH {
        "x86_64" => "amd64",
        other => other,
    }
}

/// An object of a class that a module of the library declares.
fn make(vm: &mut Vm<'_>, module: &str, class: &str, fields: &[(&str, Value)]) -> Result<Value> {
    let id = vm.load_module(module)?;
    let name = vm.store.symbol(class);
    let declared = vm.declared_class(id, name)?;
    let declared = declared.unwrap_or_else(|| panic!("`{module}` declares {class}"));
    let fields: Vec<_> = fields.iter().map(|(name, value)| (vm.store.symbol(name), *value)).collect();
    Ok(vm.make_typed(declared, &fields))
}

fn current_platform(vm: &mut Vm<'_>, _: Value, _: &[Value]) -> Result<Value> {
    const MODULE: &str = "pkl:platform";
    let version = vm.heap.string(language_version());
    let language = make(vm, MODULE, "Language", &[("version", version)])?;
    let (name, version) = (vm.heap.string(IMPLEMENTATION.0), vm.heap.string(IMPLEMENTATION.1));
    let runtime = make(vm, MODULE, "Runtime", &[("name", name), ("version", version)])?;
    let machine = make(vm, MODULE, "VirtualMachine", &[("name", name), ("version", version)])?;
    let (name, version) = (vm.heap.string(operating_system()), vm.heap.string(operating_system_version()));
    let system = make(vm, MODULE, "OperatingSystem", &[("name", name), ("version", version)])?;
    let architecture = vm.heap.string(architecture());
    let processor = make(vm, MODULE, "Processor", &[("architecture", architecture)])?;
    let fields = [
        ("language", language),
        ("runtime", runtime),
        ("virtualMachine", machine),
        ("operatingSystem", system),
        ("processor", processor),
    ];
    make(vm, MODULE, "Platform", &fields)
}

fn current_release(vm: &mut Vm<'_>, _: Value, _: &[Value]) -> Result<Value> {
    const MODULE: &str = "pkl:release";
    let (major, minor, patch) = LANGUAGE;
    let numbers = [("major", Value::Int(major)), ("minor", Value::Int(minor)), ("patch", Value::Int(patch))];
    let version = make(vm, "pkl:semver", "Version", &numbers)?;
    let (name, own_version) = IMPLEMENTATION;
    let info = format!("Pkl {} ({}, {name} {own_version})", language_version(), operating_system());
    let info = vm.heap.string(info);
    let commit = vm.heap.string(option_env!("PKL_CORE_COMMIT").unwrap_or_default());
    let homepage = vm.heap.string(concat!(env!("CARGO_PKG_REPOSITORY"), "/"));
    let source_code = make(vm, MODULE, "SourceCode", &[("homepage", homepage)])?;
    let homepage = vm.heap.string(format!("https://pkl-lang.org/main/{}/", language_version()));
    let documentation = make(vm, MODULE, "Documentation", &[("homepage", homepage)])?;
    let mut names: Vec<&str> = crate::stdlib::names().collect();
    names.sort_by_key(|name| name.to_lowercase());
    let uris: Vec<Value> = names.into_iter().map(|name| vm.heap.string(format!("pkl:{name}"))).collect();
    let modules = vm.make_set(&uris)?;
    let library = make(vm, MODULE, "StandardLibrary", &[("modules", modules)])?;
    let fields = [
        ("version", version),
        ("versionInfo", info),
        ("commitId", commit),
        ("sourceCode", source_code),
        ("documentation", documentation),
        ("standardLibrary", library),
    ];
    make(vm, MODULE, "Release", &fields)
}
