//! How fast rendering, reading and matching are: `cargo run --release -p pkl-data --example measure`.

use std::hint::black_box;
use std::time::Instant;

use pkl_data::read;
use pkl_data::render::{json, pcf, yaml};
use pkl_data::tree::{ClassName, Tree, Typed};
use pkl_regex::{Budget, Regex};

/// So many objects with a name, a number, a float and a list.
fn objects(count: i64) -> Tree {
    let object = |number: i64| {
        let properties = vec![
            ("name".into(), Tree::string(format!("object {number}"))),
            ("number".into(), Tree::Int(number)),
            ("share".into(), Tree::Float(f64::from(u32::try_from(number).unwrap_or(0)) / 7.0)),
            ("tags".into(), Tree::Listing(vec![Tree::from("a"), Tree::from("b: c")])),
        ];
        Tree::Typed(Box::new(Typed { class: ClassName::new("example", "Thing"), properties }))
    };
    Tree::Listing((0..count).map(object).collect())
}

fn timed<T>(what: &str, bytes: usize, work: impl Fn() -> T) {
    let best = (0..5)
        .map(|_| {
            let start = Instant::now();
            black_box(work());
            start.elapsed()
        })
        .min()
        .unwrap_or_default();
    let megabytes = f64::from(u32::try_from(bytes).unwrap_or(u32::MAX)) / 1e6;
    println!("{what:<28} {:>8.1} ms  {:>7.0} MB/s", best.as_secs_f64() * 1e3, megabytes / best.as_secs_f64());
}

fn main() {
    let tree = objects(100_000);
    let as_json = json::value(&tree, &json::Options::default()).unwrap_or_default();
    let as_yaml = yaml::value(&tree, &yaml::Options::default()).unwrap_or_default();
    let as_pcf = pcf::value(&tree, &pcf::Options::default()).unwrap_or_default();
    timed("render JSON, 100,000 objects", as_json.len(), || json::value(&tree, &json::Options::default()));
    timed("render YAML", as_yaml.len(), || yaml::value(&tree, &yaml::Options::default()));
    timed("render PCF", as_pcf.len(), || pcf::value(&tree, &pcf::Options::default()));
    timed("read JSON", as_json.len(), || read::json::parse(&as_json, false));
    timed("read YAML", as_yaml.len(), || read::yaml::parse(&as_yaml, &read::yaml::Options::default()));
    for pattern in ["[a-z]+: \"object \\d+\"", "(?i)OBJECT (\\d+)(?=\")", "^(?:[^\\n]|\\n)*+$"] {
        let Ok(regex) = Regex::new(pattern) else { continue };
        timed(&format!("match {pattern}"), as_json.len(), || {
            let mut budget = Budget { steps: u64::MAX, ..Budget::default() };
            regex.matches(&as_json, &mut budget).flatten().count()
        });
    }
}
