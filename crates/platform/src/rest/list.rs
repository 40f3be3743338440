//! Lists: paged by the store where it can filter, scanned page by page where it can't.

use crate::{
    Platform, PlatformError, Refusal, TypeEntry, document::Document, rest::handlers::served,
    view::representation,
};
use formwork_model::{Json, Kind, ProjectId, TypeName, WireCode};
use formwork_store::{DomainError, Link, ListQuery, Page, Reader, StoreError, StoredObject};
use serde_json::json;

const DEFAULT_LIMIT: usize = 50;
const MOST: usize = 100;
/// How many objects a scan looks at in one go.
const SCAN: usize = 200;

/// Which objects to list.
#[derive(Clone, Debug, PartialEq)]
pub struct RestList {
    /// Of which type.
    pub type_name: TypeName,
    /// In which projects; `None` is all of them, an empty list is none.
    pub projects: Option<Vec<ProjectId>>,
    /// The filters of [`RestRoute::list_filters`](crate::RestRoute), as given in the query.
    pub filters: Vec<(String, String)>,
    /// How many to answer: 1 to 100, 50 if not given.
    pub limit: Option<usize>,
    /// How many to pass over.
    pub offset: usize,
}

/// What a filter of a type's list comes to.
pub(crate) enum Filter {
    /// Objects that link to this id.
    Linked(Link),
    /// Objects that pass a test.
    Test(Box<dyn Fn(&Document) -> bool + Send + Sync>),
}

impl Platform {
    /// A page of objects, oldest first.
    ///
    /// # Errors
    /// [`PlatformError`].
    pub async fn rest_list(&self, query: RestList) -> Result<Page<Json>, PlatformError> {
        self.rest_list_where(query, None).await
    }

    /// A page of the objects that somebody may see, oldest first: what they may not see is neither
    /// in a page nor in the total. `None`: they may see all that the query means.
    ///
    /// # Errors
    /// [`PlatformError`].
    pub async fn rest_list_where(
        &self,
        query: RestList,
        may_see: Option<&(dyn Fn(&StoredObject) -> bool + Send + Sync)>,
    ) -> Result<Page<Json>, PlatformError> {
        let entry = served(&query.type_name)?;
        let limit = query.limit.unwrap_or(DEFAULT_LIMIT);
        if !(1..=MOST).contains(&limit) {
            let message = format!("`limit` must be between 1 and {MOST}");
            return Err(Refusal::new(WireCode::ValidationFailed, message).into());
        }
        let (projects, linked, tests) = narrowed(&entry, &query)?;
        let projects = projects.filter(|_| !entry.is_global());
        if projects.as_ref().is_some_and(Vec::is_empty) {
            return Ok(Page { items: Vec::new(), total: 0 });
        }
        let of_store = ListQuery {
            type_name: entry.name().to_owned(),
            projects: projects.unwrap_or_default(),
            linked,
            limit,
            offset: query.offset,
        };
        let reader = self.store.reader();
        let page = if tests.is_empty() && may_see.is_none() {
            reader.objects(&of_store).await?
        } else {
            let passes = |object: &StoredObject| {
                let document = Document::of(object)?;
                let is_meant = tests.iter().all(|test| test(&document));
                Ok(is_meant && may_see.is_none_or(|may_see| may_see(object)))
            };
            page_where(&*reader, of_store, passes).await?
        };
        let items =
            page.items.iter().map(|object| representation(&entry, object)).collect::<Result<_, _>>()?;
        Ok(Page { items, total: page.total })
    }
}

/// A page of the objects that pass a test, of all that a query means; only that page is held in
/// memory.
///
/// # Errors
/// A fault of the store, or what the test fails with.
pub async fn page_where(
    reader: &dyn Reader,
    query: ListQuery,
    passes: impl Fn(&StoredObject) -> Result<bool, DomainError> + Send + Sync,
) -> Result<Page<StoredObject>, StoreError> {
    let (from, to) = (query.offset, query.offset.saturating_add(query.limit));
    let mut looking = ListQuery { limit: SCAN, offset: 0, ..query };
    let mut kept = Page { items: Vec::new(), total: 0 };
    loop {
        let page = reader.objects(&looking).await?;
        looking.offset += page.items.len();
        let last = page.items.is_empty() || looking.offset >= page.total;
        for object in page.items {
            if passes(&object)? {
                if (from..to).contains(&kept.total) {
                    kept.items.push(object);
                }
                kept.total += 1;
            }
        }
        if last {
            return Ok(kept);
        }
    }
}

/// What a filter means: the type's own meaning, or for the name of a property its value.
fn filter(entry: &TypeEntry, name: &str, value: &str) -> Result<Filter, Refusal> {
    match entry.stored_schema().property(name) {
        Some(property) if property.kind == Kind::String && !property.refers_to.is_empty() => {
            Ok(Filter::Linked(Link { field: name.to_owned(), to: value.to_owned() }))
        }
        Some(property) if property.kind == Kind::String => Ok(Filter::Test(equals(name, value))),
        _ => entry.kind().filter(name, value),
    }
}

fn equals(property: &str, value: &str) -> Test {
    let (property, value) = (property.to_owned(), value.to_owned());
    Box::new(move |document| document.properties.get(&property).and_then(Json::as_str) == Some(&*value))
}

type Test = Box<dyn Fn(&Document) -> bool + Send + Sync>;
type Narrowed = (Option<Vec<ProjectId>>, Option<Link>, Vec<Test>);

fn narrowed(entry: &TypeEntry, query: &RestList) -> Result<Narrowed, Refusal> {
    let known = entry.definition().route.list_filters;
    let is_unknown = |name: &&str| !known.contains(name);
    let unknown: Vec<&str> = query.filters.iter().map(|(name, _)| name.as_str()).filter(is_unknown).collect();
    if !unknown.is_empty() {
        let message = format!("Unknown query parameter(s): {}", unknown.join(", "));
        return Err(
            Refusal::new(WireCode::ValidationFailed, message).meta(json!({ "unknownFields": unknown }))
        );
    }
    let (mut projects, mut linked, mut tests) = (query.projects.clone(), None, Vec::<Test>::new());
    for (name, value) in &query.filters {
        if name == "project_id" {
            let named = ProjectId::from(value.as_str());
            let in_reach = projects.as_ref().is_none_or(|reach| reach.contains(&named));
            projects = Some(if in_reach { vec![named] } else { Vec::new() });
            continue;
        }
        match filter(entry, name, value)? {
            Filter::Linked(link) if linked.is_none() => linked = Some(link),
            // The store follows one link; the others are looked at in what it finds.
            Filter::Linked(link) => tests.push(equals(&link.field, &link.to)),
            Filter::Test(test) => tests.push(test),
        }
    }
    Ok((projects, linked, tests))
}
