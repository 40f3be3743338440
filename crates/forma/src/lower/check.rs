//! What is wrong with a forma as a whole: everything that can be known without looking at what exists.

use super::{Found, Walk};
use crate::forma::{Forma, Named};
use crate::library::Drawn;
use formwork_model::{
    Diagnostic, DiagnosticCode, Expr, ExprLeaf, Json, Part, Path, Ref, RefTarget, Segment, SourceNode,
    Suggest,
};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

/// What a forma has of one kind of thing that resources are in.
struct Places<'f> {
    what: &'static str,
    reference: &'static str,
    declared: HashSet<&'f str>,
}

impl Walk<'_, '_, '_> {
    /// The stack of what a reference without one is to.
    ///
    /// # Errors
    /// There is no such resource in the forma, or it can't be told which of several is meant.
    pub(super) fn stack_of(&mut self, type_name: &Arc<str>, label: &Arc<str>) -> Result<Arc<str>, String> {
        let key = (Arc::clone(type_name), Arc::clone(label));
        let found = self.stacks.get(&key).map_or(&[][..], Vec::as_slice);
        let one = match found {
            [] => None,
            [(one, _)] => one.clone(),
            several => {
                let mut own = several.iter().filter(|(_, is_default)| *is_default);
                match (own.next(), own.next()) {
                    (Some((one, _)), None) => one.clone(),
                    _ => {
                        return Err(format!(
                            "There are several resources `{label}` of type `{type_name}` in the forma: say in which `stack` the reference's is"
                        ));
                    }
                }
            }
        };
        match one {
            Some(one) => Ok(one),
            None if !found.is_empty() => Err(format!("The resource `{label}` has no stack")),
            None => {
                let candidates =
                    self.stacks.keys().filter(|(of, _)| of == type_name).map(|(_, label)| &**label);
                let hint = Suggest::default().hint(label, sorted(candidates));
                let hint = hint.map(|hint| format!(" ({hint})")).unwrap_or_default();
                Err(format!(
                    "There is no resource `{label}` of type `{type_name}` in the forma{hint}: say in which `stack` it is, if it is elsewhere"
                ))
            }
        }
    }

    /// A resource that is in no stack, or at no target.
    pub(super) fn homeless(&mut self, found: &Found) {
        if self.found.has_errors() {
            // What failed may be the very stack or target.
            return;
        }
        let stack = found.stack.is_none() && self.default_stack.is_none();
        for (is_missing, what, reference) in
            [(stack, "stack", "StackResolvable"), (!stack, "target", "TargetResolvable")]
        {
            if is_missing {
                let message = format!(
                    "The resource `{}` has no {what}: declare one, or name an existing one with a `formae.{reference}`",
                    found.label
                );
                self.report(found.span, DiagnosticCode::MissingProperty, message);
            }
        }
    }

    /// Checks what was found, together.
    pub(super) fn check(&mut self, forma: &Forma) {
        let mut suggest = Suggest::default();
        self.check_places(forma, &mut suggest);
        self.check_repetitions(forma);
        self.check_aliases(forma);
        self.check_references(forma, &mut suggest);
        self.check_credentials(forma);
        self.check_chance(forma);
    }

    /// What is drawn by chance is another value each time, unless the first one is kept.
    fn check_chance(&mut self, forma: &Forma) {
        let Some(drawn) = self.drawn.filter(|drawn| !drawn.is_empty()) else { return };
        for resource in &forma.resources {
            let mut found = Vec::new();
            drawn_anew(&resource.properties, &mut Path::root(), drawn, &mut found);
            let base = crate::desire::properties_path(&resource.path);
            for path in found {
                let message = "A value by chance, which is another one each time the forma is applied";
                let warning = Diagnostic::warning(DiagnosticCode::UnstableValue, base.join(&path), message);
                self.push_at(warning.hint("`.setOnce` keeps the first"));
            }
        }
    }

    fn check_places(&mut self, forma: &Forma, suggest: &mut Suggest) {
        let named = |list: &'_ [Named]| list.iter().map(|named| named.label.clone()).collect::<Vec<_>>();
        let (known_stacks, known_targets) = (named(&forma.known_stacks), named(&forma.known_targets));
        let stacks = Places {
            what: "stack",
            reference: "StackResolvable",
            declared: forma
                .stacks
                .iter()
                .map(|it| &*it.label)
                .chain(known_stacks.iter().map(|it| &**it))
                .collect(),
        };
        let targets = Places {
            what: "target",
            reference: "TargetResolvable",
            declared: forma
                .targets
                .iter()
                .map(|it| it.label.as_str())
                .chain(known_targets.iter().map(|it| &**it))
                .collect(),
        };
        for resource in &forma.resources {
            for (places, used) in [(&stacks, &*resource.stack), (&targets, resource.target.as_str())] {
                if !places.declared.contains(used) {
                    let key = if places.what == "stack" { "Stack" } else { "Target" };
                    self.undeclared(places, used, &resource.path.key(key), suggest);
                }
            }
        }
    }

    fn undeclared(&mut self, places: &Places<'_>, used: &str, path: &Path, suggest: &mut Suggest) {
        let Places { what, reference, declared } = places;
        let message = format!(
            "The {what} `{used}` isn't in the forma: declare it, or name an existing one with a `formae.{reference}`"
        );
        let mut diagnostic = Diagnostic::error(DiagnosticCode::UnknownReference, path.clone(), message);
        if let Some(hint) = suggest.hint(used, sorted(declared.iter().copied())) {
            diagnostic = diagnostic.hint(hint);
        }
        self.push_at(diagnostic);
    }

    fn check_repetitions(&mut self, forma: &Forma) {
        let stacks = forma.stacks.iter().map(|it| (format!("stack `{}`", it.label), &it.path));
        let targets = forma.targets.iter().map(|it| (format!("target `{}`", it.label), &it.path));
        let policies = forma.policies.iter().map(|it| (format!("policy `{}`", it.label), &it.path));
        let resources = forma.resources.iter().map(|it| {
            let what =
                format!("resource `{}` of type `{}` in the stack `{}`", it.label, it.type_name, it.stack);
            (what, &it.path)
        });
        let mut first: HashMap<String, &Path> = HashMap::new();
        for (what, path) in stacks.chain(targets).chain(policies).chain(resources) {
            if let Some(before) = first.get(&what).copied() {
                let message = format!("The {what} is declared more than once");
                let diagnostic = Diagnostic::error(DiagnosticCode::DuplicateKey, path.clone(), message);
                let before = self.place_of_path(before);
                self.push_at(diagnostic.related("first here", before));
            } else {
                first.insert(what, path);
            }
        }
    }

    /// The rules of renaming (`forma-behaviour.md` §4.9): a label is given up by one resource, for another label, by
    /// one that does not have it any more.
    fn check_aliases(&mut self, forma: &Forma) {
        let key = |label: &str, it: &crate::forma::Resource| {
            (it.stack.clone(), it.type_name.clone(), Arc::<str>::from(label))
        };
        let labels: HashSet<_> = forma.resources.iter().map(|it| key(it.label.as_str(), it)).collect();
        let mut claimed: HashMap<_, &crate::forma::Resource> = HashMap::new();
        for resource in &forma.resources {
            let Some(alias) = &resource.alias else { continue };
            let claim = key(alias.as_str(), resource);
            let problem = if *alias == resource.label {
                Some(format!("The alias of `{alias}` is its own label"))
            } else if labels.contains(&claim) {
                Some(format!("The alias `{alias}` is the label of another resource of this forma"))
            } else {
                claimed
                    .get(&claim)
                    .map(|other| format!("The alias `{alias}` is also that of `{}`", other.label))
            };
            if let Some(problem) = problem {
                let path = resource.path.key("Alias");
                self.push_at(Diagnostic::error(DiagnosticCode::ConflictingProperties, path, problem));
            }
            claimed.entry(claim).or_insert(resource);
        }
    }

    /// References within the forma's own stacks must be to what it declares, if it declares all of them.
    fn check_references(&mut self, forma: &Forma, suggest: &mut Suggest) {
        let own: HashSet<&str> = forma.stacks.iter().map(|it| &*it.label).collect();
        let known: HashSet<&str> = forma.known_stacks.iter().map(|it| &*it.label).collect();
        let mut labels: BTreeMap<(&str, &str), BTreeMap<&str, usize>> = BTreeMap::new();
        for (index, resource) in forma.resources.iter().enumerate() {
            let key = (&*resource.stack, resource.type_name.as_str());
            labels.entry(key).or_default().insert(resource.label.as_str(), index);
        }
        let configs = forma.targets.iter().map(|it| (&it.config, it.path.key("Config")));
        let properties = forma.resources.iter().map(|it| (&it.properties, it.path.key("Properties")));
        let mut unknown = Vec::new();
        for (value, base) in configs.chain(properties) {
            each_reference(value, &base, &mut |path, reference| {
                let RefTarget::Resource { stack: Some(stack), type_name: Some(type_name), label } =
                    &reference.to
                else {
                    return;
                };
                // In a patch, or a stack that only exists elsewhere, it may be there already.
                let is_elsewhere = !own.contains(&*stack.name) || known.contains(&*stack.name);
                let found = labels.get(&(&*stack.name, type_name.as_str()));
                if is_elsewhere || found.is_some_and(|found| found.contains_key(label.as_str())) {
                    return;
                }
                let hint = found.and_then(|found| suggest.hint(label.as_str(), found.keys().copied()));
                unknown.push((path.clone(), reference.clone(), hint));
            });
        }
        for (path, reference, hint) in unknown {
            let RefTarget::Resource { type_name: Some(type_name), label, .. } = &reference.to else {
                continue;
            };
            let message = format!("There is no resource `{label}` of type `{type_name}` in the forma");
            let mut diagnostic = Diagnostic::warning(DiagnosticCode::UnknownReference, path, message);
            if let Some(hint) = hint {
                diagnostic = diagnostic.hint(hint);
            }
            self.push_at(diagnostic);
        }
    }

    /// A target whose configuration comes from a resource at a target whose configuration comes from a resource is
    /// refused: reaching the first would take as many calls as the chain is long.
    fn check_credentials(&mut self, forma: &Forma) {
        let mut needs: HashMap<&str, Vec<&str>> = HashMap::new();
        for target in &forma.targets {
            each_reference(&target.config, &Path::root(), &mut |_, reference| {
                let RefTarget::Resource { stack: Some(stack), type_name: Some(type_name), label } =
                    &reference.to
                else {
                    return;
                };
                let at = forma
                    .resources
                    .iter()
                    .find(|it| it.label == *label && it.type_name == *type_name && *it.stack == *stack.name);
                needs.entry(target.label.as_str()).or_default().extend(at.map(|it| it.target.as_str()));
            });
        }
        for target in &forma.targets {
            let through = needs.get(target.label.as_str()).into_iter().flatten();
            for through in through.copied() {
                let problem = if through == target.label.as_str() {
                    "which is at this very target".to_owned()
                } else if needs.get(through).is_some_and(|needs| !needs.is_empty()) {
                    format!("at the target `{through}`, whose own configuration comes from one")
                } else {
                    continue;
                };
                let message =
                    format!("The configuration of `{}` comes from a resource {problem}", target.label);
                let path = target.path.key("Config");
                self.push_at(Diagnostic::error(DiagnosticCode::DependencyCycle, path, message));
            }
        }
    }

    fn push_at(&mut self, diagnostic: Diagnostic) {
        let place = self.place_of_path(&diagnostic.path);
        self.push(diagnostic.at(place));
    }

    /// The place of what is declared at a path, or of the nearest that it is in.
    fn place_of_path(&self, path: &Path) -> Option<formwork_model::Place> {
        let mut segments = path.segments().iter();
        let Segment::Key(kind) = segments.next()? else { return None };
        let Segment::Index(index) = segments.next()? else { return None };
        let list = match &**kind {
            "Stacks" => &self.nodes.stacks,
            "Targets" => &self.nodes.targets,
            "Policies" => &self.nodes.policies,
            "Resources" => &self.nodes.resources,
            _ => &self.nodes.resolvables,
        };
        let mut node: &SourceNode = list.get(*index)?;
        for segment in segments {
            match node.child(segment) {
                Some(child) => node = child,
                None => break,
            }
        }
        self.place(node.span)
    }
}

/// Visits each reference of a value.
fn each_reference(value: &Expr, base: &Path, visit: &mut dyn FnMut(&Path, &Ref)) {
    value.for_each_leaf(&mut |path, leaf| each_in_leaf(&base.join(path), leaf, visit));
}

fn each_in_leaf(path: &Path, leaf: &ExprLeaf, visit: &mut dyn FnMut(&Path, &Ref)) {
    match leaf {
        ExprLeaf::Ref(reference) => visit(path, reference),
        ExprLeaf::Template(parts) => {
            for part in parts {
                if let Part::Ref(reference) = part {
                    visit(path, reference);
                }
            }
        }
        ExprLeaf::Once(inner) => each_reference(inner, path, visit),
        ExprLeaf::Secret(_) | ExprLeaf::KeepPrevious => {}
    }
}

fn sorted<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut names: Vec<&str> = names.collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// Where values stand that were drawn by chance and are not written once.
fn drawn_anew(value: &Expr, path: &mut Path, drawn: &Drawn, found: &mut Vec<Path>) {
    match value {
        Expr::Plain(plain) => drawn_in(plain, path, drawn, found),
        Expr::Leaf(ExprLeaf::Secret(secret)) => drawn_in(secret.expose(), path, drawn, found),
        Expr::Leaf(ExprLeaf::Template(parts)) => {
            if parts.iter().any(|part| matches!(part, Part::Text(text) if drawn.is_in(text))) {
                found.push(path.clone());
            }
        }
        Expr::Leaf(_) => {}
        Expr::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                path.push(Segment::Index(index));
                drawn_anew(item, path, drawn, found);
                path.pop();
            }
        }
        Expr::Object(members) => {
            for (key, member) in members {
                path.push(Segment::Key(key.clone()));
                drawn_anew(member, path, drawn, found);
                path.pop();
            }
        }
    }
}

fn drawn_in(value: &Json, path: &mut Path, drawn: &Drawn, found: &mut Vec<Path>) {
    match value {
        Json::String(text) if drawn.is_in(text) => found.push(path.clone()),
        Json::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                path.push(Segment::Index(index));
                drawn_in(item, path, drawn, found);
                path.pop();
            }
        }
        Json::Object(members) => {
            for (key, member) in members {
                path.push(Segment::Key(key.as_str().into()));
                drawn_in(member, path, drawn, found);
                path.pop();
            }
        }
        _ => {}
    }
}
