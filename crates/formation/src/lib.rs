//! Formation templates: parse with spans, validate, lower to desired state.
