//! A stable sort whose comparison can fail and need not be consistent: a program supplies it.

use crate::error::Result;
use crate::vm::Vm;

/// Runs shorter than this are sorted by insertion.
const RUN: usize = 7;

/// Sorts by a function that tells whether its first argument must come before its second.
pub(super) fn sort<T: Copy>(
    vm: &mut Vm<'_>,
    items: &mut Vec<T>,
    before: &mut impl FnMut(&mut Vm<'_>, T, T) -> Result<bool>,
) -> Result<()> {
    for run in items.chunks_mut(RUN) {
        insert_all(vm, run, before)?;
    }
    let mut width = RUN;
    while width < items.len() {
        let mut merged = Vec::with_capacity(items.len());
        for pair in items.chunks(width * 2) {
            let (left, right) = pair.split_at(width.min(pair.len()));
            merge(vm, left, right, &mut merged, before)?;
        }
        *items = merged;
        width *= 2;
    }
    Ok(())
}

fn insert_all<T: Copy>(
    vm: &mut Vm<'_>,
    run: &mut [T],
    before: &mut impl FnMut(&mut Vm<'_>, T, T) -> Result<bool>,
) -> Result<()> {
    for next in 1..run.len() {
        let mut position = next;
        while position > 0 && before(vm, run[position], run[position - 1])? {
            run.swap(position, position - 1);
            position -= 1;
        }
    }
    Ok(())
}

fn merge<T: Copy>(
    vm: &mut Vm<'_>,
    mut left: &[T],
    mut right: &[T],
    merged: &mut Vec<T>,
    before: &mut impl FnMut(&mut Vm<'_>, T, T) -> Result<bool>,
) -> Result<()> {
    while let (Some(&first), Some(&second)) = (left.first(), right.first()) {
        vm.tick()?;
        if before(vm, second, first)? {
            merged.push(second);
            right = &right[1..];
        } else {
            merged.push(first);
            left = &left[1..];
        }
    }
    merged.extend_from_slice(left);
    merged.extend_from_slice(right);
    Ok(())
}
