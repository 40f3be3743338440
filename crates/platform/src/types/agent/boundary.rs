//! `boundary_policy`: the most that an agent's actions may do, whoever calls it. Its statements are
//! those of policies (`formations-behaviour.md` §6.4).

use crate::{Findings, Node, policy_document};
use formwork_model::Path;

pub(super) fn check(properties: Node<'_>, findings: &mut Findings) {
    let Some(policy) = properties.member("boundary_policy") else { return };
    policy_document::check(policy, &Path::of(["boundary_policy"]), "", findings);
}
