//! Comments anywhere: put between any two tokens of the corpus and the styles.

use pkl_parser::{TokenKind, tokenize};
use proptest::prelude::*;

use crate::corpus;
use crate::same::format_checked;
use crate::styles;

fn sources() -> Vec<String> {
    let corpus = corpus::files().into_iter().map(|(_, source)| source);
    corpus
        .chain(styles::cases().into_iter().map(|case| case.source))
        .filter(|source| source.len() < 4000)
        .collect()
}

/// The text with comments before some tokens.
fn with_comments(source: &str, places: &[(prop::sample::Index, u8)]) -> String {
    let (tokens, _) = tokenize(source);
    let mut comments = vec![""; tokens.len()];
    for (place, kind) in places {
        comments[place.index(tokens.len())] =
            ["/* c */", "// c\n", "\n// c\n", " /* c */ ", "\n/* c\n d */\n", "\n\n// c\n\n"]
                [usize::from(*kind) % 6];
    }
    let in_string = [
        TokenKind::StringText,
        TokenKind::StringNewline,
        TokenKind::StringEscape,
        TokenKind::UnicodeEscape,
        TokenKind::InterpolationStart,
        TokenKind::StringEnd,
    ];
    let mut text = String::new();
    for (token, comment) in tokens.iter().zip(comments) {
        if !in_string.contains(&token.kind) {
            text.push_str(comment);
        }
        text.push_str(token.span.text(source));
    }
    text
}

#[test]
fn comments_stay_where_they_are() {
    let sources = sources();
    let strategy = (
        prop::sample::select(sources),
        prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    );
    let config = ProptestConfig { cases: 4000, failure_persistence: None, ..ProptestConfig::default() };
    let mut runner = proptest::test_runner::TestRunner::new(config);
    let formatted = std::cell::Cell::new(0);
    let result = runner.run(&strategy, |(source, places)| {
        let commented = with_comments(&source, &places);
        formatted.set(formatted.get() + u32::from(format_checked("commented", &commented).is_some()));
        Ok(())
    });
    if let Err(error) = result {
        panic!("{error}");
    }
    assert!(formatted.get() > 2000, "only {} texts were programs", formatted.get());
}
