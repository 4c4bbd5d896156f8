//! Refuses signals that keep their value on some path: Rust would remember it.

use std::collections::BTreeMap;

use crate::error::{Found, Reason};
use crate::kernel::Stmt;
use crate::order::Group;
use crate::table::Table;

/// For each signal, which of its bits are assigned.
type Assigned = BTreeMap<usize, Vec<bool>>;

/// Checks that every bit of every target is assigned on every path.
pub(crate) fn check(group: &Group, table: &Table) -> Found<()> {
    let mut assigned = Assigned::new();
    block(&group.statements, table, &mut assigned);
    for target in &group.targets {
        let complete = assigned.get(target).is_some_and(|bits| bits.iter().all(|bit| *bit));
        if !complete {
            return Err((table.signals[*target].field.replace('$', "."), Reason::Latch));
        }
    }
    Ok(())
}

fn block(statements: &[Stmt], table: &Table, assigned: &mut Assigned) {
    for statement in statements {
        match statement {
            Stmt::Assign { target, low, width, .. } => {
                let bits = assigned
                    .entry(*target)
                    .or_insert_with(|| vec![false; table.signals[*target].width]);
                bits[*low..low + width].fill(true);
            }
            Stmt::If { then, otherwise, .. } => arms(&[then, otherwise], table, assigned),
            Stmt::Case { arms: cases, .. } => {
                let blocks: Vec<&Vec<Stmt>> = cases.iter().map(|(_, block)| block).collect();
                arms(&blocks, table, assigned);
            }
        }
    }
}

fn arms(blocks: &[&Vec<Stmt>], table: &Table, assigned: &mut Assigned) {
    let mut common: Option<Assigned> = None;
    for statements in blocks {
        let mut own = assigned.clone();
        block(statements, table, &mut own);
        common = Some(match common {
            None => own,
            Some(mut common) => {
                common.retain(|target, bits| {
                    let other = own.get(target);
                    bits.iter_mut()
                        .enumerate()
                        .for_each(|(index, bit)| *bit &= other.is_some_and(|o| o[index]));
                    other.is_some()
                });
                common
            }
        });
    }
    if let Some(common) = common {
        *assigned = common;
    }
}
