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
    program: Program,
    bar: &'static str,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Program {
    /// One that needs nothing else.
    Alone(&'static str),
    /// A forma of resources of the package that is made for the benchmark.
    Against,
    /// A forma of our own package, of so many resources.
    Resources(usize),
}

const ROWS: &[Row] = &[
    Row { title: "trivial module", program: Program::Alone("name = \"Dodo\"\n"), bar: "≤ 6 ms, ≤ 20 MB" },
    Row {
        title: "100,000 typed objects",
        program: Program::Alone(
            "class Bird {\n  name: String\n  age: Int(isPositive)\n  tags: List<String> = List(\"bird\")\n}\nbirds = IntSeq(1, 100000).map((i) -> new Bird { name = \"bird \\(i)\"; age = i }).toList()\n",
        ),
        bar: "≥ 4×",
    },
    Row {
        title: "`Mapping` of 100,000 entries",
        program: Program::Alone(
            "birds = new Mapping<String, Int> { for (i in IntSeq(1, 100000)) { [\"bird \\(i)\"] = i } }\n",
        ),
        bar: "≥ 4×",
    },
    Row {
        title: "1,000 objects nested 20 deep",
        program: Program::Alone(
            "function nest(depth: Int, i: Int): Dynamic =\n  if (depth == 0) new Dynamic { value = i } else new Dynamic { inside = nest(depth - 1, i) }\nnests { for (i in IntSeq(1, 1000)) { nest(20, i) } }\n",
        ),
        bar: "≥ 4×",
    },
    Row {
        title: "100,000 amendments of an object",
        program: Program::Alone(
            "class Bird { name: String = \"Dodo\"; age: Int = 1; twice: Int = age * 2 }\nbase: Bird = new {}\nbirds { for (i in IntSeq(1, 100000)) { (base) { age = i } } }\n",
        ),
        bar: "≥ 4×",
    },
    Row {
        title: "200,000 string operations",
        program: Program::Alone(
            "lengths = IntSeq(1, 100000).fold(0, (sum, i) -> sum + \"bird \\(i)\".toUpperCase().replaceAll(\"BIRD\", \"egg\").length)\n",
        ),
        bar: "≥ 4×",
    },
    Row {
        title: "fib(25)",
        program: Program::Alone(
            "function fib(n: Int): Int = if (n < 2) n else fib(n - 1) + fib(n - 2)\nresult = fib(25)\n",
        ),
        bar: "≥ 4×",
    },
    Row {
        title: "fib(30)",
        program: Program::Alone(
            "function fib(n: Int): Int = if (n < 2) n else fib(n - 1) + fib(n - 2)\nresult = fib(30)\n",
        ),
        bar: "≥ 0.5×",
    },
    Row {
        title: "100,000 appends to a string",
        program: Program::Alone("result = IntSeq(1, 100000).fold(\"\", (text, i) -> text + \"x\").length\n"),
        bar: "≤ 50 ms",
    },
    Row {
        title: "4,750 annotated properties of 250 modules, reflected",
        program: Program::Alone(REFLECTED),
        bar: "≤ 75 ms",
    },
    Row { title: "forma of 10 resources against 250 modules", program: Program::Against, bar: "≥ 10×" },
    Row {
        title: "forma of 1,000 resources, each with a reference",
        program: Program::Resources(1000),
        bar: "to 10,000 no worse than N log N",
    },
    Row {
        title: "forma of 10,000 resources, each with a reference",
        program: Program::Resources(10_000),
        bar: "≤ 1 s, ≤ 400 MB; official ≤ 5 s",
    },
];

const REFLECTED: &str = "import \"pkl:reflect\"\nimport \"hints.pkl\"\nlocal modules = import*(\"schema/*.pkl\")\ntypes = modules.toMap().mapValues((_, it) ->\n  reflect.Module(it).classes.mapValues((_, type) ->\n    type.properties.mapValues((name, property) ->\n      \"\\(property.docComment ?? \"\") \\(property.annotations.filter((a) -> a is hints.FieldHint).map((a) -> a.required).join(\",\"))\")))\n";

/// The beginning and the end of a forma of our own package. What it amends and imports is written before it.
const NETWORK: [&str; 2] = [
    r#"local network = new net.Network { label = "network"; range = "10.0.0.0/8" }
forma {
  new formae.Stack { label = "stack" }
  new formae.Target { label = "target"; config = new net.Config { region = "north" } }
  network
  for (i in IntSeq(1, "#,
    r#")) {
    new net.Subnet { label = "subnet\(i)"; networkId = network.res.networkId; range = "10.0.\(i).0/24" }
  }
}
"#,
];

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
    // What both take to start.
    let mut start = (Duration::ZERO, Duration::ZERO);
    let mut formae = Vec::new();
    for (number, row) in ROWS.iter().enumerate() {
        eprintln!("xtask: {}", row.title);
        let name = format!("row{number}.pkl");
        write_file(&directory.path().join(&name), &program(row))?;
        let measure = |flags| compare(&ours, oracle.binary(), directory.path(), &name, flags);
        let (mine, official) = measure(&["--no-cache"])?;
        if let Program::Resources(count) = row.program {
            formae.push((count, mine.time.saturating_sub(start.0), official.time.saturating_sub(start.1)));
        }
        if number == 0 {
            start = (mine.time, official.time);
        }
        line(&mut report, row.title, &mine, &official, row.bar);
        if row.program == Program::Alone(REFLECTED) {
            let (mine, official) = measure(&[])?;
            line(
                &mut report,
                "the same, with the syntax trees of an earlier command",
                &mine,
                &official,
                "≤ 25 ms",
            );
        }
    }
    report.push_str(&slope(&formae));
    print!("{report}");
    if write { insert_between(BEGIN, END, &report) } else { Ok(()) }
}

/// A row of the table.
fn line(report: &mut String, title: &str, mine: &Cost, official: &Cost, bar: &str) {
    let ratio = official.time.as_secs_f64() / mine.time.as_secs_f64();
    let (time, other) = (millis(mine.time), millis(official.time));
    let (memory, others) = (megabytes(mine.memory), megabytes(official.memory));
    let _ = writeln!(report, "| {title} | {time} | {other} | {ratio:.1}× | {memory}, {others} | {bar} |");
}

/// How time grows with resources, from the first to the last of the formae.
fn slope(formae: &[(usize, Duration, Duration)]) -> String {
    let [(few, our_few, their_few), .., (many, our_many, their_many)] = formae else { return String::new() };
    let times = |few: &Duration, many: &Duration| many.as_secs_f64() / few.as_secs_f64();
    #[expect(clippy::cast_precision_loss, reason = "there are thousands of them")]
    let (few, many) = (*few as f64, *many as f64);
    let linearithmic = many * many.ln() / (few * few.ln());
    format!(
        "\nFrom {few} to {many} resources the time beyond that of a trivial module grows {:.1}-fold with Formwork, \
         {:.1}-fold with the official evaluator. N log N would be {linearithmic:.1}-fold.\n",
        times(our_few, our_many),
        times(their_few, their_many),
    )
}

/// What an evaluation takes.
struct Cost {
    /// The median.
    time: Duration,
    /// The most that the process had at once, in bytes.
    memory: u64,
}

/// The costs of both, run in turns; ours with further flags.
fn compare(
    ours: &Path,
    official: &Path,
    directory: &Path,
    name: &str,
    flags: &[&str],
) -> Result<(Cost, Cost), TaskError> {
    let arguments = ["eval", "-f", "json", name];
    let mine = [&["pkl"][..], &arguments, flags].concat();
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
    match row.program {
        Program::Alone(text) => text.to_owned(),
        Program::Against => forma_against_modules(),
        Program::Resources(count) => {
            let (package, [before, after]) = (package(), NETWORK);
            format!(
                "amends \"{package}/forma.pkl\"\nimport \"{package}/formae.pkl\"\nimport \"net.pkl\"\n{before}{count}{after}"
            )
        }
    }
}

fn forma_against_modules() -> String {
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
