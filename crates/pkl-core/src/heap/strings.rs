//! Strings. Short ones lie side by side in pages, for allocating each costs more than its bytes. A string that
//! is grown at its end shares one buffer with what it grew from, so that appending in a loop costs what is
//! appended.

use std::sync::Arc;

use super::Heap;
use super::arena::Arena;
use crate::value::{StringId, Value};

#[derive(Debug)]
enum Text {
    Whole(Arc<str>),
    /// A part of a page.
    Short {
        page: u32,
        start: u16,
        len: u16,
    },
    /// The first `len` bytes of a buffer.
    Prefix {
        buffer: u32,
        len: u32,
    },
}

/// All strings of one evaluation.
#[derive(Default)]
pub(super) struct Strings {
    texts: Arena<Text>,
    buffers: Vec<String>,
    /// The short strings; the last page has room left.
    pages: Vec<String>,
}

/// Longer strings are kept as they were made.
const SHORT: usize = 128;
const PAGE: usize = 8 << 10;

impl Strings {
    fn add_short(&mut self, text: &str) -> Text {
        match self.pages.last() {
            Some(page) if page.len() + text.len() <= PAGE => {}
            _ => self.pages.push(String::with_capacity(PAGE)),
        }
        let number = self.pages.len() - 1;
        let page = &mut self.pages[number];
        let start = page.len();
        page.push_str(text);
        let narrow = |n: usize| u16::try_from(n).expect("a page is shorter than u16 has numbers");
        let page = u32::try_from(number).expect("the memory limit is reached first");
        Text::Short { page, start: narrow(start), len: narrow(text.len()) }
    }
}

/// Shorter results are copied: a buffer would cost more than it saves.
const SHARE_FROM: usize = 64;

impl Heap<'_> {
    /// The text of a string.
    #[inline]
    pub(crate) fn text(&self, id: StringId) -> &str {
        match self.strings.texts.get(id.index()) {
            Text::Whole(text) => text,
            Text::Short { page, start, len } => {
                &self.strings.pages[*page as usize]
                    [usize::from(*start)..usize::from(*start) + usize::from(*len)]
            }
            Text::Prefix { buffer, len } => &self.strings.buffers[*buffer as usize][..*len as usize],
        }
    }

    /// The text as a shared string.
    pub(crate) fn shared_text(&self, id: StringId) -> Arc<str> {
        match self.strings.texts.get(id.index()) {
            Text::Whole(text) => Arc::clone(text),
            Text::Short { .. } | Text::Prefix { .. } => self.text(id).into(),
        }
    }

    pub(crate) fn add_string(&mut self, text: impl AsRef<str> + Into<Arc<str>>) -> StringId {
        let len = text.as_ref().len();
        self.bytes += len + size_of::<Text>();
        let text =
            if len <= SHORT { self.strings.add_short(text.as_ref()) } else { Text::Whole(text.into()) };
        self.strings.texts.push(text);
        StringId::at(self.strings.texts.len() - 1)
    }

    pub(crate) fn string(&mut self, text: impl AsRef<str> + Into<Arc<str>>) -> Value {
        Value::String(self.add_string(text))
    }

    /// `left + right`.
    pub(crate) fn concat(&mut self, left: StringId, right: StringId) -> StringId {
        let (left_len, right_len) = (self.text(left).len(), self.text(right).len());
        if right_len == 0 {
            return left;
        }
        if left_len + right_len < SHARE_FROM {
            let text: String = [self.text(left), self.text(right)].concat();
            return self.add_string(text);
        }
        let right_text = self.shared_text(right);
        let buffer = match *self.strings.texts.get(left.index()) {
            Text::Prefix { buffer, len } if self.strings.buffers[buffer as usize].len() == len as usize => {
                buffer
            }
            _ => {
                let mut text = String::with_capacity((left_len + right_len) * 2);
                text.push_str(self.text(left));
                self.bytes += left_len;
                self.strings.buffers.push(text);
                u32::try_from(self.strings.buffers.len() - 1).expect("the memory limit is reached first")
            }
        };
        self.strings.buffers[buffer as usize].push_str(&right_text);
        self.bytes += right_len + size_of::<Text>();
        let len = u32::try_from(left_len + right_len).expect("the memory limit is below 4 GiB of one string");
        self.strings.texts.push(Text::Prefix { buffer, len });
        StringId::at(self.strings.texts.len() - 1)
    }
}
