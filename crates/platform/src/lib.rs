//! The agent platform's resource types as one in-process plugin.
