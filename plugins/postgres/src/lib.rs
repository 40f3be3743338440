//! The POSTGRES plugin: roles, databases and what is in them, on a PostgreSQL server.
//!
//! A target is a server. Each call is one transaction where PostgreSQL allows it, so a call that
//! fails has done nothing; where it is not known whether the commit took place, the plugin says so
//! instead of guessing.
//!
//! **Architecture invariant:** no property becomes SQL as it is. Names are quoted (`sql::Name`),
//! values are parameters or quoted literals, and the places where PostgreSQL wants an expression take
//! one that cannot leave its parentheses (`expression::Expression`).

mod align;
mod expression;
mod failure;
mod id;
mod kinds;
mod plugin;
mod pool;
mod properties;
mod session;
mod sql;
mod target;
mod tls;

pub use plugin::PostgresPlugin;
