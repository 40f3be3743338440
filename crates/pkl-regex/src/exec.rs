//! The machine: a program, a text, a stack of open choices. It never recurses.

use unicode_segmentation::{GraphemeCursor, UnicodeSegmentation as _};

use crate::ast::{Assertion, Greed, Length, LineEnds};
use crate::budget::{Budget, LimitError};
use crate::compile::{Inst, One, Program};
use crate::fold::fold;
use crate::set::CharSet;
use crate::unicode;
use std::sync::OnceLock;

/// A register that holds nothing.
const NOTHING: usize = usize::MAX;

/// What to do when the current way fails, the newest first.
#[derive(Clone, Copy, Debug)]
enum Choice {
    /// Go on there.
    Branch { pc: usize, pos: usize },
    /// Put a register back.
    Restore { register: usize, value: usize },
    /// Let a greedy repetition give back a character, down to `min`.
    GiveBack { pc: usize, min: usize, pos: usize },
    /// Let a lazy repetition take one more character.
    TakeMore { pc: usize, pos: usize, count: u32 },
    /// Begin a look-behind one character earlier.
    Earlier { pc: usize, pos: usize, left: u32 },
}

/// How far a match must go.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Until {
    Anywhere,
    TextEnd,
}

pub(crate) struct Machine<'p, 't, 'b> {
    program: &'p Program,
    text: &'t str,
    budget: &'b mut Budget,
    until: Until,
    /// Where the last match ended.
    last_end: usize,
    registers: Vec<usize>,
    choices: Vec<Choice>,
}

impl<'p, 't, 'b> Machine<'p, 't, 'b> {
    pub(crate) fn new(program: &'p Program, text: &'t str, budget: &'b mut Budget, until: Until) -> Self {
        Self { program, text, budget, until, last_end: 0, registers: Vec::new(), choices: Vec::new() }
    }

    /// The groups of the first match that begins at `from` or later.
    pub(crate) fn search(&mut self, from: usize, last_end: usize) -> Result<Option<Groups>, LimitError> {
        self.last_end = last_end;
        let mut pos = from;
        loop {
            if let Some(first) = &self.program.first {
                let skipped = self.text[pos..].find(|character| first.contains(character));
                let Some(skipped) = skipped else { return Ok(None) };
                pos += skipped;
            }
            if self.program.is_anchored && pos > 0 {
                return Ok(None);
            }
            if let Some(groups) = self.match_at(pos)? {
                return Ok(Some(groups));
            }
            match self.text[pos..].chars().next() {
                Some(character) => pos += character.len_utf8(),
                None => return Ok(None),
            }
        }
    }

    /// The groups of a match that begins exactly at `pos`.
    pub(crate) fn match_at(&mut self, pos: usize) -> Result<Option<Groups>, LimitError> {
        self.registers.clear();
        self.registers.resize(self.program.registers, NOTHING);
        self.choices.clear();
        if !self.run(pos)? {
            return Ok(None);
        }
        let group = |index: usize| match (self.registers[index * 2], self.registers[index * 2 + 1]) {
            (NOTHING, _) | (_, NOTHING) => None,
            (start, end) => Some((start, end)),
        };
        Ok(Some((0..self.program.groups).map(group).collect()))
    }

    /// Runs from the first instruction until a match or until no choice is left.
    fn run(&mut self, start: usize) -> Result<bool, LimitError> {
        let (mut pc, mut pos) = (0, start);
        loop {
            self.budget.step()?;
            let next = match &self.program.insts[pc] {
                Inst::Match if self.until == Until::TextEnd && pos != self.text.len() => None,
                Inst::Match => return Ok(true),
                inst => self.step(inst, pc, pos)?,
            };
            match next {
                Some(next) => (pc, pos) = next,
                None => match self.backtrack()? {
                    Some(next) => (pc, pos) = next,
                    None => return Ok(false),
                },
            }
        }
    }

    /// Where to go on after an instruction; `None` if it fails.
    fn step(&mut self, inst: &'p Inst, pc: usize, pos: usize) -> Result<Option<(usize, usize)>, LimitError> {
        Ok(match inst {
            Inst::One(one) => self.take(one, pos).map(|pos| (pc + 1, pos)),
            Inst::RepeatOne { one, min, max, greed } => self.repeat(one, (*min, *max), *greed, pc, pos)?,
            Inst::Grapheme => {
                self.text[pos..].graphemes(true).next().map(|cluster| (pc + 1, pos + cluster.len()))
            }
            Inst::Backreference { group, ignore_case } => {
                self.backreference(*group, *ignore_case, pos).map(|pos| (pc + 1, pos))
            }
            Inst::Fail | Inst::Match => None,
            Inst::Assert(assertion) => self.holds(*assertion, pos).then_some((pc + 1, pos)),
            Inst::Mark(register) => {
                self.set(*register, pos)?;
                Some((pc + 1, pos))
            }
            Inst::Close { group, start } => {
                self.set(group * 2, self.registers[*start])?;
                self.set(group * 2 + 1, pos)?;
                Some((pc + 1, pos))
            }
            Inst::Jump(to) => Some((*to, pos)),
            Inst::Split { first, second } => {
                self.push(Choice::Branch { pc: *second, pos })?;
                Some((*first, pos))
            }
            Inst::LeaveIfStuck { mark, exit } => {
                Some((if self.registers[*mark] == pos { *exit } else { pc + 1 }, pos))
            }
            Inst::Reset(counter) => {
                self.set(*counter, 0)?;
                Some((pc + 1, pos))
            }
            Inst::Count(counter) => {
                self.set(*counter, self.registers[*counter] + 1)?;
                Some((pc + 1, pos))
            }
            Inst::Loop { counter, min, max, is_greedy, exit } => {
                let count = self.registers[*counter];
                let to = if count < *min as usize {
                    pc + 1
                } else if max.is_some_and(|max| count >= max as usize) {
                    *exit
                } else {
                    let (first, second) = if *is_greedy { (pc + 1, *exit) } else { (*exit, pc + 1) };
                    self.push(Choice::Branch { pc: second, pos })?;
                    first
                };
                Some((to, pos))
            }
            _ => self.group_step(inst, pc, pos)?,
        })
    }

    /// The instructions of atomic groups and of looking around.
    fn group_step(
        &mut self,
        inst: &Inst,
        pc: usize,
        pos: usize,
    ) -> Result<Option<(usize, usize)>, LimitError> {
        Ok(match *inst {
            Inst::Open { height } => {
                self.open(height)?;
                Some((pc + 1, pos))
            }
            Inst::Commit { height } => {
                self.commit(height);
                Some((pc + 1, pos))
            }
            Inst::Ahead { height, place } => {
                self.set(place, pos)?;
                self.open(height)?;
                Some((pc + 1, pos))
            }
            Inst::AheadEnd { height, place } => {
                self.commit(height);
                Some((pc + 1, self.registers[place]))
            }
            Inst::NotAhead { height, exit } => {
                self.open(height)?;
                self.push(Choice::Branch { pc: exit, pos })?;
                Some((pc + 1, pos))
            }
            Inst::NotEnd { height } => {
                self.undo_to(self.registers[height]);
                None
            }
            Inst::Behind { height, place, length, negative_exit } => {
                self.set(place, pos)?;
                self.open(height)?;
                if let Some(exit) = negative_exit {
                    self.push(Choice::Branch { pc: exit, pos })?;
                }
                self.nearest(length, pc, pos)?
            }
            Inst::BehindEnd { place, .. } if self.registers[place] != pos => None,
            Inst::BehindEnd { height, negative, .. } => {
                if negative {
                    self.undo_to(self.registers[height]);
                    None
                } else {
                    self.commit(height);
                    Some((pc + 1, pos))
                }
            }
            _ => None,
        })
    }

    /// Goes on with the newest choice that leads anywhere.
    fn backtrack(&mut self) -> Result<Option<(usize, usize)>, LimitError> {
        while let Some(choice) = self.choices.pop() {
            match choice {
                Choice::Branch { pc, pos } => return Ok(Some((pc, pos))),
                Choice::Restore { register, value } => self.registers[register] = value,
                Choice::GiveBack { pc, min, pos } => {
                    let Some(pos) = self.before(pos) else { continue };
                    if pos > min {
                        self.push(Choice::GiveBack { pc, min, pos })?;
                    }
                    return Ok(Some((pc, pos)));
                }
                Choice::TakeMore { pc, pos, count } => {
                    let Inst::RepeatOne { one, max, .. } = &self.program.insts[pc] else { continue };
                    let Some(pos) = self.take(one, pos) else { continue };
                    if max.is_none_or(|max| count + 1 < max) {
                        self.push(Choice::TakeMore { pc, pos, count: count.saturating_add(1) })?;
                    }
                    return Ok(Some((pc + 1, pos)));
                }
                Choice::Earlier { pc, pos, left } => {
                    let Some(pos) = self.before(pos).filter(|_| left > 0) else { continue };
                    self.push(Choice::Earlier { pc, pos, left: left - 1 })?;
                    return Ok(Some((pc + 1, pos)));
                }
            }
        }
        Ok(None)
    }

    fn push(&mut self, choice: Choice) -> Result<(), LimitError> {
        if self.choices.len() >= self.budget.max_choices {
            return Err(LimitError::Choices);
        }
        self.choices.push(choice);
        Ok(())
    }

    fn set(&mut self, register: usize, value: usize) -> Result<(), LimitError> {
        let old = std::mem::replace(&mut self.registers[register], value);
        // Without a choice there is nothing to come back to.
        if self.choices.is_empty() {
            return Ok(());
        }
        self.push(Choice::Restore { register, value: old })
    }

    fn open(&mut self, height: usize) -> Result<(), LimitError> {
        let old = self.registers[height];
        self.push(Choice::Restore { register: height, value: old })?;
        self.registers[height] = self.choices.len();
        Ok(())
    }

    /// Drops the choices since `height` was opened, but not what puts registers back.
    fn commit(&mut self, height: usize) {
        let opened = self.registers[height].min(self.choices.len());
        let since = self.choices.split_off(opened);
        self.choices.extend(since.into_iter().filter(|choice| matches!(choice, Choice::Restore { .. })));
    }

    /// Drops the choices down to a height and puts the registers back.
    fn undo_to(&mut self, height: usize) {
        while self.choices.len() > height {
            if let Some(Choice::Restore { register, value }) = self.choices.pop() {
                self.registers[register] = value;
            }
        }
    }

    fn nearest(
        &mut self,
        length: Length,
        pc: usize,
        pos: usize,
    ) -> Result<Option<(usize, usize)>, LimitError> {
        let mut start = pos;
        for _ in 0..length.min {
            self.budget.step()?;
            match self.before(start) {
                Some(before) => start = before,
                None => return Ok(None),
            }
        }
        let left = length.max.map_or(u32::MAX, |max| max - length.min);
        self.push(Choice::Earlier { pc, pos: start, left })?;
        Ok(Some((pc + 1, start)))
    }

    fn repeat(
        &mut self,
        one: &One,
        (min, max): (u32, Option<u32>),
        greed: Greed,
        pc: usize,
        mut pos: usize,
    ) -> Result<Option<(usize, usize)>, LimitError> {
        for _ in 0..min {
            self.budget.step()?;
            match self.take(one, pos) {
                Some(next) => pos = next,
                None => return Ok(None),
            }
        }
        if greed == Greed::Lazy {
            if max.is_none_or(|max| min < max) {
                self.push(Choice::TakeMore { pc, pos, count: min })?;
            }
            return Ok(Some((pc + 1, pos)));
        }
        let least = pos;
        let mut count = min;
        while max.is_none_or(|max| count < max)
            && let Some(next) = self.take(one, pos)
        {
            self.budget.step()?;
            pos = next;
            count = count.saturating_add(1);
        }
        if greed == Greed::Greedy && pos > least {
            self.push(Choice::GiveBack { pc: pc + 1, min: least, pos })?;
        }
        Ok(Some((pc + 1, pos)))
    }

    fn next(&self, pos: usize) -> Option<char> {
        self.text[pos..].chars().next()
    }

    fn previous(&self, pos: usize) -> Option<char> {
        self.text[..pos].chars().next_back()
    }

    /// One character earlier.
    fn before(&self, pos: usize) -> Option<usize> {
        self.previous(pos).map(|character| pos - character.len_utf8())
    }

    /// The place after a character that fits.
    fn take(&self, one: &One, pos: usize) -> Option<usize> {
        let character = self.next(pos)?;
        let fits = match one {
            One::Char(wanted) => character == *wanted,
            One::Set(set) => self.program.sets[*set].contains(character),
        };
        fits.then(|| pos + character.len_utf8())
    }

    fn backreference(&self, group: usize, ignore_case: bool, pos: usize) -> Option<usize> {
        let (start, end) = (self.registers[group * 2], self.registers[group * 2 + 1]);
        if start == NOTHING || end == NOTHING {
            return None;
        }
        let taken = &self.text[start..end];
        let rest = &self.text[pos..];
        if !ignore_case {
            return rest.starts_with(taken).then(|| pos + taken.len());
        }
        let mut characters = rest.chars();
        for wanted in taken.chars() {
            if characters.next().map(fold) != Some(fold(wanted)) {
                return None;
            }
        }
        Some(self.text.len() - characters.as_str().len())
    }

    fn holds(&self, assertion: Assertion, pos: usize) -> bool {
        match assertion {
            Assertion::TextStart => pos == 0,
            Assertion::TextEnd => pos == self.text.len(),
            Assertion::TextEndOrLastLine(ends) => self.is_line_end(ends, pos) && self.is_last_line(ends, pos),
            Assertion::LineStart(ends) => self.is_line_start(ends, pos),
            Assertion::LineEnd(ends) => self.is_line_end(ends, pos),
            Assertion::WordBoundary => self.is_word_boundary(pos),
            Assertion::NotWordBoundary => !self.is_word_boundary(pos),
            Assertion::GraphemeBoundary => GraphemeCursor::new(pos, self.text.len(), true)
                .is_boundary(self.text, 0)
                .is_ok_and(|is_boundary| is_boundary),
            Assertion::LastMatch => pos == self.last_end,
        }
    }

    /// Whether nothing but a single line end follows.
    fn is_last_line(&self, ends: LineEnds, pos: usize) -> bool {
        let rest = &self.text[pos..];
        rest.is_empty() || (ends == LineEnds::All && rest == "\r\n") || rest.chars().nth(1).is_none()
    }

    fn is_line_start(&self, ends: LineEnds, pos: usize) -> bool {
        // Not at the end, not even of an empty text.
        if pos == self.text.len() {
            return false;
        }
        if pos == 0 {
            return true;
        }
        match self.previous(pos) {
            Some('\n') => true,
            Some('\r') => ends == LineEnds::All && self.next(pos) != Some('\n'),
            Some(character) => ends == LineEnds::All && is_other_line_end(character),
            None => false,
        }
    }

    fn is_line_end(&self, ends: LineEnds, pos: usize) -> bool {
        match self.next(pos) {
            None => true,
            Some('\n') => ends == LineEnds::Unix || self.previous(pos) != Some('\r'),
            Some(character) => ends == LineEnds::All && (character == '\r' || is_other_line_end(character)),
        }
    }

    fn is_word_boundary(&self, pos: usize) -> bool {
        self.previous(pos).is_some_and(is_word) != self.next(pos).is_some_and(is_word)
    }
}

fn is_other_line_end(character: char) -> bool {
    matches!(character, '\u{85}' | '\u{2028}' | '\u{2029}')
}

fn is_word(character: char) -> bool {
    static WORD: OnceLock<CharSet> = OnceLock::new();
    WORD.get_or_init(|| CharSet::new(&unicode::word())).contains(character)
}

/// Start and end of each group, the whole match first.
pub(crate) type Groups = Vec<Option<(usize, usize)>>;
