//! Lists the declarations of the standard library, so that adding a module is adding a file.

use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

fn main() {
    let root = env::var("CARGO_MANIFEST_DIR").expect("cargo sets the manifest's directory");
    let directory = Path::new(&root).join("stdlib");
    println!("cargo::rerun-if-changed={}", directory.display());
    let mut names: Vec<String> = fs::read_dir(&directory)
        .expect("the library's directory can be read")
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter_map(|name| Some(name.strip_suffix(".pkl")?.to_owned()))
        .collect();
    names.sort();
    let mut table = String::from("&[\n");
    for name in names {
        let path = directory.join(format!("{name}.pkl")).display().to_string();
        writeln!(table, "    ({name:?}, include_str!({path:?})),").expect("writing to a string can't fail");
    }
    table.push(']');
    let out = env::var("OUT_DIR").expect("cargo sets the output directory");
    fs::write(Path::new(&out).join("stdlib.rs"), table).expect("the output directory can be written");
}
