//! Progress on stderr: live on a terminal, one line per event elsewhere.

use crate::args;
use crate::ui::style::Styles;
use formwork_api::{OperationEnd, OperationEvent, WaitingFor};
use formwork_model::{EventAction, EventStatus, OperationStatus};
use indexmap::IndexMap;
use owo_colors::OwoColorize as _;
use std::io::{IsTerminal as _, Write as _, stderr};
use std::time::{Duration, Instant};

/// How often the ages of active steps are redrawn.
const REDRAW: Duration = Duration::from_millis(100);
/// How many active steps are drawn.
const MOST_ACTIVE: usize = 12;

/// How progress is shown, decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Live,
    Plain,
    Json,
    None,
}

/// An operation's progress.
pub(crate) struct Progress {
    form: Form,
    style: Styles,
    started: Instant,
    active: IndexMap<String, Active>,
    drawn: usize,
    done: usize,
    failed: usize,
    unchanged: usize,
    skipped: usize,
    failures: Vec<String>,
    ticker: tokio::time::Interval,
}

struct Active {
    line: String,
    since: Instant,
    attempt: u32,
    note: Option<String>,
}

/// How the view ends.
pub(crate) enum Ending<'a> {
    /// The operation is over.
    Over { end: &'a OperationEnd, formation: &'a str },
    /// The person left before it was.
    Left { operation: &'a str, formation: &'a str, embedded: bool },
}

impl Progress {
    pub(crate) fn new(how: args::Progress) -> Self {
        let form = match how {
            args::Progress::Auto if stderr().is_terminal() => Form::Live,
            args::Progress::Auto | args::Progress::Plain => Form::Plain,
            args::Progress::Json => Form::Json,
            args::Progress::None => Form::None,
        };
        let mut ticker = tokio::time::interval(REDRAW);
        ticker.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Skip);
        Self {
            form,
            style: Styles::new(),
            started: Instant::now(),
            active: IndexMap::new(),
            drawn: 0,
            done: 0,
            failed: 0,
            unchanged: 0,
            skipped: 0,
            failures: Vec::new(),
            ticker,
        }
    }

    /// Redraws when it is time; for ever pending where nothing is drawn.
    pub(crate) async fn tick(&mut self) {
        if self.form != Form::Live {
            return std::future::pending().await;
        }
        self.ticker.tick().await;
        self.redraw();
    }

    /// Something happened.
    pub(crate) fn event(&mut self, event: &OperationEvent) {
        match self.form {
            Form::None => return,
            Form::Json => {
                if let Ok(line) = serde_json::to_string(event) {
                    anstream::eprintln!("{line}");
                }
                return;
            }
            Form::Plain | Form::Live => {}
        }
        let Some(label) = &event.logical_id else { return };
        let kind = event.resource_type.as_deref().unwrap_or_default();
        let action = action_name(event.action);
        let key = format!("{label}/{action}");
        match event.status {
            EventStatus::Started => {
                let line = format!("{action} {kind} {label}");
                if self.form == Form::Plain && event.attempt.is_none_or(|attempt| attempt <= 1) {
                    self.say(&format!("… {line}"));
                }
                let attempt = event.attempt.unwrap_or(1);
                self.active.insert(key, Active { line, since: Instant::now(), attempt, note: None });
            }
            EventStatus::Waiting => {
                let note = event.note.clone().unwrap_or_else(|| "waiting".to_owned());
                if self.form == Form::Plain {
                    self.say(&format!("… {action} {kind} {label}: {note}"));
                }
                if let Some(active) = self.active.get_mut(&key) {
                    active.note = Some(note);
                }
            }
            EventStatus::Succeeded | EventStatus::Failed | EventStatus::Skipped => {
                let age = self.active.shift_remove(&key).map(|active| active.since.elapsed());
                self.settled(event, action, kind, label, age);
            }
        }
        self.redraw();
    }

    fn settled(
        &mut self,
        event: &OperationEvent,
        action: &str,
        kind: &str,
        label: &str,
        age: Option<Duration>,
    ) {
        let took = age
            .filter(|age| age.as_millis() >= 100)
            .map(|age| format!("  {}", seconds(age)))
            .unwrap_or_default();
        match (event.status, event.action) {
            (EventStatus::Succeeded, EventAction::NoOp) => self.unchanged += 1,
            (EventStatus::Succeeded, _) => {
                self.done += 1;
                let id = event.physical_resource_id.as_deref().unwrap_or_default();
                let mark = "✓".style(self.style.done).to_string();
                self.finished_line(&format!("{mark} {action} {kind} {label}  {id}{took}"));
            }
            (EventStatus::Skipped, _) => {
                self.skipped += 1;
                let why = event.note.as_deref().or(event.error.as_ref().map(|error| error.message.as_str()));
                let mark = "-".style(self.style.quiet).to_string();
                self.finished_line(&format!(
                    "{mark} {action} {kind} {label} skipped: {}",
                    why.unwrap_or("a step before it failed")
                ));
            }
            _ => {
                self.failed += 1;
                let error = event.error.as_ref();
                let why = error.map_or_else(
                    || "failed".to_owned(),
                    |error| format!("{}: {}", error.code, error.message),
                );
                let mark = "✗".style(self.style.error).to_string();
                self.finished_line(&format!("{mark} {action} {kind} {label}{took}  {why}"));
                self.failures.push(format!("{label} ({kind})"));
            }
        }
    }

    /// A heartbeat: what is awaited, said where nothing else would be for a while.
    pub(crate) fn waiting(&mut self, waiting: &[WaitingFor]) {
        if self.form != Form::Plain {
            return;
        }
        let named: Vec<_> =
            waiting.iter().take(3).map(|step| format!("{} ({})", step.logical_id, step.on)).collect();
        let more = waiting.len().saturating_sub(3);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        if !named.is_empty() {
            self.say(&format!(
                "… waiting for {}{more}, {} in all",
                named.join(", "),
                seconds(self.started.elapsed())
            ));
        }
    }

    /// Says something beside the events.
    pub(crate) fn note(&mut self, text: &str) {
        if self.form != Form::None {
            self.finished_line(text);
            self.redraw();
        }
    }

    /// The last words: done, failed, skipped, and what to do next.
    pub(crate) fn end(&mut self, ending: &Ending<'_>) {
        self.clear();
        if matches!(self.form, Form::None | Form::Json) {
            return;
        }
        match ending {
            Ending::Over { end, formation } => self.over(end, formation),
            Ending::Left { operation, formation, embedded: true } => {
                self.say(&format!("left: operation {operation} is interrupted; the next command that changes something recovers it"));
                self.next(formation, "formwork update-formation");
            }
            Ending::Left { operation, .. } => {
                self.say(&format!("detached: operation {operation} goes on in the agent"));
                self.say(&format!("  follow it:  formwork watch-operation {operation}"));
                self.say(&format!("  stop it:    formwork cancel-operation {operation}"));
            }
        }
    }

    fn over(&self, end: &OperationEnd, formation: &str) {
        let counts = [
            (self.done, "done"),
            (self.failed, "failed"),
            (self.skipped, "skipped"),
            (self.unchanged, "unchanged"),
        ];
        let counts: Vec<_> = counts
            .into_iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, words)| format!("{count} {words}"))
            .collect();
        let counts = if counts.is_empty() { "nothing to do".to_owned() } else { counts.join(" · ") };
        let took = seconds(self.started.elapsed());
        if end.status == OperationStatus::Succeeded {
            self.say(&format!("{} in {took}   {counts}", "done".style(self.style.done)));
            return;
        }
        self.say(&format!("{} after {took}   {counts}", "failed".style(self.style.error)));
        if !self.failures.is_empty() {
            self.say(&format!("  failed: {}", self.failures.join(", ")));
        }
        self.next(formation, "formwork update-formation");
    }

    fn next(&self, formation: &str, command: &str) {
        if !formation.is_empty() {
            self.say(&format!("  next: fix the cause, then `{command} --formation-id {formation}`"));
        }
    }

    fn finished_line(&mut self, line: &str) {
        self.clear();
        self.say(line);
    }

    #[expect(clippy::unused_self, reason = "all that is said goes through one place")]
    fn say(&self, line: &str) {
        let line: String =
            line.chars().filter(|letter| !letter.is_control() || *letter == '\u{1b}').collect();
        anstream::eprintln!("{}", line.trim_end());
    }

    /// Takes the live lines away.
    fn clear(&mut self) {
        if self.drawn > 0 {
            let mut out = anstream::stderr().lock();
            let _ = write!(out, "\u{1b}[{}A\u{1b}[J", self.drawn);
            let _ = out.flush();
            self.drawn = 0;
        }
    }

    fn redraw(&mut self) {
        if self.form != Form::Live {
            return;
        }
        self.clear();
        let mut lines: Vec<_> =
            self.active.values().take(MOST_ACTIVE).map(|active| self.active_line(active)).collect();
        if self.active.len() > MOST_ACTIVE {
            lines.push(format!("  … and {} more", self.active.len() - MOST_ACTIVE));
        }
        let mut out = anstream::stderr().lock();
        for line in &lines {
            let _ = writeln!(out, "{line}");
        }
        let _ = out.flush();
        self.drawn = lines.len();
    }

    fn active_line(&self, active: &Active) -> String {
        let attempt =
            if active.attempt > 1 { format!("  attempt {}", active.attempt) } else { String::new() };
        let note = active.note.as_ref().map(|note| format!("  {note}")).unwrap_or_default();
        let age = seconds(active.since.elapsed());
        format!("{} {}  {age}{attempt}{note}", "…".style(self.style.active), active.line)
    }
}

fn action_name(action: EventAction) -> &'static str {
    match action {
        EventAction::Create => "create",
        EventAction::Update => "update",
        EventAction::Delete => "delete",
        EventAction::NoOp => "no-op",
        EventAction::Rollback => "rollback",
        EventAction::RollbackSkipped => "rollback-skipped",
        EventAction::Replace => "replace",
        EventAction::ReplaceCleanup => "replace-cleanup",
        EventAction::ReplaceRetained => "replace-retained",
        EventAction::Record => "record",
        EventAction::Resolve => "resolve",
        EventAction::Operation => "operation",
    }
}

fn seconds(duration: Duration) -> String {
    format!("{:.1}s", duration.as_secs_f64())
}
