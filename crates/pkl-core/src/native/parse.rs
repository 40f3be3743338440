//! The parsers of `pkl:json` and `pkl:yaml`.

use pkl_data::read::{json, yaml};
use pkl_data::tree::{Member, Tree};

use super::render::{flag, text};
use super::{Table, args};
use crate::convert::{Converters, Step};
use crate::error::{ErrorCode, Failure, Raised, Result};
use crate::value::Value;
use crate::vm::Vm;

pub(super) static METHODS: Table = &[
    ("pkl.json#Parser.parse", parse_json),
    ("pkl.yaml#Parser.parse", parse_yaml),
    ("pkl.yaml#Parser.parseAll", parse_all_yaml),
];

/// The text of a `Resource` or `String`.
fn source(vm: &mut Vm<'_>, value: Value) -> Result<String> {
    match value {
        Value::String(id) => Ok(vm.heap.text(id).to_owned()),
        resource => text(vm, resource, "text"),
    }
}

fn parse_json(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    let source = source(vm, args[0])?;
    let use_mapping = flag(vm, this, "useMapping")?;
    let tree = json::parse(&source, use_mapping).map_err(|error| {
        Raised::new(ErrorCode::Parse, "Error parsing JSON document.").with_hint(error.to_string())
    })?;
    let converters = Converters::of_renderer(vm, this)?;
    value(vm, tree, converters.as_ref(), &mut Vec::new())
}

fn yaml_options(vm: &mut Vm<'_>, this: Value) -> Result<yaml::Options> {
    let name = vm.store.symbol("maxCollectionAliases");
    let max_collection_aliases = usize::try_from(args::int(vm.read_property(this, name)?)).unwrap_or(0);
    Ok(yaml::Options {
        mode: yaml::Mode::parse(&text(vm, this, "mode")?).unwrap_or_default(),
        use_mapping: flag(vm, this, "useMapping")?,
        max_collection_aliases,
        ..yaml::Options::default()
    })
}

fn yaml_failure(error: &yaml::YamlError) -> Failure {
    if error.is_limit {
        Raised::new(ErrorCode::Parse, format!("Error parsing YAML document: {error}"))
    } else {
        Raised::new(ErrorCode::Parse, "Error parsing YAML document.").with_hint(error.to_string())
    }
}

fn parse_yaml(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    let source = source(vm, args[0])?;
    let options = yaml_options(vm, this)?;
    let tree = yaml::parse(&source, &options).map_err(|error| yaml_failure(&error))?;
    let converters = Converters::of_renderer(vm, this)?;
    value(vm, tree, converters.as_ref(), &mut Vec::new())
}

fn parse_all_yaml(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    let source = source(vm, args[0])?;
    let options = yaml_options(vm, this)?;
    let documents = yaml::parse_all(&source, &options).map_err(|error| yaml_failure(&error))?;
    let converters = Converters::of_renderer(vm, this)?;
    let mut items = Vec::with_capacity(documents.len());
    for document in documents {
        items.push(value(vm, document, converters.as_ref(), &mut Vec::new())?);
    }
    Ok(Value::List(vm.heap.add_list(items)))
}

/// A tree as a value, converted from the leaves up.
fn value(
    vm: &mut Vm<'_>,
    tree: Tree,
    converters: Option<&Converters>,
    path: &mut Vec<Step>,
) -> Result<Value> {
    vm.tick()?;
    vm.check_stack()?;
    let made = match tree {
        Tree::Bool(value) => Value::Bool(value),
        Tree::Int(value) => Value::Int(value),
        Tree::Float(value) => Value::Float(value),
        Tree::String(text) => vm.heap.string(text),
        Tree::Bytes(bytes) => Value::Bytes(vm.heap.add_bytes(bytes)),
        Tree::Listing(elements) => {
            let mut items = Vec::with_capacity(elements.len());
            for (index, element) in elements.into_iter().enumerate() {
                let index = u32::try_from(index).unwrap_or(u32::MAX);
                items.push(at(vm, Step::Element(index), element, converters, path)?);
            }
            vm.make_listing(&items)?
        }
        Tree::Mapping(entries) => {
            let mut made = Vec::with_capacity(entries.len());
            for (key, element) in entries {
                let key = value(vm, key, None, path)?;
                made.push((key, at(vm, Step::Entry(key), element, converters, path)?));
            }
            vm.make_mapping(&made)?
        }
        Tree::Dynamic(members) => dynamic(vm, members, converters, path)?,
        _ => Value::NULL,
    };
    match converters {
        Some(converters) => converters.convert(vm, made, path),
        None => Ok(made),
    }
}

fn dynamic(
    vm: &mut Vm<'_>,
    members: Vec<Member>,
    converters: Option<&Converters>,
    path: &mut Vec<Step>,
) -> Result<Value> {
    let mut properties = Vec::new();
    let mut entries = Vec::new();
    let mut elements = Vec::new();
    for member in members {
        match member {
            Member::Property(name, tree) => {
                let name = vm.store.symbol(&name);
                properties.push((name, at(vm, Step::Property(name), tree, converters, path)?));
            }
            Member::Entry(key, tree) => {
                let key = value(vm, key, None, path)?;
                entries.push((key, at(vm, Step::Entry(key), tree, converters, path)?));
            }
            Member::Element(tree) => elements.push(value(vm, tree, converters, path)?),
        }
    }
    vm.make_dynamic(&properties, &entries, &elements)
}

/// The value of a member.
fn at(
    vm: &mut Vm<'_>,
    step: Step,
    tree: Tree,
    converters: Option<&Converters>,
    path: &mut Vec<Step>,
) -> Result<Value> {
    path.push(step);
    let made = value(vm, tree, converters, path)?;
    path.pop();
    Ok(made)
}
