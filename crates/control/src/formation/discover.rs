//! What there is at the targets of a formation. Nothing is changed and nothing stored.

use crate::{Control, ControlError, Principal};
use formwork_engine::{DiscoverRequest, Discoveries};
use formwork_model::{Catalog as _, Json, Path, Row, StackId, Stored, TARGET_TYPE, TypeName};
use std::collections::BTreeSet;

/// Which objects are of interest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Whose {
    /// Those that the formation doesn't stand for.
    #[default]
    Others,
    /// All.
    Everybodys,
}

impl Control {
    /// Looks for objects at a formation's targets, of the types that live there and are discovered. Who may
    /// plan may look.
    ///
    /// # Errors
    /// `RESOURCE_NOT_FOUND`, `FORBIDDEN`.
    pub async fn discover(
        &self,
        p: &Principal,
        id: &StackId,
        whose: Whose,
    ) -> Result<Discoveries, ControlError> {
        let record = self.formation_record(p, id).await?;
        Self::demand(p, &record.question("formations:PlanFormation"))?;
        let rows = self.reader.rows(id).await?;
        let managed: BTreeSet<_> = match whose {
            Whose::Others => {
                rows.iter().flat_map(Row::objects).map(|(kind, id)| (kind.clone(), id.clone())).collect()
            }
            Whose::Everybodys => BTreeSet::new(),
        };
        let mut all = Discoveries::default();
        for target in rows.iter().filter(|row| row.type_name.as_str() == TARGET_TYPE && row.current.is_some())
        {
            let request = DiscoverRequest {
                project: record.project.clone(),
                actor: p.actor.clone(),
                target: Some(target.clone()),
                types: self.discovered_at(target),
                catalog: self.catalog.clone(),
                managed: managed.clone(),
            };
            let found = self.engine.discover(request).await;
            all.found.extend(found.found);
            all.left_out.extend(found.left_out);
        }
        Ok(all)
    }

    /// The types that live at a target and are discovered.
    fn discovered_at(&self, target: &Row) -> Vec<TypeName> {
        let namespace = target.current.as_ref().and_then(|object| object.sent.at(&Path::of(["namespace"])));
        let Some(Stored::Plain(Json::String(namespace))) = namespace else { return Vec::new() };
        let lives_there = |name: &TypeName| {
            self.catalog.get(name).is_some_and(|rules| {
                rules.discovery().is_some() && rules.target_namespace() == Some(namespace.as_str())
            })
        };
        self.catalog.names().into_iter().filter(lives_there).collect()
    }
}
