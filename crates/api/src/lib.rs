//! Wire types, the error body, and a typed client.
