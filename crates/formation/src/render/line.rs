//! One line of source as a terminal can show it.

use formwork_model::Place;

/// The most characters of a line that are shown.
const WINDOW: usize = 120;
/// How many of them come before the place, where the line is cut there.
const LEAD: usize = 40;

/// A line, or a part of one, and where in it the place is.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Excerpt {
    pub(super) text: String,
    /// Columns before the place.
    pub(super) before: usize,
    /// Columns of the place; at least one.
    pub(super) marked: usize,
}

impl Excerpt {
    pub(super) fn of(line: &str, place: &Place) -> Self {
        let length = line.chars().count();
        let start = (place.column.max(1) as usize - 1).min(length);
        let end = if place.end_line > place.line {
            line.trim_end().chars().count()
        } else {
            place.end_column.max(1) as usize - 1
        };
        let first = if length <= WINDOW { 0 } else { start.saturating_sub(LEAD).min(length - WINDOW) };
        let last = (first + WINDOW).min(length);
        let (mut text, mut before, mut marked) = (String::new(), 0, 0);
        if first > 0 {
            text.push('…');
            before += 1;
        }
        for (offset, character) in line.chars().skip(first).take(last - first).enumerate() {
            let width = push_visible(&mut text, character);
            let at = first + offset;
            if at < start {
                before += width;
            } else if at < end {
                marked += width;
            }
        }
        if last < length {
            text.push('…');
        }
        Self { text, before, marked: marked.max(1) }
    }
}

/// A text in one line, without anything a terminal would act on: what could be is shown instead.
pub fn clean(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        push_visible(&mut out, character);
    }
    out
}

/// Adds a character as it can be seen; returns how many columns it takes.
fn push_visible(out: &mut String, character: char) -> usize {
    match character {
        '\t' => {
            out.push_str("    ");
            return 4;
        }
        '\u{0}'..='\u{1f}' => out.extend(char::from_u32(0x2400 + u32::from(character))),
        '\u{7f}' => out.push('\u{2421}'),
        '\u{80}'..='\u{9f}'
        | '\u{200e}'
        | '\u{200f}'
        | '\u{202a}'..='\u{202e}'
        | '\u{2066}'..='\u{2069}'
        | '\u{2028}'
        | '\u{2029}'
        | '\u{feff}' => out.push('\u{fffd}'),
        other => {
            out.push(other);
            return width(other);
        }
    }
    1
}

/// How many columns terminals give a character: an approximation by block.
pub fn width(character: char) -> usize {
    match character {
        '\u{300}'..='\u{36f}' | '\u{200b}'..='\u{200d}' | '\u{fe00}'..='\u{fe0f}' => 0,
        '\u{1100}'..='\u{115f}'
        | '\u{2e80}'..='\u{a4cf}'
        | '\u{ac00}'..='\u{d7a3}'
        | '\u{f900}'..='\u{faff}'
        | '\u{fe30}'..='\u{fe6f}'
        | '\u{ff00}'..='\u{ff60}'
        | '\u{ffe0}'..='\u{ffe6}'
        | '\u{1f300}'..='\u{1f64f}'
        | '\u{1f900}'..='\u{1f9ff}'
        | '\u{20000}'..='\u{3fffd}' => 2,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(column: u32, end_column: u32) -> Place {
        Place { file: "t".into(), line: 1, column, end_line: 1, end_column }
    }

    #[test]
    fn a_short_line_is_shown_whole() {
        let excerpt = Excerpt::of("a: bcd", &place(4, 7));
        assert_eq!(excerpt, Excerpt { text: "a: bcd".to_owned(), before: 3, marked: 3 });
    }

    #[test]
    fn a_long_line_is_cut_around_the_place() {
        let line = format!("{}HERE{}", "a".repeat(5000), "b".repeat(5000));
        let excerpt = Excerpt::of(&line, &place(5001, 5005));
        assert_eq!(excerpt.text.chars().count(), WINDOW + 2);
        let marked: String = excerpt.text.chars().skip(excerpt.before).take(excerpt.marked).collect();
        assert_eq!(marked, "HERE");
    }

    #[test]
    fn tabs_controls_and_wide_characters_keep_the_mark_under_its_text() {
        let excerpt = Excerpt::of("\t漢\u{1b}x", &place(4, 5));
        assert_eq!(excerpt, Excerpt { text: "    漢\u{241b}x".to_owned(), before: 7, marked: 1 });
    }

    #[test]
    fn a_place_past_the_end_has_one_mark() {
        assert_eq!(Excerpt::of("ab", &place(9, 9)), Excerpt { text: "ab".to_owned(), before: 2, marked: 1 });
    }
}
