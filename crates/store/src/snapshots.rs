//! The trait [`Reader`] for whatever can show one consistent state of [`Tables`].

use crate::tables::Tables;
use crate::{
    AuditRecord, LeaseHolder, ListQuery, OpenOperation, OwnedObject, Page, Reader, SavedPlan, StoreError,
    StoredObject, UniqueKey, rules,
};
use async_trait::async_trait;
use formwork_model::{
    Event, JournalEntry, OperationId, OperationRecord, Plan, PlanHash, ProjectId, Row, RowId, Sealed, SlotId,
    StackId,
};
use std::sync::Arc;

/// Shows one consistent state to a job that only reads.
pub(crate) trait Snapshots: Send + Sync + 'static {
    fn read<T: Send + 'static>(
        &self,
        job: impl FnOnce(&mut dyn Tables) -> Result<T, StoreError> + Send + 'static,
    ) -> impl Future<Output = Result<T, StoreError>> + Send;
}

#[async_trait]
impl<S: Snapshots> Reader for S {
    async fn rows(&self, stack: &StackId) -> Result<Vec<Row>, StoreError> {
        let stack = stack.clone();
        self.read(move |tables| tables.rows(&stack)).await
    }

    async fn row(&self, id: &RowId) -> Result<Option<Row>, StoreError> {
        let id = id.clone();
        self.read(move |tables| tables.row(&id)).await
    }

    async fn owners(&self, object: &OwnedObject) -> Result<Vec<RowId>, StoreError> {
        let object = object.clone();
        self.read(move |tables| tables.owners(&object)).await
    }

    async fn inbound(&self, stack: &StackId) -> Result<Vec<(RowId, RowId)>, StoreError> {
        let stack = stack.clone();
        self.read(move |tables| tables.inbound(&stack)).await
    }

    async fn operation(&self, id: &OperationId) -> Result<Option<OperationRecord>, StoreError> {
        let id = id.clone();
        self.read(move |tables| tables.operation(&id)).await
    }

    async fn operations(
        &self,
        stack: &StackId,
        limit: usize,
        offset: usize,
    ) -> Result<Page<OperationRecord>, StoreError> {
        let stack = stack.clone();
        self.read(move |tables| tables.operations(&stack, limit, offset)).await
    }

    async fn open_operations(&self) -> Result<Vec<OpenOperation>, StoreError> {
        self.read(|tables| {
            let mut open = Vec::new();
            for (id, record) in tables.open_operations()? {
                let holder = tables.leases_of(&id)?.into_iter().find_map(rules::holder_of);
                open.push(OpenOperation { id, record, holder });
            }
            Ok(open)
        })
        .await
    }

    async fn plan(&self, operation: &OperationId) -> Result<Option<Arc<Plan>>, StoreError> {
        let operation = operation.clone();
        self.read(move |tables| tables.plan(&operation)).await
    }

    async fn saved_plan(&self, hash: &PlanHash) -> Result<Option<SavedPlan>, StoreError> {
        let hash = *hash;
        self.read(move |tables| tables.saved_plan(&hash)).await
    }

    async fn journal(&self, operation: &OperationId) -> Result<Vec<JournalEntry>, StoreError> {
        let operation = operation.clone();
        self.read(move |tables| tables.journal(&operation)).await
    }

    async fn slots(&self, operation: &OperationId) -> Result<Vec<(SlotId, Sealed)>, StoreError> {
        let operation = operation.clone();
        self.read(move |tables| tables.slots(&operation)).await
    }

    async fn row_slots(&self, row: &RowId) -> Result<Vec<(SlotId, Sealed)>, StoreError> {
        let row = row.clone();
        self.read(move |tables| tables.row_slots(&row)).await
    }

    async fn events(
        &self,
        operation: &OperationId,
        after: u64,
        limit: usize,
    ) -> Result<Vec<Event>, StoreError> {
        let operation = operation.clone();
        self.read(move |tables| tables.events(&operation, after, limit)).await
    }

    async fn lease(&self, stack: &StackId) -> Result<Option<LeaseHolder>, StoreError> {
        let stack = stack.clone();
        self.read(move |tables| Ok(tables.lease(&stack)?.and_then(rules::holder_of))).await
    }

    async fn object(&self, id: &str) -> Result<Option<StoredObject>, StoreError> {
        let id = id.to_owned();
        self.read(move |tables| tables.object(&id)).await
    }

    async fn find_object(
        &self,
        project: Option<&ProjectId>,
        type_name: &str,
        key: &UniqueKey,
    ) -> Result<Option<StoredObject>, StoreError> {
        let (project, type_name, key) = (project.cloned(), type_name.to_owned(), key.clone());
        self.read(move |tables| rules::find_object(tables, project.as_ref(), &type_name, &key)).await
    }

    async fn objects(&self, query: &ListQuery) -> Result<Page<StoredObject>, StoreError> {
        let query = query.clone();
        self.read(move |tables| tables.objects(&query)).await
    }

    async fn links_to(&self, id: &str, most: usize) -> Result<Vec<(String, String, String)>, StoreError> {
        let id = id.to_owned();
        self.read(move |tables| tables.links_to(&id, most)).await
    }

    async fn audit_log(
        &self,
        project: Option<&ProjectId>,
        limit: usize,
        offset: usize,
    ) -> Result<Page<AuditRecord>, StoreError> {
        let project = project.cloned();
        self.read(move |tables| tables.audit_log(project.as_ref(), limit, offset)).await
    }

    async fn logical_digest(&self) -> Result<String, StoreError> {
        self.read(rules::logical_digest).await
    }
}
