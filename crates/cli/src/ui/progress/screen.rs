//! The part of a terminal that is drawn again and again: the steps that are under way, below
//! everything that has been said.

use crate::ui::text::{columns, fitted};
use owo_colors::{OwoColorize as _, Style};
use std::fmt::Write as _;
use std::io::stderr;

/// What is assumed of a terminal that does not say how wide it is.
const WIDTH: usize = 80;

/// A line: a mark in its own style, then text, which is clean already.
#[derive(Clone, Debug)]
pub(super) struct Line {
    pub(super) mark: &'static str,
    pub(super) style: Style,
    pub(super) text: String,
}

impl Line {
    pub(super) fn plain(text: impl Into<String>) -> Self {
        Self { mark: "", style: Style::new(), text: text.into() }
    }

    fn push_to(&self, out: &mut String, text: &str) {
        if !self.mark.is_empty() {
            let _ = write!(out, "{} ", self.mark.style(self.style));
        }
        out.push_str(text.trim_end());
        out.push('\n');
    }
}

/// What is drawn now, by the columns each line takes.
#[derive(Debug, Default)]
pub(super) struct Screen {
    drawn: Vec<usize>,
}

impl Screen {
    /// Says a line for good, above what is drawn, which is taken away.
    pub(super) fn say(&mut self, line: &Line) {
        let mut out = self.erasure(width());
        line.push_to(&mut out, &line.text);
        crate::ui::write(format_args!("{out}"));
    }

    /// Draws these lines in place of those that are drawn. None is longer than the terminal is wide,
    /// so that it is known how many rows to take away.
    pub(super) fn draw(&mut self, lines: &[Line]) {
        let width = width();
        let mut out = self.erasure(width);
        for line in lines {
            // Some terminals wrap as soon as the last column is filled.
            let room =
                width.saturating_sub(1 + if line.mark.is_empty() { 0 } else { columns(line.mark) + 1 });
            let text = fitted(&line.text, room);
            line.push_to(&mut out, &text);
            self.drawn.push(columns(line.mark) + 1 + columns(&text));
        }
        if !out.is_empty() {
            crate::ui::write(format_args!("{out}"));
        }
    }

    /// What takes the drawn lines away. A terminal that became narrower has wrapped them.
    fn erasure(&mut self, width: usize) -> String {
        let rows: usize = self.drawn.drain(..).map(|columns| columns.div_ceil(width).max(1)).sum();
        if rows == 0 { String::new() } else { format!("\u{1b}[{rows}A\u{1b}[J") }
    }
}

fn width() -> usize {
    let size = rustix::termios::tcgetwinsize(stderr()).ok();
    size.map(|size| usize::from(size.ws_col)).filter(|width| *width > 0).unwrap_or(WIDTH)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_a_narrower_terminal_wrapped_are_taken_away_whole() {
        let mut screen = Screen { drawn: vec![70, 10] };
        assert_eq!(screen.erasure(80), "\u{1b}[2A\u{1b}[J");
        screen.drawn = vec![70, 10];
        assert_eq!(screen.erasure(30), "\u{1b}[4A\u{1b}[J");
        assert_eq!(screen.erasure(30), "");
    }
}
