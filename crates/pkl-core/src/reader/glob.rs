//! Patterns: matched against names, expanded by listing directories.

use std::time::Instant;

use super::{percent_decode, uri};
use crate::error::{ErrorCode, Failure, Raised, Result};
use crate::host::{Listed, ReadError};

type List<'a> = &'a dyn Fn(&str) -> std::result::Result<Vec<Listed>, ReadError>;

/// How many names may be compared with a pattern.
const MAX_NAMES: usize = 1_000_000;
/// How many patterns the alternatives of one pattern may make.
const MAX_ALTERNATIVES: usize = 4_096;

/// What is to be expanded.
pub(super) struct Request<'a> {
    /// The pattern as written.
    pub(super) pattern: &'a str,
    /// The pattern as an absolute URI.
    pub(super) absolute: &'a str,
    /// Whether names have directories.
    pub(super) hierarchical: bool,
    /// Whether directories match too.
    pub(super) directories: bool,
    pub(super) deadline: Option<Instant>,
}

/// One place in a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    Char(char),
    /// `?`
    One,
    /// `[…]`, `[!…]`
    Class {
        negated: bool,
        ranges: Vec<(char, char)>,
    },
    /// `*`
    Any,
    /// `**`
    AnyDeep,
}

/// A pattern without alternatives.
type Plain = Vec<Token>;

/// A pattern: a name matches if it matches one of these.
#[derive(Debug)]
pub(super) struct Glob {
    alternatives: Vec<Plain>,
}

fn invalid(pattern: &str, why: impl Into<String>) -> Failure {
    Raised::new(ErrorCode::InvalidUri, format!("Invalid glob pattern `{pattern}`.")).with_hint(why)
}

impl Glob {
    pub(super) fn parse(pattern: &str, part: &str) -> Result<Self> {
        let mut characters = part.chars().peekable();
        let mut done: Vec<Plain> = vec![Vec::new()];
        // Within braces: what came before them, and the finished alternatives.
        let mut open: Option<(Vec<Plain>, Vec<Plain>)> = None;
        while let Some(character) = characters.next() {
            let token = match character {
                '*' if characters.next_if_eq(&'*').is_some() => Token::AnyDeep,
                '*' => Token::Any,
                '?' => Token::One,
                '[' => class(pattern, &mut characters)?,
                '{' if open.is_some() => {
                    let why =
                        "Sub-patterns cannot be nested. To fix, remove or escape the inner `{` character.";
                    return Err(invalid(pattern, why));
                }
                '{' => {
                    open = Some((std::mem::replace(&mut done, vec![Vec::new()]), Vec::new()));
                    continue;
                }
                ',' | '}' if open.is_some() => {
                    let (before, mut finished) = open.take().unwrap_or_default();
                    finished.append(&mut done);
                    if character == ',' {
                        done = vec![Vec::new()];
                        open = Some((before, finished));
                        continue;
                    }
                    if before.len() * finished.len() > MAX_ALTERNATIVES {
                        return Err(invalid(pattern, "Too many alternatives."));
                    }
                    let joined = |first: &Plain| {
                        finished.iter().map(|second| [&first[..], second].concat()).collect::<Vec<_>>()
                    };
                    done = before.iter().flat_map(joined).collect();
                    continue;
                }
                '\\' => match characters.next() {
                    Some(escaped @ ('[' | '*' | '?' | '\\' | '{')) => Token::Char(escaped),
                    Some(other) => {
                        return Err(invalid(pattern, format!("Invalid escape character `\\{other}`.")));
                    }
                    None => return Err(invalid(pattern, "Invalid escape character `\\`.")),
                },
                other => Token::Char(other),
            };
            for alternative in &mut done {
                alternative.push(token.clone());
            }
        }
        if open.is_some() {
            return Err(invalid(pattern, "invalidGlobUnclosedSubpattern"));
        }
        Ok(Self { alternatives: done })
    }

    pub(super) fn matches(&self, name: &str) -> bool {
        let name: Vec<char> = name.chars().collect();
        self.alternatives.iter().any(|alternative| matches(alternative, &name))
    }

    /// How many directories deep a match can be, if that is bounded.
    fn depth(&self) -> Option<usize> {
        let depth = |alternative: &Plain| {
            let deep = alternative.contains(&Token::AnyDeep);
            (!deep).then(|| alternative.iter().filter(|token| **token == Token::Char('/')).count())
        };
        self.alternatives.iter().map(depth).try_fold(0, |deepest, depth| Some(deepest.max(depth?)))
    }
}

fn class(pattern: &str, characters: &mut std::iter::Peekable<std::str::Chars<'_>>) -> Result<Token> {
    let unclosed = || invalid(pattern, "Missing `]` to terminate character class.");
    let negated = characters.next_if_eq(&'!').is_some();
    let mut members = vec![characters.next().ok_or_else(unclosed)?];
    loop {
        match characters.next().ok_or_else(unclosed)? {
            ']' => break,
            other => members.push(other),
        }
    }
    let mut ranges = Vec::new();
    let mut position = 0;
    while position < members.len() {
        match members[position..] {
            [start, '-', end, ..] => {
                ranges.push((start, end));
                position += 3;
            }
            [single, ..] => {
                ranges.push((single, single));
                position += 1;
            }
            [] => {}
        }
    }
    Ok(Token::Class { negated, ranges })
}

/// Whether a name matches, by the set of places in the pattern that can be reached.
fn matches(pattern: &[Token], name: &[char]) -> bool {
    let mut reached = vec![false; pattern.len() + 1];
    reached[0] = true;
    skip_empty(pattern, &mut reached);
    for &character in name {
        let mut next = vec![false; pattern.len() + 1];
        for (position, token) in pattern.iter().enumerate().filter(|(position, _)| reached[*position]) {
            match token {
                Token::Char(wanted) => next[position + 1] |= *wanted == character,
                Token::One => next[position + 1] |= character != '/',
                Token::Class { negated, ranges } => {
                    let inside = ranges.iter().any(|(start, end)| (start..=end).contains(&&character));
                    next[position + 1] |= character != '/' && inside != *negated;
                }
                Token::Any => next[position] |= character != '/',
                Token::AnyDeep => next[position] = true,
            }
        }
        skip_empty(pattern, &mut next);
        reached = next;
    }
    reached[pattern.len()]
}

/// Wildcards match nothing, too.
fn skip_empty(pattern: &[Token], reached: &mut [bool]) {
    for (position, token) in pattern.iter().enumerate() {
        if reached[position] && matches!(token, Token::Any | Token::AnyDeep) {
            reached[position + 1] = true;
        }
    }
}

/// What matches: names as the pattern would have them written, and URIs.
pub(super) fn expand(request: &Request<'_>, list: List<'_>) -> Result<Vec<(String, String)>> {
    if !request.hierarchical {
        return expand_names(request, list);
    }
    let (prefix, rest) = request.pattern.split_at(plain_directory(request.pattern));
    let names_uris = uri::has_scheme(request.pattern);
    let glob = if names_uris {
        Glob::parse(request.pattern, &percent_decode(rest))?
    } else {
        Glob::parse(request.pattern, rest)?
    };
    // As the official evaluator writes the URI of a file.
    let prefix =
        prefix.strip_prefix("file:///").map_or_else(|| prefix.to_owned(), |path| format!("file:/{path}"));
    let root = &request.absolute[..plain_directory(request.absolute)];
    let mut walk = Walk { request, list, glob, prefix, names_uris, root, seen: 0, found: Vec::new() };
    let depth = walk.glob.depth();
    walk.directory(String::new(), depth)?;
    Ok(walk.found)
}

/// The length of a pattern up to the directory in which there is something to search for. A package is
/// named as a whole.
fn plain_directory(pattern: &str) -> usize {
    let path = pattern.find("#/").map_or(0, |hash| hash + 1);
    let end = pattern[path..].find(['*', '?', '[', '{', '\\']).map_or(pattern.len(), |wild| path + wild);
    pattern[..end].rfind('/').map_or(0, |slash| slash + 1)
}

struct Walk<'a> {
    request: &'a Request<'a>,
    list: List<'a>,
    glob: Glob,
    prefix: String,
    /// Whether what is found is named by its URI.
    names_uris: bool,
    root: &'a str,
    seen: usize,
    found: Vec<(String, String)>,
}

impl Walk<'_> {
    /// Goes through the directory `path`, which is empty or ends with a slash: files, then directories.
    fn directory(&mut self, path: String, depth: Option<usize>) -> Result<()> {
        let mut pending = vec![(path, depth)];
        while let Some((path, depth)) = pending.pop() {
            let uri = format!("{}{}", self.root, uri::encode_path(&path));
            let mut listed = match (self.list)(&uri) {
                Ok(listed) => listed,
                Err(ReadError::NotFound) => continue,
                Err(ReadError::InvalidUri(why)) => return Err(no_uri(self.request, &why)),
                Err(error) => return Err(refused(self.request.absolute, &error)),
            };
            listed.sort_by(|a, b| (a.is_directory, &a.name).cmp(&(b.is_directory, &b.name)));
            let mut deeper = Vec::new();
            for Listed { name, is_directory } in listed {
                self.count()?;
                let relative = format!("{path}{name}");
                if (!is_directory || self.request.directories) && self.glob.matches(&relative) {
                    let encoded = uri::encode_path(&relative);
                    let name = if self.names_uris { &encoded } else { &relative };
                    self.found.push((format!("{}{name}", self.prefix), format!("{}{encoded}", self.root)));
                }
                if is_directory && depth != Some(0) {
                    deeper.push((format!("{relative}/"), depth.map(|depth| depth - 1)));
                }
            }
            pending.extend(deeper.into_iter().rev());
        }
        Ok(())
    }

    fn count(&mut self) -> Result<()> {
        self.seen += 1;
        let late = self.request.deadline.is_some_and(|deadline| Instant::now() > deadline);
        if self.seen > MAX_NAMES || late {
            let message = format!("Expanding glob pattern `{}` takes too long.", self.request.pattern);
            return Err(Raised::new(ErrorCode::LimitExceeded, message));
        }
        Ok(())
    }
}

fn expand_names(request: &Request<'_>, list: List<'_>) -> Result<Vec<(String, String)>> {
    let (scheme, rest) = request.absolute.split_once(':').unwrap_or_default();
    let glob = Glob::parse(request.pattern, rest)?;
    let mut listed = list(request.absolute).map_err(|error| refused(request.absolute, &error))?;
    listed.sort_by(|a, b| a.name.cmp(&b.name));
    let matching = listed.into_iter().map(|listed| listed.name).filter(|name| glob.matches(name));
    Ok(matching
        .map(|name| {
            let uri = format!("{scheme}:{}", name.replace('%', "%25"));
            (format!("{scheme}:{name}"), uri)
        })
        .collect())
}

/// A pattern is in a place that can't be.
fn no_uri(request: &Request<'_>, why: &str) -> Failure {
    let what = if request.directories { "Resource" } else { "Module" };
    let message = format!("{what} URI `{}` has invalid syntax.", request.absolute);
    Raised::new(ErrorCode::InvalidUri, message).with_hint(why)
}

/// Why a pattern can't be expanded.
pub(super) fn refused(uri: &str, error: &ReadError) -> Failure {
    let message = match error {
        ReadError::NotGlobbable => {
            let scheme = uri::scheme(uri).unwrap_or_default();
            format!("Cannot expand glob pattern `{uri}` because scheme `{scheme}` is not globbable.")
        }
        ReadError::Failed(reason) => format!("I/O error resolving glob pattern `{uri}`.\n{reason}"),
        ReadError::Told { message, .. } => message.clone(),
        other => format!("Cannot expand glob pattern `{uri}`: {other}"),
    };
    Raised::new(error.code(), message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matched(pattern: &str, name: &str) -> bool {
        Glob::parse(pattern, pattern).unwrap().matches(name)
    }

    #[test]
    fn stars_stop_at_directories_unless_doubled() {
        assert!(matched("*.pkl", ".hidden.pkl"));
        assert!(!matched("*.pkl", "a/b.pkl"));
        assert!(matched("**.pkl", "a/b.pkl"));
        assert!(!matched("a/**/*.pkl", "a/b.pkl"));
        assert!(matched("a/**/*.pkl", "a/b/c.pkl"));
    }

    #[test]
    fn classes_and_alternatives_are_understood() {
        assert!(matched("*.pk[lg]", "a.pkg"));
        assert!(matched("[!a-c]x", "dx"));
        assert!(!matched("[!a-c]x", "bx"));
        assert!(matched("[]abc]", "]"));
        assert!(matched("**.y{a,}ml", "x/a.yml"));
        assert!(matched("**.y{a,}ml", "a.yaml"));
        assert!(matched("\\{a", "{a"));
    }

    #[test]
    fn a_hostile_pattern_takes_no_longer_than_any() {
        let pattern = "*a".repeat(500);
        assert!(!matched(&pattern, &"a".repeat(499)));
    }
}
