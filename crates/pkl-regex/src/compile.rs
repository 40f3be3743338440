//! Tree to program. The program is no longer than the pattern times a constant: repetitions count
//! at run time instead of being unrolled.

use regex_syntax::hir::ClassUnicode;

use crate::ast::{Assertion, Greed, Length, Node};
use crate::parse::Parsed;
use crate::set::{self, CharSet};

/// One step of the machine. Addresses are indices of instructions, registers those of
/// [`Program::registers`]; the first registers hold the starts and ends of the groups.
#[derive(Clone, Debug)]
pub(crate) enum Inst {
    /// Takes one character.
    One(One),
    /// Takes one character again and again; goes on with the next instruction.
    RepeatOne {
        one: One,
        min: u32,
        max: Option<u32>,
        greed: Greed,
    },
    /// Takes a grapheme cluster.
    Grapheme,
    /// Takes what a group took.
    Backreference {
        group: usize,
        ignore_case: bool,
    },
    /// Fails.
    Fail,
    /// Fails unless the place is right.
    Assert(Assertion),
    /// Notes the place.
    Mark(usize),
    /// Notes what a group took: from the place in `start` to here.
    Close {
        group: usize,
        start: usize,
    },
    Jump(usize),
    /// Goes to the first, and to the second if that fails.
    Split {
        first: usize,
        second: usize,
    },
    /// Leaves a loop whose body took nothing since the mark.
    LeaveIfStuck {
        mark: usize,
        exit: usize,
    },
    /// Sets a counter to zero.
    Reset(usize),
    /// Adds one to a counter.
    Count(usize),
    /// Goes on into the body of a counted loop, or to its exit.
    Loop {
        counter: usize,
        min: u32,
        max: Option<u32>,
        is_greedy: bool,
        exit: usize,
    },
    /// Notes how many choices are open.
    Open {
        height: usize,
    },
    /// Gives up the choices that were opened since.
    Commit {
        height: usize,
    },
    /// Begins a look-ahead that must match.
    Ahead {
        height: usize,
        place: usize,
    },
    /// Ends it and goes back to where it began.
    AheadEnd {
        height: usize,
        place: usize,
    },
    /// Begins one that must not match; if it doesn't, goes to the exit.
    NotAhead {
        height: usize,
        exit: usize,
    },
    /// It matched.
    NotEnd {
        height: usize,
    },
    /// Begins a look-behind, at the nearest place it can begin at.
    Behind {
        height: usize,
        place: usize,
        length: Length,
        negative_exit: Option<usize>,
    },
    /// Ends it, if what it took ends where it should.
    BehindEnd {
        height: usize,
        place: usize,
        negative: bool,
    },
    /// The end.
    Match,
}

/// What takes exactly one character.
#[derive(Clone, Debug)]
pub(crate) enum One {
    Char(char),
    /// An index into [`Program::sets`].
    Set(usize),
}

/// A compiled pattern.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    pub(crate) insts: Vec<Inst>,
    pub(crate) sets: Vec<CharSet>,
    pub(crate) registers: usize,
    /// How many groups there are, the whole match included.
    pub(crate) groups: usize,
    /// The characters that a match can begin with, if that is known and it isn't empty.
    pub(crate) first: Option<CharSet>,
    /// Whether a match can only begin where the text does.
    pub(crate) is_anchored: bool,
}

pub(crate) fn compile(parsed: &Parsed) -> Program {
    let groups = parsed.groups + 1;
    let mut compiler = Compiler { insts: Vec::new(), sets: Vec::new(), registers: groups * 2 };
    compiler.emit(Inst::Mark(0));
    compiler.node(&parsed.node);
    compiler.emit(Inst::Mark(1));
    compiler.emit(Inst::Match);
    Program {
        insts: compiler.insts,
        sets: compiler.sets,
        registers: compiler.registers,
        groups,
        first: first(&parsed.node).map(|class| CharSet::new(&class)),
        is_anchored: is_anchored(&parsed.node),
    }
}

struct Compiler {
    insts: Vec<Inst>,
    sets: Vec<CharSet>,
    registers: usize,
}

impl Compiler {
    fn emit(&mut self, inst: Inst) -> usize {
        self.insts.push(inst);
        self.insts.len() - 1
    }

    fn here(&self) -> usize {
        self.insts.len()
    }

    fn register(&mut self) -> usize {
        self.registers += 1;
        self.registers - 1
    }

    fn one(&mut self, node: &Node) -> Option<One> {
        match node {
            Node::Char(character) => Some(One::Char(*character)),
            Node::Set(class) => {
                self.sets.push(CharSet::new(class));
                Some(One::Set(self.sets.len() - 1))
            }
            _ => None,
        }
    }

    fn node(&mut self, node: &Node) {
        if let Some(one) = self.one(node) {
            self.emit(Inst::One(one));
            return;
        }
        match node {
            Node::Empty | Node::Char(_) | Node::Set(_) => {}
            Node::Never => {
                self.emit(Inst::Fail);
            }
            Node::Assert(assertion) => {
                self.emit(Inst::Assert(*assertion));
            }
            Node::Backreference { group, ignore_case } => {
                self.emit(Inst::Backreference { group: *group, ignore_case: *ignore_case });
            }
            Node::Grapheme => {
                self.emit(Inst::Grapheme);
            }
            Node::Capture(group, node) => self.capture(*group, node),
            Node::Atomic(node) => self.atomic(|compiler| compiler.node(node)),
            Node::Look { behind: None, negative, node } => self.ahead(*negative, node),
            Node::Look { behind: Some(length), negative, node } => self.behind(*length, *negative, node),
            Node::Concat(nodes) => nodes.iter().for_each(|node| self.node(node)),
            Node::Alternate(nodes) => self.alternate(nodes),
            Node::Repeat { node, min, max, greed } => self.repeat(node, *min, *max, *greed),
        }
    }

    /// A group is noted as a whole when it ends, so that inside of it, and if it fails, it still is
    /// what it was before.
    fn capture(&mut self, group: usize, node: &Node) {
        let start = self.register();
        self.emit(Inst::Mark(start));
        self.node(node);
        self.emit(Inst::Close { group, start });
    }

    fn atomic(&mut self, body: impl FnOnce(&mut Self)) {
        let height = self.register();
        self.emit(Inst::Open { height });
        body(self);
        self.emit(Inst::Commit { height });
    }

    fn ahead(&mut self, negative: bool, node: &Node) {
        let height = self.register();
        if negative {
            let start = self.emit(Inst::Fail);
            self.node(node);
            self.emit(Inst::NotEnd { height });
            self.insts[start] = Inst::NotAhead { height, exit: self.here() };
        } else {
            let place = self.register();
            self.emit(Inst::Ahead { height, place });
            self.node(node);
            self.emit(Inst::AheadEnd { height, place });
        }
    }

    fn behind(&mut self, length: Length, negative: bool, node: &Node) {
        let (height, place) = (self.register(), self.register());
        let start = self.emit(Inst::Fail);
        self.node(node);
        self.emit(Inst::BehindEnd { height, place, negative });
        let negative_exit = negative.then_some(self.here());
        self.insts[start] = Inst::Behind { height, place, length, negative_exit };
    }

    fn alternate(&mut self, nodes: &[Node]) {
        let mut ends = Vec::new();
        for (index, node) in nodes.iter().enumerate() {
            if index + 1 == nodes.len() {
                self.node(node);
            } else {
                let split = self.emit(Inst::Fail);
                self.node(node);
                ends.push(self.emit(Inst::Fail));
                self.insts[split] = Inst::Split { first: split + 1, second: self.here() };
            }
        }
        let exit = self.here();
        for end in ends {
            self.insts[end] = Inst::Jump(exit);
        }
    }

    fn repeat(&mut self, node: &Node, min: u32, max: Option<u32>, greed: Greed) {
        if let Some(one) = self.one(node) {
            self.emit(Inst::RepeatOne { one, min, max, greed });
            return;
        }
        let is_greedy = greed != Greed::Lazy;
        match greed {
            Greed::Possessive => self.atomic(|compiler| compiler.looped(node, min, max, true)),
            _ => self.looped(node, min, max, is_greedy),
        }
    }

    fn looped(&mut self, node: &Node, min: u32, max: Option<u32>, is_greedy: bool) {
        match (min, max) {
            (_, Some(0)) => {}
            (1, Some(1)) => self.node(node),
            (0, Some(1)) => {
                let split = self.emit(Inst::Fail);
                self.node(node);
                self.insts[split] = Self::split(is_greedy, split + 1, self.here());
            }
            (0, None) => {
                let split = self.emit(Inst::Fail);
                let stuck = self.body(node);
                self.emit(Inst::Jump(split));
                let exit = self.here();
                self.insts[split] = Self::split(is_greedy, split + 1, exit);
                self.leave(stuck, exit);
            }
            (1, None) => {
                let start = self.here();
                let stuck = self.body(node);
                let exit = self.here() + 1;
                self.emit(Self::split(is_greedy, start, exit));
                self.leave(stuck, exit);
            }
            _ => {
                let counter = self.register();
                self.emit(Inst::Reset(counter));
                let start = self.emit(Inst::Fail);
                self.emit(Inst::Count(counter));
                let stuck = self.body(node);
                self.emit(Inst::Jump(start));
                let exit = self.here();
                self.insts[start] = Inst::Loop { counter, min, max, is_greedy, exit };
                self.leave(stuck, exit);
            }
        }
    }

    fn split(is_greedy: bool, body: usize, exit: usize) -> Inst {
        if is_greedy {
            Inst::Split { first: body, second: exit }
        } else {
            Inst::Split { first: exit, second: body }
        }
    }

    /// The body of a loop; if it can take nothing, with a check that it took something, whose address
    /// and mark are returned.
    fn body(&mut self, node: &Node) -> Option<(usize, usize)> {
        if node.length().min > 0 {
            self.node(node);
            return None;
        }
        let mark = self.register();
        self.emit(Inst::Mark(mark));
        self.node(node);
        Some((self.emit(Inst::Fail), mark))
    }

    fn leave(&mut self, stuck: Option<(usize, usize)>, exit: usize) {
        if let Some((at, mark)) = stuck {
            self.insts[at] = Inst::LeaveIfStuck { mark, exit };
        }
    }
}

/// The characters that what a node takes can begin with; `None` if it may take nothing or isn't known.
fn first(node: &Node) -> Option<ClassUnicode> {
    match node {
        Node::Char(character) => Some(set::of_char(*character)),
        Node::Set(class) => Some((**class).clone()),
        Node::Capture(_, node) | Node::Atomic(node) => first(node),
        Node::Concat(nodes) => nodes
            .iter()
            .find(|node| !matches!(node, Node::Empty | Node::Assert(_) | Node::Look { .. }))
            .and_then(first),
        Node::Alternate(nodes) => nodes.iter().map(first).reduce(|a, b| Some(set::union(a?, &b?))).flatten(),
        Node::Repeat { node, min, .. } if *min > 0 => first(node),
        _ => None,
    }
}

fn is_anchored(node: &Node) -> bool {
    match node {
        Node::Assert(Assertion::TextStart) => true,
        Node::Capture(_, node) | Node::Atomic(node) => is_anchored(node),
        Node::Concat(nodes) => nodes.first().is_some_and(is_anchored),
        Node::Alternate(nodes) => nodes.iter().all(is_anchored),
        _ => false,
    }
}
