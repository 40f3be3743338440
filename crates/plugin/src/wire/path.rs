//! Paths.

use super::pb::{self, segment::Step};
use super::value::{WireError, present};
use formwork_model::{Path, Segment};

impl From<&Path> for pb::Path {
    fn from(path: &Path) -> Self {
        let segment = |segment: &Segment| {
            let step = match segment {
                Segment::Key(key) => Step::Key(key.to_string()),
                Segment::Index(index) => Step::Index(*index as u64),
            };
            pb::Segment { step: Some(step) }
        };
        Self { segments: path.segments().iter().map(segment).collect() }
    }
}

impl TryFrom<pb::Path> for Path {
    type Error = WireError;

    fn try_from(path: pb::Path) -> Result<Self, WireError> {
        let segment = |segment: pb::Segment| {
            Ok(match present("path.segments.step", segment.step)? {
                Step::Key(key) => Segment::Key(key.into()),
                Step::Index(index) => {
                    let field = "path.segments.index";
                    let expected = "the index of an element";
                    let index = usize::try_from(index).map_err(|_| WireError::Invalid { field, expected })?;
                    Segment::Index(index)
                }
            })
        };
        path.segments.into_iter().map(segment).collect()
    }
}

pub(super) fn to_wire(paths: &[Path]) -> Vec<pb::Path> {
    paths.iter().map(pb::Path::from).collect()
}

pub(super) fn from_wire(paths: Vec<pb::Path>) -> Result<Vec<Path>, WireError> {
    paths.into_iter().map(Path::try_from).collect()
}
