//! The contracts of plugins, tried on the resources of scenarios: each type that a scenario declares is taken through
//! a whole life by itself, beside whatever it refers to.

use crate::calls::Calls;
use crate::scenarios::ScenarioError;
use crate::served::Served;
use formwork_formation::fill_references;
use formwork_model::{
    Catalog, Json, LookupRule, NativeId, PropertySchema, Secret, TARGET_TYPE, TypeName, UpdateMethod,
};
use formwork_plugin_conformance::conformance::{Case, Contract, Report, Verdict, run_one};
use formwork_plugin_conformance::lifecycle::Scenario;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// What a resource's `metadata.contracts` says of how its type is tried.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Said {
    /// A property that takes any text.
    text: Option<String>,
    /// The properties of further objects, instead of those of the template's other resources of the type.
    siblings: Option<Vec<Json>>,
}

/// A resource to try the contracts on.
#[derive(Clone, Debug)]
pub(crate) struct Attempt {
    scenario: String,
    label: String,
    /// The template: what the resource refers to is in it.
    template: Json,
    create: Json,
    update: Option<Json>,
    siblings: Vec<Json>,
    said: Said,
}

/// The resources of scenarios to try the contracts on: of each type the first, and each that says how to.
///
/// # Errors
/// A resource says something else than what can be said.
pub(crate) fn attempts(scenarios: &[Scenario]) -> Result<Vec<Attempt>, ScenarioError> {
    let mut seen = BTreeSet::new();
    let mut attempts = Vec::new();
    for scenario in scenarios {
        for (label, declaration) in resources(&scenario.create) {
            let said = said(scenario, label, declaration)?;
            let is_new = seen.insert(type_of(declaration).to_owned());
            if is_new || said.is_some() {
                attempts.push(Attempt::of(scenario, label, declaration, said.unwrap_or_default()));
            }
        }
    }
    Ok(attempts)
}

fn said(scenario: &Scenario, label: &str, declaration: &Json) -> Result<Option<Said>, ScenarioError> {
    let Some(said) = declaration.get("metadata").and_then(|metadata| metadata.get("contracts")) else {
        return Ok(None);
    };
    Said::deserialize(said).map(Some).map_err(|source| ScenarioError::Contracts {
        scenario: scenario.name.clone(),
        resource: label.to_owned(),
        source,
    })
}

/// The resources of a template that plugins make.
fn resources(template: &Json) -> impl Iterator<Item = (&str, &Json)> {
    let members = template.get("resources").and_then(Json::as_object).into_iter().flatten();
    members
        .filter(|(_, declaration)| type_of(declaration) != TARGET_TYPE)
        .map(|(label, it)| (label.as_str(), it))
}

fn type_of(declaration: &Json) -> &str {
    declaration.get("type").and_then(Json::as_str).unwrap_or_default()
}

fn properties_of(declaration: &Json) -> Json {
    declaration.get("properties").cloned().unwrap_or_default()
}

impl Attempt {
    fn of(scenario: &Scenario, label: &str, declaration: &Json, said: Said) -> Self {
        let create = properties_of(declaration);
        let variant = scenario.update.as_ref().and_then(|update| update.get("resources")?.get(label));
        let update = variant.map(properties_of).filter(|update| *update != create);
        let template = &scenario.create;
        let siblings = said.siblings.clone().unwrap_or_else(|| {
            let needs = needs(template, label);
            let is_free = |other: &str| {
                let all_there = self::needs(template, other).iter().all(|need| needs.contains(need));
                other != label && !needs.iter().any(|need| need == other) && all_there
            };
            let others = resources(template)
                .filter(|(other, it)| type_of(it) == type_of(declaration) && is_free(other));
            others.map(|(_, it)| properties_of(it)).collect()
        });
        Self {
            scenario: scenario.name.clone(),
            label: label.to_owned(),
            template: template.clone(),
            create,
            update,
            siblings,
            said,
        }
    }

    fn declaration(&self, label: &str) -> Option<&Json> {
        self.template.get("resources")?.get(label)
    }

    /// The resource's type.
    pub(crate) fn type_name(&self) -> &str {
        self.declaration(&self.label).map(type_of).unwrap_or_default()
    }

    /// Makes what the resource refers to, tries it, and deletes the rest again.
    pub(crate) async fn run(
        &self,
        served: &Served,
        catalog: &dyn Catalog,
        patience: Duration,
        report: &mut Report,
    ) {
        let type_name = TypeName::from(self.type_name());
        let mut world = World { attempt: self, served, made: Vec::new() };
        let case = match world.prepare().await {
            Ok(()) => self.case(&type_name, catalog, patience, &world),
            Err(why) => Err(why),
        };
        match case.and_then(|case| Ok((case, served.plugin(&type_name)?))) {
            Ok((case, plugin)) => run_one(&*plugin, &case, report).await,
            Err(why) => {
                let instead = format!("`{}` of `{}` can't be tried: {why}", self.label, self.scenario);
                report.note(type_name, Contract::CreateAnswers, Verdict::Broken { instead });
            }
        }
        world.clear().await;
    }

    fn case(
        &self,
        type_name: &TypeName,
        catalog: &dyn Catalog,
        patience: Duration,
        world: &World<'_>,
    ) -> Result<Case, String> {
        let rules = catalog.get(type_name).ok_or_else(|| format!("nothing knows `{type_name}`"))?;
        let create = world.filled(&self.create)?;
        let hidden = rules.schema().properties.iter().filter(|(_, it)| it.hint.write_only || it.hint.opaque);
        let hidden = hidden.map(|(name, _)| name.to_string());
        let is_set = |property: &PropertySchema| {
            matches!(property.hint.update_method, UpdateMethod::Set | UpdateMethod::EntitySet(_))
        };
        let sets = rules.schema().properties.iter().filter(|(_, it)| is_set(it));
        let parent = rules.discovery().and_then(|found| found.parent.as_ref());
        let parameter = |parameter: &std::sync::Arc<str>| {
            Some((parameter.to_string(), create.get(&**parameter)?.clone()))
        };
        let list_parameters = parent
            .into_iter()
            .flat_map(|parent| &parent.list_parameters)
            .filter_map(|it| parameter(&it.parameter))
            .collect();
        Ok(Case {
            target_config: world.target_config(&self.label)?,
            update: self.update.as_ref().map(|update| world.filled(update)).transpose()?,
            siblings: self.siblings.iter().map(|it| world.filled(it)).collect::<Result<_, _>>()?,
            write_only: hidden.collect(),
            unordered: sets.map(|(name, _)| name.to_string()).collect(),
            text: self.said.text.clone(),
            list_parameters,
            tokens: rules.capabilities().lookup == LookupRule::Token,
            patience,
            ..Case::new(type_name.clone(), create)
        })
    }
}

/// The labels of what a resource refers to, directly or not, each after what it refers to itself.
fn needs(template: &Json, label: &str) -> Vec<String> {
    let mut needs = Vec::new();
    gather(template, label, &mut BTreeSet::from([label.to_owned()]), &mut needs);
    needs
}

fn gather(template: &Json, label: &str, seen: &mut BTreeSet<String>, needs: &mut Vec<String>) {
    for name in referred(template, label) {
        if seen.insert(name.clone()) {
            gather(template, &name, seen, needs);
            needs.push(name);
        }
    }
}

/// The labels that a resource names: in its properties, as its target, and as what must be there first.
fn referred(template: &Json, label: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let Some(declaration) = template.get("resources").and_then(|all| all.get(label)) else { return names };
    let first = declaration.get("depends_on").and_then(Json::as_array).into_iter().flatten();
    let named = declaration.get("target").into_iter().chain(first).filter_map(Json::as_str);
    names.extend(named.map(str::to_owned));
    // Every name is known here, so that all are seen.
    let _ = fill_references(&properties_of(declaration), &mut |name| {
        names.insert(name.to_owned());
        Some(Json::Null)
    });
    names
}

/// What is there while a resource is tried.
struct World<'a> {
    attempt: &'a Attempt,
    served: &'a Served,
    /// Label and id, in the order in which they were made.
    made: Vec<(String, NativeId)>,
}

impl World<'_> {
    async fn prepare(&mut self) -> Result<(), String> {
        for label in needs(&self.attempt.template, &self.attempt.label) {
            let Some(declaration) = self.attempt.declaration(&label) else { continue };
            let type_name = TypeName::from(type_of(declaration));
            if type_name.as_str() == TARGET_TYPE {
                continue;
            }
            let properties = self.filled(&properties_of(declaration))?;
            let plugin = self.served.plugin(&type_name)?;
            let target_config = Secret::new(self.target_config(&label)?);
            let calls = Calls { plugin: &*plugin, type_name: &type_name, target_config };
            let native_id = calls.create(properties).await.map_err(|why| format!("`{label}`: {why}"))?;
            self.made.push((label, native_id));
        }
        Ok(())
    }

    fn filled(&self, value: &Json) -> Result<Json, String> {
        let found: BTreeMap<&str, &NativeId> =
            self.made.iter().map(|(label, id)| (label.as_str(), id)).collect();
        let filled = fill_references(value, &mut |name| Some(Json::from(found.get(name)?.as_str())));
        filled.map_err(|name| format!("`{name}` is not there"))
    }

    fn target_config(&self, label: &str) -> Result<Json, String> {
        let target = self.attempt.declaration(label).and_then(|it| it.get("target")?.as_str());
        let target = target.and_then(|target| self.attempt.declaration(target));
        let config = target.and_then(|target| target.get("properties")?.get("config"));
        config.map_or_else(|| Ok(Json::Object(serde_json::Map::new())), |config| self.filled(config))
    }

    async fn clear(&mut self) {
        while let Some((label, native_id)) = self.made.pop() {
            let Some(declaration) = self.attempt.declaration(&label) else { continue };
            let type_name = TypeName::from(type_of(declaration));
            let (Ok(plugin), Ok(config)) = (self.served.plugin(&type_name), self.target_config(&label))
            else {
                continue;
            };
            let calls = Calls { plugin: &*plugin, type_name: &type_name, target_config: Secret::new(config) };
            // What stands in its way is told by the contracts of its own type.
            let _ = calls.delete(&native_id).await;
        }
    }
}
