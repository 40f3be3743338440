//! Names of resources (`formations-behaviour.md` §6.4): `srn:<project>:<type>:<id>`.

use crate::fit::{Fit, all};
use crate::glob;
use formwork_model::ProjectId;
use std::fmt;

const PREFIX: &str = "srn";

/// What stands for "any" in a name: the id of what is yet to be made, the project of what is in
/// none. As part of a name it is an ordinary text: only a pattern with a star there means it.
const ANY: &str = "*";

/// The name of a resource.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Srn {
    project: String,
    type_name: String,
    /// `None`: it is one that is there, but not known which.
    id: Option<String>,
}

impl Srn {
    /// A resource of a project.
    pub fn new(project: &ProjectId, type_name: &str, id: &str) -> Self {
        Self { project: project.to_string(), type_name: type_name.to_owned(), id: Some(id.to_owned()) }
    }

    /// One of a project's resources of which it is not known yet which.
    pub fn unknown(project: &ProjectId, type_name: &str) -> Self {
        Self { project: project.to_string(), type_name: type_name.to_owned(), id: None }
    }

    /// All resources of a type in a project: what creating and listing are decided on.
    pub fn any(project: &ProjectId, type_name: &str) -> Self {
        Self::new(project, type_name, ANY)
    }

    /// What is in no project: a user, a policy.
    pub fn global(type_name: &str, id: &str) -> Self {
        Self { project: ANY.to_owned(), type_name: type_name.to_owned(), id: Some(id.to_owned()) }
    }

    /// All of a type that are in no project, or in whichever.
    pub fn any_global(type_name: &str) -> Self {
        Self::global(type_name, ANY)
    }

    /// Its type, as conditions compare it.
    pub fn type_name(&self) -> &str {
        &self.type_name
    }
}

impl fmt::Display for Srn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let id = self.id.as_deref().unwrap_or("(unknown)");
        write!(f, "{PREFIX}:{}:{}:{id}", self.project, self.type_name)
    }
}

/// The resources that a statement is about: `*`, or a name whose segments may be patterns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SrnPattern {
    /// Every resource.
    All,
    /// Those whose segments fit.
    Segments {
        /// Of the project.
        project: String,
        /// Of the type.
        type_name: String,
        /// Of the id.
        id: String,
    },
}

impl SrnPattern {
    /// The pattern that a text spells: `*`, or `srn:` and three segments that are not empty.
    pub fn parse(text: &str) -> Option<Self> {
        if text == ANY {
            return Some(Self::All);
        }
        let mut segments = text.splitn(4, ':');
        let prefix = segments.next()?;
        let (project, type_name, id) = (segments.next()?, segments.next()?, segments.next()?);
        let filled = [project, type_name, id].iter().all(|segment| !segment.is_empty());
        (prefix == PREFIX && filled && !id.contains(':')).then(|| Self::Segments {
            project: project.to_owned(),
            type_name: type_name.to_owned(),
            id: id.to_owned(),
        })
    }

    /// Whether it certainly means this resource.
    pub fn matches(&self, srn: &Srn) -> bool {
        self.fits(srn) == Fit::Yes
    }

    pub(crate) fn fits(&self, srn: &Srn) -> Fit {
        let Self::Segments { project, type_name, id } = self else { return Fit::Yes };
        let is_meant = match &srn.id {
            Some(found) => glob::matches(id, found).into(),
            None if id == ANY => Fit::Yes,
            None => Fit::Maybe,
        };
        all([
            glob::matches(type_name, &srn.type_name).into(),
            glob::matches(project, &srn.project).into(),
            is_meant,
        ])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_is_a_star_or_has_three_segments() {
        for good in ["*", "srn:*:*:*", "srn:proj_1:agent:agent_?", "srn:p*:model_route:*"] {
            assert!(SrnPattern::parse(good).is_some(), "{good}");
        }
        for bad in [
            "",
            "srn",
            "srn:p:agent",
            "srn:p::x",
            "srn::agent:*",
            "srn:p:agent:",
            "soat:p:agent:*",
            "srn:p:agent:a:b",
            "**",
        ] {
            assert!(SrnPattern::parse(bad).is_none(), "{bad}");
        }
    }

    #[test]
    fn each_segment_is_matched_on_its_own() {
        let one = Srn::new(&"proj_1".into(), "agent", "agent_1");
        let any = Srn::any(&"proj_1".into(), "agent");
        for (pattern, on_one, on_any) in [
            ("*", true, true),
            ("srn:*:*:*", true, true),
            ("srn:proj_1:agent:*", true, true),
            ("srn:proj_1:agent:agent_1", true, false),
            ("srn:proj_?:a*:agent_*", true, false),
            ("srn:proj_2:agent:*", false, false),
            ("srn:proj_1:tool:*", false, false),
        ] {
            let pattern = SrnPattern::parse(pattern).expect(pattern);
            assert_eq!((pattern.matches(&one), pattern.matches(&any)), (on_one, on_any), "{pattern:?}");
        }
    }

    #[test]
    fn what_is_in_no_project_is_not_meant_by_the_name_of_one() {
        let user = Srn::global("user", "user_1");
        assert!(SrnPattern::parse("srn:*:user:*").expect("a pattern").matches(&user));
        assert!(!SrnPattern::parse("srn:proj_1:user:*").expect("a pattern").matches(&user));
        assert_eq!(user.to_string(), "srn:*:user:user_1");
    }
}
