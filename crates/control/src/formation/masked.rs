//! Stored templates as they may be read, remembered: masking one takes opening, reading and checking
//! it, and a list asks for many.

use formwork_model::{Json, StackId};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

/// How many bytes of templates are remembered, as they are written.
const MOST_BYTES: usize = 32 << 20;
/// How many templates are remembered.
const MOST: usize = 10_000;

/// Masked templates by formation, each of one version of its record. The types, and so what they
/// mark, stay the same as long as the process lives.
#[derive(Debug, Default)]
pub(crate) struct MaskedTemplates(Mutex<Remembered>);

#[derive(Debug, Default)]
struct Remembered {
    by_formation: BTreeMap<StackId, Entry>,
    /// In the order in which they came, outdated ones included.
    order: VecDeque<(StackId, u64)>,
    bytes: usize,
}

/// What a stored template may be read as.
#[derive(Debug, PartialEq)]
pub(crate) struct Readable {
    /// The template with its declared credentials masked.
    pub(super) template: Arc<Json>,
    /// The outputs that are credentials.
    pub(super) credentials: BTreeSet<String>,
}

#[derive(Debug)]
struct Entry {
    version: u64,
    readable: Arc<Readable>,
    bytes: usize,
}

impl MaskedTemplates {
    /// The masked template of a version of a formation's record.
    pub(super) fn get(&self, id: &StackId, version: u64) -> Option<Arc<Readable>> {
        let remembered = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let entry = remembered.by_formation.get(id).filter(|entry| entry.version == version);
        entry.map(|entry| Arc::clone(&entry.readable))
    }

    /// Remembers one in place of that of another version; the oldest make room. `bytes`: how long
    /// it is as it is written.
    pub(super) fn put(&self, id: &StackId, version: u64, readable: &Arc<Readable>, bytes: usize) {
        if bytes > MOST_BYTES {
            return;
        }
        let mut remembered = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        remembered.forget(id);
        remembered.bytes += bytes;
        remembered.order.push_back((id.clone(), version));
        remembered.by_formation.insert(id.clone(), Entry { version, readable: Arc::clone(readable), bytes });
        while remembered.bytes > MOST_BYTES || remembered.order.len() > MOST {
            let Some((oldest, version)) = remembered.order.pop_front() else { break };
            if remembered.by_formation.get(&oldest).is_some_and(|entry| entry.version == version) {
                remembered.forget(&oldest);
            }
        }
    }
}

impl Remembered {
    fn forget(&mut self, id: &StackId) {
        if let Some(entry) = self.by_formation.remove(id) {
            self.bytes -= entry.bytes;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn template(text: &str) -> Arc<Readable> {
        Arc::new(Readable { template: Arc::new(Json::from(text)), credentials: BTreeSet::new() })
    }

    #[test]
    fn a_template_is_that_of_its_version() {
        let masked = MaskedTemplates::default();
        let id = StackId::from("form_1");
        masked.put(&id, 1, &template("one"), 3);
        masked.put(&id, 2, &template("two"), 3);
        assert_eq!(masked.get(&id, 1), None);
        assert_eq!(masked.get(&id, 2), Some(template("two")));
        assert_eq!(masked.get(&"form_2".into(), 2), None);
    }

    #[test]
    fn the_oldest_make_room_by_bytes_and_by_number() {
        let masked = MaskedTemplates::default();
        let id = |number: usize| StackId::from(format!("form_{number}").as_str());
        for number in 0..3 {
            masked.put(&id(number), 1, &template("large"), MOST_BYTES / 2);
        }
        let kept: Vec<_> = (0..3).map(|number| masked.get(&id(number), 1).is_some()).collect();
        assert_eq!(kept, [false, true, true]);
        masked.put(&id(9), 1, &template("too large"), MOST_BYTES + 1);
        assert_eq!(masked.get(&id(9), 1), None);
        for version in 0..3 * MOST as u64 {
            masked.put(&id(7), version, &template("small"), 1);
        }
        let remembered = masked.0.lock().unwrap();
        assert!(remembered.order.len() <= MOST);
        assert_eq!((remembered.by_formation.len(), remembered.bytes), (1, 1));
    }
}
