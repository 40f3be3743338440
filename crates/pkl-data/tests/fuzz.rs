//! The checks of the fuzz targets of readers and expressions over their seeds, and over every cut of them.

#![expect(unreachable_pub, reason = "the checks are shared with the fuzz targets")]

use std::fs;
use std::path::PathBuf;

#[path = "../../../fuzz/checks/json.rs"]
mod json;
#[path = "../../../fuzz/checks/regex.rs"]
mod regex;
#[path = "../../../fuzz/checks/yaml.rs"]
mod yaml;

fn for_each_seed(target: &str, check: fn(&[u8])) {
    let directory = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds").join(target);
    let seeds: Vec<_> = fs::read_dir(&directory).expect("the seeds are there").flatten().collect();
    assert!(!seeds.is_empty(), "{} is empty", directory.display());
    for seed in seeds {
        let data = fs::read(seed.path()).expect("a seed can be read");
        for end in 0..=data.len() {
            check(&data[..end]);
            check(&data[end..]);
        }
    }
}

#[test]
fn the_json_readers_seeds_hold() {
    for_each_seed("json", json::check);
}

#[test]
fn the_yaml_readers_seeds_hold() {
    for_each_seed("yaml", yaml::check);
}

#[test]
fn the_expressions_seeds_hold() {
    for_each_seed("regex", regex::check);
}
