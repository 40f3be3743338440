//! The renderers of `pkl:xml` and `pkl:jsonnet`.

use pkl_data::render::{jsonnet, xml};
use pkl_data::tree::Tree;

use super::Table;
use super::render::{flag, render, text};
use crate::error::Result;
use crate::export::{Export, Exporter};
use crate::value::Value;
use crate::vm::Vm;

pub(super) static METHODS: Table = &[
    ("pkl.xml#Renderer.renderDocument", xml_document),
    ("pkl.xml#Renderer.renderValue", xml_value),
    ("pkl.jsonnet#Renderer.renderDocument", jsonnet_document),
    ("pkl.jsonnet#Renderer.renderValue", jsonnet_value),
];

fn xml_options(vm: &mut Vm<'_>, this: Value) -> Result<xml::Options> {
    let name = vm.store.symbol("rootElementAttributes");
    let attributes = vm.read_property(this, name)?;
    let root_element_attributes = match Exporter::new(Export::Strict, None).export(vm, attributes)? {
        Tree::Mapping(entries) => entries,
        _ => Vec::new(),
    };
    let version =
        if text(vm, this, "xmlVersion")? == "1.1" { xml::Version::Xml11 } else { xml::Version::Xml10 };
    Ok(xml::Options {
        indent: text(vm, this, "indent")?,
        version,
        root_element_name: text(vm, this, "rootElementName")?,
        root_element_attributes,
        max_bytes: vm.limits().output,
    })
}

fn xml_document(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    let options = xml_options(vm, this)?;
    render(vm, this, args[0], Some("XML"), &|tree| xml::document(tree, &options))
}

fn xml_value(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    let options = xml_options(vm, this)?;
    render(vm, this, args[0], Some("XML"), &|tree| xml::value(tree, &options))
}

fn jsonnet_options(vm: &mut Vm<'_>, this: Value) -> Result<jsonnet::Options> {
    Ok(jsonnet::Options {
        indent: text(vm, this, "indent")?,
        omit_null_properties: flag(vm, this, "omitNullProperties")?,
        max_bytes: vm.limits().output,
    })
}

fn jsonnet_document(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    let options = jsonnet_options(vm, this)?;
    render(vm, this, args[0], Some("Jsonnet"), &|tree| jsonnet::document(tree, &options))
}

fn jsonnet_value(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    let options = jsonnet_options(vm, this)?;
    render(vm, this, args[0], Some("Jsonnet"), &|tree| jsonnet::value(tree, &options))
}
