//! Colour: it adds, it never carries meaning. `anstream` takes it away where nobody would see it.

use crate::args::When;
use owo_colors::Style;

/// The styles of all output.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Styles {
    pub(crate) error: Style,
    pub(crate) warning: Style,
    pub(crate) done: Style,
    pub(crate) active: Style,
    pub(crate) quiet: Style,
    pub(crate) strong: Style,
}

impl Styles {
    pub(crate) fn new() -> Self {
        Self {
            error: Style::new().red().bold(),
            warning: Style::new().yellow().bold(),
            done: Style::new().green(),
            active: Style::new().cyan(),
            quiet: Style::new().dimmed(),
            strong: Style::new().bold(),
        }
    }
}

/// Decides on colour for the whole process.
pub(crate) fn choose(when: When) {
    match when {
        When::Auto => {}
        When::Always => anstream::ColorChoice::Always.write_global(),
        When::Never => anstream::ColorChoice::Never.write_global(),
    }
}

/// Whether stderr shows colour.
pub(crate) fn stderr_is_coloured() -> bool {
    anstream::AutoStream::choice(&std::io::stderr()) != anstream::ColorChoice::Never
}
