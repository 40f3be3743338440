//! Tokens leave no byte out.

/// Panics if a rule does not hold for `data`.
pub(crate) fn check(data: &[u8]) {
    let Ok(source) = std::str::from_utf8(data) else { return };
    let (tokens, diagnostics) = pkl_parser::tokenize(source);
    let mut end = 0;
    for token in &tokens {
        assert_eq!(token.span.start, end, "a token begins where the one before ends");
        end = token.span.end;
        assert!(source.is_char_boundary(end as usize), "a token is made of characters");
    }
    assert_eq!(end as usize, source.len(), "the tokens are all of the text");
    for diagnostic in diagnostics {
        assert!(diagnostic.span.end as usize <= source.len(), "a span lies in the text");
    }
}
