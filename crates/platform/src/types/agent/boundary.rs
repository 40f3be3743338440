//! `boundary_policy`: the most that an agent's actions may do, whoever calls it. Its statements are
//! those of policies (`formations-behaviour.md` §6.4).

use crate::{Findings, Node, policy_document::problems};
use formwork_model::{DiagnosticCode, Path};

pub(super) fn check(properties: Node<'_>, findings: &mut Findings) {
    let Some(policy) = properties.member("boundary_policy") else { return };
    let found = problems(policy);
    for message in found.invalid.into_iter().chain(found.unknown) {
        findings.error(DiagnosticCode::InvalidValue, Path::of(["boundary_policy"]), message);
    }
}
