//! The formatter of Pkl source: stable, and true to meaning and comments.
