//! The sweep over handwritten scenarios: something goes wrong at each point, once and twice.
//! `FORMWORK_SIM_PAIRS=100000` tries every pair of crashes.

use crate::scenarios;
use formwork_sim::{Protections, Scenario, Swept, sweep};

/// How many pairs of crashes are tried per scenario, unless `FORMWORK_SIM_PAIRS` says otherwise.
const PAIRS: usize = 12;

fn well(scenario: &Scenario) {
    let most = std::env::var("FORMWORK_SIM_PAIRS").ok().and_then(|text| text.parse().ok());
    let swept = sweep(scenario, Protections::default(), most.unwrap_or(PAIRS));
    assert!(swept.findings.is_empty(), "{}", told(&swept));
    assert!(swept.runs > 10, "{} runs are no sweep", swept.runs);
    println!("{}: {} runs", scenario.name, swept.runs);
}

fn told(swept: &Swept) -> String {
    use std::fmt::Write as _;
    let mut text = format!("{} findings in {} runs\n", swept.findings.len(), swept.runs);
    for finding in swept.findings.iter().take(8) {
        let _ = writeln!(text, "`{}` with {:?}: {}", finding.scenario, finding.faults, finding.violation);
    }
    if let Some(first) = swept.findings.first().filter(|_| std::env::var_os("FORMWORK_SIM_TRACE").is_some()) {
        let _ = writeln!(text, "{}", first.trace.join("\n"));
    }
    text
}

macro_rules! swept {
    ($($(#[$attribute:meta])* $test:ident: $scenario:expr;)+) => {
        $($(#[$attribute])* #[test]
        fn $test() {
            well(&$scenario);
        })+
    };
}

swept! {
    an_update_back_and_forth: scenarios::back_and_forth();
    a_chain_that_is_torn_down: scenarios::chain();
    a_diamond_of_plugin_resources: scenarios::diamond();
    a_change_that_ripples: scenarios::ripple();
    a_replacement: scenarios::replacement();
    a_replacement_found_by_a_property: scenarios::tagged_replacement();
    a_replacement_that_deletes_first: scenarios::delete_first();
    a_replacement_that_is_discovered: scenarios::discovered();
    a_rollback: scenarios::rollback();
    a_failure_that_is_passed_over: scenarios::carry_on();
    a_create_that_fails_half_way: scenarios::half_way();
    a_half_made_object_that_is_replaced: scenarios::half_way_on();
    calls_that_need_patience: scenarios::patience();
    objects_that_are_kept: scenarios::retained();
    an_object_that_vanished: scenarios::vanished();
    objects_that_cannot_be_found: scenarios::blind();
    a_cancel: scenarios::canceled(false);
    a_forced_cancel: scenarios::canceled(true);
    secrets_that_change: scenarios::secrets();
    an_old_object_that_something_names: scenarios::still_named();
    a_half_made_object_under_the_old_id: scenarios::half_way_back();
    what_a_replaced_object_refers_to: scenarios::moved_off();
    an_update_that_is_made_again: scenarios::twice_in_doubt();
    a_named_object_that_is_made_anew: scenarios::named_anew();
    a_dependent_that_stayed_behind: scenarios::left_behind();
    a_kept_object_beside_a_new_one: scenarios::kept_and_made_again();
}
