//! Java-syntax regular expressions with a step limit.
