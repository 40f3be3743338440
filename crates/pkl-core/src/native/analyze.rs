//! `pkl:analyze`: which modules import which, found without evaluating them.

use pkl_parser::ast::ExprKind;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::{Table, args};
use crate::error::{ErrorCode, Raised, Result};
use crate::ir::ModuleIr;
use crate::value::{ClassId, Value};
use crate::vm::Vm;

pub(super) static METHODS: Table = &[("pkl.analyze#importGraph", import_graph)];

pub(super) static PROPERTIES: Table = &[];

/// The absolute URIs of the modules that a module amends, extends or imports, in clauses and expressions.
fn imports_of(vm: &Vm<'_>, module: &ModuleIr) -> Result<BTreeSet<String>> {
    let mut plain: Vec<&str> = module.link.iter().map(|link| &*link.uri).collect();
    let mut patterns = Vec::new();
    for import in &module.imports {
        if import.glob { patterns.push(&*import.uri) } else { plain.push(&import.uri) }
    }
    for expr in module.ast.exprs() {
        if let ExprKind::Import { glob, uri } = expr.kind
            && let Some(uri) = module.ast.constant(uri)
        {
            if glob { patterns.push(uri) } else { plain.push(uri) }
        }
    }
    let mut found = BTreeSet::new();
    for uri in plain {
        found.insert(vm.resolve_uri(module, uri)?);
    }
    for pattern in patterns {
        let matches = vm.readers.glob_modules(&module.uri, pattern, vm.deadline())?;
        found.extend(matches.into_iter().map(|(_, uri)| uri));
    }
    Ok(found)
}

/// The graph that some modules are part of, each module with what it imports.
fn graph(vm: &mut Vm<'_>, roots: Vec<String>) -> Result<BTreeMap<String, BTreeSet<String>>> {
    let mut graph = BTreeMap::new();
    let mut waiting: VecDeque<String> = roots.into();
    while let Some(uri) = waiting.pop_front() {
        vm.tick()?;
        if graph.contains_key(&uri) {
            continue;
        }
        let source = vm.readers.read_module(&uri)?;
        let module = vm.store.add(&uri, source.into())?;
        let imports = imports_of(vm, module)?;
        waiting.extend(imports.iter().cloned());
        graph.insert(uri, imports);
    }
    Ok(graph)
}

fn import_graph(vm: &mut Vm<'_>, _: Value, args: &[Value]) -> Result<Value> {
    let mut roots = Vec::new();
    for uri in vm.heap.set(args::set(args[0])).to_vec() {
        let uri = vm.str(uri).to_owned();
        if crate::reader::scheme(&uri).is_none() {
            let message = format!("Cannot analyze relative module URI `{uri}`.");
            return Err(Raised::new(ErrorCode::InvalidUri, message));
        }
        roots.push(uri);
    }
    let graph = graph(vm, roots)?;
    let import = class_named(vm, "Import")?;
    let uri_name = vm.store.symbol("uri");
    let (mut imports, mut resolved) = (Vec::new(), Vec::new());
    for (uri, imported) in graph {
        let mut mirrors = Vec::with_capacity(imported.len());
        for target in imported {
            let target = vm.heap.string(target);
            mirrors.push(vm.make_typed(import, &[(uri_name, target)]));
        }
        let key = vm.heap.string(uri);
        imports.push((key, vm.make_set(&mirrors)?));
        resolved.push((key, key));
    }
    let fields = [
        (vm.store.symbol("imports"), vm.make_map(&imports)?),
        (vm.store.symbol("resolvedImports"), vm.make_map(&resolved)?),
    ];
    let class = class_named(vm, "ImportGraph")?;
    Ok(vm.make_typed(class, &fields))
}

fn class_named(vm: &mut Vm<'_>, name: &str) -> Result<ClassId> {
    let module = vm.load_module("pkl:analyze")?;
    let symbol = vm.store.symbol(name);
    let class = vm.declared_class(module, symbol)?;
    Ok(class.unwrap_or_else(|| panic!("`pkl:analyze` declares {name}")))
}
