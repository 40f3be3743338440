//! From a checked template and parameter values to desired state.

use crate::check::{Declared, TypeInfo, Types, check_properties, import_id};
use crate::expression::Form;
use crate::item::Item;
use crate::parameters::{self, Supplied};
use crate::report::Report;
use crate::template::{Declaration, Template, resources_path};
use crate::walk::{Meaning, Names, Spot, Value, Walk, output_ref};
use formwork_model::{
    Catalog, CheckContext, Dependency, Desired, Diagnostic, DiagnosticCode, Diagnostics, EdgeKind, Expr,
    ExprLeaf, Label, Matching, Mode, NativeId, OnFailure, Ownership, Path, Ref, ResourceDesired, Secret,
    Segment, StackDesired, StackId, StackKey, Suggest, Visibility,
};
use indexmap::IndexMap;
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

/// What lowering needs.
#[derive(Clone)]
pub struct LowerRequest<'a> {
    /// The template.
    pub template: &'a Template,
    /// The parameter values.
    pub supplied: &'a Supplied,
    /// The stack's id.
    pub stack: StackId,
    /// The stack's name.
    pub key: StackKey,
    /// The types that exist.
    pub catalog: &'a dyn Catalog,
    /// Whether a required parameter without a value is an error. A plan passes `false`: there it
    /// becomes [`ExprLeaf::KeepPrevious`] (`formations-behaviour.md` §1.2.2).
    pub strict: bool,
}

impl fmt::Debug for LowerRequest<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LowerRequest")
            .field("stack", &self.stack)
            .field("key", &self.key)
            .field("supplied", &self.supplied)
            .field("strict", &self.strict)
            .finish_non_exhaustive()
    }
}

/// Lowers a template with its parameter values to desired state.
///
/// What depends on a parameter is checked again with its value: a text where the type wants
/// something else, or a value that is not allowed, is refused here rather than by the provider.
///
/// # Errors
/// Values that are no strings, required parameters without one (if `strict`), and properties that
/// are wrong with these values.
pub fn lower(request: &LowerRequest<'_>) -> Result<Desired, Diagnostics> {
    let LowerRequest { template, supplied, strict, .. } = *request;
    let mut refused = Diagnostics::default();
    refused.extend(parameters::invalid_parameters(template, supplied));
    if strict {
        refused.extend(parameters::missing_parameters(template, supplied));
    }
    if refused.has_errors() {
        return Err(refused);
    }
    let mut types = Types::new(request.catalog);
    let mut lowering = Lowering {
        template,
        names: Values {
            parameters: parameters::resolve(template, supplied),
            secrets: secrets(template, &mut types),
        },
        report: Report::new(template.source()),
        suggest: Suggest::default(),
        types,
        properties_key: "properties".into(),
    };
    let resources = lowering.resources();
    let outputs = lowering.outputs();
    let metadata = lowering.metadata();
    if lowering.report.has_errors() {
        return Err(lowering.report.finish());
    }
    let stack = StackDesired {
        id: request.stack.clone(),
        key: request.key.clone(),
        mode: Mode::Reconcile,
        ownership: Ownership::DeclaredOnly,
        matching: Matching::Label,
        on_failure: OnFailure::RollBack,
        resources,
        outputs,
        metadata,
    };
    Ok(Desired {
        project: request.key.project.clone(),
        stacks: vec![stack],
        source_map: template.source().clone(),
    })
}

struct Lowering<'a> {
    template: &'a Template,
    names: Values,
    report: Report<'a>,
    suggest: Suggest,
    types: Types<'a>,
    properties_key: Arc<str>,
}

impl<'a> Lowering<'a> {
    fn section(&self, name: &str) -> Option<Item<'a>> {
        let source = self.template.source();
        Item { value: self.template.raw(), node: Some(&source.root) }.get(name)
    }

    /// The resources: those of the template are those of its document, in the same order.
    fn resources(&mut self) -> Vec<ResourceDesired> {
        let template = self.template;
        let base = resources_path();
        let members = self.section("resources").and_then(Item::members).into_iter().flatten();
        let lowered = members.zip(&template.resources).map(|((name, item), (label, declaration))| {
            let mut path = base.clone();
            path.push(Segment::Key(name.to_arc()));
            self.resource(label, declaration, item, path)
        });
        lowered.collect()
    }

    fn resource(
        &mut self,
        label: &Label,
        declaration: &Declaration,
        item: Item<'_>,
        path: Path,
    ) -> ResourceDesired {
        let properties_path = path.key(self.properties_key.clone());
        let (mut properties, mut metadata, mut import) = (Expr::empty_object(), None, None);
        for (name, section) in item.members().into_iter().flatten() {
            match name.as_str() {
                "properties" => {
                    properties = self.properties(declaration, section, &properties_path);
                }
                "metadata" => metadata = Some(section.value.clone()),
                "import" => import = self.import(section, &path.key("import")),
                _ => {}
            }
        }
        let depends_on = declaration.depends_on.iter().map(|(on, path)| Dependency {
            on: on.clone(),
            kind: EdgeKind::Dependency,
            path: path.clone(),
        });
        ResourceDesired {
            label: label.clone(),
            alias: None,
            type_name: declaration.type_name.clone(),
            target: declaration.target.as_ref().map(|(target, _)| target.as_str().into()),
            properties,
            import,
            depends_on: depends_on.collect(),
            deletion_policy: declaration.deletion_policy,
            metadata,
            path,
            properties_path,
        }
    }

    /// The properties, with what is a credential by its place made a secret (INV-9).
    fn properties(&mut self, declaration: &Declaration, section: Item<'_>, path: &Path) -> Expr {
        let mut properties = Walk::new(&mut self.names, path).bag(section);
        if declaration.parametrised {
            let declared = Declared { properties: &properties, path, node: section.node };
            self.check_again(declaration, &declared);
        }
        if let Some(info) = self.types.get(&declaration.type_name) {
            for place in info.rules.sensitive(&properties) {
                properties.replace_plain(&place, |value| ExprLeaf::Secret(Secret::new(value)));
            }
        }
        properties
    }

    fn import(&mut self, section: Item<'_>, path: &Path) -> Option<NativeId> {
        match import_id(&Walk::new(&mut self.names, path).value(section)) {
            Ok(id) => Some(id),
            Err(message) => {
                let error = Diagnostic::error(DiagnosticCode::InvalidValue, path.clone(), message);
                self.report.push(section.span(), error);
                None
            }
        }
    }

    /// Checks properties with the values of parameters in them.
    fn check_again(&mut self, declaration: &Declaration, declared: &Declared<'_>) {
        let Some(info) = self.types.get(&declaration.type_name) else { return };
        check_properties(&info, declared, &mut self.report, &mut self.suggest);
        let base = declared.path.clone();
        info.rules.check(declared.properties, &mut CheckContext { base, found: self.report.found_mut() });
    }

    fn outputs(&mut self) -> IndexMap<Arc<str>, Expr> {
        let base = Path::of(["outputs"]);
        let members = self.section("outputs").and_then(Item::members).into_iter().flatten();
        let lowered = members.map(|(name, item)| {
            let name = name.to_arc();
            if let Form::RefAttr(text) = Form::of(item.value)
                && let Some((label, attribute)) = text.split_once('.')
            {
                return (
                    name,
                    Expr::Leaf(ExprLeaf::Ref(output_ref(label.into(), attribute, Visibility::Clear))),
                );
            }
            let path = base.key(name.clone());
            (name, Walk::new(&mut self.names, &path).value(item))
        });
        lowered.collect()
    }

    fn metadata(&mut self) -> Option<Expr> {
        let section = self.section("metadata")?;
        Some(Walk::new(&mut self.names, &Path::of(["metadata"])).bag(section))
    }
}

/// What names stand for once parameters have values. The template was checked, so that every
/// other name is a resource.
struct Values {
    parameters: IndexMap<Arc<str>, Value>,
    /// The types of resources that have secrets among what can be referred to.
    secrets: HashMap<Label, Arc<TypeInfo>>,
}

fn secrets(template: &Template, types: &mut Types<'_>) -> HashMap<Label, Arc<TypeInfo>> {
    let of_plugins = template.resources.iter().filter_map(|(label, declaration)| {
        let info = types.get(&declaration.type_name)?;
        info.rules.target_namespace().is_some().then(|| (label.clone(), info))
    });
    of_plugins.collect()
}

impl Names for Values {
    fn parameter(&mut self, name: &str, _: &Spot<'_>) -> Value {
        self.parameters.get(name).cloned().unwrap_or(Value::Unresolved)
    }

    fn resource(&mut self, name: &str, _: &Spot<'_>) -> Option<Label> {
        Some(name.into())
    }

    fn meaning(&mut self, name: &str, _: &Spot<'_>) -> Meaning {
        match self.parameters.get(name) {
            Some(value) => Meaning::Parameter(value.clone()),
            None => Meaning::Resource(name.into()),
        }
    }

    fn stray(&mut self, _: &Spot<'_>) {}

    fn attribute(&mut self, text: &str, _: &Spot<'_>) -> Option<Ref> {
        let (label, attribute) = text.split_once('.')?;
        let visibility = self.secrets.get(label)?.visibility_of(attribute);
        Some(output_ref(label.into(), attribute, visibility))
    }
}
