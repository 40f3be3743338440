//! Names as small numbers, shared by everything that one host evaluates.

use std::sync::{Arc, PoisonError, RwLock};

use rustc_hash::FxHashMap;

/// A name known to an [`Interner`]. Two symbols of one interner are equal exactly if their texts are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Symbol(u32);

impl Symbol {
    /// The position in order of first use, from zero without gaps: fit to index a table.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A thread-safe table of names. A host owns one, usually in an `Arc`; there is no global one.
#[derive(Debug, Default)]
pub struct Interner {
    table: RwLock<Table>,
}

/// For how many names there is room at first: a few more than the standard library has.
const NAMES: usize = 1700;

#[derive(Debug, Default)]
struct Table {
    symbols: FxHashMap<Arc<str>, Symbol>,
    texts: Vec<Arc<str>>,
}

impl Interner {
    /// A table without names.
    pub fn new() -> Self {
        let symbols = FxHashMap::with_capacity_and_hasher(NAMES, rustc_hash::FxBuildHasher);
        Self { table: RwLock::new(Table { symbols, texts: Vec::with_capacity(NAMES) }) }
    }

    /// The symbol of `text`, made at its first use.
    pub fn intern(&self, text: &str) -> Symbol {
        if let Some(symbol) = self.get(text) {
            return symbol;
        }
        let mut table = self.table.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(&symbol) = table.symbols.get(text) {
            return symbol;
        }
        let symbol =
            Symbol(u32::try_from(table.texts.len()).expect("names fill memory before they fill u32"));
        let text: Arc<str> = text.into();
        table.texts.push(Arc::clone(&text));
        table.symbols.insert(text, symbol);
        symbol
    }

    /// The symbol of `text` if there is one already.
    pub fn get(&self, text: &str) -> Option<Symbol> {
        self.table.read().unwrap_or_else(PoisonError::into_inner).symbols.get(text).copied()
    }

    /// The text of a symbol.
    ///
    /// # Panics
    /// If the symbol is another interner's and this one has fewer names.
    pub fn text(&self, symbol: Symbol) -> Arc<str> {
        Arc::clone(&self.table.read().unwrap_or_else(PoisonError::into_inner).texts[symbol.index()])
    }

    /// The number of names.
    pub fn len(&self) -> usize {
        self.table.read().unwrap_or_else(PoisonError::into_inner).texts.len()
    }

    /// Whether there is no name yet.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_has_one_symbol() {
        let interner = Interner::new();
        let first = interner.intern("bird");
        let second = interner.intern("nest");
        assert_ne!(first, second);
        assert_eq!(interner.intern("bird"), first);
        assert_eq!(interner.get("nest"), Some(second));
        assert_eq!(interner.get("egg"), None);
        assert_eq!(&*interner.text(first), "bird");
        assert_eq!(interner.len(), 2);
    }

    #[test]
    fn threads_agree_on_symbols() {
        let interner = Arc::new(Interner::new());
        let all: Vec<Vec<Symbol>> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4)
                .map(|_| scope.spawn(|| (0..500).map(|n| interner.intern(&format!("n{n}"))).collect()))
                .collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert_eq!(interner.len(), 500);
        assert!(all.iter().all(|symbols| *symbols == all[0]));
    }
}
