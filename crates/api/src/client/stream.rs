//! An operation's events as they happen, from server-sent events, across broken connections.

use super::call::{collect, understand, within};
use super::{AnswerBody, Client, ClientError, HttpMethod, TransportError, encode};
use crate::{OperationEnd, OperationEvent, WaitingFor};
use http_body_util::BodyExt;
use hyper::header::{ACCEPT, HeaderName};
use serde::de::DeserializeOwned;
use std::collections::VecDeque;
use std::time::Duration;

/// The server sends something every ten seconds; after this long without a byte it is gone.
const SILENCE: Duration = Duration::from_secs(35);
/// How often a broken connection is opened again without an event in between.
const ATTEMPTS: u32 = 8;
/// The first pause before that; it doubles each time.
const PAUSE: Duration = Duration::from_millis(100);
/// The longest pause.
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
/// The most bytes of one event.
const MAX_FRAME: usize = 4 << 20;
/// The most bytes of an error answer.
const MAX_ERROR: usize = 1 << 20;

/// What an operation's stream tells.
#[derive(Clone, Debug, PartialEq)]
pub enum StreamItem {
    /// Something happened.
    Event(OperationEvent),
    /// Nothing happened for a while; this is what it waits for.
    Waiting(Vec<WaitingFor>),
    /// It is over. Nothing comes after this.
    End(OperationEnd),
}

/// The events of an operation, each exactly once and in order.
pub struct OperationStream {
    client: Client,
    operation: String,
    after: u64,
    connection: Option<Connection>,
    failures: u32,
    ended: bool,
}

struct Connection {
    body: AnswerBody,
    parser: Parser,
}

impl Client {
    /// Follows an operation from after a cursor (0: from its beginning) to its end. A connection
    /// that breaks is opened again where it broke off.
    pub fn follow_operation(&self, id: &str, after: u64) -> OperationStream {
        OperationStream {
            client: self.clone(),
            operation: id.to_owned(),
            after,
            connection: None,
            failures: 0,
            ended: false,
        }
    }
}

impl OperationStream {
    /// The cursor after the last event that was given out.
    pub fn after(&self) -> u64 {
        self.after
    }

    /// What comes next; `None` after the end.
    ///
    /// # Errors
    /// What the server refused with; a transport error once opening the connection again has
    /// failed several times in a row.
    pub async fn next(&mut self) -> Result<Option<StreamItem>, ClientError> {
        while !self.ended {
            match self.attempt().await {
                Ok(Some(item)) => return Ok(Some(item)),
                Ok(None) => self.connection = None,
                Err(ClientError::Transport(error)) => {
                    self.connection = None;
                    self.failures += 1;
                    if self.failures >= ATTEMPTS {
                        return Err(error.into());
                    }
                    let pause = PAUSE.saturating_mul(1 << self.failures.min(10)).min(LONGEST_PAUSE);
                    tokio::time::sleep(pause).await;
                }
                Err(refused) => return Err(refused),
            }
        }
        Ok(None)
    }

    /// The next item of the present connection, which is opened where there is none; `None` where
    /// the server closed it.
    async fn attempt(&mut self) -> Result<Option<StreamItem>, ClientError> {
        let connection = match &mut self.connection {
            Some(connection) => connection,
            none => none.insert(open(&self.client, &self.operation, self.after).await?),
        };
        loop {
            while let Some(frame) = connection.parser.next_frame() {
                let Some(item) = frame.item()? else { continue };
                match &item {
                    // A server that repeats itself after a reconnect is heard once.
                    StreamItem::Event(event) if event.sequence <= self.after => continue,
                    StreamItem::Event(event) => {
                        self.after = event.sequence;
                        self.failures = 0;
                    }
                    StreamItem::Waiting(_) => self.failures = 0,
                    StreamItem::End(_) => self.ended = true,
                }
                return Ok(Some(item));
            }
            let frame = tokio::time::timeout(SILENCE, connection.body.frame()).await;
            match frame.map_err(|_| TransportError::Timeout { after: SILENCE })? {
                None => {
                    // Closed without an end: the server is stopping, or bounds its streams.
                    self.failures += 1;
                    if self.failures >= ATTEMPTS {
                        return Err(TransportError::Stream.into());
                    }
                    return Ok(None);
                }
                Some(Err(source)) => {
                    let endpoint = self.client.authority.clone();
                    return Err(TransportError::Broken { endpoint, source }.into());
                }
                Some(Ok(frame)) => {
                    if let Ok(data) = frame.into_data() {
                        connection.parser.push(&data)?;
                    }
                }
            }
        }
    }
}

async fn open(client: &Client, operation: &str, after: u64) -> Result<Connection, ClientError> {
    let call = client
        .call(HttpMethod::Get, format!("/operations/{}/events", encode::component(operation)))
        .header(ACCEPT, "text/event-stream".to_owned())
        .header(HeaderName::from_static("last-event-id"), after.to_string());
    let response = within(Some(SILENCE), call.send()).await?;
    let status = response.status().as_u16();
    if status != 200 {
        let bytes = collect(response.into_body(), MAX_ERROR, &client.authority).await?;
        understand(status, &bytes)?;
        return Err(TransportError::Unexpected { status, source: None }.into());
    }
    Ok(Connection { body: response.into_body(), parser: Parser::default() })
}

/// Splits a stream of bytes into server-sent events.
#[derive(Debug, Default)]
struct Parser {
    line: Vec<u8>,
    frame: Frame,
    size: usize,
    complete: VecDeque<Frame>,
    after_return: bool,
}

/// One server-sent event.
#[derive(Debug, Default, PartialEq, Eq)]
struct Frame {
    event: String,
    data: Option<String>,
}

impl Parser {
    fn push(&mut self, bytes: &[u8]) -> Result<(), TransportError> {
        for &byte in bytes {
            let after_return = std::mem::take(&mut self.after_return);
            match byte {
                b'\n' if after_return => {}
                b'\n' => self.end_line()?,
                b'\r' => {
                    self.after_return = true;
                    self.end_line()?;
                }
                byte => {
                    self.size += 1;
                    if self.size > MAX_FRAME {
                        return Err(TransportError::Stream);
                    }
                    self.line.push(byte);
                }
            }
        }
        Ok(())
    }

    fn end_line(&mut self) -> Result<(), TransportError> {
        let line = std::mem::take(&mut self.line);
        if line.is_empty() {
            self.size = 0;
            self.complete.push_back(std::mem::take(&mut self.frame));
            return Ok(());
        }
        let line = std::str::from_utf8(&line).map_err(|_| TransportError::Stream)?;
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => value.clone_into(&mut self.frame.event),
            "data" => match &mut self.frame.data {
                Some(data) => {
                    data.push('\n');
                    data.push_str(value);
                }
                none => *none = Some(value.to_owned()),
            },
            // Ids stand in the data; comments have an empty field; the rest is not for us.
            _ => {}
        }
        Ok(())
    }

    fn next_frame(&mut self) -> Option<Frame> {
        self.complete.pop_front()
    }
}

impl Frame {
    /// What it tells; `None` for one that tells nothing, or of a kind that is not known yet.
    fn item(&self) -> Result<Option<StreamItem>, TransportError> {
        let Some(data) = &self.data else { return Ok(None) };
        match self.event.as_str() {
            "" | "message" => decoded(data).map(StreamItem::Event).map(Some),
            "waiting" => decoded(data).map(StreamItem::Waiting).map(Some),
            "end" => decoded(data).map(StreamItem::End).map(Some),
            _ => Ok(None),
        }
    }
}

fn decoded<T: DeserializeOwned>(data: &str) -> Result<T, TransportError> {
    serde_json::from_str(data).map_err(|_| TransportError::Stream)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frames(chunks: &[&str]) -> Vec<Frame> {
        let mut parser = Parser::default();
        for chunk in chunks {
            parser.push(chunk.as_bytes()).expect("well formed");
        }
        std::iter::from_fn(|| parser.next_frame()).filter(|frame| *frame != Frame::default()).collect()
    }

    fn frame(event: &str, data: &str) -> Frame {
        Frame { event: event.to_owned(), data: Some(data.to_owned()) }
    }

    #[test]
    fn frames_are_found_however_the_bytes_arrive() {
        let text = "id: 1\ndata: {\"a\":\ndata: 1}\n\n: heartbeat\n\nevent: waiting\r\ndata:[]\r\n\r\n";
        let expected = [frame("", "{\"a\":\n1}"), frame("waiting", "[]")];
        assert_eq!(frames(&[text]), expected);
        let bytes: Vec<String> = text.chars().map(String::from).collect();
        assert_eq!(frames(&bytes.iter().map(String::as_str).collect::<Vec<_>>()), expected);
    }

    #[test]
    fn an_unfinished_frame_is_not_given_out() {
        assert_eq!(frames(&["data: 1\n\ndata: 2\n"]), [frame("", "1")]);
    }

    #[test]
    fn a_frame_without_end_is_refused_before_it_costs_memory() {
        let mut parser = Parser::default();
        let chunk = vec![b'a'; 1 << 16];
        let refused = (0..=MAX_FRAME / chunk.len()).find_map(|_| parser.push(&chunk).err());
        assert!(matches!(refused, Some(TransportError::Stream)));
    }

    #[test]
    fn unknown_kinds_are_passed_over_and_broken_data_is_an_error() {
        assert!(matches!(frame("news", "{}").item(), Ok(None)));
        assert!(matches!(frame("end", "{}").item(), Err(TransportError::Stream)));
    }
}
