//! How the handler misbehaves when it is told to.

use serde::{Deserialize, Serialize};

/// An instruction to misbehave.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fault {
    /// On which operation: `create`, `update`, `delete`, `read` or `validate`.
    pub on: String,
    /// Of which resource, by its id; any, where this is left out.
    #[serde(default)]
    pub of: Option<String>,
    /// How often; 0 is always.
    #[serde(default = "once")]
    pub times: u32,
    /// Whether what was asked for is done all the same.
    #[serde(default)]
    pub act: bool,
    /// What to do.
    #[serde(rename = "do")]
    pub deed: Deed,
}

/// A misdeed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Deed {
    /// Answer with a status, and a message if there is one.
    Fail {
        /// The status.
        status: u16,
        /// The message.
        #[serde(default)]
        message: Option<String>,
    },
    /// Do what was asked for, later.
    Delay {
        /// How much later.
        millis: u64,
    },
    /// Never answer.
    Hang,
    /// Answer 200 with something that is not JSON.
    Garbage,
    /// Answer 200 with JSON that is no object.
    NotAnObject,
    /// Answer 200 with an object that says nothing.
    Nothing,
    /// Answer with a redirect.
    Redirect {
        /// The status.
        status: u16,
        /// Where to.
        location: String,
    },
    /// Answer 200 with more than anybody wants to read.
    TooMuch,
    /// Begin to answer and break off.
    BreakOff,
    /// Give the resource another id, as if it could not be changed in place.
    Replace,
    /// Forget the resource first.
    Forget,
}

fn once() -> u32 {
    1
}

/// The faults that wait for their operation, in the order in which they were given.
#[derive(Debug, Default)]
pub(crate) struct Faults(Vec<Fault>);

impl Faults {
    pub(crate) fn add(&mut self, fault: Fault) {
        self.0.push(fault);
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// The fault for an operation on a resource, which is used up by it.
    pub(crate) fn take(&mut self, operation: &str, id: &str) -> Option<Fault> {
        let is_for = |fault: &Fault| fault.on == operation && fault.of.as_ref().is_none_or(|of| of == id);
        let index = self.0.iter().position(is_for)?;
        let fault = self.0[index].clone();
        match self.0[index].times {
            0 => {}
            1 => drop(self.0.remove(index)),
            _ => self.0[index].times -= 1,
        }
        Some(fault)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_is_used_up_unless_it_is_for_always() {
        let fault = |times| Fault { on: "read".to_owned(), of: None, times, act: false, deed: Deed::Hang };
        let mut faults = Faults::default();
        faults.add(fault(2));
        assert!(faults.take("create", "a").is_none());
        assert!(faults.take("read", "a").is_some() && faults.take("read", "a").is_some());
        assert!(faults.take("read", "a").is_none());
        faults.add(fault(0));
        assert!((0..5).all(|_| faults.take("read", "a").is_some()));
        let mut faults = Faults::default();
        faults.add(Fault { of: Some("b".to_owned()), ..fault(1) });
        assert!(faults.take("read", "a").is_none() && faults.take("read", "b").is_some());
    }

    #[test]
    fn faults_are_written_as_the_readme_shows() {
        let fault: Fault =
            serde_json::from_str(r#"{"on": "create", "do": {"fail": {"status": 422}}}"#).expect("a fault");
        assert_eq!(fault.deed, Deed::Fail { status: 422, message: None });
        assert_eq!((fault.times, fault.act), (1, false));
        let fault: Fault =
            serde_json::from_str(r#"{"on": "update", "act": true, "do": "hang"}"#).expect("a fault");
        assert_eq!((fault.act, fault.deed), (true, Deed::Hang));
    }
}
