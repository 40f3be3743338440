//! The Store trait and its contract suite; memory, SQLite and PostgreSQL.
