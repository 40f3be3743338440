//! Text with places where lines may break, and how to choose among them.
//!
//! A layout is a flat list of pieces with brackets for groups and indentation, so that neither building
//! nor printing it recurses. A group is printed on one line if it fits, together with what follows it up
//! to the next place where a line may break, and if nothing in it must break.

/// The longest line that the printer tries to keep to.
const MAX_WIDTH: usize = 100;
const INDENTATION: usize = 2;

/// A piece of a layout.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Piece<'s> {
    /// Nothing.
    Nothing,
    /// Text of the source or of the style.
    Text(&'s str),
    /// A space, unless a line begins here.
    Space,
    /// A space, or a line end if the group around it is broken.
    Line,
    /// Nothing, or a line end if the group around it is broken.
    SoftLine,
    /// A line end.
    HardLine,
    /// A line end and a blank line.
    BlankLine,
    /// Text if the group around it is broken.
    IfBroken(&'static str),
    /// Text if the group around it is not broken.
    IfFlat(&'static str),
    /// Breaks the groups around it.
    Break,
    /// Breaks the groups around it; the next text begins a line.
    LineBeforeText,
    /// Opens a group.
    Open,
    /// Closes a group.
    Close,
    /// Indents the lines that follow.
    Indent,
    /// Ends an indentation.
    Dedent,
    /// From here on width doesn't count: inside of a string.
    WidthOff,
    /// Ends what `WidthOff` began.
    WidthOn,
}

/// Prints a layout; each line but the last ends with a line end.
pub(crate) fn print(pieces: &[Piece<'_>]) -> String {
    let mut printer = Printer {
        pieces,
        must_break: groups_that_must_break(pieces),
        groups: vec![true],
        out: String::new(),
        column: 0,
        depth: 0,
        line_is_empty: true,
        line_wanted: false,
        width_off: 0,
    };
    for index in 0..pieces.len() {
        printer.piece(index);
    }
    printer.out
}

/// For each piece, whether it opens a group that must break.
fn groups_that_must_break(pieces: &[Piece<'_>]) -> Vec<bool> {
    let mut must_break = vec![false; pieces.len()];
    let mut open = Vec::new();
    for (index, piece) in pieces.iter().enumerate() {
        match piece {
            Piece::Open => open.push(index),
            Piece::Close => {
                let closed = open.pop();
                if let (Some(closed), Some(&outer)) = (closed, open.last()) {
                    must_break[outer] |= must_break[closed];
                }
            }
            Piece::HardLine | Piece::BlankLine | Piece::Break | Piece::LineBeforeText => {
                if let Some(&innermost) = open.last() {
                    must_break[innermost] = true;
                }
            }
            _ => {}
        }
    }
    must_break
}

struct Printer<'p, 's> {
    pieces: &'p [Piece<'s>],
    must_break: Vec<bool>,
    /// Whether each open group is broken, innermost last. All there is counts as a broken group.
    groups: Vec<bool>,
    out: String,
    column: usize,
    depth: usize,
    /// Whether nothing was printed on this line yet, not even its indentation.
    line_is_empty: bool,
    /// Whether the next text must begin a line.
    line_wanted: bool,
    width_off: usize,
}

impl Printer<'_, '_> {
    fn piece(&mut self, index: usize) {
        match self.pieces[index] {
            Piece::Text(text) => self.text(text),
            Piece::HardLine => self.line_end(),
            Piece::Line | Piece::SoftLine if self.is_broken() => self.line_end(),
            Piece::Space | Piece::Line => self.space(),
            Piece::BlankLine => {
                self.line_end();
                self.out.push('\n');
            }
            Piece::IfBroken(text) if self.is_broken() => self.text(text),
            Piece::IfFlat(text) if !self.is_broken() => self.text(text),
            Piece::Nothing | Piece::SoftLine | Piece::IfBroken(_) | Piece::IfFlat(_) | Piece::Break => {}
            Piece::LineBeforeText => self.line_wanted = true,
            Piece::Open => {
                let broken = self.must_break[index] || (self.width_off == 0 && !self.fits(index));
                self.groups.push(broken);
            }
            Piece::Close => {
                self.groups.pop();
            }
            Piece::Indent => self.depth += 1,
            Piece::Dedent => self.depth -= 1,
            Piece::WidthOff => self.width_off += 1,
            Piece::WidthOn => self.width_off -= 1,
        }
    }

    fn is_broken(&self) -> bool {
        self.groups.last().copied().unwrap_or(true)
    }

    fn text(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        if self.line_wanted {
            self.line_end();
        }
        if self.line_is_empty {
            self.out.extend(std::iter::repeat_n(' ', self.depth * INDENTATION));
            self.column = self.depth * INDENTATION;
            self.line_is_empty = false;
        }
        self.out.push_str(text);
        match text.rfind('\n') {
            Some(newline) => self.column = width(&text[newline + 1..]),
            None => self.column += width(text),
        }
    }

    fn space(&mut self) {
        if !self.line_is_empty && !self.line_wanted {
            self.text(" ");
        }
    }

    fn line_end(&mut self) {
        self.line_wanted = false;
        self.line_is_empty = true;
        self.column = 0;
        self.out.push('\n');
    }

    /// Whether the group that opens at `open` fits on this line without breaking.
    fn fits(&self, open: usize) -> bool {
        let starts_line = self.line_is_empty || self.line_wanted;
        let mut column = if starts_line { self.depth * INDENTATION } else { self.column };
        let mut depth = 0_usize;
        for piece in &self.pieces[open..] {
            match piece {
                Piece::Open => depth += 1,
                Piece::Close if depth == 1 => break,
                Piece::Close => depth -= 1,
                Piece::Text(text) => match text.find('\n') {
                    Some(newline) => return column + width(&text[..newline]) <= MAX_WIDTH,
                    None => column += width(text),
                },
                Piece::Space | Piece::Line => column += 1,
                Piece::IfFlat(text) => column += text.len(),
                _ => {}
            }
            if column > MAX_WIDTH {
                return false;
            }
        }
        true
    }
}

fn width(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.chars().count() }
}

#[cfg(test)]
mod tests {
    use super::Piece::{
        Close, Dedent, HardLine, IfBroken, Indent, Line, LineBeforeText, Open, SoftLine, Text,
    };
    use super::*;

    fn call(argument: &str) -> Vec<Piece<'_>> {
        vec![
            Open,
            Text("f("),
            Indent,
            SoftLine,
            Text(argument),
            IfBroken(","),
            Dedent,
            SoftLine,
            Text(")"),
            Close,
        ]
    }

    #[test]
    fn a_group_that_fits_stays_on_its_line() {
        assert_eq!(print(&call("x")), "f(x)");
    }

    #[test]
    fn a_group_that_is_too_wide_breaks() {
        let long = "x".repeat(98);
        assert_eq!(print(&call(&long)), format!("f(\n  {long},\n)"));
        assert_eq!(print(&call(&long[..97])), format!("f({})", &long[..97]));
    }

    #[test]
    fn what_follows_a_group_does_not_count() {
        let long = "x".repeat(97);
        let mut pieces = call(&long);
        pieces.push(Text(" {}"));
        assert_eq!(print(&pieces), format!("f({long}) {{}}"));
    }

    #[test]
    fn a_comment_breaks_its_groups_and_ends_its_line() {
        let pieces = [Open, Text("a"), Line, Text("// b"), LineBeforeText, Text("c"), Close, HardLine];
        assert_eq!(print(&pieces), "a\n// b\nc\n");
    }
}
