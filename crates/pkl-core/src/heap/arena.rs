//! Arenas that grow piece by piece. A vector that grows is copied into new memory, and the kernel clears all of it:
//! for an evaluation that makes many small values that is most of the work.

/// About how many bytes a piece holds.
const PIECE_BYTES: usize = 1 << 13;

/// Items that are added one by one and stay where they are.
#[derive(Debug)]
pub(super) struct Arena<T> {
    pieces: Vec<Vec<T>>,
    len: usize,
}

impl<T> Default for Arena<T> {
    fn default() -> Self {
        Self { pieces: Vec::new(), len: 0 }
    }
}

impl<T> Arena<T> {
    const SHIFT: u32 = (PIECE_BYTES / size_of::<T>()).ilog2();
    const MASK: usize = (1 << Self::SHIFT) - 1;

    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn push(&mut self, item: T) {
        if self.len & Self::MASK == 0 {
            self.pieces.push(Vec::with_capacity(1 << Self::SHIFT));
        }
        self.pieces[self.len >> Self::SHIFT].push(item);
        self.len += 1;
    }

    #[inline]
    pub(super) fn get(&self, index: usize) -> &T {
        &self.pieces[index >> Self::SHIFT][index & Self::MASK]
    }

    #[inline]
    pub(super) fn get_mut(&mut self, index: usize) -> &mut T {
        &mut self.pieces[index >> Self::SHIFT][index & Self::MASK]
    }
}

/// Runs of items, each of which lies in one piece.
#[derive(Debug)]
pub(super) struct Runs<T> {
    pieces: Vec<Vec<T>>,
}

/// Where a run is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    piece: u32,
    start: u32,
    len: u32,
}

impl<T> Default for Runs<T> {
    fn default() -> Self {
        Self { pieces: Vec::new() }
    }
}

impl<T: Copy> Runs<T> {
    pub(super) fn push(&mut self, items: &[T]) -> Run {
        let room = |piece: &Vec<T>| piece.capacity() - piece.len() >= items.len();
        if !self.pieces.last().is_some_and(room) {
            self.pieces.push(Vec::with_capacity(items.len().max(PIECE_BYTES / size_of::<T>())));
        }
        let last = self.pieces.len() - 1;
        let piece = &mut self.pieces[last];
        let start = piece.len();
        piece.extend_from_slice(items);
        let narrow = |number: usize| u32::try_from(number).expect("the memory limit is reached first");
        Run { piece: narrow(last), start: narrow(start), len: narrow(items.len()) }
    }

    #[inline]
    pub(super) fn get(&self, run: Run) -> &[T] {
        &self.pieces[run.piece as usize][run.start as usize..][..run.len as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::{Arena, Runs};

    #[test]
    fn items_stay_at_their_indices() {
        let mut arena = Arena::default();
        for number in 0..100_000_u64 {
            arena.push([number; 3]);
        }
        *arena.get_mut(70_000) = [7; 3];
        assert_eq!(arena.len(), 100_000);
        assert!((0..100_000).all(|number| {
            let expected = if number == 70_000 { 7 } else { number };
            *arena.get(usize::try_from(number).unwrap()) == [expected; 3]
        }));
    }

    #[test]
    fn runs_of_any_length_lie_in_one_piece() {
        let mut runs = Runs::default();
        let lengths = [0, 1, 5, 8_000, 300, 200_000, 2, 8_192, 1];
        let all: Vec<(Vec<u64>, super::Run)> = lengths
            .into_iter()
            .map(|length| {
                let items: Vec<u64> = (0..length).map(|item| item * length).collect();
                let run = runs.push(&items);
                (items, run)
            })
            .collect();
        assert!(all.iter().all(|(items, run)| runs.get(*run) == items));
    }
}
