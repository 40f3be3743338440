//! From a module to what it declares.
//!
//! The values are read as they are in the evaluation, not as they are put out, so that each has the place of the code
//! that defines it. What the vocabulary computes (keys, transformations, schemas) is asked of it, once for each class.

mod check;
mod classes;
pub(crate) mod references;
mod report;
mod sources;
mod values;

pub(crate) use values::secret;

use crate::extract::ConfigSchema;
use crate::forma::{Description, Forma, Named, Policy, Resource, Stack, Target};
use crate::library::Drawn;
use classes::{Classes, Meaning, text};
use formwork_model::{
    Children, DiagnosticCode, Diagnostics, Json, Members, Path, ProjectId, Ref, SourceMap, SourceNode, Span,
};
use indexmap::IndexMap;
use pkl_core::{
    ClassHandle, DeserializeError, Error, Evaluator, Handle, ModuleSource, Session, View, from_tree,
};
use references::Envelope;
use sources::Sources;
use std::collections::{HashMap, HashSet};
use std::path::Path as FilePath;
use std::sync::Arc;
use values::{At, Lowered};

/// What is evaluated, and for whom.
#[derive(Clone, Copy, Debug)]
pub struct FormaRequest<'a> {
    /// The module.
    pub module: &'a ModuleSource,
    /// The directory that places are shown relative to.
    pub base: Option<&'a FilePath>,
    /// The project that references are within.
    pub project: &'a ProjectId,
    /// What the functions of the host drew by chance, if they note it.
    pub drawn: Option<&'a Drawn>,
}

/// Why a forma can't be had.
#[derive(Debug, thiserror::Error)]
pub enum FormaError {
    /// The module can't be evaluated.
    #[error(transparent)]
    Evaluate(Box<Error>),
    /// The module is none that declares anything.
    #[error("the module neither amends nor extends `@formae/forma.pkl`, so it declares nothing")]
    NotAForma,
    /// What it declares is wrong.
    #[error("the forma has {} mistakes", .0.found.error_count())]
    Invalid(Box<Invalid>),
    /// The module's version of the vocabulary isn't one that this program knows.
    #[error("`{what}` of the `formae` package that the module uses isn't what this program knows")]
    Vocabulary {
        /// The part of the vocabulary.
        what: &'static str,
        /// What is wrong with it.
        #[source]
        source: Option<DeserializeError>,
    },
}

/// What is wrong with a forma.
#[derive(Debug)]
pub struct Invalid {
    /// What.
    pub found: Diagnostics,
    /// The files that it was found in.
    pub source_map: SourceMap,
}

/// What a module declares.
///
/// # Errors
/// All that is wrong with it, as far as it can be evaluated.
pub fn evaluate(
    evaluator: &Evaluator,
    request: &FormaRequest<'_>,
) -> Result<(Forma, Diagnostics), FormaError> {
    let lowered = evaluator.session(request.module, |session| match Walk::run(session, request) {
        Ok(lowered) => Ok(lowered),
        Err(Stop::Evaluate(error)) => Err(*error),
        Err(Stop::Refused(error)) => Ok(Err(error)),
    });
    lowered.map_err(|error| FormaError::Evaluate(Box::new(error)))?
}

/// The values that can be given on the command line, by name, without looking at anything else.
///
/// # Errors
/// They can't be evaluated.
pub fn properties(
    evaluator: &Evaluator,
    module: &ModuleSource,
) -> Result<IndexMap<Arc<str>, Json>, FormaError> {
    let read = evaluator.session(module, |session| {
        let root = session.module();
        let Some(contents) = session.find_property(root, CONTENTS)? else {
            return Ok(Err(FormaError::NotAForma));
        };
        match properties_of(session, contents) {
            Ok(properties) => Ok(Ok(properties)),
            Err(Stop::Evaluate(error)) => Err(*error),
            Err(Stop::Refused(error)) => Ok(Err(error)),
        }
    });
    read.map_err(|error| FormaError::Evaluate(Box::new(error)))?
}

/// The property in which `forma.pkl` shows what it has to those who apply it.
const CONTENTS: &str = "$contents";

/// Why a walk ends early.
enum Stop {
    Evaluate(Box<Error>),
    Refused(FormaError),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Evaluate(Box::new(error))
    }
}

impl Stop {
    fn unexpected(what: &'static str) -> Self {
        Self::Refused(FormaError::Vocabulary { what, source: None })
    }

    fn shape(what: &'static str) -> impl FnOnce(DeserializeError) -> Self {
        move |source| Self::Refused(FormaError::Vocabulary { what, source: Some(source) })
    }
}

/// A resource that was found but not looked into.
struct Found {
    value: Handle,
    class: ClassHandle,
    span: Span,
    label: Arc<str>,
    type_name: Arc<str>,
    stack: Option<Arc<str>>,
    target: Option<Arc<str>>,
}

/// A resource's stack, and whether it is its forma's default one because nothing is said.
type Whereabouts = (Option<Arc<str>>, bool);

/// A walk through one forma.
struct Walk<'w, 's, 'ir> {
    session: &'w mut Session<'s, 'ir>,
    project: &'w ProjectId,
    drawn: Option<&'w Drawn>,
    contents: Handle,
    classes: Classes,
    sources: Sources,
    found: Diagnostics,
    /// What was reported already: one mistake may be met on many ways.
    reported: HashSet<(Option<formwork_model::Place>, String)>,
    /// The stacks of resources by their type and label, and whether each is the forma's default one.
    stacks: HashMap<(Arc<str>, Arc<str>), Vec<Whereabouts>>,
    default_stack: Option<Arc<str>>,
    default_target: Option<Arc<str>>,
    /// Targets whose configuration was not looked at yet.
    pending: Vec<(Handle, Span)>,
    nodes: Nodes,
}

/// The places of what a forma declares, by kind.
#[derive(Default)]
struct Nodes {
    stacks: Vec<SourceNode>,
    targets: Vec<SourceNode>,
    policies: Vec<SourceNode>,
    resources: Vec<SourceNode>,
    resolvables: Vec<SourceNode>,
}

impl Nodes {
    fn into_root(self) -> SourceNode {
        let list = |name: &str, nodes| {
            let node = SourceNode { children: Children::Array(nodes), ..SourceNode::default() };
            (Arc::from(name), node)
        };
        let members = vec![
            list("Stacks", self.stacks),
            list("Targets", self.targets),
            list("Policies", self.policies),
            list("Resources", self.resources),
            list("Resolvables", self.resolvables),
        ];
        SourceNode { children: Children::Object(Members::from(members)), ..SourceNode::default() }
    }
}

impl<'w, 's, 'ir> Walk<'w, 's, 'ir> {
    fn run(
        session: &'w mut Session<'s, 'ir>,
        request: &'w FormaRequest<'_>,
    ) -> Result<Result<(Forma, Diagnostics), FormaError>, Stop> {
        let root = session.module();
        let Some(contents) = session.find_property(root, CONTENTS)? else {
            return Ok(Err(FormaError::NotAForma));
        };
        let classes = Classes::new(session, contents)?;
        let mut walk = Self {
            session,
            project: request.project,
            drawn: request.drawn,
            contents,
            classes,
            sources: Sources::new(request.base),
            found: Diagnostics::default(),
            reported: HashSet::new(),
            stacks: HashMap::new(),
            default_stack: None,
            default_target: None,
            pending: Vec::new(),
            nodes: Nodes::default(),
        };
        let forma = walk.forma()?;
        let source_map = SourceMap { files: walk.sources.into_files(), root: walk.nodes.into_root() };
        if walk.found.has_errors() {
            let invalid = Invalid { found: walk.found, source_map };
            return Ok(Err(FormaError::Invalid(Box::new(invalid))));
        }
        Ok(Ok((Forma { source_map: Arc::new(source_map), ..forma }, walk.found)))
    }

    fn forma(&mut self) -> Result<Forma, Stop> {
        let description = self.description()?;
        let properties = properties_of(self.session, self.contents)?;
        let mut forma = Forma { description, properties, ..Forma::default() };
        let mut resources = Vec::new();
        let listing = self.session.property(self.contents, "listing")?;
        let View::Object(listing) = self.session.view(listing)? else {
            return Err(Stop::unexpected("forma"));
        };
        for member in &listing.members {
            let span = member.place.and_then(|code| self.sources.own(self.session, code)).unwrap_or_default();
            let value = self.session.value_of(member);
            let Some(value) = self.evaluated(value, span)? else { continue };
            let span = self.declared_at(value, span);
            self.item(value, span, &mut forma, &mut resources)?;
        }
        if !self.found.has_errors() {
            self.default_stack = self.default("defaultStack")?;
            self.default_target = self.default("defaultTarget")?;
        }
        let mut classes: Vec<ClassHandle> = Vec::new();
        let mut seen = HashSet::new();
        classes.extend(resources.iter().map(|(_, class, _)| *class).filter(|class| seen.insert(*class)));
        self.classes.prepare(self.session, &classes)?;
        let resources = self.headed(resources)?;
        self.targets(&mut forma)?;
        for found in &resources {
            let resource = self.resource(found, forma.resources.len())?;
            forma.resources.extend(resource);
        }
        self.check(&forma);
        Ok(forma)
    }

    /// Where a thing is declared: where it is listed, or, if only its name is listed, where it has its label.
    fn declared_at(&mut self, value: Handle, listed: Span) -> Span {
        let text = self
            .sources
            .file(listed)
            .and_then(|file| file.text.get(listed.start as usize..listed.end as usize));
        if text.is_none_or(|text| text.starts_with("new") || text.contains('{')) {
            return listed;
        }
        let code = self.session.code_of_property(value, "label");
        code.and_then(|code| self.sources.own(self.session, code)).unwrap_or(listed)
    }

    /// One thing that a forma lists.
    fn item(
        &mut self,
        value: Handle,
        span: Span,
        forma: &mut Forma,
        resources: &mut Vec<(Handle, ClassHandle, Span)>,
    ) -> Result<(), Stop> {
        let class = self.session.class(value)?;
        match self.classes.meaning(self.session, class)? {
            Meaning::Resource => resources.push((value, class, span)),
            Meaning::Stack => {
                let stack = self.stack(value, span, forma.stacks.len());
                forma.stacks.extend(self.recovered(stack, span)?);
            }
            Meaning::Target => self.pending_target(value, span, forma)?,
            Meaning::Policy => {
                let policy = self.policy(value, span, forma.policies.len());
                forma.policies.extend(self.recovered(policy, span)?.flatten());
            }
            meaning @ (Meaning::StackReference | Meaning::TargetReference) => {
                let label = self.session.property(value, "label")?;
                let View::String(label) = self.session.view(label)? else {
                    self.report(span, DiagnosticCode::InvalidValue, "This reference has no label");
                    return Ok(());
                };
                let path = Path::of(["Resolvables"]).index(self.nodes.resolvables.len());
                self.nodes.resolvables.push(node(span));
                let list = match meaning {
                    Meaning::StackReference => &mut forma.known_stacks,
                    _ => &mut forma.known_targets,
                };
                list.push(Named { label, path });
            }
            _ => {}
        }
        Ok(())
    }

    fn description(&mut self) -> Result<Option<Description>, Stop> {
        let description = self.session.property(self.contents, "description")?;
        if matches!(self.session.view(description)?, View::Null) {
            return Ok(None);
        }
        let said = self.session.property(description, "text")?;
        let confirm = self.session.property(description, "confirm")?;
        Ok(Some(Description {
            text: text(self.session, said)?.as_ref().to_owned(),
            confirm: matches!(self.session.view(confirm)?, View::Bool(true)),
        }))
    }

    fn default(&mut self, name: &'static str) -> Result<Option<Arc<str>>, Stop> {
        let label = self.session.property(self.contents, name)?;
        Ok(match self.session.view(label)? {
            View::String(label) => Some(label),
            _ => None,
        })
    }

    fn stack(&mut self, value: Handle, span: Span, index: usize) -> Result<Stack, Stop> {
        let label = self.session.property(value, "label")?;
        let description = self.session.property(value, "description")?;
        let policies = self.session.property(value, "Policies")?;
        let policies = match self.session.view(policies)? {
            View::Items(policies) => {
                Some(policies.into_iter().map(|policy| self.json(policy)).collect::<Result<_, _>>()?)
            }
            _ => None,
        };
        let stack = Stack {
            label: text(self.session, label)?,
            description: match self.session.view(description)? {
                View::String(text) => Some(text.as_ref().to_owned()),
                _ => None,
            },
            policies,
            path: Path::of(["Stacks"]).index(index),
        };
        self.nodes.stacks.push(node(span));
        Ok(stack)
    }

    fn policy(&mut self, value: Handle, span: Span, index: usize) -> Result<Option<Policy>, Stop> {
        let label = self.session.property(value, "label")?;
        let View::String(label) = self.session.view(label)? else {
            self.report(
                span,
                DiagnosticCode::MissingProperty,
                "A policy outside of a stack must have a label",
            );
            return Ok(None);
        };
        let rendered = self.session.call_method(value, "render", &[])?;
        let config = self.json(rendered)?;
        self.nodes.policies.push(node(span));
        Ok(Some(Policy { label, config, path: Path::of(["Policies"]).index(index) }))
    }

    /// A target as far as it can be known before the forma's resources are.
    fn pending_target(&mut self, value: Handle, span: Span, forma: &mut Forma) -> Result<(), Stop> {
        let target = self.target(value, span, forma.targets.len());
        forma.targets.extend(self.recovered(target, span)?);
        Ok(())
    }

    fn target(&mut self, value: Handle, span: Span, index: usize) -> Result<Target, Stop> {
        let label = self.session.property(value, "label")?;
        let label = text(self.session, label)?;
        let namespace = self.session.property(value, "namespace")?;
        let namespace = text(self.session, namespace)?;
        let discoverable = self.session.property(value, "discoverable")?;
        let reaping = self.session.property(value, "Reaping")?;
        let schema = self.session.property(value, "ConfigSchema")?;
        let config_schema: Option<ConfigSchema> =
            from_tree(&self.session.export(schema)?).map_err(Stop::shape("ConfigSchema"))?;
        let target = Target {
            label: label.as_ref().into(),
            namespace,
            config: Json::Null.into(),
            config_schema,
            discoverable: matches!(self.session.view(discoverable)?, View::Bool(true)),
            reaping: Some(self.json(reaping)?).filter(|reaping| !reaping.is_null()),
            path: Path::of(["Targets"]).index(index),
        };
        self.nodes.targets.push(node(span));
        self.pending.push((value, span));
        Ok(target)
    }

    /// The configurations of targets: they may have references to resources, which are known by now.
    fn targets(&mut self, forma: &mut Forma) -> Result<(), Stop> {
        let pending = std::mem::take(&mut self.pending);
        for (index, (value, span)) in pending.into_iter().enumerate() {
            let code = self.session.code_of_property(value, "config");
            let own = code.and_then(|code| self.sources.own(self.session, code)).unwrap_or(span);
            let config = self.session.property(value, "config")?;
            let lowered = self.value(config, At::new(own))?;
            forma.targets[index].config = lowered.value;
            self.nodes.targets[index].children = children([("Config", lowered.node)]);
        }
        Ok(())
    }

    /// The resources with what tells them apart.
    fn headed(&mut self, resources: Vec<(Handle, ClassHandle, Span)>) -> Result<Vec<Found>, Stop> {
        let mut headed = Vec::with_capacity(resources.len());
        for (value, class, span) in resources {
            let found = self.head(value, class, span);
            headed.extend(self.recovered(found, span)?);
        }
        for found in &headed {
            let key = (Arc::clone(&found.type_name), Arc::clone(&found.label));
            let own = found.stack.is_none();
            let stack = found.stack.clone().or_else(|| self.default_stack.clone());
            self.stacks.entry(key).or_default().push((stack, own));
        }
        Ok(headed)
    }

    fn head(&mut self, value: Handle, class: ClassHandle, span: Span) -> Result<Found, Stop> {
        let schema = self.classes.schema(self.session, class)?;
        let label = self.session.property(value, "label")?;
        let label = text(self.session, label)?;
        let stack = self.label_of(value, "stack")?;
        let target = self.label_of(value, "target")?;
        let type_name = schema.type_name.as_str().into();
        Ok(Found { value, class, span, label, type_name, stack, target })
    }

    /// The label of a reference to a stack or target; `None` if there is none.
    fn label_of(&mut self, resource: Handle, property: &str) -> Result<Option<Arc<str>>, Stop> {
        let reference = self.session.property(resource, property)?;
        if matches!(self.session.view(reference)?, View::Null) {
            return Ok(None);
        }
        let label = self.session.property(reference, "label")?;
        Ok(match self.session.view(label)? {
            View::String(label) => Some(label),
            _ => None,
        })
    }

    fn resource(&mut self, found: &Found, index: usize) -> Result<Option<Resource>, Stop> {
        let schema = self.classes.schema(self.session, found.class)?;
        let plan = self.classes.plan(self.session, found.class)?;
        let at = At::new(found.span);
        let (members, _) = self.fields(found.value, &plan, at)?;
        let Lowered { value: properties, node: properties_node } = values::object(members, found.span);
        let mut nodes = vec![("Properties", properties_node)];
        for (key, name) in [("Label", "label"), ("Stack", "stack"), ("Target", "target"), ("Alias", "alias")]
        {
            let code = self.session.code_of_property(found.value, name);
            if let Some(own) = code.and_then(|code| self.sources.own(self.session, code)) {
                nodes.push((key, node(own)));
            }
        }
        let group = self.session.property(found.value, "group");
        let group = self.evaluated(group, found.span)?;
        let alias = self.session.property(found.value, "alias");
        let alias = self.evaluated(alias, found.span)?;
        let mut optional = |value: Option<Handle>| -> Result<Option<Arc<str>>, Stop> {
            Ok(match value.map(|value| self.session.view(value)).transpose()? {
                Some(View::String(text)) => Some(text),
                _ => None,
            })
        };
        let (group, alias) = (optional(group)?, optional(alias)?);
        let stack = found.stack.clone().or_else(|| self.default_stack.clone());
        let target = found.target.clone().or_else(|| self.default_target.clone());
        self.nodes.resources.push(SourceNode { span: found.span, key: None, children: children(nodes) });
        let (Some(stack), Some(target)) = (stack, target) else {
            self.homeless(found);
            self.nodes.resources.pop();
            return Ok(None);
        };
        Ok(Some(Resource {
            label: found.label.as_ref().into(),
            type_name: schema.type_name.clone(),
            stack,
            target: target.as_ref().into(),
            group,
            alias: alias.map(|alias| alias.as_ref().into()),
            properties,
            schema,
            path: Path::of(["Resources"]).index(index),
        }))
    }

    /// A `formae.Resolvable` as a reference; `None` if it is wrong, which is reported.
    fn reference(&mut self, value: Handle, span: Span) -> Result<Option<Ref>, Stop> {
        let json_path = self.session.find_property(value, "jsonPath")?;
        let mut optional = |value: Handle| -> Result<Option<Arc<str>>, Stop> {
            Ok(match self.session.view(value)? {
                View::String(text) => Some(text),
                _ => None,
            })
        };
        let json = json_path.map(&mut optional).transpose()?.flatten();
        let [label, type_name, stack, property, visibility] =
            ["label", "type", "stack", "property", "visibility"]
                .map(|name| self.session.property(value, name));
        let mut text = |value: Result<Handle, Error>| -> Result<Option<Arc<str>>, Stop> {
            Ok(match self.session.view(value?)? {
                View::String(text) => Some(text),
                _ => None,
            })
        };
        let envelope = Envelope {
            label: text(label)?,
            type_name: text(type_name)?,
            stack: text(stack)?,
            property: text(property)?,
            json,
            is_opaque: text(visibility)?.as_deref() == Some("Opaque"),
        };
        match self.enveloped(envelope) {
            Ok(reference) => Ok(Some(reference)),
            Err(message) => {
                self.report(span, DiagnosticCode::UnknownReference, message);
                Ok(None)
            }
        }
    }

    /// A reference with the stack that its resource has in this forma.
    fn enveloped(&mut self, mut envelope: Envelope) -> Result<Ref, String> {
        if envelope.stack.is_none()
            && envelope.is_of_resource()
            && let (Some(label), Some(type_name)) = (envelope.label.clone(), envelope.type_name.clone())
        {
            envelope.stack = Some(self.stack_of(&type_name, &label)?);
        }
        envelope.resolved(self.project)
    }

    /// A value that has nothing of a forma in it.
    fn json(&mut self, value: Handle) -> Result<Json, Stop> {
        let lowered = self.value(value, At::new(Span::default()))?;
        Ok(lowered.value.into_plain().unwrap_or_default())
    }
}

fn properties_of(session: &mut Session<'_, '_>, contents: Handle) -> Result<IndexMap<Arc<str>, Json>, Stop> {
    let rendered = session.property(contents, "renderedProperties")?;
    match session.view(rendered)? {
        View::Null => Ok(IndexMap::new()),
        _ => from_tree(&session.export(rendered)?).map_err(Stop::shape("properties")),
    }
}

fn node(span: Span) -> SourceNode {
    SourceNode { span, ..SourceNode::default() }
}

fn children<'a>(nodes: impl IntoIterator<Item = (&'a str, SourceNode)>) -> Children {
    Children::Object(nodes.into_iter().map(|(name, node)| (Arc::from(name), node)).collect())
}
