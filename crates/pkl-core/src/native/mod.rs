//! The native interface: how `external` members of the standard library are implemented.
//!
//! # Adding one
//!
//! A file here holds the natives of one class (`string.rs` those of `pkl.base#String`). It exports two
//! tables, `METHODS` and `PROPERTIES`, of names and functions, and is listed in [`TABLES`]:
//!
//! ```ignore
//! pub(super) static PROPERTIES: Table = &[("pkl.base#String.length", length)];
//! pub(super) static METHODS: Table = &[("pkl.base#String.take", take)];
//!
//! fn length(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
//!     Ok(args::count(vm.str(this).chars().count()))
//! }
//! ```
//!
//! A name is `module#Class.member`, or `module#member` for a member of the module itself, with the
//! module's full name (`pkl.base`) and the class that *declares* the member. A native is called with:
//!
//! - `this`: the receiver. It is of the declaring class, or of a subclass.
//! - `args`: as many as the declaration has parameters, checked to their declared types. A parameter
//!   whose type is a type parameter (`Element`) may be anything.
//!
//! So a native takes values apart with [`args`] (`args::int(value)`, `vm.str(value)`), which panic with the
//! invariant if the declaration says otherwise, and makes them with the heap (`vm.heap.string(text)`,
//! `Value::List(vm.heap.add_list(items))`) or the machine (`vm.make_set(&items)`, `vm.make_map(&pairs)`,
//! `vm.make_listing`, `vm.make_mapping`, `vm.make_dynamic`, `vm.make_typed(class, &properties)`).
//! It calls back with `vm.apply(function, &[…])` and `vm.call_method(receiver, name, &[…])`, compares with
//! `vm.equal` (`==`) or `vm.same` (keys, members), reads with `vm.read_property`, `vm.elements(object)`,
//! `vm.entries(object)`, `vm.members_of(object)` and `vm.force(object, place)`.
//!
//! Values are `Copy` and stay valid for the whole evaluation. A slice borrowed from the heap (`vm.heap.list`)
//! ends before the next call on `vm` that changes it: copy it (`.to_vec()`) or index again.
//!
//! A failure is `Raised::new(ErrorCode::…, message)` with the message of the official evaluator; the place
//! is that of the call. A loop whose length a program decides calls `vm.tick()?` in each round, so that
//! limits hold, and `vm.check_count(n)?` before it makes `n` values at once.

#![expect(clippy::unnecessary_wraps, reason = "natives have one signature, whether they can fail or not")]

mod analyze;
mod any;
pub(crate) mod args;
mod benchmark;
mod binary;
mod bytes;
mod collection;
mod dynamic;
mod function;
mod int_seq;
mod list;
mod listing;
mod map;
mod mapping;
mod math;
mod module;
mod number;
mod parse;
mod platform;
mod protobuf;
pub(crate) mod reflect;
mod regex;
pub(crate) mod render;
mod render_more;
mod set;
mod string;
mod string_search;
mod test;
mod typed;
mod unit;

use rustc_hash::FxHashMap;
use std::sync::OnceLock;

use crate::error::Result;
use crate::value::Value;
use crate::vm::Vm;

/// The implementation of an `external` member.
pub(crate) type NativeMethod = for<'ir, 'a> fn(&mut Vm<'ir>, Value, &'a [Value]) -> Result<Value>;

/// Names and implementations.
pub(crate) type Table = &'static [(&'static str, NativeMethod)];

/// The methods and properties of all files.
static TABLES: &[(Table, Table)] = &[
    (&[], number::UNITS),
    (analyze::METHODS, analyze::PROPERTIES),
    (any::METHODS, any::PROPERTIES),
    (benchmark::METHODS, &[]),
    (binary::METHODS, &[]),
    (bytes::METHODS, bytes::PROPERTIES),
    (collection::access::METHODS, collection::access::PROPERTIES),
    (collection::fold::METHODS, &[]),
    (collection::order::METHODS, collection::order::PROPERTIES),
    (collection::parts::METHODS, &[]),
    (collection::search::METHODS, &[]),
    (collection::transform::METHODS, &[]),
    (dynamic::METHODS, dynamic::PROPERTIES),
    (function::METHODS, function::PROPERTIES),
    (int_seq::METHODS, int_seq::PROPERTIES),
    (list::METHODS, list::PROPERTIES),
    (listing::METHODS, listing::PROPERTIES),
    (map::METHODS, map::PROPERTIES),
    (mapping::METHODS, mapping::PROPERTIES),
    (math::METHODS, math::PROPERTIES),
    (module::METHODS, module::PROPERTIES),
    (platform::METHODS, platform::PROPERTIES),
    (reflect::CLASS_METHODS, reflect::CLASS),
    (reflect::FUNCTIONS, reflect::MODULE),
    (reflect::TYPE_METHODS, reflect::TYPE),
    (&[], reflect::DECLARATION),
    (&[], reflect::MEMBER),
    (number::METHODS, number::PROPERTIES),
    (parse::METHODS, &[]),
    (protobuf::METHODS, &[]),
    (regex::METHODS, regex::PROPERTIES),
    (render::METHODS, render::PROPERTIES),
    (render_more::METHODS, &[]),
    (set::METHODS, set::PROPERTIES),
    (string::METHODS, string::PROPERTIES),
    (string_search::METHODS, &[]),
    (test::METHODS, test::PROPERTIES),
    (typed::METHODS, typed::PROPERTIES),
    (unit::METHODS, unit::PROPERTIES),
];

type Index = FxHashMap<&'static str, NativeMethod>;

fn index() -> &'static (Index, Index) {
    static INDEX: OnceLock<(Index, Index)> = OnceLock::new();
    INDEX.get_or_init(|| {
        let methods = TABLES.iter().flat_map(|(methods, _)| methods.iter().copied());
        let properties = TABLES.iter().flat_map(|(_, properties)| properties.iter().copied());
        (methods.collect(), properties.collect())
    })
}

/// The implementation of a method.
pub(crate) fn method(name: &str) -> Option<NativeMethod> {
    index().0.get(name).copied()
}

/// The implementation of a property; it takes no arguments.
pub(crate) fn property(name: &str) -> Option<NativeMethod> {
    index().1.get(name).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use pkl_parser::ast::{ClassMember, ModifierKind, ModuleMember};

    #[test]
    fn no_name_has_two_implementations() {
        let (methods, properties) = index();
        assert_eq!(methods.len(), TABLES.iter().map(|(table, _)| table.len()).sum::<usize>());
        assert_eq!(properties.len(), TABLES.iter().map(|(_, table)| table.len()).sum::<usize>());
    }

    /// What the library declares as `external` without a native: variadic constructors are expressions of
    /// their own, mirrors of types are made with their properties, and the rest is not supported yet.
    const WITHOUT_NATIVE: [&str; 18] = [
        "pkl.base#Bytes",
        "pkl.base#List",
        "pkl.base#Map",
        "pkl.base#Set",
        "pkl.protobuf#Renderer.renderDocument",
        "pkl.protobuf#Renderer.renderType",
        "pkl.protobuf#Renderer.renderValue",
        "pkl.reflect#DeclaredType.referent",
        "pkl.reflect#DeclaredType.typeArguments",
        "pkl.reflect#FunctionType.parameterTypes",
        "pkl.reflect#FunctionType.returnType",
        "pkl.reflect#NullableType.member",
        "pkl.reflect#StringLiteralType.value",
        "pkl.reflect#TypeVariable.referent",
        "pkl.reflect#UnionType.members",
        "pkl.reflect#SourceLocation.column",
        "pkl.reflect#SourceLocation.displayUri",
        "pkl.reflect#SourceLocation.line",
    ];

    /// The `external` members that a module of the library declares: their names, and whether it is a method.
    fn externals(name: &str) -> Vec<(String, bool)> {
        let source = crate::stdlib::source(name).expect("the name is one of the library's");
        let interner = pkl_parser::Interner::new();
        let parsed = pkl_parser::parse_module(source, &interner);
        let (ast, mut found) = (&parsed.ast, Vec::new());
        let mut add = |owner: &str, member: ClassMember| {
            let (name, modifiers, is_method) = match member {
                ClassMember::Property(id) => (ast[id].name, ast[id].modifiers, false),
                ClassMember::Method(id) => (ast[id].name, ast[id].modifiers, true),
            };
            if ast.modifier_set(modifiers).contains(ModifierKind::External) {
                found.push((format!("{owner}{}", interner.text(name.symbol)), is_method));
            }
        };
        for member in &ast[parsed.root.members] {
            let module = format!("pkl.{name}#");
            match *member {
                ModuleMember::Property(id) => add(&module, ClassMember::Property(id)),
                ModuleMember::Method(id) => add(&module, ClassMember::Method(id)),
                ModuleMember::Class(id) => {
                    let owner = format!("{module}{}.", interner.text(ast[id].name.symbol));
                    for &member in ast[id].body.iter().flat_map(|body| &ast[body.members]) {
                        add(&owner, member);
                    }
                }
                ModuleMember::TypeAlias(_) => {}
            }
        }
        found
    }

    #[test]
    fn externals_have_natives() {
        let missing: Vec<String> = crate::stdlib::names()
            .flat_map(externals)
            .filter(
                |(name, is_method)| {
                    if *is_method { method(name).is_none() } else { property(name).is_none() }
                },
            )
            .map(|(name, _)| name)
            .filter(|name| !WITHOUT_NATIVE.contains(&name.as_str()))
            .collect();
        assert!(missing.is_empty(), "{missing:?}");
    }

    #[test]
    fn natives_are_declared() {
        let declared: rustc_hash::FxHashSet<String> =
            crate::stdlib::names().flat_map(externals).map(|(name, _)| name).collect();
        let (methods, properties) = index();
        let strays: Vec<&&str> =
            methods.keys().chain(properties.keys()).filter(|name| !declared.contains(**name)).collect();
        assert!(strays.is_empty(), "{strays:?}");
    }
}
