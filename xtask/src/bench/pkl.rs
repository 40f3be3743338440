//! Pkl programs, evaluated by the release binary and by the official one in the same run: whole processes.
//!
//! The programs are made here, the same in every run, and both must put out the same bytes.

use super::{insert_between, millis, run_in};
use crate::{TaskError, output, root};
use pkl_corpus::Oracle;
use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

const BEGIN: &str = "<!-- pkl figures: begin -->\n";
const END: &str = "<!-- pkl figures: end -->\n";
/// How often each program is run, where the official binary takes no longer than a second.
const RUNS: usize = 11;
/// Modules of the schema package, and properties of the class in each.
const MODULES: usize = 250;
const PROPERTIES: usize = 19;
/// Resources of the forma, each of another module.
const RESOURCES: usize = 10;

/// A program, and what it is.
struct Row {
    title: &'static str,
    program: &'static str,
    bar: &'static str,
}

const ROWS: &[Row] = &[
    Row { title: "trivial module", program: "name = \"Dodo\"\n", bar: "≤ 6 ms, ≤ 20 MB" },
    Row {
        title: "100,000 typed objects",
        program: "class Bird {\n  name: String\n  age: Int(isPositive)\n  tags: List<String> = List(\"bird\")\n}\nbirds = IntSeq(1, 100000).map((i) -> new Bird { name = \"bird \\(i)\"; age = i }).toList()\n",
        bar: "≥ 4×",
    },
    Row {
        title: "`Mapping` of 100,000 entries",
        program: "birds = new Mapping<String, Int> { for (i in IntSeq(1, 100000)) { [\"bird \\(i)\"] = i } }\n",
        bar: "≥ 4×",
    },
    Row {
        title: "1,000 objects nested 20 deep",
        program: "function nest(depth: Int, i: Int): Dynamic =\n  if (depth == 0) new Dynamic { value = i } else new Dynamic { inside = nest(depth - 1, i) }\nnests { for (i in IntSeq(1, 1000)) { nest(20, i) } }\n",
        bar: "≥ 4×",
    },
    Row {
        title: "100,000 amendments of an object",
        program: "class Bird { name: String = \"Dodo\"; age: Int = 1; twice: Int = age * 2 }\nbase: Bird = new {}\nbirds { for (i in IntSeq(1, 100000)) { (base) { age = i } } }\n",
        bar: "≥ 4×",
    },
    Row {
        title: "200,000 string operations",
        program: "lengths = IntSeq(1, 100000).fold(0, (sum, i) -> sum + \"bird \\(i)\".toUpperCase().replaceAll(\"BIRD\", \"egg\").length)\n",
        bar: "≥ 4×",
    },
    Row {
        title: "fib(25)",
        program: "function fib(n: Int): Int = if (n < 2) n else fib(n - 1) + fib(n - 2)\nresult = fib(25)\n",
        bar: "≥ 4×",
    },
    Row {
        title: "fib(30)",
        program: "function fib(n: Int): Int = if (n < 2) n else fib(n - 1) + fib(n - 2)\nresult = fib(30)\n",
        bar: "≥ 0.5×",
    },
    Row {
        title: "100,000 appends to a string",
        program: "result = IntSeq(1, 100000).fold(\"\", (text, i) -> text + \"x\").length\n",
        bar: "≤ 50 ms",
    },
    Row {
        title: "4,750 annotated properties of 250 modules, reflected",
        program: "import \"pkl:reflect\"\nimport \"hints.pkl\"\nlocal modules = import*(\"schema/*.pkl\")\ntypes = modules.toMap().mapValues((_, it) ->\n  reflect.Module(it).classes.mapValues((_, type) ->\n    type.properties.mapValues((name, property) ->\n      \"\\(property.docComment ?? \"\") \\(property.annotations.filter((a) -> a is hints.FieldHint).map((a) -> a.required).join(\",\"))\")))\n",
        bar: "≤ 75 ms",
    },
    Row {
        title: "forma of 10 resources against 250 modules",
        // Its imports and resources are written before it.
        program: FORMA,
        bar: "≥ 10×",
    },
    Row {
        title: "forma of 10,000 resources, each with a reference",
        program: LARGE,
        bar: "≤ 1 s, ≤ 400 MB; official ≤ 5 s",
    },
];

/// A forma of our own package. What it amends and imports is written before it.
const LARGE: &str = r#"local network = new net.Network { label = "network"; range = "10.0.0.0/8" }
forma {
  new formae.Stack { label = "stack" }
  new formae.Target { label = "target"; config = new net.Config { region = "north" } }
  network
  for (i in IntSeq(1, 10000)) {
    new net.Subnet { label = "subnet\(i)"; networkId = network.res.networkId; range = "10.0.\(i).0/24" }
  }
}
"#;

/// Its types. What they import is written before them.
const NET: &str = r#"class Config {
  hidden region: String
  fixed Type: String = "NET"
  fixed Region: String = region
}
class NetworkResolvable extends formae.Resolvable {
  hidden type = "NET::Core::Network"
  hidden networkId: NetworkResolvable = (this) { property = "NetworkId" }
}
@formae.ResourceHint { type = "NET::Core::Network"; identifier = "$.NetworkId" }
class Network extends formae.Resource {
  @formae.FieldHint { createOnly = true }
  range: String
  hidden res: NetworkResolvable = let (self = this) new { label = self.label; stack = self.stack?.label }
}
@formae.ResourceHint { type = "NET::Core::Subnet"; identifier = "$.SubnetId" }
class Subnet extends formae.Resource {
  @formae.FieldHint { createOnly = true }
  networkId: String|formae.Resolvable
  @formae.FieldHint
  range: String
}
"#;

const FORMA: &str = "local function namesOf(it: hints.Resource): List<String> =\n  reflect.Class(it.getClass()).properties.filter((_, property) ->\n    property.annotations.any((a) -> a is hints.FieldHint && a.required)).keys.toList()\nforma {\n  for (it in resources) {\n    [it.label] { type = it.kind; properties = it; required = namesOf(it) }\n  }\n}\nmodules = import*(\"schema/*.pkl\").length\n";

const HINTS: &str = "module schema.hints\nopen class FieldHint extends Annotation { required: Boolean = false; createOnly: Boolean = false }\nopen class ResourceHint extends Annotation { type: String }\nabstract class Resource {\n  hidden label: String\n  fixed hidden kind: String\n}\n";

/// Measures every row; `write` puts the table into the document.
pub(crate) fn run(write: bool) -> Result<(), TaskError> {
    output("cargo", &["build", "--quiet", "--release", "--locked", "-p", "formwork"])?;
    let ours = root().join("target/release/formwork");
    let oracle = Oracle::find(&root())?;
    let directory = super::home()?;
    write_package(directory.path())?;
    let mut report = String::from(
        "| `eval -f json`, whole process, median | Formwork | official 0.30.2 | faster | memory | bar |\n|---|---|---|---|---|---|\n",
    );
    for (number, row) in ROWS.iter().enumerate() {
        eprintln!("xtask: {}", row.title);
        let name = format!("row{number}.pkl");
        write_file(&directory.path().join(&name), &program(row))?;
        let (mine, official) = compare(&ours, oracle.binary(), directory.path(), &name)?;
        let ratio = official.time.as_secs_f64() / mine.time.as_secs_f64();
        let _ = writeln!(
            report,
            "| {} | {} | {} | {ratio:.1}× | {}, {} | {} |",
            row.title,
            millis(mine.time),
            millis(official.time),
            megabytes(mine.memory),
            megabytes(official.memory),
            row.bar
        );
    }
    print!("{report}");
    if write { insert_between(BEGIN, END, &report) } else { Ok(()) }
}

/// What an evaluation takes.
struct Cost {
    /// The median.
    time: Duration,
    /// The most that the process had at once, in bytes.
    memory: u64,
}

/// The costs of both, run in turns.
fn compare(ours: &Path, official: &Path, directory: &Path, name: &str) -> Result<(Cost, Cost), TaskError> {
    let arguments = ["eval", "-f", "json", name];
    let mine = [&["pkl"][..], &arguments].concat();
    let (expected, first) = run_in(official, &arguments, directory, directory)?;
    let (given, _) = run_in(ours, &mine, directory, directory)?;
    if given != expected {
        let stderr = "the output differs from the official evaluator's".to_owned();
        return Err(TaskError::Failed { command: format!("formwork {}", mine.join(" ")), stderr });
    }
    let runs = if first < Duration::from_secs(1) { RUNS } else { 3 };
    let (mut left, mut right) = (Vec::new(), Vec::new());
    for _ in 0..runs {
        left.push(run_in(ours, &mine, directory, directory)?.1);
        // What takes seconds was measured well enough by the first run.
        right.push(if runs == RUNS { run_in(official, &arguments, directory, directory)?.1 } else { first });
    }
    left.sort_unstable();
    right.sort_unstable();
    let cost = |binary, arguments: &[&str], times: &[Duration]| -> Result<Cost, TaskError> {
        Ok(Cost { time: times[runs / 2], memory: peak_memory(binary, arguments, directory)? })
    };
    Ok((cost(ours, &mine, &left)?, cost(official, &arguments, &right)?))
}

/// The most memory that a process has, looked at while it runs: what the system says of it grows only.
fn peak_memory(binary: &Path, arguments: &[&str], directory: &Path) -> Result<u64, TaskError> {
    let failed =
        |source| TaskError::Run { command: format!("{} {}", binary.display(), arguments.join(" ")), source };
    let mut process = Command::new(binary)
        .args(arguments)
        .current_dir(directory)
        .env_clear()
        .env("HOME", directory)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map_err(failed)?;
    let status = format!("/proc/{}/status", process.id());
    let mut peak = 0;
    while process.try_wait().map_err(failed)?.is_none() {
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kibibytes = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<u64>().ok());
        peak = kibibytes.map_or(peak, |kibibytes| kibibytes << 10);
    }
    Ok(peak)
}

fn megabytes(bytes: u64) -> String {
    format!("{} MB", bytes.div_ceil(1_000_000))
}

fn program(row: &Row) -> String {
    if row.program == LARGE {
        let package = package();
        return format!(
            "amends \"{package}/forma.pkl\"\nimport \"{package}/formae.pkl\"\nimport \"net.pkl\"\n{LARGE}"
        );
    }
    if row.program != FORMA {
        return row.program.to_owned();
    }
    let chosen = (0..MODULES).step_by(MODULES / RESOURCES);
    let mut text = String::from("import \"pkl:reflect\"\nimport \"hints.pkl\"\n");
    for module in chosen.clone() {
        let _ = writeln!(text, "import \"schema/r{module:03}.pkl\"");
    }
    text.push_str("local resources: Listing<hints.Resource> = new {\n");
    for module in chosen {
        let _ = writeln!(
            text,
            "  new r{module:03}.R {{ label = \"r{module:03}\"; property0 = \"value {module}\"; property1 = {module} }}"
        );
    }
    text + "}\n" + FORMA
}

/// Where the package is that formae amend.
fn package() -> String {
    format!("file://{}", root().join("crates/forma/pkl").display())
}

/// Writes the package of modules, each with a class of annotated properties.
fn write_package(directory: &Path) -> Result<(), TaskError> {
    write_file(&directory.join("hints.pkl"), HINTS)?;
    let net = format!("module net\nimport \"{}/formae.pkl\"\n{NET}", package());
    write_file(&directory.join("net.pkl"), &net)?;
    let schema = directory.join("schema");
    std::fs::create_dir(&schema)
        .map_err(|source| TaskError::File { path: schema.display().to_string(), source })?;
    for module in 0..MODULES {
        write_file(&schema.join(format!("r{module:03}.pkl")), &schema_module(module))?;
    }
    Ok(())
}

fn schema_module(module: usize) -> String {
    let mut text = format!(
        "module schema.r{module:03}\nimport \"../hints.pkl\"\n@hints.ResourceHint {{ type = \"Example::R{module:03}\" }}\nclass R extends hints.Resource {{\n  fixed kind = \"Example::R{module:03}\"\n"
    );
    for number in 0..PROPERTIES {
        let (ty, value) = match number % 4 {
            0 => ("String(length < 64)", format!("\"value {number}\"")),
            1 => ("Int(isBetween(0, 1000))", number.to_string()),
            2 => ("Boolean", "true".to_owned()),
            _ => ("Listing<String>", "new { \"item\" }".to_owned()),
        };
        let _ = writeln!(
            text,
            "  /// Property {number}.\n  @hints.FieldHint {{ required = {} }}\n  property{number}: {ty} = {value}",
            number % 3 == 0
        );
    }
    text + "}\n"
}

fn write_file(path: &Path, text: &str) -> Result<(), TaskError> {
    std::fs::write(path, text).map_err(|source| TaskError::File { path: path.display().to_string(), source })
}
