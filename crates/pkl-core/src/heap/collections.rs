//! Lists, sets and maps. Each is a view of the first so many items of a buffer; growing one at its end
//! grows the buffer in place, so that adding in a loop costs what is added.

use hashbrown::HashTable;

use super::Heap;
use super::arena::Arena;
use crate::value::{ListId, MapId, SetId, Value};

#[derive(Clone, Copy)]
struct ListView {
    buffer: u32,
    start: u32,
    len: u32,
}

#[derive(Clone, Copy)]
struct MapView {
    buffer: u32,
    len: u32,
}

/// Keys and values in order of insertion, found by hash.
#[derive(Default, Clone)]
pub(crate) struct MapBuffer {
    pub(crate) keys: Vec<Value>,
    /// As many as keys; empty for a set.
    pub(crate) values: Vec<Value>,
    hashes: Vec<u64>,
    index: HashTable<u32>,
}

impl MapBuffer {
    /// A buffer for so many keys and values.
    pub(crate) fn with_room(count: usize) -> Self {
        Self {
            keys: Vec::with_capacity(count),
            values: Vec::with_capacity(count),
            hashes: Vec::with_capacity(count),
            index: HashTable::with_capacity(count),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.keys.len()
    }

    /// The positions of keys with this hash.
    pub(crate) fn candidates(&self, hash: u64) -> impl Iterator<Item = (usize, Value)> {
        self.index
            .iter_hash(hash)
            .map(|&position| position as usize)
            .filter(move |&position| self.hashes[position] == hash)
            .map(|position| (position, self.keys[position]))
    }

    /// Adds a key that is known to be absent.
    pub(crate) fn push(&mut self, hash: u64, key: Value, value: Option<Value>) {
        let position = u32::try_from(self.keys.len()).expect("the memory limit is reached first");
        self.keys.push(key);
        self.values.extend(value);
        self.hashes.push(hash);
        let hashes = &self.hashes;
        self.index.insert_unique(hash, position, |&position| hashes[position as usize]);
    }

    fn prefix(&self, len: usize) -> Self {
        let mut copy = Self::default();
        for position in 0..len {
            copy.push(self.hashes[position], self.keys[position], self.values.get(position).copied());
        }
        copy
    }
}

/// All collections of one evaluation.
#[derive(Default)]
pub(super) struct Collections {
    lists: Arena<ListView>,
    list_buffers: Arena<Vec<Value>>,
    sets: Arena<MapView>,
    maps: Arena<MapView>,
    map_buffers: Arena<MapBuffer>,
}

fn narrow(number: usize) -> u32 {
    u32::try_from(number).expect("the memory limit is reached before u32 numbers run out")
}

impl Heap<'_> {
    pub(crate) fn list(&self, id: ListId) -> &[Value] {
        let view = *self.collections.lists.get(id.index());
        &self.collections.list_buffers.get(view.buffer as usize)[view.start as usize..][..view.len as usize]
    }

    pub(crate) fn add_list(&mut self, items: Vec<Value>) -> ListId {
        self.bytes += items.len() * size_of::<Value>() + size_of::<ListView>() + size_of::<Vec<Value>>();
        let len = narrow(items.len());
        self.collections.list_buffers.push(items);
        let buffer = narrow(self.collections.list_buffers.len() - 1);
        self.push_list_view(ListView { buffer, start: 0, len })
    }

    fn push_list_view(&mut self, view: ListView) -> ListId {
        self.collections.lists.push(view);
        ListId::at(self.collections.lists.len() - 1)
    }

    /// A part of a list, sharing its items.
    pub(crate) fn slice_list(&mut self, id: ListId, start: usize, len: usize) -> ListId {
        let view = *self.collections.lists.get(id.index());
        debug_assert!(start + len <= view.len as usize);
        self.bytes += size_of::<ListView>();
        self.push_list_view(ListView { start: view.start + narrow(start), len: narrow(len), ..view })
    }

    /// A list with more items at its end.
    pub(crate) fn extend_list(&mut self, id: ListId, items: &[Value]) -> ListId {
        let view = *self.collections.lists.get(id.index());
        let buffer = self.collections.list_buffers.get_mut(view.buffer as usize);
        self.bytes += size_of_val(items) + size_of::<ListView>();
        if buffer.len() == (view.start + view.len) as usize {
            buffer.extend_from_slice(items);
            return self.push_list_view(ListView { len: view.len + narrow(items.len()), ..view });
        }
        let mut copy = Vec::with_capacity((view.len as usize + items.len()) * 2);
        copy.extend_from_slice(self.list(id));
        copy.extend_from_slice(items);
        self.add_list(copy)
    }

    /// The items of a set in order.
    pub(crate) fn set(&self, id: SetId) -> &[Value] {
        let view = *self.collections.sets.get(id.index());
        &self.collections.map_buffers.get(view.buffer as usize).keys[..view.len as usize]
    }

    /// The keys of a map in order.
    pub(crate) fn map_keys(&self, id: MapId) -> &[Value] {
        let view = *self.collections.maps.get(id.index());
        &self.collections.map_buffers.get(view.buffer as usize).keys[..view.len as usize]
    }

    /// The values of a map in the order of its keys.
    pub(crate) fn map_values(&self, id: MapId) -> &[Value] {
        let view = *self.collections.maps.get(id.index());
        &self.collections.map_buffers.get(view.buffer as usize).values[..view.len as usize]
    }

    pub(crate) fn add_set_buffer(&mut self, buffer: MapBuffer) -> SetId {
        let view = self.push_map_buffer(buffer);
        self.collections.sets.push(view);
        SetId::at(self.collections.sets.len() - 1)
    }

    pub(crate) fn add_map_buffer(&mut self, buffer: MapBuffer) -> MapId {
        let view = self.push_map_buffer(buffer);
        self.collections.maps.push(view);
        MapId::at(self.collections.maps.len() - 1)
    }

    fn push_map_buffer(&mut self, buffer: MapBuffer) -> MapView {
        self.bytes += buffer.len() * (size_of::<Value>() * 2 + 16) + size_of::<MapBuffer>();
        let len = narrow(buffer.len());
        self.collections.map_buffers.push(buffer);
        MapView { buffer: narrow(self.collections.map_buffers.len() - 1), len }
    }

    /// Where keys of a set with this hash are.
    pub(crate) fn set_candidates(&self, id: SetId, hash: u64) -> impl Iterator<Item = (usize, Value)> {
        self.view_candidates(*self.collections.sets.get(id.index()), hash)
    }

    /// Where keys of a map with this hash are.
    pub(crate) fn map_candidates(&self, id: MapId, hash: u64) -> impl Iterator<Item = (usize, Value)> {
        self.view_candidates(*self.collections.maps.get(id.index()), hash)
    }

    fn view_candidates(&self, view: MapView, hash: u64) -> impl Iterator<Item = (usize, Value)> {
        let len = view.len as usize;
        self.collections
            .map_buffers
            .get(view.buffer as usize)
            .candidates(hash)
            .filter(move |(position, _)| *position < len)
    }

    /// A set with one more item, known to be absent.
    pub(crate) fn grow_set(&mut self, id: SetId, hash: u64, item: Value) -> SetId {
        let view = self.grow_view(*self.collections.sets.get(id.index()), hash, item, None);
        self.collections.sets.push(view);
        SetId::at(self.collections.sets.len() - 1)
    }

    /// A map with one more entry whose key is known to be absent.
    pub(crate) fn grow_map(&mut self, id: MapId, hash: u64, key: Value, value: Value) -> MapId {
        let view = self.grow_view(*self.collections.maps.get(id.index()), hash, key, Some(value));
        self.collections.maps.push(view);
        MapId::at(self.collections.maps.len() - 1)
    }

    fn grow_view(&mut self, view: MapView, hash: u64, key: Value, value: Option<Value>) -> MapView {
        let buffer = self.collections.map_buffers.get_mut(view.buffer as usize);
        self.bytes += size_of::<Value>() * 2 + 16 + size_of::<MapView>();
        if buffer.len() == view.len as usize {
            buffer.push(hash, key, value);
            return MapView { len: view.len + 1, ..view };
        }
        let mut copy = buffer.prefix(view.len as usize);
        copy.push(hash, key, value);
        self.push_map_buffer(copy)
    }

    /// A copy of a map to be changed.
    pub(crate) fn copy_map(&self, id: MapId) -> MapBuffer {
        let view = *self.collections.maps.get(id.index());
        self.collections.map_buffers.get(view.buffer as usize).prefix(view.len as usize)
    }
}
