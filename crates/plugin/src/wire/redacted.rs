//! Messages that may hold secrets can't be printed: only their names are.

use super::pb;
use std::fmt;

macro_rules! redacted {
    ($($message:ident)*) => {
        $(impl fmt::Debug for pb::$message {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str(concat!(stringify!($message), "(…)"))
            }
        })*
    };
}

redacted! {
    CreateRequest
    ReadRequest
    UpdateRequest
    DeleteRequest
    StatusRequest
    ListRequest
    ValidateRequest
    ProgressResult
    ReadResult
    Announcement
}
