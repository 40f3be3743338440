//! Nesting a hundred thousand deep, of everything that nests, and long chains of everything that refers to
//! another: a value or an error, never a stack overflow.
//!
//! That the parser and the formatter bear it is tested beside them; here whole programs are evaluated, and
//! values that programs build are gone into.

use pkl_core::host::{ModuleReader, ReadError};
use pkl_core::{Error, Evaluator, Limits, ModuleSource};
use std::time::Duration;

const MANY: usize = 100_000;

/// How many links chains have whose every link is a declaration, a module or a value: each takes a while, so
/// `PKL_DEPTH` says how many where there is time.
fn links() -> usize {
    std::env::var("PKL_DEPTH").ok().and_then(|links| links.parse().ok()).unwrap_or(500)
}

fn evaluator() -> Evaluator {
    let limits = Limits { time: Some(Duration::from_secs(20)), memory: 256 << 20, ..Limits::default() };
    Evaluator::builder().limits(limits).module_reader(Chain).build()
}

fn text(source: impl Into<String>) -> Result<String, Error> {
    evaluator().output_text(&ModuleSource::text(source))
}

/// That a program ends, and that an error says what is wrong.
fn ends(name: &str, source: impl Into<String>) {
    if let Err(error) = text(source) {
        assert!(!error.message.is_empty(), "{name}");
    }
}

/// `chain:<kind>/<number>`: modules each of which needs the next.
struct Chain;

impl ModuleReader for Chain {
    fn scheme(&self) -> &'static str {
        "chain"
    }

    fn read(&self, uri: &str) -> Result<String, ReadError> {
        let (kind, number) = uri["chain:/".len()..].split_once('/').ok_or(ReadError::NotFound)?;
        let number: usize = number.parse().map_err(|_| ReadError::NotFound)?;
        let next = format!("chain:/{kind}/{}", number + 1);
        Ok(match kind {
            _ if number >= links() / 4 => "open module end\nx = 1".to_owned(),
            "import" => format!("import \"{next}\" as next\nx = next.x"),
            "lazy" => format!("x = import(\"{next}\").x"),
            "amends" => format!("amends \"{next}\""),
            _ => format!("open module m{number}\nextends \"{next}\""),
        })
    }
}

#[test]
fn nested_syntax_ends() {
    let nests: &[(&str, &str, &str)] = &[
        ("parentheses", "(", ")"),
        ("minus", "-", ""),
        ("not", "!", ""),
        ("power", "1 ** ", ""),
        ("conditions", "if (", " == 1) 1 else 2"),
        ("branches", "if (false) 1 else ", ""),
        ("let values", "let (a = ", ") a"),
        ("let bodies", "let (a = 1) ", ""),
        ("functions", "(a) -> ", ""),
        ("arguments", "List(", ")"),
        ("method arguments", "\"a\".repeat(", ")"),
        ("subscripts", "List(1)[", "]"),
        ("interpolation", "\"\\(", ")\""),
        ("raw interpolation", "#\"\\#(", ")\"#"),
        ("multi-line interpolation", "\"\"\"\n\\(", ")\n\"\"\""),
        ("throw", "throw(", ")"),
        ("trace", "trace(", ")"),
        ("read", "read(", ")"),
        ("read or null", "read?(", ")"),
        ("objects", "new Dynamic { a = ", "}"),
        ("bodies", "new Dynamic { a { b = ", "} }"),
        ("elements", "new Listing { ", "}"),
        ("entries", "new Mapping { [1] = ", "}"),
        ("keys", "new Mapping { [", "] = 1 }"),
        ("predicates", "new Dynamic { [[", " == 1]] = 1 }"),
        ("spread", "new Listing { ...", "}"),
        ("for", "new Listing { for (a in List(1)) { ", "} }"),
        ("iterated", "new Listing { for (a in ", ") { 1 } }"),
        ("when", "new Listing { when (true) { ", "} }"),
        ("else", "new Listing { when (false) { 1 } else { ", "} }"),
        ("amended", "(new Dynamic {}) { a = ", "}"),
        ("locals", "new Dynamic { local a = ", "}"),
        ("methods of objects", "new Dynamic { local function f() = ", "}"),
        ("type arguments", "1 is List<", ">"),
        ("function types", "1 is () -> ", "Int"),
        ("parenthesised types", "1 is (", "Int)"),
        ("constraints", "1 is Int(", ")"),
        ("cast", "1 as Int(", ")"),
        ("super", "super[", "]"),
    ];
    for (name, open, close) in nests {
        let nested = |depth| format!("x = {}1{}", open.repeat(depth), close.repeat(depth));
        ends(name, nested(MANY));
        ends(name, format!("x = {}", open.repeat(MANY)));
        // As deep as the parser lets it be: whatever it lets through is evaluated.
        for depth in [60, 120, 250, 500, 1_000] {
            ends(name, nested(depth));
        }
    }
}

#[test]
fn nested_declarations_end() {
    let programs = [
        ("bodies of properties", "a { ".repeat(MANY)),
        ("closed bodies", format!("{}{}", "a { ".repeat(MANY), "}".repeat(MANY))),
        ("types", format!("a: {}Int{}", "List<".repeat(MANY), ">".repeat(MANY))),
        ("unions", format!("a: {}Int = 1", "String|".repeat(MANY))),
        ("alias of a union", format!("typealias A = {}Int\na: A = 1", "String|".repeat(MANY))),
        ("optional", format!("a: Int{} = 1", "?".repeat(MANY))),
        ("string types", format!("a: {}\"b\" = \"b\"", "\"a\"|".repeat(MANY))),
        ("type parameters", format!("class A<{}>", vec!["T"; MANY].join(","))),
        ("annotations", format!("{}a = 1", "@Deprecated {}\n".repeat(MANY))),
        ("nested annotations", "@A { b { ".repeat(MANY)),
        ("block comments", format!("{} a = 1", "/*".repeat(MANY))),
        ("closed block comments", format!("{} a = 1", "/* */".repeat(MANY))),
        ("line comments", format!("{}a = 1", "//\n".repeat(MANY))),
        ("doc comments", format!("{}a = 1", "/// text\n".repeat(MANY))),
        ("modifiers", format!("{}a = 1", "const ".repeat(MANY))),
        ("custom delimiters", format!("a = {}\"\"{}", "#".repeat(MANY), "#".repeat(MANY))),
        ("parameters", format!("f({}) = 1", vec!["a"; MANY].join(","))),
        ("imports", "import \"pkl:base\"\n".repeat(1_000)),
    ];
    for (name, program) in programs {
        ends(name, program);
    }
}

#[test]
fn long_chains_end() {
    let chain = |first: &str, next: &str| format!("x = {first}{}", next.repeat(links() * 2));
    for (name, program) in [
        ("sum", chain("1", " + 1")),
        ("product", chain("1", " * 1")),
        ("and", chain("true", " && true")),
        ("or", chain("false", " || false")),
        ("equal", chain("true", " == true")),
        ("coalesce", chain("null", " ?? null")),
        ("pipe", chain("1", " |> ((a) -> a)")),
        ("is", chain("1", " is Int")),
        ("as", chain("1", " as Int")),
        ("non-null", chain("1", "!!")),
        ("members", chain("1", ".abs")),
        ("optional members", chain("1", "?.abs")),
        ("methods", chain("\"a\"", ".trim()")),
        ("subscripts", chain("List()", "[0]")),
        ("bodies", chain("new Dynamic {}", " {}")),
        ("full bodies", chain("new Dynamic {}", " { a = 1 }")),
        ("texts", chain("\"a\"", " + \"a\"")),
        ("elements", format!("x {{ {} }}", "1;".repeat(MANY))),
        ("interpolations", format!("x = \"{}\"", "\\(1)".repeat(MANY))),
    ] {
        ends(name, program);
    }
}

#[test]
fn chains_of_declarations_end() {
    let count = links();
    let declared = |first: &str, next: &dyn Fn(usize) -> String, last: &str| {
        let mut program = format!("{first}\n");
        for number in 1..=count {
            program.push_str(&next(number));
            program.push('\n');
        }
        program + last
    };
    for (name, program) in [
        ("references", declared("a0 = 1", &|n| format!("a{n} = a{}", n - 1), "")),
        ("constants", declared("const a0 = 1", &|n| format!("const a{n} = a{}", n - 1), "")),
        (
            "amendments",
            declared(
                "a0 { b = 1 }",
                &|n| format!("local a{n} = (a{}) {{ c = {n} }}", n - 1),
                &format!("z = a{count}.b"),
            ),
        ),
        (
            "amendments with super",
            declared(
                "a0 { b = 1 }",
                &|n| format!("local a{n} = (a{}) {{ b = super.b }}", n - 1),
                &format!("z = a{count}.b"),
            ),
        ),
        (
            "subclasses",
            declared(
                "open class A0 { b = 1 }",
                &|n| format!("open class A{n} extends A{}", n - 1),
                &format!("z = new A{count} {{}}"),
            ),
        ),
        (
            "aliases",
            declared(
                "typealias A0 = Int",
                &|n| format!("typealias A{n} = A{}", n - 1),
                &format!("z: A{count} = 1"),
            ),
        ),
        (
            "optional aliases",
            declared(
                "typealias A0 = Int",
                &|n| format!("typealias A{n} = A{}?", n - 1),
                &format!("z: A{count} = 1"),
            ),
        ),
        (
            "constrained aliases",
            declared(
                "typealias A0 = Int",
                &|n| format!("typealias A{n} = A{}(true)", n - 1),
                &format!("z: A{count} = 1"),
            ),
        ),
        (
            "aliases of lists",
            declared(
                "typealias A0 = Int",
                &|n| format!("typealias A{n} = List<A{}>", n - 1),
                &format!("z: A{count} = List()"),
            ),
        ),
        (
            "methods",
            declared(
                "function a0() = 1",
                &|n| format!("function a{n}() = a{}()", n - 1),
                &format!("z = a{count}()"),
            ),
        ),
        (
            "functions",
            declared(
                "local a0 = () -> 1",
                &|n| format!("local a{n} = () -> a{}.apply()", n - 1),
                &format!("z = a{count}.apply()"),
            ),
        ),
        (
            "classes that hold each other",
            declared(
                "class A0",
                &|n| format!("class A{n} {{ a: A{} }}", n - 1),
                &format!("z = new A{count} {{}}"),
            ),
        ),
    ] {
        ends(name, program);
    }
}

#[test]
fn chains_of_modules_end() {
    for kind in ["import", "lazy", "amends", "extends"] {
        ends(kind, format!("x = import(\"chain:/{kind}/0\")"));
        ends(kind, format!("amends \"chain:/{kind}/0\""));
    }
}

/// Builders of deep values: `from` with `step` applied to it very often.
const BUILDERS: &[(&str, &str, &str)] = &[
    ("List", "List()", "List(acc)"),
    ("Set", "Set()", "Set(acc)"),
    ("Map", "Map()", "Map(\"a\", acc)"),
    ("keys of Map", "Map()", "Map(acc, 1)"),
    ("Pair", "1", "Pair(acc, 1)"),
    ("Listing", "new Listing {}", "new Listing { acc }"),
    ("Mapping", "new Mapping {}", "new Mapping { [\"a\"] = acc }"),
    ("Dynamic", "new Dynamic {}", "new Dynamic { a = acc }"),
    ("Typed", "new Node {}", "new Node { a = acc }"),
    ("Function", "(x) -> x", "(x) -> acc.apply(x)"),
    ("amendment", "new Dynamic {}", "(acc) { a = 1 }"),
    ("amended listing", "new Listing {}", "(acc) { 1 }"),
];

#[test]
fn deep_values_are_gone_into_or_refused() {
    let uses = [
        ("itself", "deep"),
        ("equality", "deep == build()"),
        ("hash", "Set(deep, build()).length"),
        ("text", "\"\\(deep)\""),
        ("type", "deep is List<Any>|Mapping<Any, Any>|Listing<Any>"),
        ("rendered", "new PcfRenderer {}.renderValue(deep)"),
        ("json", "new JsonRenderer {}.renderValue(deep)"),
        ("yaml", "new YamlRenderer {}.renderValue(deep)"),
        ("plist", "new PListRenderer {}.renderDocument(deep)"),
        ("properties", "new PropertiesRenderer {}.renderDocument(deep)"),
        ("xml", "new xml.Renderer {}.renderDocument(new Dynamic { a = deep })"),
        ("jsonnet", "new jsonnet.Renderer {}.renderValue(deep)"),
        ("textproto", "new protobuf.Renderer {}.renderValue(deep)"),
        ("caught", "test.catchOrNull(() -> throw(\"\\(deep)\")) != null"),
        ("applied", "if (deep is Function1) deep.apply(1) else 0"),
        ("message", "deep.absent"),
    ];
    let imports =
        ["jsonnet", "protobuf", "test", "xml"].map(|name| format!("import \"pkl:{name}\"\n")).concat();
    for (builder, from, step) in BUILDERS {
        for (used, what) in uses {
            ends(
                &format!("{used} of {builder}"),
                format!(
                    "{imports}class Node {{ a: Any? }}\n\
                     local function build() = IntSeq(1, {}).fold({from}, (acc, i) -> {step})\n\
                     local deep = build()\nx = {what}",
                    links() / 8
                ),
            );
        }
    }
}

#[test]
fn values_as_deep_as_they_may_be_are_rendered() {
    for (builder, from, step) in BUILDERS {
        for depth in [100, 400, 900, 1_100] {
            for format in ["pcf", "json", "yaml", "plist", "properties", "xml", "jsonnet", "textproto"] {
                let program = format!(
                    "class Node {{ a: Any? }}\nx = IntSeq(1, {depth}).fold({from}, (acc, i) -> {step})\n"
                );
                let evaluator = Evaluator::builder().properties([("pkl.outputFormat", format)]).build();
                if let Err(error) = evaluator.output_text(&ModuleSource::text(program)) {
                    assert!(!error.message.is_empty(), "{builder} {format}");
                }
            }
        }
    }
}

#[test]
fn deep_inputs_of_parsers_are_refused() {
    let parses = |module: &str, nested: &str| {
        let program = format!(
            "import \"pkl:{module}\"\nx = new {module}.Parser {{}}.parse(\"{nested}\".repeat({MANY}))"
        );
        assert!(text(program).is_err(), "{module} {nested}");
    };
    for nested in ["[", "{\\\"a\\\":", "[{\\\"a\\\":"] {
        parses("json", nested);
    }
    for nested in ["[", "{a: ", "- ", "? ", "[{a: ", "- a: "] {
        parses("yaml", nested);
    }
    for pattern in ["(", "(?:", "(?=", "(?<!", "[", "[a&&[", "(a|", "((a*)+", "\\\\Q("] {
        ends(pattern, format!("x = Regex(\"{pattern}\".repeat({MANY}))"));
        ends(
            pattern,
            format!(
                "x = test(\"{pattern}\")\nfunction test(it) = isRegex(it)\nfunction isRegex(it) = it.matches(Regex(it))"
            ),
        );
    }
    for (open, close) in [("(", ")"), ("(?:", ")*"), ("[a", "]"), ("(?=", ")")] {
        let program = format!(
            "x = \"aaaa\".matches(Regex(\"{open}\".repeat({MANY}) + \"a\" + \"{close}\".repeat({MANY})))"
        );
        ends(open, program);
    }
}

#[test]
fn endless_conversion_ends() {
    for converter in ["new Dynamic { a = it }", "List(it)", "(it) { a = it }", "it.toMap()"] {
        let program = format!(
            "x {{ a = 1 }}\noutput {{ renderer {{ converters {{ [Dynamic] = (it) -> {converter} }} }} }}"
        );
        ends(converter, program);
    }
}

#[test]
fn an_error_far_along_a_line_is_shown() {
    let error = text(format!("x = \"{}\" + throw(\"far\")", "a".repeat(MANY))).expect_err("it throws");
    assert!(error.to_string().contains("far"));
    let pattern = text(format!("x = Regex(\"a\".repeat({MANY}) + \"(\")")).expect_err("a group is open");
    assert!(pattern.to_string().contains('^'));
}
