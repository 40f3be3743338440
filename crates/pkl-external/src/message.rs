//! Messages, and how they are written: MessagePack, an array of a code and a map.

use pkl_core::host::Listed;
use rmpv::Value;
use std::io::{self, Read, Write};

/// The largest message that is read, in bytes.
pub const LARGEST_MESSAGE: u64 = 64 << 20;

/// How many pieces a message is read in: each of its values is one or two. A value takes much more memory
/// than its byte does, so that bytes alone are no bound.
const MOST_PIECES: u32 = 1 << 20;

/// How deep the values of a message may nest; the protocol's nest five deep.
const DEEPEST: usize = 16;

/// What is read or listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Module,
    Resource,
}

/// What an evaluator asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Request {
    /// What the reader of a scheme can do.
    Describe { kind: Kind, scheme: String },
    /// What is at a URI.
    Read { kind: Kind, uri: String },
    /// What is in the directory at a URI.
    List { kind: Kind, uri: String },
}

/// What a reader answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Response {
    /// What it can do; nothing if it doesn't know the scheme.
    Described { kind: Kind, spec: Option<Spec> },
    /// A resource.
    Bytes(Result<Vec<u8>, String>),
    /// A module.
    Text(Result<String, String>),
    /// What is in a directory.
    Elements { kind: Kind, elements: Result<Vec<Listed>, String> },
}

/// What the reader of a scheme can do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Spec {
    pub(crate) scheme: String,
    pub(crate) is_hierarchical: bool,
    pub(crate) is_globbable: bool,
}

/// What an evaluator sends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ToReader {
    Request { id: i64, request: Request },
    Close,
}

/// Why bytes are no message.
#[derive(Debug, thiserror::Error)]
pub enum MessageError {
    /// They can't be read.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// They are more than a message may have.
    #[error("a message is longer than {LARGEST_MESSAGE} bytes, or has too many values")]
    TooLarge,
    /// They aren't MessagePack, or nest too deeply.
    #[error("what was sent is not MessagePack")]
    NotMessagePack,
    /// They are something else than the protocol has.
    #[error("what was sent is no message: {0}")]
    NoMessage(&'static str),
}

/// What a request is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Purpose {
    Describe,
    Read,
    List,
}

/// The codes of requests. That of a response is its request's and one.
const CODES: [(u64, Purpose, Kind); 6] = [
    (0x26, Purpose::Read, Kind::Resource),
    (0x28, Purpose::Read, Kind::Module),
    (0x2a, Purpose::List, Kind::Resource),
    (0x2c, Purpose::List, Kind::Module),
    (0x2e, Purpose::Describe, Kind::Module),
    (0x30, Purpose::Describe, Kind::Resource),
];
const CLOSE: u64 = 0x32;

fn code_of(purpose: Purpose, kind: Kind) -> u64 {
    let found = CODES.iter().find(|(_, of, about)| (*of, *about) == (purpose, kind));
    found.expect("each request has a code").0
}

fn meaning_of(code: u64) -> Option<(Purpose, Kind)> {
    CODES.iter().find(|(of, ..)| *of == code).map(|&(_, purpose, kind)| (purpose, kind))
}

/// The evaluator that asks: a reader's process belongs to one only.
const EVALUATOR: i64 = 0;

impl Request {
    fn code(&self) -> u64 {
        match self {
            Self::Describe { kind, .. } => code_of(Purpose::Describe, *kind),
            Self::Read { kind, .. } => code_of(Purpose::Read, *kind),
            Self::List { kind, .. } => code_of(Purpose::List, *kind),
        }
    }

    /// Writes it.
    ///
    /// # Errors
    /// The other side doesn't take it.
    pub(crate) fn write(&self, id: i64, output: &mut impl Write) -> io::Result<()> {
        let fields = match self {
            Self::Describe { scheme, .. } => {
                vec![("requestId", id.into()), ("scheme", scheme.as_str().into())]
            }
            Self::Read { uri, .. } | Self::List { uri, .. } => vec![
                ("requestId", id.into()),
                ("evaluatorId", EVALUATOR.into()),
                ("uri", uri.as_str().into()),
            ],
        };
        write(self.code(), fields, output)
    }
}

/// Writes that there will be no more requests.
///
/// # Errors
/// The other side doesn't take it.
pub(crate) fn write_close(output: &mut impl Write) -> io::Result<()> {
    write(CLOSE, Vec::new(), output)
}

impl Response {
    /// Writes it.
    ///
    /// # Errors
    /// The other side doesn't take it.
    pub(crate) fn write(self, id: i64, output: &mut impl Write) -> io::Result<()> {
        let answer = |name: &'static str, answer: Result<Value, String>| {
            let (name, value) = match answer {
                Ok(value) => (name, value),
                Err(error) => ("error", error.into()),
            };
            vec![("requestId", id.into()), ("evaluatorId", EVALUATOR.into()), (name, value)]
        };
        let (request, fields) = match self {
            Self::Described { kind, spec } => {
                let spec = spec.map(|spec| ("spec", spec.value(kind)));
                let fields = std::iter::once(("requestId", id.into())).chain(spec).collect();
                (code_of(Purpose::Describe, kind), fields)
            }
            Self::Bytes(bytes) => {
                (code_of(Purpose::Read, Kind::Resource), answer("contents", bytes.map(Value::Binary)))
            }
            Self::Text(text) => {
                (code_of(Purpose::Read, Kind::Module), answer("contents", text.map(Value::from)))
            }
            Self::Elements { kind, elements } => {
                let values = elements.map(|elements| elements.iter().map(element).collect::<Vec<_>>().into());
                (code_of(Purpose::List, kind), answer("pathElements", values))
            }
        };
        write(request + 1, fields, output)
    }
}

impl Spec {
    fn value(&self, kind: Kind) -> Value {
        let mut fields = vec![
            ("scheme", self.scheme.as_str().into()),
            ("hasHierarchicalUris", self.is_hierarchical.into()),
            ("isGlobbable", self.is_globbable.into()),
        ];
        if kind == Kind::Module {
            fields.push(("isLocal", false.into()));
        }
        map(fields)
    }
}

fn element(listed: &Listed) -> Value {
    map(vec![("name", listed.name.as_str().into()), ("isDirectory", listed.is_directory.into())])
}

fn map(fields: Vec<(&'static str, Value)>) -> Value {
    Value::Map(fields.into_iter().map(|(name, value)| (name.into(), value)).collect())
}

fn write(code: u64, fields: Vec<(&'static str, Value)>, output: &mut impl Write) -> io::Result<()> {
    let mut bytes = Vec::new();
    let message = Value::Array(vec![code.into(), map(fields)]);
    rmpv::encode::write_value(&mut bytes, &message).map_err(io::Error::other)?;
    output.write_all(&bytes)?;
    output.flush()
}

/// Input that ends where a message may not be longer.
struct Bounded<R> {
    input: io::Take<R>,
    pieces: u32,
}

impl<R: Read> Bounded<R> {
    fn new(input: R) -> Self {
        Self { input: input.take(LARGEST_MESSAGE), pieces: MOST_PIECES }
    }

    fn is_spent(&self) -> bool {
        self.input.limit() == 0 || self.pieces == 0
    }
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.pieces == 0 {
            return Ok(0);
        }
        self.pieces -= 1;
        self.input.read(buffer)
    }
}

/// A message's code and fields.
struct Message {
    code: u64,
    fields: Vec<(Value, Value)>,
}

impl Message {
    /// The next one; `None` at the end.
    fn read(input: &mut impl Read) -> Result<Option<Self>, MessageError> {
        let mut first = [0];
        loop {
            match input.read(&mut first) {
                Ok(0) => return Ok(None),
                Ok(_) => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
        // An array is told by its first byte: garbage is found out before anything is waited for.
        if !matches!(first[0], 0x92 | 0xdc | 0xdd) {
            return Err(MessageError::NoMessage("it is no array of two"));
        }
        let mut bounded = Bounded::new(first.as_slice().chain(input));
        let value = rmpv::decode::read_value_with_max_depth(&mut bounded, DEEPEST);
        let value = value.map_err(|error| match error {
            _ if bounded.is_spent() => MessageError::TooLarge,
            rmpv::decode::Error::InvalidMarkerRead(error) | rmpv::decode::Error::InvalidDataRead(error) => {
                MessageError::Io(error)
            }
            rmpv::decode::Error::DepthLimitExceeded => MessageError::NotMessagePack,
        })?;
        let Value::Array(parts) = value else { return Err(MessageError::NoMessage("it is no array")) };
        match <[Value; 2]>::try_from(parts) {
            Ok([code, Value::Map(fields)]) => {
                let code = code.as_u64().ok_or(MessageError::NoMessage("it has no code"))?;
                Ok(Some(Self { code, fields }))
            }
            _ => Err(MessageError::NoMessage("it is no array of a code and a map")),
        }
    }

    /// Takes a field out; what is `nil` isn't there.
    fn take(&mut self, name: &str) -> Option<Value> {
        let position = self.fields.iter().position(|(key, _)| key.as_str() == Some(name))?;
        Some(self.fields.swap_remove(position).1).filter(|value| !value.is_nil())
    }

    fn id(&mut self) -> Result<i64, MessageError> {
        let id = self.take("requestId").and_then(|id| id.as_i64());
        id.ok_or(MessageError::NoMessage("it has no `requestId`"))
    }

    fn text(&mut self, name: &str, why: &'static str) -> Result<String, MessageError> {
        self.take(name).and_then(text).ok_or(MessageError::NoMessage(why))
    }

    /// A field, or else what the message says went wrong.
    fn answer<T>(
        &mut self,
        name: &str,
        absent: T,
        parse: impl FnOnce(Value) -> Option<T>,
    ) -> Result<Result<T, String>, MessageError> {
        if let Some(error) = self.take("error") {
            return text(error).map(Err).ok_or(MessageError::NoMessage("its `error` is no text"));
        }
        match self.take(name) {
            Some(value) => {
                parse(value).map(Ok).ok_or(MessageError::NoMessage("its contents are of another type"))
            }
            None => Ok(Ok(absent)),
        }
    }
}

fn text(value: Value) -> Option<String> {
    match value {
        Value::String(text) => text.into_str(),
        _ => None,
    }
}

/// The fields of a map by their names.
fn field<'a>(map: &'a Value, name: &str) -> Option<&'a Value> {
    map.as_map()?.iter().find(|(key, _)| key.as_str() == Some(name)).map(|(_, value)| value)
}

/// Reads what an evaluator sends; `None` at the end.
///
/// # Errors
/// It is no message of the protocol.
pub(crate) fn read_request(input: &mut impl Read) -> Result<Option<ToReader>, MessageError> {
    let Some(mut message) = Message::read(input)? else { return Ok(None) };
    if message.code == CLOSE {
        return Ok(Some(ToReader::Close));
    }
    let meaning = meaning_of(message.code);
    let (purpose, kind) = meaning.ok_or(MessageError::NoMessage("its code is none that a reader is sent"))?;
    let id = message.id()?;
    let request = match purpose {
        Purpose::Describe => {
            Request::Describe { kind, scheme: message.text("scheme", "it has no `scheme`")? }
        }
        Purpose::Read => Request::Read { kind, uri: message.text("uri", "it has no `uri`")? },
        Purpose::List => Request::List { kind, uri: message.text("uri", "it has no `uri`")? },
    };
    Ok(Some(ToReader::Request { id, request }))
}

/// Reads what a reader answers, with the number of the request; `None` at the end.
///
/// # Errors
/// It is no message of the protocol.
pub(crate) fn read_response(input: &mut impl Read) -> Result<Option<(i64, Response)>, MessageError> {
    let Some(mut message) = Message::read(input)? else { return Ok(None) };
    let id = message.id()?;
    let meaning = message.code.checked_sub(1).and_then(meaning_of);
    let meaning = meaning.ok_or(MessageError::NoMessage("its code is none that a reader sends"))?;
    let response = match meaning {
        (Purpose::Describe, kind) => {
            let spec = message.take("spec").map(|spec| parse_spec(&spec)).transpose()?;
            Response::Described { kind, spec }
        }
        (Purpose::Read, Kind::Resource) => {
            // Without contents, it is empty: as the official evaluator takes it.
            Response::Bytes(message.answer("contents", Vec::new(), |value| match value {
                Value::Binary(bytes) => Some(bytes),
                _ => None,
            })?)
        }
        (Purpose::Read, Kind::Module) => Response::Text(message.answer("contents", String::new(), text)?),
        (Purpose::List, kind) => {
            let elements = message.answer("pathElements", Vec::new(), |value| match value {
                Value::Array(elements) => elements.iter().map(parse_element).collect(),
                _ => None,
            })?;
            Response::Elements { kind, elements }
        }
    };
    Ok(Some((id, response)))
}

fn parse_spec(spec: &Value) -> Result<Spec, MessageError> {
    let flag = |name| field(spec, name).and_then(Value::as_bool);
    let parsed = || {
        Some(Spec {
            scheme: field(spec, "scheme")?.as_str()?.to_owned(),
            is_hierarchical: flag("hasHierarchicalUris")?,
            is_globbable: flag("isGlobbable")?,
        })
    };
    parsed().ok_or(MessageError::NoMessage("its `spec` is incomplete"))
}

fn parse_element(element: &Value) -> Option<Listed> {
    let name = field(element, "name")?.as_str()?.to_owned();
    Some(Listed { name, is_directory: field(element, "isDirectory")?.as_bool()? })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    fn requests() -> Vec<Request> {
        let mut requests = Vec::new();
        for kind in [Kind::Module, Kind::Resource] {
            requests.push(Request::Describe { kind, scheme: "birds".to_owned() });
            requests.push(Request::Read { kind, uri: "birds:dodo".to_owned() });
            requests.push(Request::List { kind, uri: "birds:/d/".to_owned() });
        }
        requests
    }

    fn responses() -> Vec<Response> {
        let spec = Spec { scheme: "birds".to_owned(), is_hierarchical: true, is_globbable: false };
        let listed = Listed { name: "d".to_owned(), is_directory: true };
        let mut responses = vec![
            Response::Bytes(Ok(vec![0, 255])),
            Response::Bytes(Err("gone".to_owned())),
            Response::Text(Ok("x = 1".to_owned())),
            Response::Text(Err("gone".to_owned())),
        ];
        for kind in [Kind::Module, Kind::Resource] {
            responses.push(Response::Described { kind, spec: Some(spec.clone()) });
            responses.push(Response::Described { kind, spec: None });
            responses.push(Response::Elements { kind, elements: Ok(vec![listed.clone()]) });
            responses.push(Response::Elements { kind, elements: Err("gone".to_owned()) });
        }
        responses
    }

    #[test]
    fn what_is_written_is_read() {
        for (request, id) in requests().into_iter().zip([1, -1, i64::MAX, i64::MIN, 0, 7]) {
            let mut bytes = Vec::new();
            request.write(id, &mut bytes).unwrap();
            let read = read_request(&mut bytes.as_slice()).unwrap();
            assert_eq!(read, Some(ToReader::Request { id, request }));
        }
        for response in responses() {
            let mut bytes = Vec::new();
            response.clone().write(i64::MIN, &mut bytes).unwrap();
            assert_eq!(read_response(&mut bytes.as_slice()).unwrap(), Some((i64::MIN, response)));
        }
        let mut bytes = Vec::new();
        write_close(&mut bytes).unwrap();
        assert_eq!(read_request(&mut bytes.as_slice()).unwrap(), Some(ToReader::Close));
        assert_eq!(read_request(&mut bytes[bytes.len()..].as_ref()).unwrap(), None);
    }

    #[test]
    fn a_cut_message_is_an_error_at_each_place() {
        for response in responses() {
            let mut bytes = Vec::new();
            response.write(7, &mut bytes).unwrap();
            for length in 1..bytes.len() {
                read_response(&mut &bytes[..length]).expect_err("cut");
            }
        }
    }

    #[test]
    fn garbage_is_an_error_and_never_waited_for() {
        struct Endless(u8);
        impl Read for Endless {
            fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                buffer.fill(self.0);
                Ok(buffer.len())
            }
        }
        let endless = |byte| read_response(&mut Endless(byte)).expect_err("no message").to_string();
        assert_eq!(endless(b'h'), "what was sent is no message: it is no array of two");
        // Arrays within arrays, and an array of two thousand million zeros.
        assert_eq!(endless(0x92), "what was sent is not MessagePack");
        let mut zeros = [0xdd, 0x7f, 0xff, 0xff, 0xff].as_slice().chain(io::repeat(0));
        assert!(matches!(read_response(&mut zeros), Err(MessageError::TooLarge)));
        let mut long = [0x92, 0x27, 0xc6, 0xff, 0xff, 0xff, 0xff].as_slice().chain(io::repeat(0));
        assert!(matches!(read_response(&mut long), Err(MessageError::TooLarge)));
    }
}
