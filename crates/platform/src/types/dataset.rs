//! `dataset`: the cases that evals put to an agent.

use crate::{Definition, DependentRule, Dependents, PlatformType, RestRoute, UpdateMode};
use formwork_model::{ImmutableRule, Json, Kind, PropertySchema};
use formwork_store::UniqueKey;

pub(super) struct Dataset;

static ROUTE: RestRoute = RestRoute {
    type_name: "dataset",
    path: "/datasets",
    id_param: "dataset_id",
    module: "evaluations",
    create: Some("CreateDataset"),
    list: "ListDatasets",
    get: "GetDataset",
    update: Some("UpdateDataset"),
    delete: Some("DeleteDataset"),
    gated_as: &[("UpdateDataset", "evaluations:CreateDataset")],
    update_modes: &[UpdateMode::Put],
    ..RestRoute::USUAL
};

static DEPENDENTS: [Dependents; 2] = [
    Dependents { type_name: "dataset_item", fields: &["dataset_id"], rule: DependentRule::Cascade },
    Dependents { type_name: "eval", fields: &["dataset_id"], rule: DependentRule::Cascade },
];

impl PlatformType for Dataset {
    fn define(&self) -> Definition {
        Definition {
            name: "dataset",
            title: "dataset",
            noun: "Dataset",
            id_prefix: "dset",
            doc: "The cases that evals put to an agent.",
            properties: vec![
                ("name", PropertySchema::new(Kind::String, "What people call it; unique.").required()),
                ("description", PropertySchema::new(Kind::String, "What it is for.").nullable()),
            ],
            // Nothing of it is fixed, so the rule never applies.
            on_immutable: ImmutableRule::Replace,
            srn_type: "dataset",
            dependents: &DEPENDENTS,
            route: &ROUTE,
        }
    }

    fn public(&self) -> &'static [&'static str] {
        &["name"]
    }

    fn keys(&self, properties: &Json) -> Vec<UniqueKey> {
        super::name_key(properties)
    }
}
