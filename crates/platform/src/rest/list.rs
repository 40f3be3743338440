//! Lists: paged by the store where it can filter, scanned page by page where it can't.

use crate::{
    Listed, Platform, PlatformError, Refusal, TypeEntry, document::Document, rest::handlers::served,
    view::representation,
};
use formwork_model::{Json, Kind, ProjectId, TypeName, WireCode};
use formwork_store::{DomainError, Link, ListQuery, Page, Reader, StoreError, StoredObject};
use serde_json::json;

const DEFAULT_LIMIT: usize = 50;
const MOST: usize = 100;
/// The most items of a tree.
const MOST_OF_TREE: usize = 10_000;
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
        may_see: Option<MaySee<'_>>,
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
        self.page_of(&entry, of_store, &tests, may_see).await
    }

    /// A page of the items that name an item of this project, oldest first, or in the order of the tree
    /// that they are; of those, again, what somebody may see.
    ///
    /// # Errors
    /// [`PlatformError`].
    pub async fn rest_related(
        &self,
        listed: &Listed,
        item: &StoredObject,
        (limit, offset): (usize, usize),
        may_see: Option<MaySee<'_>>,
    ) -> Result<Page<Json>, PlatformError> {
        let entry = served(&TypeName::from(listed.type_name))?;
        if listed.as_tree {
            return self.page_of_tree(&entry, listed, item, (limit, offset), may_see).await;
        }
        let of_store = naming(listed, item, limit, offset);
        self.page_of(&entry, of_store, &[], may_see).await
    }

    async fn page_of(
        &self,
        entry: &TypeEntry,
        query: ListQuery,
        tests: &[Test],
        may_see: Option<MaySee<'_>>,
    ) -> Result<Page<Json>, PlatformError> {
        let reader = self.store.reader();
        let page = if tests.is_empty() && may_see.is_none() {
            reader.objects(&query).await?
        } else {
            let passes = |object: &StoredObject| {
                let document = Document::of(object)?;
                let is_meant = tests.iter().all(|test| test(&document));
                Ok(is_meant && may_see.is_none_or(|may_see| may_see(object)))
            };
            page_where(&*reader, query, passes).await?
        };
        let items =
            page.items.iter().map(|object| representation(entry, object)).collect::<Result<_, _>>()?;
        Ok(Page { items, total: page.total })
    }

    /// A page of an item and what names it, depth first: a flat list with depths, so that no depth makes
    /// it too deep to read. No more than [`MOST_OF_TREE`] items are ever held in memory.
    async fn page_of_tree(
        &self,
        entry: &TypeEntry,
        listed: &Listed,
        root: &StoredObject,
        (limit, offset): (usize, usize),
        may_see: Option<MaySee<'_>>,
    ) -> Result<Page<Json>, PlatformError> {
        let reader = self.store.reader();
        let (from, to) = (offset, offset.saturating_add(limit));
        let mut kept = Page { items: Vec::new(), total: 0 };
        let mut found = 1;
        let mut pending = vec![(0_usize, root.clone())];
        while let Some((depth, object)) = pending.pop() {
            let children = children(&*reader, listed, &object, MOST_OF_TREE - found).await?;
            found += children.len();
            pending.extend(children.into_iter().rev().map(|child| (depth + 1, child)));
            if may_see.is_none_or(|may_see| may_see(&object)) {
                if (from..to).contains(&kept.total) {
                    let shown = representation(entry, &object)?;
                    kept.items.push(json!({ "depth": depth, entry.name(): shown }));
                }
                kept.total += 1;
            }
        }
        Ok(kept)
    }
}

/// All items that name one, oldest first.
///
/// # Errors
/// `VALIDATION_FAILED` if there are more than `most`; faults of the store.
async fn children(
    reader: &dyn Reader,
    listed: &Listed,
    item: &StoredObject,
    most: usize,
) -> Result<Vec<StoredObject>, PlatformError> {
    let mut all = Vec::new();
    loop {
        let page = reader.objects(&naming(listed, item, SCAN, all.len())).await?;
        if page.total > most {
            let message =
                format!("The tree has more than {MOST_OF_TREE} items: ask for the tree of one of its parts.");
            return Err(Refusal::new(WireCode::ValidationFailed, message).into());
        }
        let is_last = page.items.is_empty() || all.len() + page.items.len() >= page.total;
        all.extend(page.items);
        if is_last {
            return Ok(all);
        }
    }
}

/// Says what somebody may see.
pub type MaySee<'a> = &'a (dyn Fn(&StoredObject) -> bool + Send + Sync);

/// The items that name one.
fn naming(listed: &Listed, item: &StoredObject, limit: usize, offset: usize) -> ListQuery {
    ListQuery {
        type_name: listed.type_name.to_owned(),
        projects: item.project.iter().cloned().collect(),
        linked: Some(Link { field: listed.field.to_owned(), to: item.id.clone() }),
        limit,
        offset,
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
