//! The official binary as a subject: many programs in one process.

use crate::answer::{Answer, FAILED, Subject};
use crate::generate::Program;
use pkl_corpus::Oracle;
use std::fmt::Write as _;
use std::path::Path;

/// Begins each program's part of the output of a batch.
const MARK: &str = "@@@@";

impl Subject for Oracle {
    fn answers(&self, programs: &[Program]) -> Vec<Answer> {
        match batch(self, programs) {
            Ok(answers) => answers,
            // One of them ended the process: halve until it is alone.
            Err(reason) if programs.len() <= 1 => {
                programs.iter().map(|_| Answer::NoVerdict(reason.clone())).collect()
            }
            Err(_) => {
                let (first, second) = programs.split_at(programs.len() / 2);
                let mut answers = self.answers(first);
                answers.extend(self.answers(second));
                answers
            }
        }
    }
}

fn batch(oracle: &Oracle, programs: &[Program]) -> Result<Vec<Answer>, String> {
    let directory = tempfile::tempdir().map_err(|error| error.to_string())?;
    write(directory.path(), programs).map_err(|error| error.to_string())?;
    let ran = oracle.evaluate_file(&directory.path().join("batch.pkl")).map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&ran.stdout);
    let parts: Vec<&str> = text.split(MARK).skip(1).collect();
    if !ran.status.success() || parts.len() != programs.len() {
        let stderr = String::from_utf8_lossy(&ran.stderr);
        return Err(stderr.lines().take(3).collect::<Vec<_>>().join(" "));
    }
    // A line ends after the mark; the first part of the output may itself begin with an empty line.
    let text = |part: &str| part.strip_prefix('\n').unwrap_or(part).trim_end_matches('\n').to_owned();
    Ok(parts.into_iter().map(|part| Answer::Text(text(part))).collect())
}

/// Writes the programs, and a module that evaluates each of them and survives their errors.
fn write(directory: &Path, programs: &[Program]) -> std::io::Result<()> {
    let mut batch = "import \"pkl:test\"\n".to_owned();
    let mut calls = String::new();
    for (number, program) in programs.iter().enumerate() {
        let place = directory.join(format!("p{number}"));
        std::fs::create_dir(&place)?;
        std::fs::write(place.join("main.pkl"), &program.main)?;
        if let Some(base) = &program.base {
            std::fs::write(place.join("base.pkl"), base)?;
        }
        let _ = writeln!(calls, "    show(() -> import(\"p{number}/main.pkl\").output.text)");
    }
    let _ = write!(
        batch,
        "local const function show(program) =\n  let (message = test.catchOrNull(program))\n    \
         \"{MARK}\\n\" + (if (message == null) program.apply() else \"{FAILED}\" + message)\n\
         output {{\n  text = new Listing<String> {{\n{calls}  }}.toList().join(\"\\n\")\n}}\n"
    );
    std::fs::write(directory.join("batch.pkl"), batch)
}
