//! The planner: graph, the one change rule, ordering, plan checks. Pure.
