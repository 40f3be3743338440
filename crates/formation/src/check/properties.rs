//! The properties of one resource against its type's schema: unknown fields, required fields,
//! JSON types and allowed values.

use crate::item::member_node;
use crate::report::Report;
use formwork_model::{
    Catalog, Diagnostic, DiagnosticCode, Expr, ExprLeaf, Json, Kind, Path, PropertySchema, Schema, Segment,
    SourceNode, Span, Suggest, TypeName, TypeRules, Visibility, same,
};
use std::collections::HashMap;
use std::sync::Arc;

/// The types that exist, each looked up once.
pub(crate) struct Types<'c> {
    catalog: &'c dyn Catalog,
    known: HashMap<TypeName, Option<Arc<TypeInfo>>>,
    names: Option<Arc<[TypeName]>>,
}

/// What a check needs of a type, made ready once for all its resources.
pub(crate) struct TypeInfo {
    pub(crate) rules: Arc<dyn TypeRules>,
    pub(crate) schema: Arc<Schema>,
    required: Vec<Arc<str>>,
    allowed: String,
}

impl<'c> Types<'c> {
    pub(crate) fn new(catalog: &'c dyn Catalog) -> Self {
        Self { catalog, known: HashMap::new(), names: None }
    }

    pub(crate) fn get(&mut self, name: &TypeName) -> Option<Arc<TypeInfo>> {
        if let Some(known) = self.known.get(name) {
            return known.clone();
        }
        let info = self.catalog.get(name).map(|rules| Arc::new(TypeInfo::new(rules)));
        self.known.insert(name.clone(), info.clone());
        info
    }

    pub(crate) fn names(&mut self) -> Arc<[TypeName]> {
        self.names.get_or_insert_with(|| self.catalog.names().into()).clone()
    }
}

impl TypeInfo {
    fn new(rules: Arc<dyn TypeRules>) -> Self {
        let schema = rules.schema().clone();
        let required = schema.properties.iter().filter(|(_, property)| is_required(property));
        let required = required.map(|(name, _)| name.clone()).collect();
        let allowed = schema.names().collect::<Vec<_>>().join(", ");
        Self { rules, schema, required, allowed }
    }

    /// What references to its objects may name, beside their ids.
    pub(crate) fn attributes(&self) -> impl Iterator<Item = &str> {
        let capabilities = self.rules.capabilities();
        let outputs = capabilities.outputs.iter().chain(&capabilities.credential_outputs);
        let shown = self.schema.properties.iter().filter(|(_, property)| !property.hint.write_only);
        outputs.chain(shown.map(|(name, _)| name)).map(|name| &**name)
    }

    /// Whether an attribute is a secret.
    pub(crate) fn visibility_of(&self, attribute: &str) -> Visibility {
        let is_credential =
            self.rules.capabilities().credential_outputs.iter().any(|output| **output == *attribute);
        let is_opaque = self.schema.property(attribute).is_some_and(|property| property.hint.opaque);
        if is_credential || is_opaque { Visibility::Opaque } else { Visibility::Clear }
    }

    /// The title where it begins a sentence (`formations-behaviour.md` §2.6): a title of several
    /// words begins with a capital, a type name stays as it is written.
    pub(crate) fn sentence_title(&self) -> String {
        let title = self.rules.title();
        let mut letters = title.chars();
        match letters.next() {
            Some(first) if title.contains(' ') => first.to_uppercase().chain(letters).collect(),
            _ => title.to_owned(),
        }
    }
}

/// Whether a declaration must have a property.
pub(crate) fn is_required(property: &PropertySchema) -> bool {
    let hint = &property.hint;
    hint.required || hint.required_on_create || hint.required_on_update
}

/// The properties of a resource and where they stand.
pub(crate) struct Declared<'a> {
    pub(crate) properties: &'a Expr,
    pub(crate) path: &'a Path,
    pub(crate) node: Option<&'a SourceNode>,
}

/// What is known of a property's value.
enum Seen<'a> {
    Data(&'a Json),
    Array,
    Object,
    /// A text that must not be shown.
    SecretText,
    /// An expression, whose value is not known now.
    Unknown,
}

impl<'a> From<&'a Expr> for Seen<'a> {
    fn from(value: &'a Expr) -> Self {
        match value {
            Expr::Plain(value) => Self::Data(value),
            Expr::Array(_) => Self::Array,
            Expr::Object(_) => Self::Object,
            Expr::Leaf(ExprLeaf::Secret(secret)) if secret.expose().is_string() => Self::SecretText,
            Expr::Leaf(_) => Self::Unknown,
        }
    }
}

/// Checks all properties of a resource against its type's schema.
pub(crate) fn check_properties(
    info: &TypeInfo,
    declared: &Declared<'_>,
    report: &mut Report<'_>,
    suggest: &mut Suggest,
) {
    let mut check = Check { info, declared, report, suggest };
    match declared.properties {
        Expr::Plain(Json::Object(members)) => {
            for (index, (name, value)) in members.iter().enumerate() {
                check.property(index, name, &Seen::Data(value));
            }
        }
        Expr::Object(members) => {
            for (index, (name, value)) in members.iter().enumerate() {
                check.property(index, name, &value.into());
            }
        }
        _ => {}
    }
    check.required();
}

struct Check<'a, 'r, 's> {
    info: &'a TypeInfo,
    declared: &'a Declared<'a>,
    report: &'r mut Report<'s>,
    suggest: &'r mut Suggest,
}

impl Check<'_, '_, '_> {
    fn property(&mut self, index: usize, name: &str, value: &Seen<'_>) {
        let Some(property) = self.info.schema.property(name) else { return self.unknown(index, name) };
        if !has_kind(property, value) {
            return self.wrong_type(index, name, property, value);
        }
        if let Seen::Data(value) = value
            && !is_allowed(property, value)
        {
            self.not_allowed(index, name, property, value);
        }
    }

    fn unknown(&mut self, index: usize, name: &str) {
        let Self { info, declared, .. } = *self;
        let (title, allowed) = (info.rules.title(), &info.allowed);
        let message = format!("Unknown {title} field '{name}'. Allowed: {allowed}");
        let mut diagnostic =
            Diagnostic::error(DiagnosticCode::UnknownProperty, declared.path.key(name), message)
                .note(format!("allowed: {allowed}"));
        diagnostic.hint = self.suggest.hint(name, info.schema.names());
        let node = member_node(declared.node, index, name).1;
        let span = node.map(|node| node.key.unwrap_or(node.span)).unwrap_or_default();
        self.report.push(span, diagnostic);
    }

    fn wrong_type(&mut self, index: usize, name: &str, property: &PropertySchema, value: &Seen<'_>) {
        let message = format!("`{name}` must be {}", wanted(property));
        let code = DiagnosticCode::WrongType;
        let mut diagnostic = Diagnostic::error(code, self.declared.path.key(name), message);
        diagnostic.hint = match (property.kind, value) {
            (Kind::String, Seen::Data(Json::Number(_) | Json::Bool(_))) => Some("quote it".to_owned()),
            (Kind::String, Seen::Data(Json::Object(members))) if is_mask(members) => {
                Some("this is what a credential reads as: give its value, or a parameter".to_owned())
            }
            _ => None,
        };
        let node = member_node(self.declared.node, index, name).1;
        self.report.push(node.map(|node| node.span).unwrap_or_default(), diagnostic);
    }

    fn not_allowed(&mut self, index: usize, name: &str, property: &PropertySchema, value: &Json) {
        let texts: Vec<String> = property.allowed.iter().map(formwork_model::as_text).collect();
        let message = format!("`{name}` must be one of: {}", texts.join(", "));
        let code = DiagnosticCode::InvalidValue;
        let mut diagnostic = Diagnostic::error(code, self.declared.path.key(name), message);
        let wrong = value.as_str().unwrap_or_default();
        diagnostic.hint = self.suggest.hint(wrong, texts.iter().map(String::as_str));
        let node = member_node(self.declared.node, index, name).1;
        self.report.push(node.map(|node| node.span).unwrap_or_default(), diagnostic);
    }

    /// Reports what is required and absent; an explicit null is not absent.
    fn required(&mut self) {
        let Self { info, declared, .. } = *self;
        for name in &info.required {
            let is_there = match declared.properties {
                Expr::Plain(Json::Object(members)) => members.contains_key(&**name),
                Expr::Object(members) => members.contains_key(name),
                _ => false,
            };
            if !is_there {
                let mut path = declared.path.clone();
                path.push(Segment::Key(name.clone()));
                let message = format!("`{name}` is required");
                self.report.push(
                    key_span(declared.node),
                    Diagnostic::error(DiagnosticCode::MissingProperty, path, message),
                );
            }
        }
    }
}

fn key_span(node: Option<&SourceNode>) -> Span {
    node.map(|node| node.key.unwrap_or(node.span)).unwrap_or_default()
}

fn has_kind(property: &PropertySchema, value: &Seen<'_>) -> bool {
    let kind = property.kind;
    match value {
        Seen::Unknown => true,
        Seen::Array => matches!(kind, Kind::Array | Kind::Any),
        Seen::Object => matches!(kind, Kind::Object | Kind::Any),
        Seen::SecretText => matches!(kind, Kind::String | Kind::Any),
        Seen::Data(Json::Null) => property.nullable || kind == Kind::Any,
        Seen::Data(value) => match kind {
            Kind::String => value.is_string(),
            Kind::Boolean => value.is_boolean(),
            Kind::Integer => is_whole(value),
            Kind::Number => value.is_number(),
            Kind::Array => value.is_array(),
            Kind::Object => value.is_object(),
            Kind::Any => true,
        },
    }
}

/// Whether a value is a whole number, however it is written: `1.0` is `1`.
fn is_whole(value: &Json) -> bool {
    value.is_i64() || value.is_u64() || value.as_f64().is_some_and(|float| float.fract() == 0.0)
}

fn is_allowed(property: &PropertySchema, value: &Json) -> bool {
    property.allowed.is_empty()
        || (value.is_null() && property.nullable)
        || property.allowed.iter().any(|allowed| same(allowed, value))
}

fn is_mask(members: &serde_json::Map<String, Json>) -> bool {
    members.len() == 1 && members.get("no_echo") == Some(&Json::Bool(true))
}

fn wanted(property: &PropertySchema) -> String {
    let kind = property.kind.in_words();
    if property.nullable { format!("{kind} or null") } else { kind.to_owned() }
}
