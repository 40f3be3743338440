//! Where modules and resources are found: URIs, the readers of a host, and what it allows.

mod builtin;
mod glob;
mod uri;

pub(crate) use builtin::LibraryReader;
pub use builtin::{
    EnvReader, FileReader, ModulePathReader, PropertyReader, file_path, file_uri, percent_decode,
    percent_decode_strict,
};
pub use uri::scheme;
pub(crate) use uri::{has_scheme, resolve};

use std::time::Instant;

use crate::error::{ErrorCode, Failure, Raised};
use crate::host::{Dependencies, ModuleReader, ReadError, Resource, ResourceReader};

pub use pkl_regex::SyntaxError as PatternError;

/// The result of reading something.
type Result<T, E = Failure> = std::result::Result<T, E>;

/// Which URIs a program may read. The library is part of the language: `pkl:` is always allowed.
#[derive(Clone, Debug)]
pub enum Allowed {
    /// Everything that has a reader.
    All,
    /// What begins with one of these.
    Prefixes(Vec<String>),
    /// What one of these matches at its beginning; see [`Allowed::patterns`].
    Patterns(Vec<Pattern>),
}

/// A regular expression that a URI must match at its beginning.
#[derive(Clone, Debug)]
pub struct Pattern(pkl_regex::Regex);

impl Allowed {
    /// What one of these regular expressions matches at its beginning, as the official command line takes them.
    ///
    /// # Errors
    /// One of them isn't one.
    ///
    /// ```
    /// use pkl_core::reader::Allowed;
    ///
    /// let allowed = Allowed::patterns(["file:", r"https://(www\.)?example\.com/"]).unwrap();
    /// assert!(allowed.permits("https://example.com/bird.pkl"));
    /// assert!(!allowed.permits("https://example.org/bird.pkl"));
    /// assert!(Allowed::patterns(["file:["]).is_err());
    /// ```
    pub fn patterns<P: AsRef<str>>(patterns: impl IntoIterator<Item = P>) -> Result<Self, PatternError> {
        let pattern = |pattern: P| pkl_regex::Regex::new(pattern.as_ref()).map(Pattern);
        patterns.into_iter().map(pattern).collect::<Result<_, _>>().map(Self::Patterns)
    }

    /// Whether a URI may be read. What takes a pattern too many steps to tell may not.
    pub fn permits(&self, uri: &str) -> bool {
        let matches = |pattern: &Pattern| {
            let found = pattern.0.match_start(uri, &mut pkl_regex::Budget::default());
            matches!(found, Ok(Some(_)))
        };
        match self {
            Self::All => true,
            _ if uri.starts_with("pkl:") => true,
            Self::Prefixes(prefixes) => prefixes.iter().any(|prefix| uri.starts_with(prefix.as_str())),
            Self::Patterns(patterns) => patterns.iter().any(matches),
        }
    }
}

/// A pattern of paths, as in `import*`.
#[derive(Debug)]
pub struct PathPattern(glob::Glob);

impl PathPattern {
    /// Reads a pattern.
    ///
    /// # Errors
    /// What is wrong with it.
    ///
    /// ```
    /// use pkl_core::reader::PathPattern;
    ///
    /// let pattern = PathPattern::new("*.{pkl,json}").unwrap();
    /// assert!(pattern.matches("bird.pkl") && !pattern.matches("birds/bird.pkl"));
    /// assert!(PathPattern::new("[a").is_err());
    /// ```
    pub fn new(pattern: &str) -> Result<Self, String> {
        let parsed =
            glob::Glob::parse(pattern, pattern).map_err(|raised| raised.hint.unwrap_or(raised.message))?;
        Ok(Self(parsed))
    }

    /// Whether all of a path matches.
    pub fn matches(&self, path: &str) -> bool {
        self.0.matches(path)
    }
}

/// The readers of a host.
pub(crate) struct Readers {
    pub(crate) modules: Vec<Box<dyn ModuleReader>>,
    pub(crate) resources: Vec<Box<dyn ResourceReader>>,
    pub(crate) allowed_modules: Allowed,
    pub(crate) allowed_resources: Allowed,
    /// Schemes of resources each read of which may give another value.
    pub(crate) volatile: Vec<String>,
    /// What dependency notation stands for, if there is a project or a reader of packages.
    pub(crate) dependencies: Option<Box<dyn Dependencies>>,
}

impl Readers {
    fn module_reader(&self, uri: &str) -> Option<&dyn ModuleReader> {
        let scheme = scheme(uri)?;
        self.modules.iter().map(|reader| &**reader).find(|reader| reader.scheme() == scheme)
    }

    fn resource_reader(&self, uri: &str) -> Option<&dyn ResourceReader> {
        let scheme = scheme(uri)?;
        self.resources.iter().map(|reader| &**reader).find(|reader| reader.scheme() == scheme)
    }

    /// The absolute form of a module's URI as written in the module `base`.
    pub(crate) fn resolve_module(&self, base: &str, uri: &str) -> Result<String> {
        if let Some(path) = uri.strip_prefix("file:")
            && !path.starts_with('/')
        {
            let message = format!("Module URI `{uri}` has invalid syntax.");
            let hint = "File URIs must have a path that starts with `/` (e.g. file:/path/to/my_module.pkl).\nTo resolve relative paths, remove the scheme prefix (remove \"file:\").";
            return Err(Raised::new(ErrorCode::InvalidUri, message).with_hint(hint));
        }
        if let Some(rest) = uri.strip_prefix("package:") {
            check_package(uri, rest)?;
        }
        if has_scheme(uri) {
            return Ok(uri.to_owned());
        }
        if let Some(notation) = uri.strip_prefix('@') {
            return self.resolve_dependency(base, notation);
        }
        if let Some(rest) = uri.strip_prefix("...") {
            return self.resolve_triple_dot(base, rest);
        }
        resolve(base, uri).ok_or_else(|| no_relative(base, "import"))
    }

    /// `@name/path`, given without its sign.
    fn resolve_dependency(&self, base: &str, notation: &str) -> Result<String> {
        let Some(dependencies) = &self.dependencies else {
            return Err(refused("module", base, &ReadError::no_project()));
        };
        let (name, path) = notation.split_once('/').unwrap_or((notation, ""));
        let package = dependencies.locate(base, name).map_err(|error| refused("module", base, &error))?;
        Ok(format!("{package}{}", uri::normalise(&format!("/{path}"))))
    }

    /// `.../path`: the first that exists among `../path`, `../../path` and so on.
    fn resolve_triple_dot(&self, base: &str, rest: &str) -> Result<String> {
        let rest = match rest.strip_prefix('/') {
            Some(rest) => rest,
            None => base.rsplit('/').next().unwrap_or_default(),
        };
        let mut prefix = String::from("../");
        while let Some(candidate) = resolve(base, &format!("{prefix}{rest}")) {
            // There is nothing above the root.
            if candidate.contains("/../") {
                break;
            }
            if candidate != base
                && self.module_reader(&candidate).is_some_and(|reader| reader.read(&candidate).is_ok())
            {
                return Ok(candidate);
            }
            prefix.push_str("../");
        }
        let message = format!("Cannot find module `.../{rest}`.");
        Err(Raised::new(ErrorCode::NotFound, message))
    }

    /// Whether a module may be loaded, wherever its text is from.
    pub(crate) fn check_module(&self, uri: &str) -> Result<()> {
        if self.allowed_modules.permits(uri) {
            return Ok(());
        }
        let message = format!(
            "Refusing to load module `{uri}` because it does not match any entry in the module allowlist (`--allowed-modules`)."
        );
        Err(Raised::new(ErrorCode::NotAllowed, message))
    }

    /// The text of a module.
    pub(crate) fn read_module(&self, uri: &str) -> Result<String> {
        self.check_module(uri)?;
        let Some(reader) = self.module_reader(uri) else {
            return Err(Raised::new(ErrorCode::NotFound, no_reader("module", uri)));
        };
        reader.read(uri).map_err(|error| refused("module", uri, &error))
    }

    /// The URI by which another reader has the very same module, if one does.
    pub(crate) fn other_uri(&self, uri: &str) -> Option<String> {
        self.module_reader(uri)?.other_uri(uri)
    }

    /// The absolute form of a resource's URI as written in the module `base`.
    pub(crate) fn resolve_resource(&self, base: &str, uri: &str) -> Result<String> {
        if has_scheme(uri) {
            check_syntax(uri)?;
            return Ok(uri.to_owned());
        }
        if let Some(notation) = uri.strip_prefix('@') {
            return self.resolve_dependency(base, notation);
        }
        resolve(base, uri).ok_or_else(|| no_relative(base, "resource"))
    }

    /// A resource, or `None` if there is none.
    pub(crate) fn read_resource(&self, uri: &str) -> Result<Option<Resource>> {
        if !self.allowed_resources.permits(uri) {
            let message = format!(
                "Refusing to read resource `{uri}` because it does not match any entry in the resource allowlist (`--allowed-resources`)."
            );
            return Err(Raised::new(ErrorCode::NotAllowed, message));
        }
        let Some(reader) = self.resource_reader(uri) else {
            return Err(Raised::new(ErrorCode::NotFound, no_reader("resource", uri)));
        };
        match reader.read(uri) {
            Ok(resource) => Ok(resource),
            Err(ReadError::NotFound) => Ok(None),
            Err(error) => Err(refused("resource", uri, &error)),
        }
    }

    /// Whether a resource is read once per evaluation.
    pub(crate) fn is_memoised(&self, uri: &str) -> bool {
        scheme(uri).is_none_or(|scheme| !self.volatile.iter().any(|volatile| volatile == scheme))
    }

    /// Names and URIs of the modules that match a pattern.
    pub(crate) fn glob_modules(
        &self,
        base: &str,
        pattern: &str,
        deadline: Option<Instant>,
    ) -> Result<Vec<(String, String)>> {
        check_pattern("Module", pattern)?;
        let absolute = self.resolve_pattern(base, pattern, || no_relative(base, "import"))?;
        let Some(reader) = self.module_reader(&absolute) else {
            return Err(glob::refused(&absolute, &ReadError::NotGlobbable));
        };
        let hierarchical = reader.is_hierarchical();
        let request =
            glob::Request { pattern, absolute: &absolute, hierarchical, directories: false, deadline };
        glob::expand(&request, &|uri| reader.list(uri))
    }

    /// Names and URIs of the resources that match a pattern.
    pub(crate) fn glob_resources(
        &self,
        base: &str,
        pattern: &str,
        deadline: Option<Instant>,
    ) -> Result<Vec<(String, String)>> {
        check_pattern("Resource", pattern)?;
        // A pattern that stays relative has no scheme, and is told so.
        let absolute = self.resolve_pattern(base, pattern, || {
            Raised::new(ErrorCode::NotFound, "No resource reader is registered for scheme `null`.")
        })?;
        let Some(reader) = self.resource_reader(&absolute) else {
            return Err(glob::refused(&absolute, &ReadError::NotGlobbable));
        };
        let hierarchical = reader.is_hierarchical();
        if !hierarchical {
            check_syntax(pattern)?;
        }
        let request =
            glob::Request { pattern, absolute: &absolute, hierarchical, directories: true, deadline };
        glob::expand(&request, &|uri| reader.list(uri))
    }

    fn resolve_pattern(
        &self,
        base: &str,
        pattern: &str,
        unresolved: impl FnOnce() -> Failure,
    ) -> Result<String> {
        if has_scheme(pattern) {
            return Ok(pattern.to_owned());
        }
        if let Some(notation) = pattern.strip_prefix('@') {
            return self.resolve_dependency(base, notation);
        }
        resolve(base, pattern).ok_or_else(unresolved)
    }
}

/// A module whose URI is no path refers to something beside it.
fn no_relative(base: &str, what: &str) -> Failure {
    Raised::new(ErrorCode::NotFound, format!("Module `{base}` cannot have a relative {what} URI."))
}

/// Whether a package's URI says which version is meant: `//host/path@1.2.3`.
fn check_package(uri: &str, rest: &str) -> Result<()> {
    let address = rest.split('#').next().unwrap_or(rest).trim_start_matches("//");
    let path = address.find('/').map_or("", |start| &address[start..]);
    if path.split_once('@').is_some_and(|(_, version)| !version.is_empty()) {
        return Ok(());
    }
    let message = format!("Module URI `{uri}` has invalid syntax.");
    let hint = format!(
        "Invalid path `{path}`.\n\nA package URI must have its path suffixed by its version (e.g. `package://example.com/my/package@1.0.0`)."
    );
    Err(Raised::new(ErrorCode::InvalidUri, message).with_hint(hint))
}

/// Whether a pattern that names a place by itself is a URI: one that is relative is a path.
fn check_pattern(what: &str, pattern: &str) -> Result<()> {
    let Some(scheme) = scheme(pattern) else { return Ok(()) };
    let is_hierarchical = pattern[scheme.len() + 1..].starts_with('/');
    let path = pattern.split('#').next().unwrap_or(pattern);
    if is_hierarchical && path.contains(['[', ']']) {
        let message = format!("{what} URI `{pattern}` has invalid syntax.");
        return Err(Raised::new(ErrorCode::InvalidUri, message).with_hint("Illegal character in path"));
    }
    if is_hierarchical { check_uri(what, pattern) } else { Ok(()) }
}

/// Whether a resource's absolute URI is one.
fn check_syntax(uri: &str) -> Result<()> {
    check_uri("Resource", uri)
}

fn check_uri(what: &str, uri: &str) -> Result<()> {
    let invalid = |why: &str| {
        let message = format!("{what} URI `{uri}` has invalid syntax.");
        Err(Raised::new(ErrorCode::InvalidUri, message).with_hint(why))
    };
    if uri.ends_with(':') && scheme(uri).is_some_and(|scheme| scheme.len() + 1 == uri.len()) {
        return invalid("Expected scheme-specific part");
    }
    let illegal = |character: char| " {}|\\^<>\"`".contains(character) || character.is_control();
    match uri.find(illegal) {
        Some(position) if uri[..position].contains('#') => invalid("Illegal character in fragment"),
        Some(position) if uri[..position].contains('/') => invalid("Illegal character in path"),
        Some(_) => invalid("Illegal character in opaque part"),
        None => Ok(()),
    }
}

fn no_reader(what: &str, uri: &str) -> String {
    match what {
        "module" => format!("No module loader is registered for module `{uri}`."),
        _ => format!("No resource reader is registered for resource `{uri}`."),
    }
}

fn refused(what: &str, uri: &str, error: &ReadError) -> Failure {
    if let (ReadError::NotFound, Some(_)) = (error, uri.strip_prefix("pkl:")) {
        let mut names: Vec<&str> = crate::stdlib::names().collect();
        names.sort_by_key(|name| name.to_lowercase());
        let hint = format!("Available standard library modules:\npkl:{}", names.join("\npkl:"));
        let message = format!("Cannot find standard library module `{uri}`.");
        return Raised::new(ErrorCode::NotFound, message).with_hint(hint);
    }
    let message = match error {
        ReadError::OutsideRoot => format!(
            "Refusing to {} {what} `{uri}` because it is not within the root directory (`--root-dir`).",
            if what == "module" { "load" } else { "read" }
        ),
        ReadError::NotFound => format!("Cannot find {what} `{uri}`."),
        ReadError::NotGlobbable => return glob::refused(uri, error),
        ReadError::Failed(reason) => format!(
            "I/O error {} {what} `{uri}`.\n{reason}",
            if what == "module" { "loading" } else { "reading" }
        ),
        ReadError::InvalidUri(_) => {
            let what = if what == "module" { "Module" } else { "Resource" };
            format!("{what} URI `{uri}` has invalid syntax.")
        }
        ReadError::Told { message, .. } => message.clone(),
    };
    let raised = Raised::new(error.code(), message);
    match error {
        ReadError::InvalidUri(hint) | ReadError::Told { hint: Some(hint), .. } => {
            raised.with_hint(hint.clone())
        }
        _ => raised,
    }
}
