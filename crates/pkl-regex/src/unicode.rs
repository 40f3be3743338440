//! Named sets of characters.

use std::sync::OnceLock;

use regex_syntax::hir::{Class, ClassUnicode, HirKind};

use crate::set;

mod blocks;

/// A set by its name in the `regex-syntax` crate: a property, category or script.
fn query(name: &str) -> Option<ClassUnicode> {
    let hir = regex_syntax::parse(&format!("\\p{{{name}}}")).ok()?;
    match hir.kind() {
        HirKind::Class(Class::Unicode(class)) => Some(class.clone()),
        HirKind::Literal(literal) => {
            let character = std::str::from_utf8(&literal.0).ok()?.chars().next()?;
            Some(set::of_char(character))
        }
        _ => None,
    }
}

/// A set that the tables are known to have.
fn known(name: &str) -> ClassUnicode {
    query(name).unwrap_or_else(ClassUnicode::empty)
}

fn of_names(names: &[&str]) -> ClassUnicode {
    names.iter().fold(ClassUnicode::empty(), |class, name| set::union(class, &known(name)))
}

macro_rules! cached {
    ($($(#[$doc:meta])* $name:ident => $class:expr;)*) => {
        $(
            $(#[$doc])*
            pub(crate) fn $name() -> ClassUnicode {
                static CLASS: OnceLock<ClassUnicode> = OnceLock::new();
                CLASS.get_or_init(|| $class).clone()
            }
        )*
    };
}

cached! {
    /// `\d`.
    digit => known("Nd");
    /// `\w`.
    word => of_names(&["Alphabetic", "Mn", "Me", "Mc", "Nd", "Pc", "Join_Control"]);
    /// `\s`.
    space => known("White_Space");
    /// `\h`.
    horizontal_space => set::of_ranges(&[
        ('\t', '\t'), (' ', ' '), ('\u{a0}', '\u{a0}'), ('\u{1680}', '\u{1680}'), ('\u{180e}', '\u{180e}'),
        ('\u{2000}', '\u{200a}'), ('\u{202f}', '\u{202f}'), ('\u{205f}', '\u{205f}'), ('\u{3000}', '\u{3000}'),
    ]);
    /// `\v`.
    vertical_space => set::of_ranges(&[('\n', '\r'), ('\u{85}', '\u{85}'), ('\u{2028}', '\u{2029}')]);
    /// `.`.
    not_line_end => set::negated(set::of_ranges(&[
        ('\n', '\n'), ('\r', '\r'), ('\u{85}', '\u{85}'), ('\u{2028}', '\u{2029}'),
    ]));
    /// `.` where only `\n` ends a line.
    not_newline => set::negated(set::of_char('\n'));
    /// Letters with case, for categories regardless of case.
    cased_letter => of_names(&["Lu", "Ll", "Lt"]);
}

/// The set that `\p{name}` stands for; `None` if there is none of this name.
pub(crate) fn property(name: &str, ignore_case: bool) -> Option<ClassUnicode> {
    if let Some((key, value)) = name.split_once('=') {
        return match key.to_ascii_lowercase().as_str() {
            "sc" | "script" => script(value),
            "blk" | "block" => block(value),
            "gc" | "general_category" => category(value, ignore_case),
            _ => None,
        };
    }
    if let Some(name) = name.strip_prefix("In") {
        return block(name);
    }
    if let Some(name) = name.strip_prefix("Is") {
        return binary(&name.to_ascii_uppercase(), ignore_case)
            .or_else(|| category(name, ignore_case))
            .or_else(|| script(name));
    }
    posix(&name.to_ascii_uppercase(), ignore_case)
        .or_else(|| category(name, ignore_case))
        .or_else(|| java(name))
}

fn script(name: &str) -> Option<ClassUnicode> {
    query(&format!("sc={name}"))
}

fn block(name: &str) -> Option<ClassUnicode> {
    let (first, last) = blocks::find(name)?;
    // The surrogates have no characters.
    let (first, last) = (char::from_u32(first)?, char::from_u32(last)?);
    Some(set::of_ranges(&[(first, last)]))
}

/// The names of the general categories, which Java takes only in this spelling.
const CATEGORIES: [&str; 37] = [
    "C", "Cc", "Cf", "Cn", "Co", "Cs", "L", "Ll", "Lm", "Lo", "Lt", "Lu", "M", "Mc", "Me", "Mn", "N", "Nd",
    "Nl", "No", "P", "Pc", "Pd", "Pe", "Pf", "Pi", "Po", "Ps", "S", "Sc", "Sk", "Sm", "So", "Z", "Zl", "Zp",
    "Zs",
];

fn category(name: &str, ignore_case: bool) -> Option<ClassUnicode> {
    match name {
        "Lu" | "Ll" | "Lt" if ignore_case => Some(cased_letter()),
        "LC" => Some(cased_letter()),
        "LD" => Some(of_names(&["L", "Nd"])),
        "L1" => Some(set::of_ranges(&[('\0', '\u{ff}')])),
        "all" => Some(set::all()),
        "Cs" => Some(ClassUnicode::empty()),
        _ if CATEGORIES.contains(&name) => query(name),
        _ => None,
    }
}

/// The classes of POSIX, extended to Unicode.
fn posix(name: &str, ignore_case: bool) -> Option<ClassUnicode> {
    Some(match name {
        "ALPHA" => known("Alphabetic"),
        "LOWER" | "UPPER" if ignore_case => of_names(&["Lowercase", "Uppercase", "Lt"]),
        "LOWER" => known("Lowercase"),
        "UPPER" => known("Uppercase"),
        "SPACE" => space(),
        "PUNCT" => known("P"),
        "XDIGIT" => of_names(&["Nd", "Hex_Digit"]),
        "ALNUM" => of_names(&["Alphabetic", "Nd"]),
        "CNTRL" => known("Cc"),
        "DIGIT" => digit(),
        "BLANK" => blank(),
        "GRAPH" => graph(),
        "PRINT" => {
            let mut class = set::union(graph(), &blank());
            class.difference(&known("Cc"));
            class
        }
        "ASCII" => set::of_ranges(&[('\0', '\u{7f}')]),
        "WORD" => word(),
        _ => return None,
    })
}

fn blank() -> ClassUnicode {
    set::union(known("Zs"), &set::of_char('\t'))
}

fn graph() -> ClassUnicode {
    set::negated(of_names(&["White_Space", "Cc", "Cn"]))
}

/// The properties that may follow `Is`.
fn binary(name: &str, ignore_case: bool) -> Option<ClassUnicode> {
    Some(match name {
        "ALPHABETIC" => known("Alphabetic"),
        "LETTER" => known("L"),
        "IDEOGRAPHIC" => known("Ideographic"),
        "LOWERCASE" | "UPPERCASE" | "TITLECASE" if ignore_case => of_names(&["Lowercase", "Uppercase", "Lt"]),
        "LOWERCASE" => known("Lowercase"),
        "UPPERCASE" => known("Uppercase"),
        "TITLECASE" => known("Lt"),
        "WHITE_SPACE" | "WHITESPACE" => space(),
        "CONTROL" => known("Cc"),
        "PUNCTUATION" => known("P"),
        "HEX_DIGIT" | "HEXDIGIT" => of_names(&["Nd", "Hex_Digit"]),
        "ASSIGNED" => set::negated(known("Cn")),
        "NONCHARACTER_CODE_POINT" | "NONCHARACTERCODEPOINT" => known("Noncharacter_Code_Point"),
        "JOIN_CONTROL" | "JOINCONTROL" => known("Join_Control"),
        "EMOJI" => known("Emoji"),
        "EMOJI_PRESENTATION" => known("Emoji_Presentation"),
        "EMOJI_MODIFIER" => known("Emoji_Modifier"),
        "EMOJI_MODIFIER_BASE" => known("Emoji_Modifier_Base"),
        "EMOJI_COMPONENT" => known("Emoji_Component"),
        "EXTENDED_PICTOGRAPHIC" => known("Extended_Pictographic"),
        "DIGIT" | "ALNUM" | "BLANK" | "GRAPH" | "PRINT" | "WORD" => return posix(name, ignore_case),
        _ => return None,
    })
}

/// What methods of Java's `Character` say.
fn java(name: &str) -> Option<ClassUnicode> {
    Some(match name {
        "javaLowerCase" => known("Lowercase"),
        "javaUpperCase" => known("Uppercase"),
        "javaAlphabetic" => known("Alphabetic"),
        "javaIdeographic" => known("Ideographic"),
        "javaTitleCase" => known("Lt"),
        "javaDigit" => digit(),
        "javaDefined" => set::negated(known("Cn")),
        "javaLetter" => known("L"),
        "javaLetterOrDigit" => of_names(&["L", "Nd"]),
        "javaSpaceChar" => known("Z"),
        "javaISOControl" => known("Cc"),
        "javaMirrored" => known("Bidi_Mirrored"),
        "javaWhitespace" => {
            let mut class = known("Z");
            class.difference(&set::of_ranges(&[
                ('\u{a0}', '\u{a0}'),
                ('\u{2007}', '\u{2007}'),
                ('\u{202f}', '\u{202f}'),
            ]));
            set::union(class, &set::of_ranges(&[('\t', '\r'), ('\u{1c}', '\u{1f}')]))
        }
        _ => return None,
    })
}
