//! Our evaluator as the corpus knows evaluators.

use pkl_core::reader::{Allowed, FileReader};
use pkl_core::{Error, Evaluator, EvaluatorBuilder, ModuleSource};
use pkl_corpus::{Case, Engine, Failure, NoVerdict, Outcome, Place, Produced, Render};
use pkl_project::{Cache, LoadError, Offline, Packages, Project, ProjectDependencies, Settings};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// What the official binary allows to read if nothing is said.
const DEFAULT_RESOURCES: [&str; 7] =
    ["prop:", "env:", "file:", "modulepath:", "package:", "projectpackage:", "https:"];

pub(crate) struct Ours;

impl Engine for Ours {
    fn evaluate(&self, case: &Case, render: &Render) -> Result<Outcome, NoVerdict> {
        let cache = case.cache()?;
        let cache = cache.as_ref().map(|cache| Cache::new(cache.path()));
        let host = Host { case, packages: Arc::new(Packages::new(Arc::new(Offline), cache)) };
        let log = Arc::new(Mutex::new(Vec::new()));
        let sink = Arc::clone(&log);
        let evaluated = catch_unwind(AssertUnwindSafe(|| {
            let project = host.project()?;
            let builder = host.builder(project, render).trace(Arc::new(move |line: &str| {
                sink.lock().unwrap().push(line.to_owned());
            }));
            produce(&builder.build(), case, render).map_err(LoadError::from)
        }));
        let result = evaluated.map_err(|panic| {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text.or(panic.downcast_ref::<&str>().copied()).unwrap_or_default();
            NoVerdict { reason: format!("panicked: {text}") }
        })?;
        let log = log.lock().unwrap().clone();
        Ok(Outcome { log, result: result.map_err(|error| told(&error, case.directory())) })
    }
}

/// What a case is evaluated with.
struct Host<'a> {
    case: &'a Case,
    packages: Arc<Packages>,
}

impl Host<'_> {
    /// The project that counts for the case.
    fn project(&self) -> Result<Option<Project>, LoadError> {
        if !self.case.options.project {
            return Ok(None);
        }
        let mut places = self.case.directory().ancestors().map(|at| at.join("PklProject"));
        let Some(file) = places.find(|path| path.is_file()) else { return Ok(None) };
        let evaluator = self.attached(Evaluator::builder().files(FileReader::new()), None).build();
        pkl_project::load(&evaluator, &ModuleSource::file(file).expect("a case has an absolute path"))
            .map(Some)
    }

    fn attached(&self, builder: EvaluatorBuilder, project: Option<Project>) -> EvaluatorBuilder {
        let dependencies = Arc::new(ProjectDependencies::new(Arc::clone(&self.packages), project));
        pkl_project::attach(builder, dependencies, &self.packages, FileReader::new())
    }

    /// What the header says counts before what the project says.
    fn builder(&self, project: Option<Project>, render: &Render) -> EvaluatorBuilder {
        let (options, directory) = (&self.case.options, self.case.directory());
        let root = project.as_ref().and_then(Project::directory);
        let settings = project.as_ref().map_or_else(Settings::default, |project| project.settings.clone());
        let of_project = |path: &String| root.as_deref().map_or(PathBuf::new(), |root| root.join(path));
        let below = options.root.as_ref().map(|root| directory.join(root));
        let below = below.or_else(|| settings.root_dir.as_ref().map(of_project));
        let files = below.map_or_else(FileReader::new, FileReader::below);
        let mut properties = options.properties.clone();
        if properties.is_empty() {
            properties.extend(settings.external_properties.into_iter().flatten());
        }
        if let Render::Format(format) = render {
            properties.push(("pkl.outputFormat".to_owned(), format.clone()));
        }
        let mut directories: Vec<PathBuf> =
            options.module_path.iter().map(|path| directory.join(path)).collect();
        if directories.is_empty() {
            directories.extend(settings.module_path.iter().flatten().map(of_project));
        }
        let mut environment = options.environment.clone();
        if environment.is_empty() {
            environment.extend(settings.env.into_iter().flatten());
        }
        let default = || DEFAULT_RESOURCES.map(str::to_owned).to_vec();
        let resources = said(&options.allowed_resources, settings.allowed_resources).unwrap_or_else(default);
        let mut builder = Evaluator::builder()
            .files(files)
            .environment(environment)
            .properties(properties)
            .module_path(directories)
            .allowed_resources(patterns(&resources));
        if let Some(modules) = said(&options.allowed_modules, settings.allowed_modules) {
            builder = builder.allowed_modules(patterns(&modules));
        }
        self.attached(builder, project)
    }
}

fn said(header: &[String], project: Option<Vec<String>>) -> Option<Vec<String>> {
    if header.is_empty() { project } else { Some(header.to_vec()) }
}

fn patterns(given: &[String]) -> Allowed {
    Allowed::patterns(given).expect("a case has patterns")
}

fn produce(evaluator: &Evaluator, case: &Case, render: &Render) -> Result<Produced, Error> {
    let module = ModuleSource::file(&case.path).expect("a case has an absolute path");
    match render {
        Render::Format(_) => evaluator.output_bytes(&module).map(Produced::Text),
        Render::Expression(text) => {
            evaluator.expression_text(&module, text).map(|text| Produced::Text(text.into_bytes()))
        }
        Render::Files => evaluator.output_files(&module).map(|mut files| {
            files.sort();
            Produced::Files(files)
        }),
    }
}

/// An error as expectations have it.
fn told(error: &LoadError, directory: &Path) -> Failure {
    match error {
        LoadError::Evaluation(error) => failure(error, directory),
        error => Failure { message: error.to_string(), hints: Vec::new(), place: None },
    }
}

fn failure(error: &Error, directory: &Path) -> Failure {
    // The innermost place in the case's own files: what is above them is a package's.
    let place = error.trace.iter().map(|frame| &frame.place).find_map(|place| {
        let file = place.uri.strip_prefix("file://")?.strip_prefix(directory.to_str()?)?.strip_prefix('/')?;
        Some(Place { file: file.to_owned(), line: place.line })
    });
    let hints = error.hint.iter().flat_map(|hint| hint.split("\n\n")).map(|hint| hint.trim().to_owned());
    Failure { message: error.message.trim_end().to_owned(), hints: hints.collect(), place }
}
