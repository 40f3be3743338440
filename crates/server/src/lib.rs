//! HTTP routes, authentication, OpenAPI, server-sent events.
