//! The request, indexed: declared resources and rows as integers, matched with each other.

use crate::change::is_private;
use crate::graph::narrow;
use crate::{Import, PlanRequest};
use formwork_model::{
    Catalog, Diagnostic, DiagnosticCode, Diagnostics, EdgeKind, Label, Matching, Mode, Object, Observation,
    OperationKind, RefTarget, ResourceDesired, Row, RowId, RowRef, RowStatus, Schema, StackDesired, StackKey,
    Stored, TARGET_STACK, TARGET_TYPE, TargetName, TypeCapabilities, TypeName, TypeRules,
};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// A declared resource.
pub(crate) struct Node<'a> {
    /// Index of its stack in the request.
    pub(crate) stack: usize,
    pub(crate) resource: &'a ResourceDesired,
    /// Its place within its stack.
    pub(crate) position: u32,
    /// Index of its type.
    pub(crate) kind: usize,
    /// Index of its row in the request.
    pub(crate) row: Option<usize>,
    /// What the plan calls its row.
    pub(crate) name: RowRef,
}

/// What was seen of a row's object.
#[derive(Clone, Copy)]
pub(crate) enum Seen<'a> {
    /// Nobody looked, or at another object.
    Not,
    /// It is there.
    Present(&'a Stored),
    /// It is gone.
    Gone,
    /// It could not be read, and why.
    Failed(&'a str),
}

/// A type by its index.
pub(crate) struct TypeEntry {
    pub(crate) name: TypeName,
    /// `None`: the catalog does not know it.
    pub(crate) rules: Option<Arc<dyn TypeRules>>,
    /// Whether any of its properties must not be seen: looked up once, not once per resource.
    pub(crate) has_private: bool,
    /// Whether any reference of it is to something that it uses while it runs; likewise once.
    pub(crate) runs_with: bool,
    /// Whether any reference of it is to something that it is reached through; likewise once.
    pub(crate) attaches: bool,
}

impl TypeEntry {
    pub(crate) fn schema(&self) -> Option<&Schema> {
        self.rules.as_deref().map(|rules| &**rules.schema())
    }

    pub(crate) fn capabilities(&self) -> Option<&TypeCapabilities> {
        self.rules.as_deref().map(TypeRules::capabilities)
    }
}

/// What a name refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// A declared resource.
    Node(u32),
    /// A row that is not declared and stays.
    Row(usize),
    /// Nothing.
    Nothing,
    /// More than one resource.
    Several,
}

/// The request, indexed.
pub(crate) struct World<'a> {
    pub(crate) request: &'a PlanRequest<'a>,
    pub(crate) nodes: Vec<Node<'a>>,
    /// Parallel to the request's rows: the stack of each, if it is one of the request's.
    pub(crate) row_stacks: Vec<Option<usize>>,
    /// Parallel to the request's rows: the declared resource that each is matched with.
    pub(crate) row_nodes: Vec<Option<u32>>,
    /// Parallel to the request's rows.
    pub(crate) seen: Vec<Seen<'a>>,
    pub(crate) row_index: FxHashMap<&'a RowId, usize>,
    types: Vec<TypeEntry>,
    type_index: FxHashMap<TypeName, usize>,
    stack_index: FxHashMap<&'a StackKey, usize>,
    /// The name of the stack of the project's targets.
    targets: StackKey,
    labels: Chains<'a>,
    row_labels: Chains<'a>,
}

/// For each stack and label, the indices that have it, in order: a map to the first, a list to the
/// next.
#[derive(Default)]
struct Chains<'a> {
    first: FxHashMap<(usize, &'a str), u32>,
    next: Vec<Option<u32>>,
}

impl<'a> Chains<'a> {
    fn new(entries: &[Option<(usize, &'a Label)>]) -> Self {
        let mut chains = Self { first: FxHashMap::default(), next: vec![None; entries.len()] };
        chains.first.reserve(entries.len());
        for (at, entry) in entries.iter().enumerate().rev() {
            if let Some((stack, label)) = entry {
                chains.next[at] = chains.first.insert((*stack, label.as_str()), narrow(at));
            }
        }
        chains
    }

    fn of(&self, stack: usize, label: &str) -> impl Iterator<Item = usize> {
        let first = self.first.get(&(stack, label)).copied();
        std::iter::successors(first, |at| self.next[*at as usize]).map(|at| at as usize)
    }
}

impl<'a> World<'a> {
    /// Indexes the request. Declared types that the catalog does not know are reported.
    pub(crate) fn new(request: &'a PlanRequest<'a>, found: &mut Diagnostics) -> Self {
        let desired = request.desired;
        let stacks = || desired.stacks.iter().enumerate();
        let stack_ids: FxHashMap<_, _> = stacks().map(|(at, stack)| (&stack.id, at)).collect();
        let row_stacks: Vec<Option<usize>> =
            request.rows.iter().map(|row| stack_ids.get(&row.stack).copied()).collect();
        // Stacks that are only referred to come after those of the request.
        let known = || request.known.iter().zip(desired.stacks.len()..);
        let known_ids: FxHashMap<_, _> = known().map(|((_, id), at)| (id, at)).collect();
        let of = |row: &Row| stack_ids.get(&row.stack).or_else(|| known_ids.get(&row.stack)).copied();
        let row_labels: Vec<_> = request.rows.iter().map(|row| of(row).map(|at| (at, &row.label))).collect();
        let row_index: FxHashMap<_, _> =
            request.rows.iter().enumerate().map(|(at, row)| (&row.id, at)).collect();
        let mut world = Self {
            request,
            nodes: Vec::new(),
            row_nodes: vec![None; request.rows.len()],
            seen: seen(request, &row_index),
            row_stacks,
            row_index,
            types: Vec::new(),
            type_index: FxHashMap::default(),
            stack_index: known()
                .map(|((key, _), at)| (key, at))
                .chain(stacks().map(|(at, stack)| (&stack.key, at)))
                .collect(),
            targets: target_stack(request),
            labels: Chains::default(),
            row_labels: Chains::new(&row_labels),
        };
        world.add_nodes();
        world.add_types();
        world.report_unknown_types(found);
        world
    }

    fn add_nodes(&mut self) {
        let desired = self.request.desired;
        for (stack, declared) in desired.stacks.iter().enumerate() {
            for (position, resource) in declared.resources.iter().enumerate() {
                let node = narrow(self.nodes.len());
                let row = self.match_row(stack, declared.matching, resource);
                if let Some(row) = row {
                    self.row_nodes[row] = Some(node);
                }
                let kind = self.intern(&resource.type_name);
                let (position, name) = (narrow(position), RowRef::New(node));
                self.nodes.push(Node { stack, resource, position, kind, row, name });
            }
        }
        self.match_aliases();
        self.name_rows();
        let labels: Vec<_> = self.nodes.iter().map(|node| Some((node.stack, &node.resource.label))).collect();
        self.labels = Chains::new(&labels);
    }

    /// The names that the plan has for all rows; new ones are counted.
    fn name_rows(&mut self) {
        let mut new = 0;
        for node in &mut self.nodes {
            if let Some(row) = node.row {
                node.name = RowRef::Existing(self.request.rows[row].id.clone());
            } else {
                node.name = RowRef::New(new);
                new += 1;
            }
        }
    }

    /// The row of a declared resource: a live one rather than a tombstone, and none that another
    /// declaration has already.
    fn match_row(&self, stack: usize, matching: Matching, resource: &ResourceDesired) -> Option<usize> {
        let candidates = self.row_labels.of(stack, resource.label.as_str());
        let mut fitting = candidates.filter(|at| {
            self.row_nodes[*at].is_none() && matches(matching, &self.request.rows[*at], resource)
        });
        let first = fitting.next()?;
        if self.request.rows[first].is_live() {
            return Some(first);
        }
        Some(fitting.find(|at| self.request.rows[*at].is_live()).unwrap_or(first))
    }

    /// Gives declared resources that have no live row the one of their alias, once all others have theirs.
    fn match_aliases(&mut self) {
        let is_live = |row: usize| self.request.rows[row].is_live();
        for node in 0..self.nodes.len() {
            let Node { stack, resource, row, .. } = self.nodes[node];
            let Some(alias) = resource.alias.as_ref().filter(|_| !row.is_some_and(is_live)) else {
                continue;
            };
            let matching = match self.stack(stack).matching {
                Matching::Label | Matching::TypeLabel => Matching::TypeLabel,
                Matching::TypeLabelTarget => Matching::TypeLabelTarget,
            };
            let mut rows = self.row_labels.of(stack, alias.as_str());
            let found = rows.find(|at| {
                let row = &self.request.rows[*at];
                self.row_nodes[*at].is_none() && row.is_live() && matches(matching, row, resource)
            });
            if let Some(found) = found {
                if let Some(tombstone) = row {
                    self.row_nodes[tombstone] = None;
                }
                self.row_nodes[found] = Some(narrow(node));
                self.nodes[node].row = Some(found);
            }
        }
    }

    /// Types that only rows know; they may still have to be called to delete something.
    fn add_types(&mut self) {
        let rows = self.request.rows;
        for row in rows {
            if let Some(object) = &row.current {
                self.intern(&object.type_name);
            }
            for object in &row.deposed {
                self.intern(&object.type_name);
            }
            if let Some(intent) = &row.intent {
                self.intern(&intent.type_name);
            }
        }
    }

    fn intern(&mut self, name: &TypeName) -> usize {
        if let Some(at) = self.type_index.get(name) {
            return *at;
        }
        let at = self.types.len();
        let rules = self.request.catalog.get(name);
        let has_private = rules.as_ref().is_some_and(|rules| {
            rules.schema().properties.values().any(|property| is_private(&property.hint))
        });
        let has_edges = |kind| rules.as_ref().is_some_and(|rules| rules.schema().has_edges(kind));
        let (runs_with, attaches) = (has_edges(EdgeKind::RuntimeDependency), has_edges(EdgeKind::AttachesTo));
        self.types.push(TypeEntry { name: name.clone(), rules, has_private, runs_with, attaches });
        self.type_index.insert(name.clone(), at);
        at
    }

    fn report_unknown_types(&self, found: &mut Diagnostics) {
        let unknown = self.nodes.iter().filter(|node| self.types[node.kind].rules.is_none());
        for node in unknown {
            let path = node.resource.path.key("type");
            let message = format!("Unsupported resource type: {}", node.resource.type_name);
            let place = self.request.desired.source_map.place(&path);
            let names = supported(self.request.catalog);
            found.push(Diagnostic::error(DiagnosticCode::UnknownType, path, message).at(place).note(names));
        }
    }

    /// A declared resource.
    pub(crate) fn node(&self, node: u32) -> &Node<'a> {
        &self.nodes[node as usize]
    }

    /// The object of a row, and what was last answered or seen of it.
    pub(crate) fn row_object(&self, row: usize) -> Option<(&'a Object, &'a Stored)> {
        let object = self.request.rows[row].current.as_ref()?;
        let answered = match self.seen[row] {
            Seen::Present(properties) => properties,
            _ => &object.echo,
        };
        Some((object, answered))
    }

    /// The object of a declared resource: its row's, or the one that it imports.
    pub(crate) fn object_of(&self, node: u32) -> Option<(&'a Object, &'a Stored)> {
        let node = self.node(node);
        let own = node.row.and_then(|row| self.row_object(row));
        own.or_else(|| {
            let object = self.import_of(node.resource)?.current.as_ref()?;
            Some((object, &object.echo))
        })
    }

    /// The row of a resource as it will stand once it has the object that it imports.
    fn import_of(&self, resource: &ResourceDesired) -> Option<&'a Row> {
        let key = (resource.type_name.clone(), resource.import.clone()?);
        match self.request.imports.get(&key)? {
            Import::Free(row) => Some(row),
            Import::Refused(_) => None,
        }
    }

    /// A stack of the request.
    pub(crate) fn stack(&self, stack: usize) -> &'a StackDesired {
        &self.request.desired.stacks[stack]
    }

    /// A type by its index.
    pub(crate) fn kind(&self, kind: usize) -> &TypeEntry {
        &self.types[kind]
    }

    /// The index of a type that a declaration or a row has.
    pub(crate) fn kind_of(&self, name: &TypeName) -> Option<usize> {
        self.type_index.get(name).copied()
    }

    /// Whether rows of this stack that are not declared go; never those of a stack that is only referred to.
    pub(crate) fn removes(&self, stack: usize) -> bool {
        self.request
            .desired
            .stacks
            .get(stack)
            .is_some_and(|stack| self.request.kind == OperationKind::Delete || stack.mode == Mode::Reconcile)
    }

    /// What a reference that stands in `stack` refers to.
    pub(crate) fn find(&self, stack: usize, target: &RefTarget) -> Found {
        let (other, type_name, label) = match target {
            RefTarget::Resource { stack, type_name, label } => (stack, type_name, label),
            RefTarget::Target(target) => return self.find_target(stack, target),
            RefTarget::Stack(_) | RefTarget::Policy(_) => return Found::Nothing,
        };
        let stack = match other {
            None => Some(stack),
            Some(key) => self.stack_index.get(key).copied(),
        };
        stack.map_or(Found::Nothing, |stack| self.find_label(stack, label, type_name.as_ref()))
    }

    /// The row that a reference which stands in `stack` meant when it was sent, whatever becomes of it.
    pub(crate) fn find_row(&self, stack: usize, target: &RefTarget) -> Option<usize> {
        let RefTarget::Resource { stack: other, type_name, label } = target else { return None };
        let stack = other.as_ref().map_or(Some(stack), |key| self.stack_index.get(key).copied())?;
        let fits = |row: &Row| type_name.as_ref().is_none_or(|wanted| *wanted == row.type_name);
        let mut rows = self.row_labels.of(stack, label.as_str());
        rows.find(|at| self.request.rows[*at].is_live() && fits(&self.request.rows[*at]))
    }

    /// The target of this name: the stack's own, or the project's.
    pub(crate) fn find_target(&self, stack: usize, target: &TargetName) -> Found {
        let (label, kind) = (target.as_str().into(), TARGET_TYPE.into());
        match (self.find_label(stack, &label, Some(&kind)), self.stack_index.get(&self.targets)) {
            (Found::Nothing, Some(targets)) => self.find_label(*targets, &label, Some(&kind)),
            (found, _) => found,
        }
    }

    /// What a label means in a stack: a declared resource, or a row that stays undeclared.
    pub(crate) fn find_label(&self, stack: usize, label: &Label, type_name: Option<&TypeName>) -> Found {
        let fits = |name: &TypeName| type_name.is_none_or(|wanted| wanted == name);
        let mut nodes = self.labels.of(stack, label.as_str());
        let mut nodes = nodes.by_ref().filter(|at| fits(&self.nodes[*at].resource.type_name));
        match (nodes.next(), nodes.next()) {
            (Some(only), None) => return Found::Node(narrow(only)),
            (Some(_), Some(_)) => return Found::Several,
            _ => {}
        }
        if self.removes(stack) {
            return Found::Nothing;
        }
        let mut rows = self.row_labels.of(stack, label.as_str()).filter(|at| {
            let row = &self.request.rows[*at];
            row.current.is_some() && fits(&row.type_name)
        });
        match (rows.next(), rows.next()) {
            // Declared under another label now.
            (Some(only), None) => self.row_nodes[only].map_or(Found::Row(only), Found::Node),
            (Some(_), Some(_)) => Found::Several,
            _ => Found::Nothing,
        }
    }
}

fn target_stack(request: &PlanRequest<'_>) -> StackKey {
    StackKey::new(request.desired.project.clone(), TARGET_STACK)
}

/// The types that exist, as one fact for a message.
fn supported(catalog: &dyn Catalog) -> String {
    let names: Vec<String> = catalog.names().iter().map(ToString::to_string).collect();
    format!("supported: {}", names.join(", "))
}

fn matches(matching: Matching, row: &Row, resource: &ResourceDesired) -> bool {
    let same_type = row.type_name == resource.type_name;
    match matching {
        Matching::Label => true,
        Matching::TypeLabel => same_type,
        Matching::TypeLabelTarget => same_type && matches_target(row, resource),
    }
}

/// Whether a row lives where a resource is declared. A tombstone lives nowhere, so it fits any.
fn matches_target(row: &Row, resource: &ResourceDesired) -> bool {
    let declared = resource.target.as_ref().map_or("", TargetName::as_str);
    let current = row.current.as_ref().map(|object| &object.target);
    let pending = row.intent.as_ref().map(|intent| &intent.target);
    let target = current.or(pending).or_else(|| row.deposed.first().map(|object| &object.target));
    target.is_none_or(|target| target.name.as_str() == declared)
}

/// What was seen of each row. An observation of another object than the row's is of no use.
fn seen<'a>(request: &'a PlanRequest<'a>, row_index: &FxHashMap<&'a RowId, usize>) -> Vec<Seen<'a>> {
    let mut seen = vec![Seen::Not; request.rows.len()];
    for (id, observation) in request.observations {
        let Some(&at) = row_index.get(id) else { continue };
        let current = request.rows[at].current.as_ref().map(|object| &object.native_id);
        seen[at] = match observation {
            Observation::Present { native_id, properties, .. } if current == Some(native_id) => {
                Seen::Present(properties)
            }
            Observation::Gone { native_id, .. } if current == Some(native_id) => Seen::Gone,
            Observation::Failed { message, .. } => Seen::Failed(message),
            _ => Seen::Not,
        };
    }
    seen
}

/// Whether nothing of a row is left at a provider and that is as it should be.
pub(crate) fn is_tombstone(row: &Row) -> bool {
    row.status == RowStatus::Deleted && !row.is_live()
}
