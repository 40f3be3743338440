//! What this process logs, on stderr (`FORMWORK_LOG`).

use formwork_config::LogLevel;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

/// Begins to log, unless this process does already. Only what Formwork itself says is logged: nobody
/// here has checked what a library prints of a request on its way.
pub(crate) fn install(level: LogLevel) {
    let level = match level {
        LogLevel::Off => return,
        LogLevel::Error => LevelFilter::ERROR,
        LogLevel::Warn => LevelFilter::WARN,
        LogLevel::Info => LevelFilter::INFO,
        LogLevel::Debug => LevelFilter::DEBUG,
        LogLevel::Trace => LevelFilter::TRACE,
    };
    let lines = tracing_subscriber::fmt::layer()
        .with_writer(std::io::stderr)
        .with_ansi(false)
        .log_internal_errors(false);
    let ours = Targets::new().with_target("formwork", level);
    // A second start in one process keeps the first one's log.
    let _ = tracing_subscriber::registry().with(lines).with(ours).try_init();
}
