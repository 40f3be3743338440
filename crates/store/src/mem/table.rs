//! A map that can go back to where its transaction began.

use std::collections::BTreeMap;
use std::ops::RangeBounds;

/// A sorted map with an undo log. What a transaction did costs its own size to undo, and nothing
/// is copied for one that succeeds.
#[derive(Debug)]
pub(super) struct Table<K, V> {
    map: BTreeMap<K, V>,
    undo: Vec<(K, Option<V>)>,
}

impl<K, V> Default for Table<K, V> {
    fn default() -> Self {
        Self { map: BTreeMap::new(), undo: Vec::new() }
    }
}

impl<K: Clone, V: Clone> Clone for Table<K, V> {
    /// The table as it is now, as if no transaction were under way.
    fn clone(&self) -> Self {
        Self { map: self.map.clone(), undo: Vec::new() }
    }
}

impl<K: Ord + Clone, V> Table<K, V> {
    pub(super) fn get<Q: Ord + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: std::borrow::Borrow<Q>,
    {
        self.map.get(key)
    }

    pub(super) fn insert(&mut self, key: K, value: V) {
        let before = self.map.insert(key.clone(), value);
        self.undo.push((key, before));
    }

    /// Removes an entry; answers whether it was there.
    pub(super) fn remove(&mut self, key: &K) -> bool {
        let Some((key, value)) = self.map.remove_entry(key) else { return false };
        self.undo.push((key, Some(value)));
        true
    }

    /// Removes some entries.
    pub(super) fn remove_all(&mut self, keys: &[K]) {
        for key in keys {
            self.remove(key);
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&K, &V)> {
        self.map.iter()
    }

    pub(super) fn range(&self, keys: impl RangeBounds<K>) -> impl DoubleEndedIterator<Item = (&K, &V)> {
        self.map.range(keys)
    }

    pub(super) fn last_key(&self) -> Option<&K> {
        self.map.last_key_value().map(|(key, _)| key)
    }

    /// Keeps what was done.
    pub(super) fn keep(&mut self) {
        self.undo.clear();
    }

    /// Undoes what was done since it was last kept.
    pub(super) fn undo(&mut self) {
        while let Some((key, before)) = self.undo.pop() {
            match before {
                Some(value) => _ = self.map.insert(key, value),
                None => _ = self.map.remove(&key),
            }
        }
    }
}

impl<A: Ord + Clone, B: Ord + Clone, V> Table<(A, B), V> {
    /// The entries whose key begins with `first`, by the rest of the key, which is at least `least`.
    pub(super) fn under(&self, first: &A, least: B) -> impl Iterator<Item = (&B, &V)> {
        let of_first = self.map.range((first.clone(), least)..).take_while(move |((a, _), _)| a == first);
        of_first.map(|((_, b), value)| (b, value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn undo_goes_back_over_several_changes_of_one_key() {
        let mut table = Table::default();
        table.insert("a", 1);
        table.insert("b", 2);
        table.keep();
        table.insert("a", 3);
        table.remove(&"a");
        table.insert("a", 4);
        table.remove(&"b");
        table.insert("c", 5);
        table.undo();
        assert_eq!(table.iter().collect::<Vec<_>>(), [(&"a", &1), (&"b", &2)]);
    }

    #[test]
    fn a_prefix_finds_only_its_own_entries() {
        let mut table = Table::default();
        for key in [("a", 1), ("a", 2), ("b", 1)] {
            table.insert(key, ());
        }
        assert_eq!(table.under(&"a", 0).map(|(b, ())| *b).collect::<Vec<_>>(), [1, 2]);
        assert_eq!(table.under(&"a", 2).count(), 1);
        assert_eq!(table.under(&"c", 0).count(), 0);
    }
}
