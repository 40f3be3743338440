//! A pattern as a tree. Its depth is bounded by the parser, so walking and dropping it is safe.

use regex_syntax::hir::ClassUnicode;

/// A part of a pattern.
#[derive(Clone, Debug)]
pub(crate) enum Node {
    /// Matches without taking anything.
    Empty,
    /// Matches nothing.
    Never,
    /// One character.
    Char(char),
    /// One character of a set.
    Set(Box<ClassUnicode>),
    /// A place.
    Assert(Assertion),
    /// What a group took.
    Backreference { group: usize, ignore_case: bool },
    /// A group that keeps what it took; numbered from one.
    Capture(usize, Box<Node>),
    /// A group that gives nothing back.
    Atomic(Box<Node>),
    /// What must or must not follow or go before.
    Look { behind: Option<Length>, negative: bool, node: Box<Node> },
    /// One after the other.
    Concat(Vec<Node>),
    /// The first that fits.
    Alternate(Vec<Node>),
    /// Again and again.
    Repeat { node: Box<Node>, min: u32, max: Option<u32>, greed: Greed },
    /// A grapheme cluster.
    Grapheme,
}

/// How much a repetition takes at first, and whether it gives some back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Greed {
    Greedy,
    Lazy,
    Possessive,
}

/// A place in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Assertion {
    TextStart,
    TextEnd,
    /// The end, or before the line end that ends the text.
    TextEndOrLastLine(LineEnds),
    LineStart(LineEnds),
    LineEnd(LineEnds),
    WordBoundary,
    NotWordBoundary,
    GraphemeBoundary,
    /// Where the last match ended.
    LastMatch,
}

/// What ends a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LineEnds {
    /// `\n`, `\r\n`, `\r`, next line, line separator, paragraph separator.
    All,
    /// `\n` alone.
    Unix,
}

/// How many characters something takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Length {
    pub(crate) min: u32,
    /// `None` if there is no bound.
    pub(crate) max: Option<u32>,
    /// Whether the bound can be told at all: not with back references and repeated groups.
    pub(crate) is_obvious: bool,
}

impl Node {
    /// How many characters a part takes.
    pub(crate) fn length(&self) -> Length {
        match self {
            Self::Empty | Self::Never | Self::Assert(_) | Self::Look { .. } => Length::exactly(0),
            Self::Char(_) | Self::Set(_) => Length::exactly(1),
            Self::Backreference { .. } => Length { min: 0, max: None, is_obvious: false },
            Self::Grapheme => Length { min: 1, max: None, is_obvious: false },
            Self::Capture(_, node) | Self::Atomic(node) => node.length(),
            Self::Concat(nodes) => nodes.iter().map(Self::length).fold(Length::exactly(0), Length::then),
            Self::Alternate(nodes) => {
                nodes.iter().map(Self::length).reduce(Length::or).unwrap_or(Length::exactly(0))
            }
            Self::Repeat { node, min, max, .. } => node.length().times(*min, *max, node.is_one_character()),
        }
    }

    /// Whether it takes exactly one character and nothing else happens.
    pub(crate) fn is_one_character(&self) -> bool {
        matches!(self, Self::Char(_) | Self::Set(_))
    }
}

impl Length {
    fn exactly(length: u32) -> Self {
        Self { min: length, max: Some(length), is_obvious: true }
    }

    fn then(self, other: Self) -> Self {
        Self {
            min: self.min.saturating_add(other.min),
            max: self.max.zip(other.max).map(|(a, b)| a.saturating_add(b)),
            is_obvious: self.is_obvious && other.is_obvious,
        }
    }

    fn or(self, other: Self) -> Self {
        Self {
            min: self.min.min(other.min),
            max: self.max.zip(other.max).map(|(a, b)| a.max(b)),
            is_obvious: self.is_obvious && other.is_obvious,
        }
    }

    fn times(self, min: u32, max: Option<u32>, is_one_character: bool) -> Self {
        if self.max == Some(0) {
            return self;
        }
        Self {
            min: self.min.saturating_mul(min),
            max: self.max.zip(max).map(|(length, times)| length.saturating_mul(times)),
            is_obvious: self.is_obvious && (is_one_character || max.is_some()),
        }
    }
}
