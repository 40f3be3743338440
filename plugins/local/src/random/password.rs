//! `LOCAL::Random::Password`.

use crate::fault::Fault;
use crate::fields::{self, Extent, Fields, flag, text, whole};
use crate::kept::{Made, Maker, keepers};
use crate::local_type::Site;
use formwork_model::{Json, Secret};
use formwork_plugin::PropertyProblem;
use formwork_secret::{Draw, SystemDraw};
use serde_json::Map;

/// The most letters.
const MOST: u64 = 1_024;
/// The special characters if none are declared: without quotes, backslashes and spaces, which get lost on
/// the way through a shell.
const SPECIAL: &str = "!#%&()*+,-./:;<=>?@[]^_{|}~";
/// How often a password is drawn anew that lacks a letter.
const DRAWS: usize = 1_000;

pub(crate) struct PasswordMaker;

/// Letters of one kind.
struct Kind {
    letters: Vec<char>,
    /// How many of them there are at least.
    least: usize,
}

struct Declared {
    length: usize,
    kinds: Vec<Kind>,
    /// What was left to us.
    defaults: Map<String, Json>,
}

const KINDS: [(&str, &str, &str); 4] = [
    ("lower", "minLower", "abcdefghijklmnopqrstuvwxyz"),
    ("upper", "minUpper", "ABCDEFGHIJKLMNOPQRSTUVWXYZ"),
    ("digits", "minDigits", "0123456789"),
    ("special", "minSpecial", SPECIAL),
];

fn declared(fields: &mut Fields<'_>) -> Option<Declared> {
    let mut defaults = Map::new();
    let length = fields.required("length", |value| whole(value, 8, MOST));
    let special = fields.optional("specialCharacters", special_characters);
    let excluded = fields.optional("exclude", |value| text(value).map(str::to_owned)).unwrap_or_default();
    fields.optional("keepers", keepers);
    let mut kinds = Vec::new();
    for (name, least_name, letters) in KINDS {
        let is_wanted = fields.optional(name, flag).unwrap_or_else(|| {
            defaults.insert(name.to_owned(), true.into());
            true
        });
        let least = fields.optional(least_name, |value| whole(value, 0, MOST)).unwrap_or_else(|| {
            let least = u64::from(is_wanted);
            defaults.insert(least_name.to_owned(), least.into());
            least
        });
        let letters = special.as_deref().filter(|_| name == "special").unwrap_or(letters);
        let letters: Vec<char> = letters.chars().filter(|letter| !excluded.contains(*letter)).collect();
        if !is_wanted && least > 0 {
            fields.report(least_name, format!("must be 0, since `{name}` is false"));
        } else if is_wanted && letters.is_empty() {
            fields.report(name, "must be false, since all its characters are excluded");
        } else if is_wanted {
            kinds.push(Kind { letters, least: usize::try_from(least).ok()? });
        }
    }
    let length = usize::try_from(length?).ok()?;
    if kinds.is_empty() {
        fields.report("length", "needs at least one kind of character");
    }
    if kinds.iter().map(|kind| kind.least).sum::<usize>() > length {
        fields.report("length", "must be at least the sum of the minimums");
    }
    Some(Declared { length, kinds, defaults })
}

fn special_characters(value: &Json) -> Result<String, String> {
    let text = text(value)?;
    let mut letters: Vec<char> = text.chars().collect();
    letters.sort_unstable();
    letters.dedup();
    let are_fit = letters.iter().all(|letter| letter.is_ascii_punctuation() || *letter == ' ');
    if text.is_empty() || letters.len() != text.len() || !are_fit {
        return Err("must be ASCII punctuation, each character once".to_owned());
    }
    Ok(text.to_owned())
}

/// Draws a password. All that keep the minimums are as likely: what does not is thrown away. Where that
/// would go on for long, letters of each kind are drawn first, then the rest, then their order.
fn draw(declared: &Declared, source: &mut impl Draw) -> Secret<String> {
    let all: Vec<char> = declared.kinds.iter().flat_map(|kind| &kind.letters).copied().collect();
    for _ in 0..DRAWS {
        let drawn =
            Secret::new((0..declared.length).map(|_| all[source.place(all.len())]).collect::<String>());
        let keeps = |kind: &Kind| {
            drawn.expose().chars().filter(|letter| kind.letters.contains(letter)).count() >= kind.least
        };
        if declared.kinds.iter().all(keeps) {
            return drawn;
        }
    }
    let mut letters = Vec::with_capacity(declared.length);
    for kind in &declared.kinds {
        letters.extend((0..kind.least).map(|_| kind.letters[source.place(kind.letters.len())]));
    }
    while letters.len() < declared.length {
        letters.push(all[source.place(all.len())]);
    }
    source.shuffle(&mut letters);
    let drawn = Secret::new(letters.iter().collect());
    letters.fill('\0');
    drawn
}

impl Maker for PasswordMaker {
    const NOUN: &'static str = "password";
    const SHELF: &'static str = "passwords";
    const PREFIX: &'static str = "pw";
    const CHANGES: bool = false;
    const OUTPUTS: &'static [&'static str] = &[];
    const SECRETS: &'static [&'static str] = &["value"];

    fn problems(&self, properties: &Json, extent: Extent) -> Vec<PropertyProblem> {
        fields::problems(properties, extent, declared)
    }

    fn make(&self, _: &Site, properties: &Json) -> Result<Made, Fault> {
        let declared = fields::read("a password", properties, declared)?;
        let value = draw(&declared, &mut SystemDraw);
        let mut secrets = Map::new();
        secrets.insert("value".to_owned(), value.expose().as_str().into());
        Ok(Made { outputs: declared.defaults, secrets })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::collections::BTreeMap;

    fn drawn(properties: &Json) -> String {
        let declared = fields::read("a password", properties, declared).unwrap();
        draw(&declared, &mut SystemDraw).into_exposed()
    }

    fn refused(properties: &Json) -> String {
        fields::read("a password", properties, declared).err().unwrap().message
    }

    #[test]
    fn a_password_has_every_kind_of_character_unless_it_is_declared_otherwise() {
        for _ in 0..200 {
            let password = drawn(&json!({"length": 8}));
            assert_eq!(password.chars().count(), 8);
            assert!(password.contains(|letter: char| letter.is_ascii_lowercase()));
            assert!(password.contains(|letter: char| letter.is_ascii_uppercase()));
            assert!(password.contains(|letter: char| letter.is_ascii_digit()));
            assert!(password.contains(|letter: char| SPECIAL.contains(letter)));
        }
        let digits = drawn(&json!({"length": 40, "lower": false, "upper": false, "special": false}));
        assert!(digits.chars().all(|letter| letter.is_ascii_digit()));
        let none = drawn(&json!({"length": 200, "exclude": "lI1O0", "specialCharacters": "_-"}));
        assert!(none.chars().all(|letter| !"lI1O0!#".contains(letter)));
    }

    #[test]
    fn minimums_that_chance_would_hardly_keep_are_kept() {
        let password = drawn(&json!({"length": 30, "minDigits": 27}));
        assert!(password.chars().filter(char::is_ascii_digit).count() >= 27);
        assert!(password.contains(|letter: char| letter.is_ascii_uppercase()));
    }

    #[test]
    fn every_character_is_as_likely() {
        let password: String = (0..120).map(|_| drawn(&json!({"length": 1024}))).collect();
        let mut counts = BTreeMap::new();
        for letter in password.chars() {
            *counts.entry(letter).or_insert(0_i32) += 1;
        }
        // 1,380 of each are expected, give or take 37; seven times that is beyond chance.
        assert_eq!(counts.len(), 26 + 26 + 10 + SPECIAL.len());
        assert!(counts.values().all(|count| (1_120..1_640).contains(count)), "{counts:?}");
    }

    #[test]
    fn what_cannot_be_drawn_is_refused() {
        for (properties, says) in [
            (json!({}), "`length` is required"),
            (json!({"length": 7}), "between 8 and 1024"),
            (json!({"length": 8, "minDigits": 6}), "sum of the minimums"),
            (json!({"length": 8, "digits": false, "minDigits": 1}), "must be 0"),
            (json!({"length": 8, "exclude": "0123456789"}), "must be false"),
            (json!({"length": 8, "specialCharacters": "--"}), "each character once"),
            (json!({"length": 8, "specialCharacters": "ä"}), "ASCII"),
            (
                json!({"length": 8, "lower": false, "upper": false, "digits": false, "special": false}),
                "one kind",
            ),
        ] {
            assert!(refused(&properties).contains(says), "{properties}: {}", refused(&properties));
        }
    }
}
