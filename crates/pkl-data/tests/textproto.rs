//! Textproto against the official evaluator: the shapes of messages.

mod support;

use pkl_data::render::textproto::{self, FieldType};
use pkl_data::tree::{ClassName, Tree, Typed};
use support::values::{self, Shape};
use support::{Ours, Random, compare};

/// `P` and `Q` of the values' preamble, and a class with unions.
const PREAMBLE: &str = "import \"pkl:protobuf\"
open class P { a: Any = null; `b c`: Any = null; hidden h: Any = 1 }
class Q extends P { z: Any = null }
class U { u: Int | String; v: (Int | String)?; w: Listing<Int | String>; x: \"a\" | \"b\" }
";

#[test]
fn messages_render_as_in_the_oracle() {
    let field_type = |class: &ClassName, name: &str| FieldType {
        is_union: class.is(values::MODULE, "U") && matches!(name, "u" | "v"),
        has_union_elements: class.is(values::MODULE, "U") && name == "w",
        ..FieldType::default()
    };
    let mut random = Random(61);
    let mut cases: Vec<(String, Ours)> = Vec::new();
    while cases.len() < 800 {
        let tree = if random.below(5) == 0 {
            let number_or_text = |random: &mut Random| match random.below(2) {
                0 => Tree::Int(7),
                _ => Tree::from(values::string(random).as_str()),
            };
            let properties = vec![
                ("u".into(), number_or_text(&mut random)),
                ("v".into(), number_or_text(&mut random)),
                (
                    "w".into(),
                    Tree::Listing((0..random.below(3)).map(|_| number_or_text(&mut random)).collect()),
                ),
                ("x".into(), Tree::from("b")),
            ];
            Tree::Typed(Box::new(Typed { class: ClassName::new(values::MODULE, "U"), properties }))
        } else {
            values::value(&mut random, Shape { depth: 4, odd: false })
        };
        // Anything else at the top is an internal error of the official evaluator.
        let source = values::source(&tree);
        if !matches!(tree, Tree::Typed(_)) || source.contains("new Dynamic") {
            continue;
        }
        let indent = if random.below(3) == 0 { "" } else { "  " };
        let options =
            textproto::Options { indent: indent.into(), field_type: &field_type, max_bytes: usize::MAX };
        let renderer = format!("new protobuf.Renderer {{ indent = \"{indent}\" }}");
        cases.push((
            format!("({renderer}).renderDocument({source})"),
            textproto::document(&tree, &options).map_err(|error| error.message),
        ));
    }
    compare(&format!("module {}\n{PREAMBLE}", values::MODULE), &cases);
}
