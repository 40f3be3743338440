//! Readers against the official evaluator.

mod support;

use pkl_data::Tree;
use pkl_data::read::{json, yaml};
use pkl_data::render::{json as json_renderer, pcf, yaml as yaml_renderer};
use support::values::{self, Shape};
use support::{Ours, Random, compare, literal};

const PREAMBLE: &str = "import \"pkl:json\"\nimport \"pkl:yaml\"\n";

/// A tree as `compare` shows the oracle's.
fn shown(tree: &Tree) -> String {
    match tree {
        Tree::String(text) => text.to_string(),
        _ => pcf::value(tree, &pcf::Options::default()).expect("readers make nothing else"),
    }
}

fn json_case(text: &str, use_mapping: bool) -> (String, Ours) {
    let ours = json::parse(text, use_mapping)
        .map(|tree| shown(&tree))
        .map_err(|_| "Error parsing JSON document.".into());
    (format!("new json.Parser {{ useMapping = {use_mapping} }}.parse({})", literal(text)), ours)
}

fn yaml_case(text: &str, name: &str, use_mapping: bool) -> (String, Ours) {
    let mode = yaml::Mode::parse(name).expect("one of the modes");
    let options = yaml::Options { mode, use_mapping, ..yaml::Options::default() };
    let ours = yaml::parse(text, &options)
        .map(|tree| shown(&tree))
        .map_err(|_| "Error parsing YAML document.".into());
    let parser = format!("new yaml.Parser {{ mode = \"{name}\"; useMapping = {use_mapping} }}");
    (format!("{parser}.parse({})", literal(text)), ours)
}

#[test]
fn json_texts_read_as_the_oracle_reads_them() {
    let mut random = Random(41);
    let pieces = [
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "\"a\"",
        "\"b\"",
        "\"\\n\\u0041\"",
        "1",
        "-",
        "0",
        ".5",
        "1.5",
        "e3",
        "E-2",
        "true",
        "null",
        "fals",
        " ",
        "\n",
        "\"\\ud83d\\ude00\"",
        "9223372036854775808",
        "{\"a\":1}",
        "[1,2]",
        "{\"k\":[true,{}]}",
        "\"x\":",
        "\\",
        "'",
    ];
    let mut cases = Vec::new();
    for _ in 0..1200 {
        let text: String = (0..=random.below(5)).map(|_| *random.pick(&pieces)).collect();
        cases.push(json_case(&text, random.below(2) == 0));
    }
    for _ in 0..400 {
        let tree = values::value(&mut random, Shape { depth: 4, odd: false });
        if let Ok(text) = json_renderer::value(&tree, &json_renderer::Options::default()) {
            cases.push(json_case(&text, random.below(2) == 0));
        }
    }
    compare(PREAMBLE, &cases);
}

#[test]
fn yaml_scalars_resolve_as_in_the_oracle() {
    let mut random = Random(42);
    let alphabets = ["01_.eE+-", "0xXbo17fg_-+", "0159:._-+", "0123456789."];
    let words = [
        "yes",
        "No",
        "TRUE",
        "y",
        "n",
        "on",
        "OFF",
        "null",
        "~",
        ".inf",
        "-.INF",
        ".nan",
        "=",
        "<<",
        "2001-01-01",
        "NaN",
    ];
    let mut cases = Vec::new();
    for index in 0..2400 {
        let text: String = if random.below(10) == 0 {
            (*random.pick(&words)).to_owned()
        } else {
            let alphabet: Vec<char> = random.pick(&alphabets).chars().collect();
            (0..=random.below(6)).map(|_| *random.pick(&alphabet)).collect()
        };
        // Where a lone colon is a key without a name, and a lone point a number, parsers differ.
        if text.ends_with(':') || !text.contains(|c: char| c.is_ascii_alphanumeric()) {
            continue;
        }
        cases.push(yaml_case(&format!("- {text}"), ["compat", "1.1", "1.2"][index % 3], false));
    }
    compare(PREAMBLE, &cases);
}

#[test]
fn yaml_documents_read_as_the_oracle_reads_them() {
    let mut random = Random(43);
    let mut cases = Vec::new();
    for index in 0..800 {
        let tree = values::value(&mut random, Shape { depth: 4, odd: false });
        if let Ok(text) = yaml_renderer::value(&tree, &yaml_renderer::Options::default())
            // Places where readers of YAML 1.1 and 1.2 differ.
            && !text.contains(['\u{feff}', '\u{85}'])
            && !text.contains("|+\n\n")
            && text != "..."
        {
            cases.push(yaml_case(&text, ["compat", "1.1", "1.2"][index % 3], random.below(2) == 0));
        }
    }
    let pieces = [
        "a: 1\n",
        "b:\n",
        "  - x\n",
        "- y\n",
        "  c: 'd'\n",
        "- ",
        "? ",
        ": ",
        "&x ",
        "*x ",
        "[1, 2]",
        "{p: q}",
        "\"s\"",
        " # c\n",
        "---\n",
        "!!str ",
        "k: v",
        "\n",
        " ",
        ",",
        "~",
    ];
    for _ in 0..1200 {
        let text: String = (0..=random.below(5)).map(|_| *random.pick(&pieces)).collect();
        if text != "..." && !text.contains("? :") {
            cases.push(yaml_case(&text, "compat", false));
        }
    }
    compare(PREAMBLE, &cases);
}
