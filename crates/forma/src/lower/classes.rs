//! What reflection tells of the classes in a forma: asked for once for each.

use super::Stop;
use crate::extract::{FieldHint, Schema};
use crate::forma::TypeSchema;
use formwork_model::TypeName;
use indexmap::IndexMap;
use pkl_core::{ClassHandle, Handle, Session, View, from_tree};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

/// What an object of a class means in a forma.
#[derive(Clone)]
pub(super) enum Meaning {
    /// A resource.
    Resource,
    /// A nested object.
    SubResource(Rc<ClassPlan>),
    /// A reference to a property.
    Reference,
    /// A reference to a stack.
    StackReference,
    /// A reference to a target.
    TargetReference,
    /// A text with references.
    Embedded,
    /// A text with what must be known to handle it.
    Value,
    /// A stack.
    Stack,
    /// A target.
    Target,
    /// A policy.
    Policy,
    /// Data.
    Data,
}

/// What is sent of objects of a class.
pub(super) struct ClassPlan {
    /// The properties that are sent, in order.
    pub(super) fields: Vec<Field>,
    /// The plan as a value.
    value: Handle,
}

/// A property that is sent.
pub(super) struct Field {
    /// Its name in Pkl.
    pub(super) name: Arc<str>,
    /// The key that the provider knows.
    pub(super) key: Arc<str>,
    /// Whether its values are secrets.
    pub(super) opaque: bool,
    /// Whether there must be a value.
    pub(super) required: bool,
    /// What makes of its value what is sent.
    pub(super) shaping: Option<Shaping>,
}

/// What makes of a property's value what is sent.
#[derive(Clone, Copy)]
pub(super) struct Shaping {
    /// The value that is sent.
    pub(super) transformation: Handle,
    /// Whether it is sent.
    pub(super) condition: Handle,
}

/// The classes of one forma.
pub(super) struct Classes {
    known: Known,
    catalog: Option<Handle>,
    contents: Handle,
    meanings: HashMap<ClassHandle, Meaning>,
    plans: HashMap<ClassHandle, Rc<ClassPlan>>,
    schemas: HashMap<ClassHandle, Arc<TypeSchema>>,
}

/// The vocabulary's own classes.
struct Known {
    list: Vec<(ClassHandle, fn() -> Meaning)>,
    sub_resource: ClassHandle,
}

impl Classes {
    /// `contents` is what `forma.pkl` shows of itself.
    pub(super) fn new(session: &mut Session<'_, '_>, contents: Handle) -> Result<Self, Stop> {
        Ok(Self {
            known: Known::new(session, contents)?,
            catalog: None,
            contents,
            meanings: HashMap::new(),
            plans: HashMap::new(),
            schemas: HashMap::new(),
        })
    }

    /// Looks at the classes of a forma's resources together, since they share nested ones.
    pub(super) fn prepare(
        &mut self,
        session: &mut Session<'_, '_>,
        classes: &[ClassHandle],
    ) -> Result<(), Stop> {
        let values: Vec<Handle> = classes.iter().map(|class| session.class_value(*class)).collect();
        let list = session.list(&values);
        self.catalog = Some(session.call_method(self.contents, "catalogOf", &[list])?);
        Ok(())
    }

    /// What objects of a class mean.
    pub(super) fn meaning(
        &mut self,
        session: &mut Session<'_, '_>,
        class: ClassHandle,
    ) -> Result<Meaning, Stop> {
        if let Some(meaning) = self.meanings.get(&class) {
            return Ok(meaning.clone());
        }
        let own = self.known.list.iter().find(|(of, _)| session.is_subclass(class, *of));
        let meaning = match own {
            Some((_, meaning)) => meaning(),
            None if session.is_subclass(class, self.known.sub_resource) => {
                Meaning::SubResource(self.plan(session, class)?)
            }
            None => Meaning::Data,
        };
        self.meanings.insert(class, meaning.clone());
        Ok(meaning)
    }

    /// What is sent of objects of a class.
    pub(super) fn plan(
        &mut self,
        session: &mut Session<'_, '_>,
        class: ClassHandle,
    ) -> Result<Rc<ClassPlan>, Stop> {
        if let Some(plan) = self.plans.get(&class) {
            return Ok(Rc::clone(plan));
        }
        if self.catalog.is_none() {
            self.prepare(session, &[])?;
        }
        let catalog = self.catalog.ok_or_else(|| Stop::unexpected("catalogOf"))?;
        let of = session.class_value(class);
        let value = session.call_method(catalog, "plan", &[of])?;
        let plan = Rc::new(ClassPlan { fields: fields(session, value)?, value });
        self.plans.insert(class, Rc::clone(&plan));
        Ok(plan)
    }

    /// What is known of a resource class.
    pub(super) fn schema(
        &mut self,
        session: &mut Session<'_, '_>,
        class: ClassHandle,
    ) -> Result<Arc<TypeSchema>, Stop> {
        if let Some(schema) = self.schemas.get(&class) {
            return Ok(Arc::clone(schema));
        }
        let plan = self.plan(session, class)?;
        let type_name = session.property(plan.value, "typeName")?;
        let schema = session.property(plan.value, "schema")?;
        let member_hints = session.property(schema, "memberHints")?;
        let exported: Schema = from_tree(&session.export(schema)?).map_err(Stop::shape("Schema"))?;
        let member_hints: IndexMap<String, FieldHint> =
            from_tree(&session.export(member_hints)?).map_err(Stop::shape("memberHints"))?;
        let names = plan.fields.iter().map(|field| (Arc::clone(&field.key), Arc::clone(&field.name)));
        let schema = Arc::new(TypeSchema {
            type_name: TypeName::new(text(session, type_name)?),
            schema: exported,
            member_hints,
            names: names.collect(),
        });
        self.schemas.insert(class, Arc::clone(&schema));
        Ok(schema)
    }
}

impl Known {
    fn new(session: &mut Session<'_, '_>, contents: Handle) -> Result<Self, Stop> {
        // A subclass stands before the class that it extends.
        type Named = (&'static str, fn() -> Meaning);
        const NAMES: [Named; 9] = [
            ("resource", || Meaning::Resource),
            ("stackResolvable", || Meaning::StackReference),
            ("targetResolvable", || Meaning::TargetReference),
            ("resolvable", || Meaning::Reference),
            ("embedded", || Meaning::Embedded),
            ("value", || Meaning::Value),
            ("stack", || Meaning::Stack),
            ("target", || Meaning::Target),
            ("policy", || Meaning::Policy),
        ];
        let classes = session.property(contents, "classes")?;
        let mut class = |name: &str| -> Result<ClassHandle, Stop> {
            let value = session.property(classes, name)?;
            match session.view(value)? {
                View::Class(class) => Ok(class),
                _ => Err(Stop::unexpected("classes")),
            }
        };
        let list = NAMES.iter().map(|(name, meaning)| Ok((class(name)?, *meaning)));
        Ok(Self { list: list.collect::<Result<_, Stop>>()?, sub_resource: class("subResource")? })
    }
}

fn fields(session: &mut Session<'_, '_>, plan: Handle) -> Result<Vec<Field>, Stop> {
    let fields = session.property(plan, "fields")?;
    let View::Items(fields) = session.view(fields)? else { return Err(Stop::unexpected("fields")) };
    fields.into_iter().map(|field| self::field(session, field)).collect()
}

fn field(session: &mut Session<'_, '_>, field: Handle) -> Result<Field, Stop> {
    let name = session.property(field, "name")?;
    let key = session.property(field, "key")?;
    let hint = session.property(field, "hint")?;
    let transformation = session.property(hint, "outputTransformation")?;
    let shaping = match session.view(transformation)? {
        View::Null => None,
        _ => Some(Shaping { transformation, condition: session.property(hint, "outputCondition")? }),
    };
    Ok(Field {
        name: text(session, name)?,
        key: text(session, key)?,
        opaque: flag(session, hint, "opaque")?,
        required: flag(session, hint, "required")?,
        shaping,
    })
}

fn flag(session: &mut Session<'_, '_>, hint: Handle, name: &str) -> Result<bool, Stop> {
    let value = session.property(hint, name)?;
    Ok(matches!(session.view(value)?, View::Bool(true)))
}

/// A string's text.
pub(super) fn text(session: &mut Session<'_, '_>, value: Handle) -> Result<Arc<str>, Stop> {
    match session.view(value)? {
        View::String(text) => Ok(text),
        _ => Err(Stop::unexpected("a text")),
    }
}
