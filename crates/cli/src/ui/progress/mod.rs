//! Progress on stderr: live on a terminal, one line per event elsewhere.

mod screen;

use crate::args;
use crate::ui::style::Styles;
use crate::ui::text;
use formwork_api::{OperationEnd, OperationEvent, WaitingFor};
use formwork_formation::clean;
use formwork_model::{EventAction, EventStatus, OperationStatus};
use indexmap::IndexMap;
use screen::{Line, Screen};
use std::io::{IsTerminal as _, stderr};
use std::time::{Duration, Instant};

/// How often the ages of active steps are redrawn.
const REDRAW: Duration = Duration::from_millis(100);
/// How long a view of plain lines may say nothing.
const QUIET: Duration = Duration::from_secs(15);
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
    screen: Screen,
    started: Instant,
    said: Instant,
    active: IndexMap<String, Active>,
    counts: Counts,
    failures: Vec<String>,
    ticker: tokio::time::Interval,
}

/// What came of the steps so far.
#[derive(Debug, Default)]
struct Counts {
    done: usize,
    failed: usize,
    undone: usize,
    skipped: usize,
    unchanged: usize,
}

struct Active {
    line: String,
    since: Instant,
    attempt: u32,
    note: Option<String>,
}

/// How the view ends.
pub(crate) enum Ending<'a> {
    /// The operation is over; what to run if it failed.
    Over { end: &'a OperationEnd, next: Option<&'a str> },
    /// The person left before it was, and it goes on in the agent.
    Detached { operation: &'a str, program: &'a str },
    /// The person left before it was, and with them the process that carried it out.
    Interrupted { operation: &'a str },
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
            screen: Screen::default(),
            started: Instant::now(),
            said: Instant::now(),
            active: IndexMap::new(),
            counts: Counts::default(),
            failures: Vec::new(),
            ticker,
        }
    }

    /// Redraws when it is time, or says that there is nothing new; for ever pending where nothing is
    /// shown.
    pub(crate) async fn tick(&mut self) {
        if !matches!(self.form, Form::Live | Form::Plain) {
            return std::future::pending().await;
        }
        self.ticker.tick().await;
        if self.form == Form::Plain && self.said.elapsed() >= QUIET {
            self.say(&Line::plain(still_running(&self.active, self.started.elapsed())));
        }
        self.redraw();
    }

    /// Something happened.
    pub(crate) fn event(&mut self, event: &OperationEvent) {
        match self.form {
            Form::None => return,
            Form::Json => {
                if let Ok(line) = serde_json::to_string(event) {
                    crate::ui::say(format_args!("{}", text::json(line)));
                }
                return;
            }
            Form::Plain | Form::Live => {}
        }
        let Some(label) = &event.logical_id else { return };
        let kind = event.resource_type.as_deref().unwrap_or_default();
        let subject = clean(&format!("{} {kind} {label}", action_name(event.action)));
        match event.status {
            EventStatus::Started => self.begun(event, subject),
            EventStatus::Waiting => self.delayed(event, &subject),
            EventStatus::Succeeded | EventStatus::Failed | EventStatus::Skipped => {
                let age = self.active.shift_remove(&subject).map(|active| active.since.elapsed());
                self.settled(event, &subject, age);
            }
        }
        self.redraw();
    }

    fn begun(&mut self, event: &OperationEvent, subject: String) {
        let attempt = event.attempt.unwrap_or(1);
        if self.form == Form::Plain && attempt <= 1 {
            self.marked("…", self.style.active, &subject);
        }
        let active = Active { line: subject.clone(), since: Instant::now(), attempt, note: None };
        self.active.insert(subject, active);
    }

    fn delayed(&mut self, event: &OperationEvent, subject: &str) {
        let note = clean(event.note.as_deref().unwrap_or("waiting"));
        if self.form == Form::Plain {
            self.marked("…", self.style.active, &format!("{subject}: {note}"));
        }
        if let Some(active) = self.active.get_mut(subject) {
            active.note = Some(note);
        }
    }

    fn settled(&mut self, event: &OperationEvent, subject: &str, age: Option<Duration>) {
        let took = age
            .filter(|age| age.as_millis() >= 100)
            .map(|age| format!("  {}", seconds(age)))
            .unwrap_or_default();
        match (event.status, event.action) {
            (EventStatus::Succeeded, EventAction::NoOp) => self.counts.unchanged += 1,
            (EventStatus::Succeeded, action) => {
                match action {
                    EventAction::Rollback => self.counts.undone += 1,
                    EventAction::Decide => {}
                    _ => self.counts.done += 1,
                }
                let id = clean(event.physical_resource_id.as_deref().unwrap_or_default());
                self.marked("✓", self.style.done, &format!("{subject}  {id}{took}"));
            }
            (EventStatus::Skipped, _) => {
                self.counts.skipped += 1;
                let why = event.note.as_deref().or(event.error.as_ref().map(|error| error.message.as_str()));
                let why = clean(why.unwrap_or("a step before it failed"));
                // "rollback-skipped" says it already.
                let skipped = if event.action == EventAction::RollbackSkipped { "" } else { " skipped" };
                self.marked("-", self.style.quiet, &format!("{subject}{skipped}: {why}"));
            }
            _ => {
                self.counts.failed += 1;
                let why = event.error.as_ref().map_or_else(
                    || "failed".to_owned(),
                    |error| format!("{}: {}", error.code, error.message),
                );
                self.marked("✗", self.style.error, &format!("{subject}{took}  {}", clean(&why)));
                self.failures.push(subject.to_owned());
            }
        }
    }

    /// A heartbeat of the server: what is awaited, said where nothing else would be for a while.
    pub(crate) fn waiting(&mut self, waiting: &[WaitingFor]) {
        if self.form != Form::Plain || waiting.is_empty() {
            return;
        }
        let named: Vec<_> =
            waiting.iter().take(3).map(|step| format!("{} ({})", step.logical_id, step.on)).collect();
        let text = format!(
            "waiting for {}{}, {} in all",
            clean(&named.join(", ")),
            and_more(waiting.len().saturating_sub(named.len())),
            seconds(self.started.elapsed())
        );
        self.marked("…", self.style.active, &text);
    }

    /// Says something beside the events.
    pub(crate) fn note(&mut self, text: &str) {
        if matches!(self.form, Form::Plain | Form::Live) {
            self.say(&Line::plain(text));
            self.redraw();
        }
    }

    /// The last words: done, failed, skipped, and what to do next.
    pub(crate) fn end(&mut self, ending: &Ending<'_>) {
        self.screen.draw(&[]);
        if matches!(self.form, Form::None | Form::Json) {
            return;
        }
        match ending {
            Ending::Over { end, next } => self.over(end, *next),
            Ending::Interrupted { operation } => self.say(&Line::plain(format!(
                "left: operation {operation} is interrupted; the next command that changes something recovers it"
            ))),
            Ending::Detached { operation, program } => {
                self.say(&Line::plain(format!("detached: operation {operation} goes on in the agent")));
                self.say(&Line::plain(format!("  follow it:  {program} watch-operation {operation}")));
                self.say(&Line::plain(format!("  stop it:    {program} cancel-operation {operation}")));
            }
        }
    }

    fn over(&mut self, end: &OperationEnd, next: Option<&str>) {
        let took = seconds(self.started.elapsed());
        let counts = self.counts.to_string();
        if end.status == OperationStatus::Succeeded {
            self.marked("done", self.style.done, &format!("in {took}   {counts}"));
            return;
        }
        let canceled = end.error.as_ref().is_some_and(|error| error.code == "CANCELED");
        let word = if canceled { "canceled" } else { "failed" };
        self.marked(word, self.style.error, &format!("after {took}   {counts}"));
        if !self.failures.is_empty() {
            self.say(&Line::plain(format!("  failed: {}", self.failures.join(", "))));
        }
        if let Some(next) = next {
            let cause = if canceled { "" } else { "fix the cause, then " };
            self.say(&Line::plain(format!("  next: {cause}`{next}`")));
        }
    }

    fn marked(&mut self, mark: &'static str, style: owo_colors::Style, text: &str) {
        self.say(&Line { mark, style, text: text.to_owned() });
    }

    fn say(&mut self, line: &Line) {
        self.said = Instant::now();
        self.screen.say(line);
    }

    fn redraw(&mut self) {
        if self.form != Form::Live {
            return;
        }
        let mut lines: Vec<_> =
            self.active.values().take(MOST_ACTIVE).map(|active| self.active_line(active)).collect();
        if self.active.len() > MOST_ACTIVE {
            lines.push(Line::plain(format!("  … and {} more", self.active.len() - MOST_ACTIVE)));
        }
        self.screen.draw(&lines);
    }

    fn active_line(&self, active: &Active) -> Line {
        let attempt =
            if active.attempt > 1 { format!("  attempt {}", active.attempt) } else { String::new() };
        let note = active.note.as_ref().map(|note| format!("  {note}")).unwrap_or_default();
        let text = format!("{}  {}{attempt}{note}", active.line, seconds(active.since.elapsed()));
        Line { mark: "…", style: self.style.active, text }
    }
}

impl std::fmt::Display for Counts {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let counts = [
            (self.done, "done"),
            (self.failed, "failed"),
            (self.undone, "rolled back"),
            (self.skipped, "skipped"),
            (self.unchanged, "unchanged"),
        ];
        let counts: Vec<_> = counts
            .into_iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, words)| format!("{count} {words}"))
            .collect();
        let nothing = counts.is_empty();
        formatter.write_str(if nothing { "nothing to do" } else { "" })?;
        formatter.write_str(&counts.join(" · "))
    }
}

/// The heartbeat of a view of plain lines.
fn still_running(active: &IndexMap<String, Active>, elapsed: Duration) -> String {
    let named: Vec<_> = active.values().take(3).map(|active| active.line.as_str()).collect();
    if named.is_empty() {
        return format!("… still running, {} in all", seconds(elapsed));
    }
    let more = and_more(active.len() - named.len());
    format!("… still running: {}{more}, {} in all", named.join(", "), seconds(elapsed))
}

fn and_more(count: usize) -> String {
    if count > 0 { format!(" and {count} more") } else { String::new() }
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
        EventAction::Adopt => "adopt",
        EventAction::Record => "record",
        EventAction::Resolve => "resolve",
        EventAction::Decide => "decide",
        EventAction::Operation => "operation",
    }
}

fn seconds(duration: Duration) -> String {
    format!("{:.1}s", duration.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn active(names: &[&str]) -> IndexMap<String, Active> {
        let step = |name: &&str| {
            let line = format!("create tool {name}");
            (line.clone(), Active { line, since: Instant::now(), attempt: 1, note: None })
        };
        names.iter().map(step).collect()
    }

    #[test]
    fn a_heartbeat_names_what_is_under_way() {
        let elapsed = Duration::from_millis(31_240);
        assert_eq!(still_running(&active(&[]), elapsed), "… still running, 31.2s in all");
        assert_eq!(
            still_running(&active(&["A", "B", "C", "D", "E"]), elapsed),
            "… still running: create tool A, create tool B, create tool C and 2 more, 31.2s in all"
        );
    }

    #[test]
    fn what_was_rolled_back_is_not_counted_as_done() {
        let counts = Counts { done: 2, failed: 1, undone: 2, ..Counts::default() };
        assert_eq!(counts.to_string(), "2 done · 1 failed · 2 rolled back");
        assert_eq!(Counts::default().to_string(), "nothing to do");
    }
}
