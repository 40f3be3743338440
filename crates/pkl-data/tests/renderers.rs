//! Renderers against the official evaluator: random values, every option.

mod support;

use pkl_data::render::{json, jsonnet, pcf, plist, properties, xml, yaml};
use pkl_data::tree::{ClassName, Member, Typed};
use pkl_data::{RenderError, Tree};
use support::values::{self, MODULE, PREAMBLE, Shape};
use support::{Ours, Random, compare};

type Render = Box<dyn Fn(&Tree) -> Result<String, RenderError>>;

/// A renderer as Pkl source, and ours with the same options for fragments and for documents.
struct Variant {
    source: String,
    value: Render,
    document: Render,
}

macro_rules! variant {
    ($module:ident, $source:expr, $options:expr) => {{
        let (for_value, for_document) = ($options, $options);
        Variant {
            source: $source.to_string(),
            value: Box::new(move |tree| $module::value(tree, &for_value)),
            document: Box::new(move |tree| $module::document(tree, &for_document)),
        }
    }};
}

fn differ(seed: u64, count: usize, variants: &[Variant], generate: impl Fn(&mut Random) -> Tree) {
    let mut random = Random(seed);
    let mut cases: Vec<(String, Ours)> = Vec::new();
    for index in 0..count {
        let tree = generate(&mut random);
        let source = values::source(&tree);
        // Members are forced first, so that messages show them on either side.
        let forced = format!("let (v = {source}) let (forced = forcing.renderValue(v))");
        let variant = &variants[index % variants.len()];
        let (method, render) = match random.below(2) {
            0 => ("renderValue", &variant.value),
            _ => ("renderDocument", &variant.document),
        };
        cases.push((
            format!("{forced} ({}).{method}(v)", variant.source),
            render(&tree).map_err(|e| e.message),
        ));
        if index % 4 == 0 {
            let ours = if matches!(tree, Tree::Function { .. }) {
                continue;
            } else {
                pkl_data::display::to_string(&tree)
            };
            cases.push((format!("{forced} v.toString()"), Ok(ours)));
        }
    }
    let preamble = format!("import \"pkl:xml\"\nimport \"pkl:jsonnet\"\nimport \"pkl:protobuf\"\n{PREAMBLE}");
    compare(&format!("module {MODULE}\n{preamble}"), &cases);
}

fn anything(random: &mut Random) -> Tree {
    let odd = random.below(3) == 0;
    values::value(random, Shape { depth: 4, odd })
}

fn with_keys(random: &mut Random) -> Tree {
    loop {
        let tree = anything(random);
        if matches!(tree, Tree::Map(_) | Tree::Mapping(_) | Tree::Dynamic(_) | Tree::Typed(_))
            || random.below(10) == 0
        {
            return tree;
        }
    }
}

#[test]
fn json() {
    let options = |indent: &str, omit_null_properties| json::Options {
        indent: indent.into(),
        omit_null_properties,
        ..json::Options::default()
    };
    let variants = [
        variant!(json, "new JsonRenderer {}", options("  ", true)),
        variant!(json, "new JsonRenderer { indent = \"\" }", options("", true)),
        variant!(
            json,
            "new JsonRenderer { indent = \"\\t\"; omitNullProperties = false }",
            options("\t", false)
        ),
    ];
    differ(11, 900, &variants, anything);
}

#[test]
fn pcf() {
    let options = |indent: &str, omit_null_properties, use_custom_string_delimiters| pcf::Options {
        indent: indent.into(),
        omit_null_properties,
        use_custom_string_delimiters,
        ..pcf::Options::default()
    };
    let variants = [
        variant!(pcf, "new PcfRenderer {}", options("  ", false, false)),
        variant!(pcf, "new PcfRenderer { useCustomStringDelimiters = true }", options("  ", false, true)),
        variant!(
            pcf,
            "new PcfRenderer { indent = \"\"; omitNullProperties = true }",
            options("", true, false)
        ),
        variant!(
            pcf,
            "new PcfRenderer { indent = \"\\t\"; useCustomStringDelimiters = true }",
            options("\t", false, true)
        ),
    ];
    differ(12, 1200, &variants, with_keys);
}

#[test]
fn properties() {
    let options = |omit_null_properties, restrict_charset| properties::Options {
        omit_null_properties,
        restrict_charset,
        ..properties::Options::default()
    };
    let variants = [
        variant!(properties, "new PropertiesRenderer {}", options(true, false)),
        variant!(properties, "new PropertiesRenderer { omitNullProperties = false }", options(false, false)),
        variant!(properties, "new PropertiesRenderer { restrictCharset = true }", options(true, true)),
    ];
    differ(13, 900, &variants, with_keys);
}

#[test]
fn plist() {
    let options = |indent: &str| plist::Options { indent: indent.into(), ..plist::Options::default() };
    let variants = [
        variant!(plist, "new PListRenderer {}", options("  ")),
        variant!(plist, "new PListRenderer { indent = \"\" }", options("")),
    ];
    differ(14, 600, &variants, anything);
}

#[test]
fn jsonnet() {
    let options = |indent: &str, omit_null_properties| jsonnet::Options {
        indent: indent.into(),
        omit_null_properties,
        ..jsonnet::Options::default()
    };
    let variants = [
        variant!(jsonnet, "new jsonnet.Renderer {}", options("  ", true)),
        variant!(jsonnet, "new jsonnet.Renderer { indent = \"\" }", options("", true)),
        variant!(
            jsonnet,
            "new jsonnet.Renderer { indent = null; omitNullProperties = false }",
            options("", false)
        ),
    ];
    differ(15, 900, &variants, anything);
}

/// Values of `pkl:xml` in a tree of ordinary ones, whose keys are names.
fn xml_value(random: &mut Random, depth: usize) -> Tree {
    let name = |random: &mut Random| *random.pick(&["a", "b", "c-1", "_d", "é", "x:y", "a b", "1"]);
    let typed = |class: &str, property: &str, value: Tree| {
        let mut properties = vec![(property.into(), value)];
        if class == "Comment" {
            properties.push(("isBlockFormat".into(), Tree::Bool(true)));
        }
        Tree::Typed(Box::new(Typed { class: ClassName::new("pkl.xml", class), properties }))
    };
    if depth == 0 || random.below(4) == 0 {
        return match random.below(8) {
            0 => typed("Comment", "text", Tree::from(*random.pick(&["c", "<&>"]))),
            1 => typed("CData", "text", Tree::from(*random.pick(&["c", "]]>", "<&>"]))),
            2 => values::directive("<raw/>"),
            _ => values::value(random, Shape { depth: 0, odd: false }),
        };
    }
    let length = random.below(4);
    match random.below(7) {
        0 => Tree::List((0..length).map(|_| xml_value(random, depth - 1)).collect()),
        1 => Tree::Listing((0..length).map(|_| xml_value(random, depth - 1)).collect()),
        2 => {
            typed("Inline", "value", Tree::List((0..length).map(|_| xml_value(random, depth - 1)).collect()))
        }
        3 => {
            let mut keys = vec!["k", "é", "x:y", *random.pick(&["z", "z z", ""])];
            keys.truncate(length);
            Tree::Map(keys.into_iter().map(|key| (Tree::from(key), xml_value(random, depth - 1))).collect())
        }
        4 => {
            let mut keys = vec!["k", "é", "x:y", *random.pick(&["z", "z z"])];
            keys.truncate(length);
            Tree::Dynamic(
                keys.into_iter()
                    .map(|key| Member::Property(key.into(), xml_value(random, depth - 1)))
                    .collect(),
            )
        }
        _ => {
            let attributes =
                [(Tree::from(name(random)), values::value(random, Shape { depth: 0, odd: false }))];
            let mut members = vec![
                Member::Property("_isXmlElement".into(), Tree::Bool(true)),
                Member::Property("name".into(), Tree::from(name(random))),
                Member::Property("attributes".into(), Tree::Mapping(attributes[..random.below(2)].to_vec())),
                Member::Property("isBlockFormat".into(), Tree::Bool(random.below(3) != 0)),
            ];
            members.extend((0..length).map(|_| Member::Element(xml_value(random, depth - 1))));
            Tree::Dynamic(members)
        }
    }
}

#[test]
fn xml() {
    let options =
        |indent: &str, version| xml::Options { indent: indent.into(), version, ..xml::Options::default() };
    let with_root = || xml::Options {
        root_element_name: "foo".into(),
        root_element_attributes: vec![
            (Tree::from("a"), Tree::from("<\"'")),
            (Tree::from("b"), Tree::Bool(true)),
        ],
        ..xml::Options::default()
    };
    let variants = [
        variant!(xml, "new xml.Renderer {}", options("  ", xml::Version::Xml10)),
        variant!(
            xml,
            "new xml.Renderer { indent = \"\"; xmlVersion = \"1.1\" }",
            options("", xml::Version::Xml11)
        ),
        variant!(
            xml,
            "new xml.Renderer { rootElementName = \"foo\"; rootElementAttributes { [\"a\"] = \"<\\\"'\"; [\"b\"] = true } }",
            with_root()
        ),
    ];
    differ(16, 500, &variants, anything);
    differ(17, 900, &variants, |random| xml_value(random, 4));
}

#[test]
fn yaml() {
    let options = |mode, indent_width, omit_null_properties, is_stream| yaml::Options {
        mode,
        indent_width,
        omit_null_properties,
        is_stream,
        ..yaml::Options::default()
    };
    let variants = [
        variant!(yaml, "new YamlRenderer {}", options(yaml::Mode::Compat, 2, true, false)),
        variant!(
            yaml,
            "new YamlRenderer { mode = \"1.1\"; indentWidth = 4; omitNullProperties = false }",
            options(yaml::Mode::Yaml11, 4, false, false)
        ),
        variant!(
            yaml,
            "new YamlRenderer { mode = \"1.2\"; indentWidth = 3; isStream = true }",
            options(yaml::Mode::Yaml12, 3, true, true)
        ),
    ];
    differ(18, 1500, &variants, anything);
}

#[test]
fn yaml_strings() {
    let mut random = Random(19);
    let alphabets =
        ["01_.eE+-", "0xXbo17fg_-+", "0159:._-+", " \n#:-a", "\n \t\r\"'\\a", "-?:, []{}#&*!|>'\"%@`a~"];
    let mut cases: Vec<(String, Ours)> = Vec::new();
    for index in 0..1800 {
        let alphabet: Vec<char> = random.pick(&alphabets).chars().collect();
        let text: String = (0..=random.below(6)).map(|_| *random.pick(&alphabet)).collect();
        let (name, mode) =
            [("compat", yaml::Mode::Compat), ("1.1", yaml::Mode::Yaml11), ("1.2", yaml::Mode::Yaml12)]
                [index % 3];
        let options = yaml::Options { mode, ..yaml::Options::default() };
        let source = support::literal(&text);
        let tree = Tree::Map(vec![(Tree::from(text.as_str()), Tree::from(text.as_str()))]);
        cases.push((
            format!("new YamlRenderer {{ mode = \"{name}\" }}.renderDocument(Map({source}, {source}))"),
            yaml::document(&tree, &options).map_err(|e| e.message),
        ));
    }
    compare("", &cases);
}
