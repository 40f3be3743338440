//! Types whose objects are records: what makes a value differs from type to type, how it is kept does not.

use crate::fault::Fault;
use crate::fields::Extent;
use crate::local_type::{LocalType, Object, Page, Site, View};
use crate::records::{Record, Shelf};
use formwork_model::{
    ClientToken, ImmutableRule, Json, LookupRule, NativeId, Secret, TypeCapabilities, same, sha256_hex,
};
use formwork_plugin::{ListResult, OperationErrorCode, PropertyProblem};
use serde_json::{Map, json};

/// What was made of a declaration.
pub(crate) struct Made {
    /// What may be shown, what was left to us among it.
    pub(crate) outputs: Map<String, Json>,
    /// What is secret.
    pub(crate) secrets: Map<String, Json>,
}

/// Makes the values of one type.
pub(crate) trait Maker: Send + Sync {
    /// What an object is called in messages.
    const NOUN: &'static str;
    /// The directory of the records.
    const SHELF: &'static str;
    /// What ids begin with.
    const PREFIX: &'static str;
    /// Whether an object can change in place; if not, every property is create-only.
    const CHANGES: bool;
    /// What references may name.
    const OUTPUTS: &'static [&'static str];
    /// What of these is secret.
    const SECRETS: &'static [&'static str];

    /// What is wrong with declared properties.
    fn problems(&self, declared: &Json, extent: Extent) -> Vec<PropertyProblem>;

    /// Makes the values.
    fn make(&self, site: &Site, declared: &Json) -> Result<Made, Fault>;

    /// Adds what depends on the time.
    fn observe(&self, site: &Site, shown: &mut Map<String, Json>) {
        let _ = (site, shown);
    }
}

/// A type whose objects are records.
pub(crate) struct Kept<M>(pub(crate) M);

impl<M: Maker> Kept<M> {
    fn shelf(site: &Site) -> Shelf<'_> {
        Shelf::new(&site.root, M::SHELF)
    }

    fn shown(&self, site: &Site, id: &str, record: &Record, redact: bool) -> Json {
        let mut shown = Map::new();
        shown.insert("id".to_owned(), id.into());
        let secrets = (!redact).then(|| record.secrets.expose());
        for part in [Some(&record.outputs), Some(&record.declared), secrets].into_iter().flatten() {
            let members = part.as_object().into_iter().flatten();
            shown.extend(members.map(|(name, value)| (name.clone(), value.clone())));
        }
        self.0.observe(site, &mut shown);
        Json::Object(shown)
    }

    fn object(&self, site: &Site, id: String, record: &Record) -> Object {
        Object { properties: self.shown(site, &id, record, true), native_id: id }
    }

    fn record(&self, site: &Site, declared: &Json) -> Result<Record, Fault> {
        let Made { outputs, secrets } = self.0.make(site, declared)?;
        let secrets = if secrets.is_empty() { Json::Null } else { Json::Object(secrets) };
        Ok(Record {
            declared: declared.clone(),
            outputs: Json::Object(outputs),
            secrets: Secret::new(secrets),
        })
    }

    /// The id of a new object. A call that is repeated under its token finds the object of the first:
    /// the id follows from the token.
    fn new_id(token: Option<ClientToken>) -> String {
        let digits = match token {
            Some(ClientToken(bytes)) => sha256_hex(&[M::SHELF.as_bytes(), b"\0", &bytes].concat()),
            None => formwork_secret::hex(&formwork_secret::random_bytes::<16>()),
        };
        format!("{}-{}", M::PREFIX, &digits[..32])
    }

    fn gone(id: &str) -> Fault {
        Fault::missing(format!("there is no {} `{id}`", M::NOUN))
    }
}

impl<M: Maker + 'static> LocalType for Kept<M> {
    fn capabilities(&self) -> TypeCapabilities {
        TypeCapabilities {
            lookup: LookupRule::Token,
            // Whoever uses the old value gets the new one before the old is gone.
            on_immutable: ImmutableRule::Replace,
            validate: true,
            outputs: ["id"].iter().chain(M::OUTPUTS).map(|output| (*output).into()).collect(),
            credential_outputs: M::SECRETS.iter().map(|output| (*output).into()).collect(),
            ..TypeCapabilities::of_plugin()
        }
    }

    fn problems(&self, properties: &Json, extent: Extent) -> Vec<PropertyProblem> {
        self.0.problems(properties, extent)
    }

    fn create(&self, site: &Site, declared: &Json, token: Option<ClientToken>) -> Result<Object, Fault> {
        let (shelf, id) = (Self::shelf(site), Self::new_id(token));
        if let Some(record) = shelf.get(&id)? {
            return self.repeated(site, id, &record, declared);
        }
        let record = self.record(site, declared)?;
        match shelf.insert(&id, &record) {
            Ok(()) => Ok(self.object(site, id, &record)),
            // The same call, a moment ago.
            Err(fault) if fault.code == OperationErrorCode::AlreadyExists => match shelf.get(&id)? {
                Some(record) => self.repeated(site, id, &record, declared),
                None => Err(fault),
            },
            Err(fault) => Err(fault),
        }
    }

    fn read(&self, site: &Site, id: &str, view: View<'_>) -> Result<Option<Json>, Fault> {
        let record = Self::shelf(site).get(id)?;
        Ok(record.map(|record| self.shown(site, id, &record, view.redact)))
    }

    fn update(&self, site: &Site, id: &str, desired: &Json) -> Result<Object, Fault> {
        let shelf = Self::shelf(site);
        let current = shelf.get(id)?.ok_or_else(|| Self::gone(id))?;
        let shown = self.shown(site, id, &current, true);
        if is_shown(desired, &shown) {
            return Ok(Object { native_id: id.to_owned(), properties: shown });
        }
        if !M::CHANGES {
            let message = format!("the {} `{id}` cannot change; what is declared needs another", M::NOUN);
            return Err(Fault::invalid(message));
        }
        let record = self.record(site, desired)?;
        shelf.put(id, &record)?;
        Ok(self.object(site, id.to_owned(), &record))
    }

    fn delete(&self, site: &Site, id: &str) -> Result<(), Fault> {
        Self::shelf(site).remove(id)
    }

    fn list(&self, site: &Site, page: Page<'_>) -> Result<ListResult, Fault> {
        if let Some(name) = page.parameters.keys().next() {
            return Err(Fault::invalid(format!("`{name}` is not a parameter of lists of {}", M::SHELF)));
        }
        let (ids, is_more) = Self::shelf(site).ids(page.after, page.limit)?;
        let next_page_token = ids.last().filter(|_| is_more).cloned();
        Ok(ListResult { native_ids: ids.into_iter().map(NativeId::from).collect(), next_page_token })
    }
}

impl<M: Maker> Kept<M> {
    fn repeated(&self, site: &Site, id: String, record: &Record, declared: &Json) -> Result<Object, Fault> {
        if same(&record.declared, declared) {
            return Ok(self.object(site, id, record));
        }
        Err(Fault::invalid(format!("the call's token made the {} `{id}` of other properties", M::NOUN)))
    }
}

/// Whether an object is as it is desired.
fn is_shown(desired: &Json, shown: &Json) -> bool {
    let Some(desired) = desired.as_object() else { return false };
    desired.iter().all(|(name, value)| shown.get(name).is_some_and(|found| same(found, value)))
}

/// `keepers`: a new value is made when one of them changes. What they are is up to who declares them.
pub(crate) fn keepers(value: &Json) -> Result<(), String> {
    match value.as_object() {
        Some(members) if members.values().all(|member| member.is_string() || member.is_null()) => Ok(()),
        _ => Err(format!("must be an object of strings, such as {}", json!({ "version": "2" }))),
    }
}
