//! Leases: who may write for a stack, and until when.

use crate::tables::{Holder, Lease, Stored, Tables};
use crate::{LeaseGuard, LeaseHolder, StoreError, TakenOver};
use formwork_model::{Fence, OperationId, OwnerId, StackId, Timestamp};
use std::collections::BTreeSet;

impl Lease {
    /// The lease of a stack that nobody has had yet.
    fn unheld(stack: &StackId) -> Self {
        Self { stack: stack.clone(), fence: Fence(0), holder: None }
    }

    /// The lease under its next fence, in other hands.
    fn pass_to(&mut self, holder: Holder) {
        self.fence = Fence(self.fence.0 + 1);
        self.holder = Some(holder);
    }

    /// Whether somebody has it who has not run out of time.
    pub(crate) fn is_running(&self, now: Timestamp) -> bool {
        self.holder.as_ref().is_some_and(|holder| holder.expires_at > now)
    }
}

/// The public form of a lease that somebody has.
pub(crate) fn holder_of(lease: Lease) -> Option<LeaseHolder> {
    let Lease { stack, holder, .. } = lease;
    holder.map(|Holder { operation, owner, since, expires_at }| LeaseHolder {
        stack,
        operation,
        owner,
        since,
        expires_at,
    })
}

/// The leases of some stacks in id order, or who has one of them. A lease that ran out still
/// belongs to its operation until that is recovered: two unfinished operations never share a stack.
pub(super) fn free_leases(
    tables: &mut dyn Tables,
    stacks: &[StackId],
) -> Stored<Result<Vec<Lease>, LeaseHolder>> {
    let in_order: BTreeSet<_> = stacks.iter().collect();
    let mut leases = Vec::with_capacity(in_order.len());
    for stack in in_order {
        let lease = tables.lease(stack)?.unwrap_or_else(|| Lease::unheld(stack));
        match holder_of(lease.clone()) {
            Some(holder) => return Ok(Err(holder)),
            None => leases.push(lease),
        }
    }
    Ok(Ok(leases))
}

/// Gives leases to an operation under new fences.
pub(super) fn grant(
    tables: &mut dyn Tables,
    mut leases: Vec<Lease>,
    operation: &OperationId,
    owner: &OwnerId,
    ttl_millis: u64,
) -> Stored<LeaseGuard> {
    let since = tables.now()?;
    let expires_at = since.plus(ttl_millis);
    for lease in &mut leases {
        let (operation, owner) = (operation.clone(), owner.clone());
        lease.pass_to(Holder { operation, owner, since, expires_at });
        tables.put_lease(lease)?;
    }
    let fences = leases.into_iter().map(|lease| (lease.stack, lease.fence)).collect();
    Ok(LeaseGuard { operation: operation.clone(), fences, expires_at })
}

/// The guard's leases, if each is still under the guard's fence, belongs to its operation and has
/// not run out by the store's clock.
pub(super) fn held(tables: &mut dyn Tables, guard: &LeaseGuard) -> Stored<Vec<Lease>> {
    let leases = tables.leases_of(&guard.operation)?;
    if !tables.enforces_fences() {
        return Ok(leases);
    }
    let now = tables.now()?;
    let as_guarded = leases.iter().map(|lease| (&lease.stack, lease.fence));
    let same = as_guarded.eq(guard.fences.iter().map(|(stack, fence)| (stack, *fence)));
    // A guard without a stack has nothing that could still be held.
    if !same || leases.is_empty() || !leases.iter().all(|lease| lease.is_running(now)) {
        return Err(StoreError::LeaseLost { operation: guard.operation.clone() });
    }
    Ok(leases)
}

/// Whether a fence is the newest of its stack and its lease is running.
pub(super) fn is_newest(tables: &mut dyn Tables, stack: &StackId, fence: Fence) -> Stored<bool> {
    let now = tables.now()?;
    Ok(tables.lease(stack)?.is_some_and(|lease| lease.fence == fence && lease.is_running(now)))
}

/// Releases leases; their fences stay.
pub(super) fn release(tables: &mut dyn Tables, leases: Vec<Lease>) -> Stored<()> {
    for lease in leases {
        tables.put_lease(&Lease { holder: None, ..lease })?;
    }
    Ok(())
}

/// [`Store::renew`](crate::Store::renew).
pub(crate) fn renew(tables: &mut dyn Tables, guard: &LeaseGuard, ttl_millis: u64) -> Stored<()> {
    let expires_at = tables.now()?.plus(ttl_millis);
    for mut lease in held(tables, guard)? {
        if let Some(holder) = &mut lease.holder {
            holder.expires_at = expires_at;
        }
        tables.put_lease(&lease)?;
    }
    Ok(())
}

/// [`Store::take_over`](crate::Store::take_over).
pub(crate) fn take_over(
    tables: &mut dyn Tables,
    operation: &OperationId,
    owner: &OwnerId,
    dead: Option<&OwnerId>,
    ttl_millis: u64,
) -> Stored<TakenOver> {
    let now = tables.now()?;
    // An operation has leases exactly as long as it is not finished.
    let leases = tables.leases_of(operation)?;
    if leases.is_empty() {
        return Ok(TakenOver::Nothing);
    }
    for lease in &leases {
        let dead = lease.holder.as_ref().is_some_and(|holder| Some(&holder.owner) == dead);
        if lease.is_running(now)
            && !dead
            && let Some(holder) = holder_of(lease.clone())
        {
            return Ok(TakenOver::Held(holder));
        }
    }
    grant(tables, leases, operation, owner, ttl_millis).map(TakenOver::Taken)
}
