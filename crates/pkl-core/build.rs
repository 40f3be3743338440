//! Parses the declarations of the standard library, so that an evaluation needs only read the trees.
//! Adding a module is adding a file.

use pkl_parser::{FixedNames, Interner, parse_module};
use std::fmt::Write as _;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::Path;
use std::{env, fs};

fn main() {
    let root = env::var("CARGO_MANIFEST_DIR").expect("cargo sets the manifest's directory");
    let out = env::var("OUT_DIR").expect("cargo sets the output directory");
    let (directory, out) = (Path::new(&root).join("stdlib"), Path::new(&out));
    println!("cargo::rerun-if-changed={}", directory.display());
    println!("cargo::rerun-if-changed=build.rs");
    let mut names: Vec<String> = fs::read_dir(&directory)
        .expect("the library's directory can be read")
        .map(|entry| entry.expect("the library's directory can be read").file_name())
        .map(|name| name.into_string().expect("the library's file names are UTF-8"))
        .filter_map(|name| Some(name.strip_suffix(".pkl")?.to_owned()))
        .collect();
    names.sort();
    let interner = Interner::new();
    let mut table = String::from("&[\n");
    let mut form = DefaultHasher::new();
    for name in names {
        let source = directory.join(format!("{name}.pkl"));
        let tree = out.join(format!("{name}.tree"));
        let written = tree_of(&source, &interner);
        written.hash(&mut form);
        fs::write(&tree, written).expect("the output directory can be written");
        let (source, tree) = (source.display().to_string(), tree.display().to_string());
        writeln!(
            table,
            "    Module {{ name: {name:?}, source: include_str!({source:?}), tree: include_bytes!({tree:?}) }},"
        )
        .expect("writing to a string can't fail");
    }
    table.push(']');
    fs::write(out.join("stdlib.rs"), table).expect("the output directory can be written");
    let texts = interner.names();
    let fixed = format!("FixedNames::new(&{texts:?}, &{:?})", FixedNames::table(&texts));
    fs::write(out.join("names.rs"), fixed).expect("the output directory can be written");
    texts.hash(&mut form);
    let form = format!("u64::from_le_bytes({:?})", form.finish().to_le_bytes());
    fs::write(out.join("form.rs"), form).expect("the output directory can be written");
}

/// The written tree of a module.
fn tree_of(path: &Path, interner: &Interner) -> Vec<u8> {
    let source = fs::read_to_string(path).expect("the library's modules can be read");
    let parsed = parse_module(&source, interner);
    if let Some(first) = parsed.diagnostics.first() {
        panic!("{}: {first}", path.display());
    }
    postcard::to_stdvec(&(parsed.ast, parsed.root)).expect("a tree can be written")
}
