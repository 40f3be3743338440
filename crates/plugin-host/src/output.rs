//! What a plugin's process writes: logged line by line at the level that each line names, and its last words kept.

use crate::escape::shown;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead, AsyncReadExt as _};

/// The longest line that is logged, in characters; the rest of it is left out.
const LONGEST_LINE: usize = 4096;
/// How many lines are logged within a second; what is beyond is counted.
const LINES_PER_SECOND: u32 = 200;
/// How many last lines are kept, and how much of each is shown.
const LAST_LINES: usize = 4;
const LAST_LINE: usize = 300;

/// Where a process writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stream {
    Output,
    Error,
}

/// The last lines that a process wrote to its standard error.
#[derive(Clone, Debug, Default)]
pub(crate) struct LastWords(Arc<Mutex<VecDeque<String>>>);

impl LastWords {
    fn add(&self, line: &str) {
        let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if lines.len() == LAST_LINES {
            lines.pop_front();
        }
        lines.push_back(shown(line, LAST_LINE));
    }

    /// As the end of a sentence; empty if it said nothing.
    pub(crate) fn quoted(&self) -> String {
        let lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let said: Vec<&str> = lines.iter().map(String::as_str).collect();
        if said.is_empty() { String::new() } else { format!("; it wrote: {}", said.join(" / ")) }
    }
}

/// Logs what a process writes until it writes no more.
pub(crate) async fn log(plugin: Arc<str>, stream: Stream, mut from: impl AsyncRead + Unpin, last: LastWords) {
    let mut lines = Lines::default();
    let mut pace = Pace::new(Instant::now());
    let mut chunk = [0; 4096];
    loop {
        let read = match from.read(&mut chunk).await {
            Ok(0) | Err(_) => break,
            Ok(read) => read,
        };
        lines.feed(&chunk[..read], &mut |line| tell(&plugin, stream, line, &last, &mut pace));
    }
    lines.end(&mut |line| tell(&plugin, stream, line, &last, &mut pace));
}

fn tell(plugin: &str, stream: Stream, line: &str, last: &LastWords, pace: &mut Pace) {
    if line.trim().is_empty() {
        return;
    }
    if stream == Stream::Error {
        last.add(line);
    }
    match pace.allow(Instant::now()) {
        Allowed::No => return,
        Allowed::Yes { left_out: 0 } => {}
        Allowed::Yes { left_out } => tracing::warn!(plugin, left_out, "the plugin wrote too much"),
    }
    let line = shown(line, LONGEST_LINE);
    match level(&line, stream) {
        Level::Error => tracing::error!(plugin, "{line}"),
        Level::Warn => tracing::warn!(plugin, "{line}"),
        Level::Info => tracing::info!(plugin, "{line}"),
        Level::Debug => tracing::debug!(plugin, "{line}"),
        Level::Trace => tracing::trace!(plugin, "{line}"),
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Level {
    Error,
    Warn,
    Info,
    Debug,
    Trace,
}

/// The level that one of a line's first words names, as in `2026-01-01T00:00:00Z  INFO mycloud: …` and `[warn] …`. A
/// line that names none is a warning on standard error and else an information.
fn level(line: &str, stream: Stream) -> Level {
    let named = |word: &str| {
        let word = word.trim_matches(|letter: char| !letter.is_ascii_alphabetic());
        Some(match word.to_ascii_lowercase().as_str() {
            "error" | "fatal" | "panic" => Level::Error,
            "warn" | "warning" => Level::Warn,
            "info" => Level::Info,
            "debug" => Level::Debug,
            "trace" => Level::Trace,
            _ => return None,
        })
    };
    let usual = if stream == Stream::Error { Level::Warn } else { Level::Info };
    line.split_whitespace().take(3).find_map(named).unwrap_or(usual)
}

/// Lines out of chunks. Of a line only so much is kept as is logged.
#[derive(Default)]
struct Lines {
    kept: Vec<u8>,
}

impl Lines {
    fn feed(&mut self, mut chunk: &[u8], tell: &mut dyn FnMut(&str)) {
        while let Some(end) = chunk.iter().position(|byte| *byte == b'\n') {
            self.keep(&chunk[..end]);
            self.end(tell);
            chunk = &chunk[end + 1..];
        }
        self.keep(chunk);
    }

    fn keep(&mut self, bytes: &[u8]) {
        // One character more than is shown, so that it shows that there was more.
        let room = (4 * (LONGEST_LINE + 1)).saturating_sub(self.kept.len());
        self.kept.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    fn end(&mut self, tell: &mut dyn FnMut(&str)) {
        tell(&String::from_utf8_lossy(&self.kept));
        self.kept.clear();
    }
}

/// How many lines are logged.
struct Pace {
    since: Instant,
    logged: u32,
    left_out: u64,
}

enum Allowed {
    Yes { left_out: u64 },
    No,
}

impl Pace {
    fn new(now: Instant) -> Self {
        Self { since: now, logged: 0, left_out: 0 }
    }

    fn allow(&mut self, now: Instant) -> Allowed {
        if now.duration_since(self.since) >= Duration::from_secs(1) {
            (self.since, self.logged) = (now, 0);
        }
        if self.logged == LINES_PER_SECOND {
            self.left_out += 1;
            return Allowed::No;
        }
        self.logged += 1;
        Allowed::Yes { left_out: std::mem::take(&mut self.left_out) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_logged_at_the_level_that_it_names() {
        for (line, expected) in [
            ("2026-01-01T00:00:00Z  INFO mycloud: started", Level::Info),
            ("\"1700000000000000000\" [debug] text", Level::Debug),
            ("ERROR cannot listen", Level::Error),
            ("warning: deprecated", Level::Warn),
            ("thread 'main' panicked at src/main.rs:1", Level::Warn),
            ("it says in the end: error", Level::Warn),
        ] {
            assert_eq!(level(line, Stream::Error), expected, "{line}");
        }
        assert_eq!(level("hello", Stream::Output), Level::Info);
    }

    #[test]
    fn lines_are_whole_whatever_the_chunks_are_and_never_too_long() {
        let mut told = Vec::new();
        let mut lines = Lines::default();
        let long = vec![b'x'; 50_000];
        for chunk in [&b"one\ntw"[..], b"o\n", &long, b"\nlast"] {
            lines.feed(chunk, &mut |line| told.push(line.to_owned()));
        }
        lines.end(&mut |line| told.push(line.to_owned()));
        assert_eq!((told[0].as_str(), told[1].as_str(), told[3].as_str()), ("one", "two", "last"));
        assert!(told[2].len() < 20_000 && shown(&told[2], LONGEST_LINE).ends_with('…'));
    }

    #[test]
    fn what_is_too_much_is_counted_and_said_once() {
        let start = Instant::now();
        let mut pace = Pace::new(start);
        let logged = (0..1000).filter(|_| matches!(pace.allow(start), Allowed::Yes { .. })).count();
        assert_eq!(logged, LINES_PER_SECOND as usize);
        let later = start + Duration::from_secs(1);
        assert!(matches!(pace.allow(later), Allowed::Yes { left_out: 800 }));
        assert!(matches!(pace.allow(later), Allowed::Yes { left_out: 0 }));
    }

    #[test]
    fn last_words_are_the_last_lines_and_fit_to_show() {
        let last = LastWords::default();
        assert_eq!(last.quoted(), "");
        for line in 0..10 {
            last.add(&format!("line {line}\u{7}"));
        }
        assert_eq!(last.quoted(), r"; it wrote: line 6\u{7} / line 7\u{7} / line 8\u{7} / line 9\u{7}");
    }
}
