//! Names as small numbers, shared by everything that one host evaluates.

use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use rustc_hash::FxHashMap;

use crate::FixedNames;

/// A name known to an [`Interner`]. Two symbols of one interner are equal exactly if their texts are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Symbol(u32);

impl Symbol {
    fn at(position: usize) -> Self {
        Self(u32::try_from(position).expect("names fill memory before they fill u32"))
    }

    /// The position in order of first use, from zero without gaps: fit to index a table.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A thread-safe table of names. A host owns one, usually in an `Arc`; there is no global one.
#[derive(Debug)]
pub struct Interner {
    /// Those of the first symbols.
    fixed: FixedNames,
    /// The texts of fixed names that were asked for.
    fixed_texts: Box<[OnceLock<Arc<str>>]>,
    table: RwLock<Table>,
}

/// Names that were met, after the fixed ones.
#[derive(Debug, Default)]
struct Table {
    symbols: FxHashMap<Arc<str>, Symbol>,
    texts: Vec<Arc<str>>,
}

impl Default for Interner {
    fn default() -> Self {
        Self::new()
    }
}

impl Interner {
    /// A table without names.
    pub fn new() -> Self {
        Self::starting_with(FixedNames::NONE)
    }

    /// A table that knows these names already.
    pub fn starting_with(fixed: FixedNames) -> Self {
        let fixed_texts = fixed.texts().iter().map(|_| OnceLock::new()).collect();
        Self { fixed, fixed_texts, table: RwLock::default() }
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
        let symbol = Symbol::at(self.fixed_texts.len() + table.texts.len());
        let text: Arc<str> = text.into();
        table.texts.push(Arc::clone(&text));
        table.symbols.insert(text, symbol);
        symbol
    }

    /// The symbol of `text` if there is one already.
    pub fn get(&self, text: &str) -> Option<Symbol> {
        if let Some(position) = self.fixed.find(text) {
            return Some(Symbol::at(position));
        }
        self.table.read().unwrap_or_else(PoisonError::into_inner).symbols.get(text).copied()
    }

    /// The text of a symbol.
    ///
    /// # Panics
    /// If the symbol is another interner's and this one has fewer names.
    pub fn text(&self, symbol: Symbol) -> Arc<str> {
        let position = symbol.index();
        if let Some(text) = self.fixed_texts.get(position) {
            return Arc::clone(text.get_or_init(|| self.fixed.texts()[position].into()));
        }
        let table = self.table.read().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&table.texts[position - self.fixed_texts.len()])
    }

    /// All names in the order of their symbols.
    pub fn names(&self) -> Vec<Arc<str>> {
        let table = self.table.read().unwrap_or_else(PoisonError::into_inner);
        let fixed = self.fixed.texts().iter().map(|text| Arc::from(*text));
        fixed.chain(table.texts.iter().cloned()).collect()
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
        assert_eq!(interner.names(), ["bird".into(), "nest".into()]);
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
        assert_eq!(interner.names().len(), 500);
        assert!(all.iter().all(|symbols| *symbols == all[0]));
    }
}
