//! What a step sends, and what the ledger keeps of it.

use crate::inputs::{Resolver, Unresolved, as_planned, references_changed};
use crate::{SecretPiece, resolve_outputs};
use formwork_model::{
    BoundRef, Certainty, DeletionPolicy, Digest, InputLeaf, InputPart, Inputs, InstanceKey, Json, Kind,
    Object, OnFailure, Ownership, Path, Planned, PlannedLeaf, PlannedStack, PropertySchema, Ref, RefPath,
    Row, RowRef, Schema, SecretKeeping, StackKey, Stored, StoredLeaf, TargetRev, Visibility, digest_of,
};
use indexmap::IndexMap;
use serde_json::json;

fn key() -> InstanceKey {
    InstanceKey::from_bytes([3; 32])
}

fn secret(text: &str) -> Digest {
    digest_of(&key(), &json!(text))
}

fn row(echo: Stored) -> Row {
    let mut row = Row::new("row_1".into(), "form_1".into(), "Db".into(), "thing".into(), 0);
    row.current = Some(Object {
        native_id: "db-1".into(),
        type_name: "thing".into(),
        target: TargetRev::default(),
        deletion_policy: DeletionPolicy::Delete,
        sent: Stored::empty_object(),
        echo,
        observed: Some((json!({"late": "seen"}).into(), formwork_model::Timestamp(1))),
        certainty: Certainty::Certain,
    });
    row
}

fn echo() -> Stored {
    Stored::object(IndexMap::from_iter([
        ("port".into(), json!(5432).into()),
        ("doc".into(), json!("{\"a\": [1, 2]}").into()),
        ("deep".into(), (0..50).fold(json!(1), |inner, _| json!([inner])).into()),
        ("password".into(), Stored::Leaf(StoredLeaf::Digest(secret("pw")))),
    ]))
}

fn schema() -> Schema {
    let mut properties = IndexMap::new();
    properties.insert("open".into(), PropertySchema::new(Kind::Any, ""));
    properties.insert("hidden".into(), PropertySchema::new(Kind::Any, "").write_only());
    Schema { type_name: "thing".into(), doc: "".into(), properties }
}

fn bound(path: RefPath) -> BoundRef {
    let mut reference = Ref::native_id("Db");
    reference.path = path;
    BoundRef { row: RowRef::Existing("row_1".into()), reference }
}

fn property(name: &str) -> RefPath {
    RefPath::Property(Path::of([name]))
}

fn object(name: &str, leaf: InputLeaf) -> Inputs {
    Inputs::object(IndexMap::from_iter([(name.into(), Inputs::Leaf(leaf))]))
}

fn resolve(inputs: &Inputs, keeping: SecretKeeping) -> Result<crate::inputs::Prepared, Unresolved> {
    let (row, schema, key) = (row(echo()), schema(), key());
    let rows = |_: &RowRef| Some(&row);
    let resolver = Resolver { rows: &rows, key: &key, schema: &schema, keeping, previous: None, after: None };
    resolver.resolve(inputs)
}

fn value_of(path: RefPath, json: Option<Path>) -> Option<Json> {
    let mut bound = bound(path);
    bound.reference.json = json;
    let prepared = resolve(&object("open", InputLeaf::Ref(bound)), SecretKeeping::Provider).ok()?;
    prepared.sent.comparable().get("open").cloned()
}

#[test]
fn references_resolve_to_native_ids_answers_and_observations() {
    assert_eq!(value_of(RefPath::NativeId, None), Some(json!("db-1")));
    assert_eq!(value_of(property("port"), None), Some(json!(5432)));
    assert_eq!(value_of(RefPath::Output("port".into()), None), Some(json!(5432)));
    assert_eq!(value_of(property("late"), None), Some(json!("seen")));
    assert_eq!(value_of(property("doc"), Some(Path::of(["a"]).index(1))), Some(json!(2)));
    assert_eq!(value_of(property("doc"), Some(Path::of(["b"]))), None);
    assert_eq!(value_of(property("nowhere"), None), None);
}

#[test]
fn a_value_that_would_make_the_properties_too_deep_is_not_sent() {
    let wrapped = |levels: usize| {
        let leaf = Inputs::Leaf(InputLeaf::Ref(bound(property("deep"))));
        let inner = (0..levels).fold(leaf, |inner, _| Inputs::array(vec![inner]));
        Inputs::object(IndexMap::from_iter([("open".into(), inner)]))
    };
    assert!(resolve(&wrapped(49), SecretKeeping::Provider).is_ok());
    let failed = resolve(&wrapped(50), SecretKeeping::Provider).expect_err("101 levels");
    assert_eq!(failed.failure().code, "VALIDATION_FAILED");
    assert!(failed.to_string().ends_with("properties can have 100 levels at most"), "{failed}");
}

#[test]
fn a_resolved_reference_is_kept_with_what_it_resolved_to() {
    let inputs = object("open", InputLeaf::Ref(bound(RefPath::NativeId)));
    let prepared = resolve(&inputs, SecretKeeping::Provider).expect("it resolves");
    let Stored::Object(members) = &prepared.sent else { panic!("an object with a leaf") };
    assert!(
        matches!(&members["open"], Stored::Leaf(StoredLeaf::Resolved { sent, .. }) if *sent == json!("db-1"))
    );
    assert_eq!(as_planned(&prepared), Planned::Plain(json!({"open": "db-1"})));
}

#[test]
fn a_secret_that_nobody_holds_is_said_to_be_unavailable() {
    let inputs = object("open", InputLeaf::Ref(bound(property("password"))));
    let failed = resolve(&inputs, SecretKeeping::Provider).expect_err("only its digest is known");
    assert_eq!(failed.failure().code, "SECRET_UNAVAILABLE");
}

#[test]
fn a_secret_that_a_provider_holds_is_asked_for_and_compares_as_whose_it_is() {
    let at = |native_id: &str, target: &str| {
        let mut row = row(echo());
        let object = row.current.as_mut().expect("it has one");
        object.native_id = native_id.into();
        object.target = TargetRev { name: target.into(), revision: 0 };
        row
    };
    let mut reference = bound(RefPath::Output("drawn".into()));
    reference.reference.visibility = Visibility::Opaque;
    let inputs = object("open", InputLeaf::Ref(reference));
    let resolve = |row: &Row| {
        let (schema, key) = (schema(), key());
        let resolver = Resolver {
            rows: &|_: &RowRef| Some(row),
            key: &key,
            schema: &schema,
            keeping: SecretKeeping::Ledger,
            previous: None,
            after: None,
        };
        resolver.resolve(&inputs)
    };
    let here = at("db-1", "Here");
    let prepared = resolve(&here).expect("it can be asked for");
    let [SecretPiece::Output(output)] = prepared.fills[0].pieces.as_slice() else { panic!("{prepared:?}") };
    assert_eq!((output.native_id.as_str(), output.path.clone()), ("db-1", Path::of(["drawn"])));
    let mark = here.current.as_ref().expect("it has one").secret_mark(&key(), &Path::of(["drawn"]));
    let Stored::Object(members) = &prepared.sent else { panic!("an object") };
    assert_eq!(members["open"], Stored::Leaf(StoredLeaf::Digest(mark)));
    let sent = |row: &Row| resolve(row).expect("it can be asked for").sent;
    assert_eq!(sent(&here), prepared.sent, "it is the same for as long as the object is");
    assert_ne!(sent(&at("db-2", "Here")), prepared.sent);
    // What lives at no target has no provider that could be asked.
    assert!(resolve(&row(echo())).is_err());
}

#[test]
fn secrets_are_filled_by_slot_and_kept_as_their_type_says() {
    let leaf = || InputLeaf::Secret { slot: "s0".into(), digest: secret("pw") };
    let provider = resolve(&object("open", leaf()), SecretKeeping::Provider).expect("it resolves");
    assert_eq!(provider.fills[0].pieces, [SecretPiece::Slot("s0".into())]);
    let Stored::Object(members) = provider.sent else { panic!("an object") };
    assert_eq!(members["open"], Stored::Leaf(StoredLeaf::Digest(secret("pw"))));
    let ledger = resolve(&object("open", leaf()), SecretKeeping::Ledger).expect("it resolves");
    let Stored::Object(members) = ledger.sent else { panic!("an object") };
    let sealed = StoredLeaf::Sealed { slot: "s0".into(), digest: secret("pw") };
    assert_eq!(members["open"], Stored::Leaf(sealed));
}

#[test]
fn what_stands_in_a_private_property_is_a_secret_whatever_it_is() {
    let inputs = object("hidden", InputLeaf::Ref(bound(RefPath::NativeId)));
    let prepared = resolve(&inputs, SecretKeeping::Provider).expect("it resolves");
    assert_eq!(prepared.fills[0].pieces, [SecretPiece::Text("db-1".into())]);
    let Planned::Object(members) = as_planned(&prepared) else { panic!("an object with a leaf") };
    assert_eq!(members["hidden"], Planned::Leaf(PlannedLeaf::Secret(secret("db-1"))));
}

#[test]
fn a_text_is_joined_and_a_secret_in_it_hides_all_of_it() {
    let plain = InputLeaf::Template(vec![
        InputPart::Text("db://".into()),
        InputPart::Ref(bound(RefPath::NativeId)),
        InputPart::Text(":".into()),
        InputPart::Ref(bound(property("port"))),
    ]);
    let prepared = resolve(&object("open", plain), SecretKeeping::Provider).expect("it resolves");
    assert_eq!(prepared.sent, Stored::Plain(json!({"open": "db://db-1:5432"})));

    let hidden = InputLeaf::Template(vec![
        InputPart::Ref(bound(RefPath::NativeId)),
        InputPart::Text("/".into()),
        InputPart::Secret { slot: "s1".into(), digest: secret("pw") },
    ]);
    let inputs = object("open", hidden);
    let prepared = resolve(&inputs, SecretKeeping::Ledger).expect("it resolves");
    let pieces = [SecretPiece::Text("db-1/".into()), SecretPiece::Slot("s1".into())];
    assert_eq!(prepared.fills[0].pieces, pieces);
    assert!(!format!("{:?}", prepared.sent).contains("db-1"));
    // What the planner knows the text to be is what the row compares as.
    let (row, schema, key) = (row(echo()), schema(), key());
    let after = Planned::object(IndexMap::from_iter([(
        "open".into(),
        Planned::Leaf(PlannedLeaf::Secret(secret("db-1/pw"))),
    )]));
    let resolver = Resolver {
        rows: &|_: &RowRef| Some(&row),
        key: &key,
        schema: &schema,
        keeping: SecretKeeping::Ledger,
        previous: None,
        after: Some(&after),
    };
    let Stored::Object(members) = resolver.resolve(&inputs).expect("it resolves").sent else {
        panic!("object")
    };
    assert_eq!(members["open"], Stored::Leaf(StoredLeaf::Digest(secret("db-1/pw"))));
}

#[test]
fn a_kept_value_is_named_and_not_sent() {
    let prepared = resolve(&object("hidden", InputLeaf::Kept(secret("old"))), SecretKeeping::Provider);
    let prepared = prepared.expect("it resolves");
    assert_eq!(prepared.kept, [Path::of(["hidden"])]);
    assert!(prepared.fills.is_empty());
    let Planned::Object(members) = as_planned(&prepared) else { panic!("an object with a leaf") };
    assert_eq!(members["hidden"], Planned::Leaf(PlannedLeaf::Kept(secret("old"))));
}

#[test]
fn a_property_that_no_ledger_holds_resolves_to_what_it_was_when_it_was_sent() {
    let (row, schema, key) = (row(echo()), schema(), key());
    let reference = bound(property("nowhere"));
    let before = Stored::object(IndexMap::from_iter([(
        "open".into(),
        Stored::Leaf(StoredLeaf::Resolved { reference: reference.reference.clone(), sent: json!("then") }),
    )]));
    let resolver = Resolver {
        rows: &|_: &RowRef| Some(&row),
        key: &key,
        schema: &schema,
        keeping: SecretKeeping::Provider,
        previous: Some(&before),
        after: None,
    };
    let inputs = object("open", InputLeaf::Ref(reference));
    let prepared = resolver.resolve(&inputs).expect("it resolves");
    assert_eq!(prepared.sent.comparable(), json!({"open": "then"}));
    assert!(!references_changed(&inputs, &prepared.sent, &before, |_| true));
    assert!(references_changed(&inputs, &prepared.sent, &Stored::empty_object(), |_| true));
    assert!(!references_changed(&inputs, &prepared.sent, &Stored::empty_object(), |_| false));
}

#[test]
fn outputs_are_texts_and_hide_secrets() {
    let mut opaque = bound(RefPath::NativeId);
    opaque.reference.visibility = Visibility::Opaque;
    let output = |leaf| Inputs::Leaf(leaf);
    let stack = PlannedStack {
        id: "form_1".into(),
        key: StackKey::new("proj_1".into(), "s"),
        on_failure: OnFailure::RollBack,
        ownership: Ownership::DeclaredOnly,
        outputs: IndexMap::from_iter([
            ("id".into(), output(InputLeaf::Ref(bound(RefPath::NativeId)))),
            ("port".into(), output(InputLeaf::Ref(bound(property("port"))))),
            ("missing".into(), output(InputLeaf::Ref(bound(property("nowhere"))))),
            ("opaque".into(), output(InputLeaf::Ref(opaque.clone()))),
            (
                "url".into(),
                output(InputLeaf::Template(vec![InputPart::Text("x".into()), InputPart::Ref(opaque)])),
            ),
            ("literal".into(), json!("text").into()),
        ]),
        metadata: Some(object("port", InputLeaf::Ref(bound(property("port"))))),
    };
    let row = row(echo());
    let (outputs, metadata) = resolve_outputs(&stack, &|_: &RowRef| Some(&row));
    let expected = json!({"id": "db-1", "opaque": "***", "url": "***", "literal": "text"});
    assert_eq!(serde_json::to_value(outputs).expect("it serialises"), expected);
    assert_eq!(metadata, Some(json!({"port": 5432})));
}
