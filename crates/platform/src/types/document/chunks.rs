//! Cutting a text into chunks: by page, not at all, or by size with an overlap. Sizes are in
//! characters, so that no character is ever cut.

/// What ends a page.
const FORM_FEED: char = '\u{c}';

/// How to cut.
#[derive(Clone, Copy, Debug)]
pub(super) struct ChunkConfig {
    pub(super) strategy: Strategy,
    /// Characters per chunk; at least 1.
    pub(super) size: usize,
    /// Characters shared with the chunk before; less than `size`.
    pub(super) overlap: usize,
}

/// What a chunk is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Strategy {
    Page,
    Whole,
    Size,
}

/// A piece of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Chunk<'a> {
    pub(super) text: &'a str,
    /// The page, from 1, where pages were asked for.
    pub(super) page: Option<usize>,
}

/// The chunks of a text, in order; none is empty.
pub(super) fn cut(text: &str, config: ChunkConfig) -> Vec<Chunk<'_>> {
    let mut chunks: Vec<Chunk<'_>> = match config.strategy {
        Strategy::Whole => vec![Chunk { text, page: None }],
        Strategy::Page => {
            let pages = text.split(FORM_FEED).enumerate();
            pages.map(|(index, text)| Chunk { text, page: Some(index + 1) }).collect()
        }
        Strategy::Size => by_size(text, config.size.max(1), config.overlap),
    };
    chunks.retain(|chunk| !chunk.text.is_empty());
    chunks
}

fn by_size(text: &str, size: usize, overlap: usize) -> Vec<Chunk<'_>> {
    let mut starts: Vec<usize> = text.char_indices().map(|(byte, _)| byte).collect();
    let characters = starts.len();
    starts.push(text.len());
    let step = size - overlap.min(size - 1);
    let mut chunks = Vec::new();
    let mut first = 0;
    while first < characters {
        let end = characters.min(first.saturating_add(size));
        chunks.push(Chunk { text: &text[starts[first]..starts[end]], page: None });
        // A chunk that would only repeat the end of the last one says nothing new.
        if end == characters {
            break;
        }
        first += step;
    }
    chunks
}

#[cfg(test)]
mod tests {
    use super::{Chunk, ChunkConfig, Strategy, cut};
    use proptest::{prop_assert, prop_assert_eq, proptest};

    fn texts(text: &str, strategy: Strategy, size: usize, overlap: usize) -> Vec<&str> {
        cut(text, ChunkConfig { strategy, size, overlap }).into_iter().map(|chunk| chunk.text).collect()
    }

    #[test]
    fn a_whole_text_is_one_chunk_and_an_empty_one_is_none() {
        assert_eq!(texts("a\u{c}b", Strategy::Whole, 1, 0), ["a\u{c}b"]);
        assert!(texts("", Strategy::Whole, 1, 0).is_empty());
        assert!(texts("", Strategy::Size, 1, 0).is_empty());
    }

    #[test]
    fn pages_end_at_form_feeds_and_keep_their_numbers() {
        let pages = cut("one\u{c}\u{c}three", ChunkConfig { strategy: Strategy::Page, size: 1, overlap: 0 });
        assert_eq!(
            pages,
            [Chunk { text: "one", page: Some(1) }, Chunk { text: "three", page: Some(3) }],
            "an empty page is no chunk but counts"
        );
    }

    #[test]
    fn sizes_count_characters_and_neighbours_overlap() {
        assert_eq!(texts("aébcd", Strategy::Size, 3, 1), ["aéb", "bcd"]);
        assert_eq!(texts("abcdef", Strategy::Size, 4, 2), ["abcd", "cdef"]);
        assert_eq!(texts("abc", Strategy::Size, 10, 9), ["abc"]);
    }

    proptest! {
        #[test]
        fn chunks_by_size_cover_the_text_in_order(text in "\\PC{0,80}", size in 1_usize..20, overlap in 0_usize..25) {
            let overlap = overlap.min(size - 1);
            let chunks = texts(&text, Strategy::Size, size, overlap);
            let mut rebuilt = String::new();
            for (index, chunk) in chunks.iter().enumerate() {
                let length = chunk.chars().count();
                prop_assert!((1..=size).contains(&length));
                prop_assert!(index + 1 == chunks.len() || length == size);
                let fresh = if index == 0 { 0 } else { overlap };
                let shared: String = chunk.chars().take(fresh).collect();
                prop_assert!(rebuilt.ends_with(&shared));
                rebuilt.extend(chunk.chars().skip(fresh));
            }
            prop_assert_eq!(rebuilt, text);
        }
    }
}
