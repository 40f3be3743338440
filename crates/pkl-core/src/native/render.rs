//! The renderers of the base module.

use pkl_data::error::{PathStep, RenderError};
use pkl_data::render::{json, pcf, plist, properties, yaml};
use pkl_data::tree::Tree;

use super::Table;
use crate::convert::Converters;
use crate::error::{ErrorCode, Failure, Raised, Result};
use crate::export::{Export, Exporter, Refusal};
use crate::heap::PropertyKey;
use crate::ir::Member;
use crate::value::{ObjectId, Value};
use crate::vm::{MemberRef, Vm};

pub(super) static METHODS: Table = &[
    ("pkl.base#PcfRenderer.renderDocument", pcf_document),
    ("pkl.base#PcfRenderer.renderValue", pcf_value),
    ("pkl.base#JsonRenderer.renderDocument", json_document),
    ("pkl.base#JsonRenderer.renderValue", json_value),
    ("pkl.base#YamlRenderer.renderDocument", yaml_document),
    ("pkl.base#YamlRenderer.renderValue", yaml_value),
    ("pkl.base#PListRenderer.renderDocument", plist_document),
    ("pkl.base#PListRenderer.renderValue", plist_value),
    ("pkl.base#PropertiesRenderer.renderDocument", properties_document),
    ("pkl.base#PropertiesRenderer.renderValue", properties_value),
];

pub(super) static PROPERTIES: Table = &[];

/// How a format renders a tree.
pub(crate) type Rendering<'r> = &'r dyn Fn(&Tree) -> std::result::Result<String, RenderError>;

/// A value rendered, converted as `renderer` says. `mixed` names a format that has no objects with both
/// elements and other members.
pub(crate) fn render(
    vm: &mut Vm<'_>,
    renderer: Value,
    value: Value,
    mixed: Option<&'static str>,
    rendering: Rendering<'_>,
) -> Result<Value> {
    let converters = Converters::of_renderer(vm, renderer)?;
    let render = |tree: &Tree| rendering(tree).err();
    let mut exporter = Exporter::refusing(converters, Refusal { mixed, render: &render });
    let tree = match exporter.export(vm, value) {
        Ok(tree) => tree,
        Err(failure) => {
            return Err(match exporter.refused.take() {
                Some(error) => render_failure(vm, value, &error),
                None => failure,
            });
        }
    };
    rendered(vm, value, rendering(&tree))
}

/// A value as a tree, converted as `renderer` says.
pub(crate) fn converted(vm: &mut Vm<'_>, renderer: Value, value: Value) -> Result<Tree> {
    let converters = Converters::of_renderer(vm, renderer)?;
    Exporter::new(Export::Strict, converters).export(vm, value)
}

/// The text that rendering gave, or its error at the place of the value that can't be rendered.
pub(crate) fn rendered(
    vm: &mut Vm<'_>,
    value: Value,
    result: std::result::Result<String, RenderError>,
) -> Result<Value> {
    match result {
        Ok(text) => Ok(vm.heap.string(text)),
        Err(error) => Err(render_failure(vm, value, &error)),
    }
}

pub(crate) fn render_failure(vm: &mut Vm<'_>, value: Value, error: &RenderError) -> Failure {
    let mut failure = Raised::new(ErrorCode::Render, error.message.clone());
    failure.hint = error.hint.map(str::to_owned);
    match place_of(vm, value, &error.path) {
        Some((module, span)) => failure.locate(module, span).leave(|| "render".to_owned()),
        None => failure,
    }
}

/// Where the value at the end of a path is defined.
fn place_of(vm: &mut Vm<'_>, root: Value, path: &[PathStep]) -> Option<(crate::ir::IrId, pkl_parser::Span)> {
    let mut current = root;
    let mut place = None;
    for step in path {
        let Value::Object(object) = current else { break };
        let member = match step {
            PathStep::Property(name) => {
                let key = PropertyKey::Named(vm.store.symbol(name));
                vm.heap.find_property(object, key).map(MemberRef::Property)
            }
            PathStep::Element(index) => {
                let items = vm.heap.object(object).items?;
                let position = u32::try_from(*index).ok()?;
                let has = vm.heap.items(items).elements.len() > *index;
                has.then_some(MemberRef::Element(items, position))
            }
            PathStep::Entry(Tree::String(text)) => {
                let key = vm.heap.string(std::sync::Arc::clone(text));
                vm.find_item(object, key).ok()?
            }
            PathStep::Entry(Tree::Int(number)) => vm.find_item(object, Value::Int(*number)).ok()?,
            PathStep::Entry(_) => None,
        };
        let Some(member) = member else { break };
        let definition = vm.slot_at(member).member;
        if let Some(declared) = declaration(vm, object, step) {
            place = Some((declared.module, declared.span));
        } else if definition.source_is_code() {
            place = Some((definition.module, definition.span));
        }
        current = vm.force(object, member).ok()?;
    }
    place
}

/// Where the class of an object declares a property and its type.
fn declaration<'ir>(vm: &Vm<'ir>, object: ObjectId, step: &PathStep) -> Option<&'ir Member> {
    let PathStep::Property(name) = step else { return None };
    let class = vm.heap.class(vm.heap.object(object).class);
    let property = class.properties.get(&vm.store.symbol(name))?;
    Some(property.typed.map_or(property.member, |(member, _)| member))
}

/// An option of a renderer.
pub(crate) fn flag(vm: &mut Vm<'_>, renderer: Value, name: &str) -> Result<bool> {
    let name = vm.store.symbol(name);
    Ok(matches!(vm.read_property(renderer, name)?, Value::Bool(true)))
}

/// A text option of a renderer; none if it is null.
pub(crate) fn text(vm: &mut Vm<'_>, renderer: Value, name: &str) -> Result<String> {
    let name = vm.store.symbol(name);
    match vm.read_property(renderer, name)? {
        Value::String(id) => Ok(vm.heap.text(id).to_owned()),
        _ => Ok(String::new()),
    }
}

/// A numeric option of a renderer.
fn count(vm: &mut Vm<'_>, renderer: Value, name: &str) -> Result<usize> {
    let name = vm.store.symbol(name);
    match vm.read_property(renderer, name)? {
        Value::Int(number) => Ok(usize::try_from(number).unwrap_or(0)),
        _ => Ok(0),
    }
}

fn pcf_options(vm: &mut Vm<'_>, this: Value) -> Result<pcf::Options> {
    Ok(pcf::Options {
        indent: text(vm, this, "indent")?,
        omit_null_properties: flag(vm, this, "omitNullProperties")?,
        use_custom_string_delimiters: flag(vm, this, "useCustomStringDelimiters")?,
        max_bytes: vm.limits().output,
    })
}

fn json_options(vm: &mut Vm<'_>, this: Value) -> Result<json::Options> {
    Ok(json::Options {
        indent: text(vm, this, "indent")?,
        omit_null_properties: flag(vm, this, "omitNullProperties")?,
        max_bytes: vm.limits().output,
    })
}

fn yaml_options(vm: &mut Vm<'_>, this: Value) -> Result<yaml::Options> {
    Ok(yaml::Options {
        mode: yaml::Mode::parse(&text(vm, this, "mode")?).unwrap_or_default(),
        indent_width: count(vm, this, "indentWidth")?,
        omit_null_properties: flag(vm, this, "omitNullProperties")?,
        is_stream: flag(vm, this, "isStream")?,
        max_bytes: vm.limits().output,
    })
}

fn plist_options(vm: &mut Vm<'_>, this: Value) -> Result<plist::Options> {
    Ok(plist::Options { indent: text(vm, this, "indent")?, max_bytes: vm.limits().output })
}

fn properties_options(vm: &mut Vm<'_>, this: Value) -> Result<properties::Options> {
    Ok(properties::Options {
        omit_null_properties: flag(vm, this, "omitNullProperties")?,
        restrict_charset: flag(vm, this, "restrictCharset")?,
        max_bytes: vm.limits().output,
    })
}

macro_rules! renderers {
    ($($name:ident: $options:ident, $render:path, $mixed:expr;)*) => {$(
        fn $name(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
            let options = $options(vm, this)?;
            render(vm, this, args[0], $mixed, &|tree| $render(tree, &options))
        }
    )*};
}

renderers! {
    pcf_document: pcf_options, pcf::document, None;
    pcf_value: pcf_options, pcf::value, None;
    json_document: json_options, json::document, Some("JSON");
    json_value: json_options, json::value, Some("JSON");
    yaml_document: yaml_options, yaml::document, Some("YAML");
    yaml_value: yaml_options, yaml::value, Some("YAML");
    plist_document: plist_options, plist::document, Some("XML property list");
    plist_value: plist_options, plist::value, Some("XML property list");
    properties_document: properties_options, properties::document, None;
    properties_value: properties_options, properties::value, None;
}
