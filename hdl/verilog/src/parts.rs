//! Assignments to all the fields of a struct, one by one, as one assignment of the whole.
//!
//! ```text
//!   beat[511:0] = data; beat[512] = last;   ──>   beat = {last, data};
//! ```

use std::collections::BTreeMap;

use crate::expr::Expr;
use crate::kernel::Stmt;
use crate::table::Table;

/// Part assignments to one signal that no statement has disturbed so far.
#[derive(Default)]
struct Run {
    /// Index of the statement, first bit, width.
    parts: Vec<(usize, usize, usize)>,
}

/// The statements with complete runs of part assignments joined at the place of the last.
pub(crate) fn joined(statements: Vec<Stmt>, table: &Table) -> Vec<Stmt> {
    let mut out: Vec<Option<Stmt>> = Vec::new();
    let mut runs: BTreeMap<usize, Run> = BTreeMap::new();
    for statement in statements {
        let statement = inside(statement, table);
        runs.retain(|target, _| !reads(&statement, *target));
        let part = match &statement {
            Stmt::Assign { target, low, width, .. } if *width < table.signals[*target].width => {
                Some((*target, *low, *width))
            }
            _ => None,
        };
        disturb(&mut runs, &out, &statement, part.is_some());
        let index = out.len();
        out.push(Some(statement));
        let Some((target, low, width)) = part else {
            continue;
        };
        let run = runs.entry(target).or_default();
        run.parts.retain(|(_, l, w)| low >= l + w || *l >= low + width);
        run.parts.push((index, low, width));
        let covered: usize = run.parts.iter().map(|part| part.2).sum();
        if covered == table.signals[target].width {
            let run = runs.remove(&target).unwrap_or_default();
            out[index] = Some(whole(target, run, &mut out, table));
        }
    }
    out.into_iter().flatten().collect()
}

fn inside(statement: Stmt, table: &Table) -> Stmt {
    match statement {
        Stmt::If { test, then, otherwise } => {
            Stmt::If { test, then: joined(then, table), otherwise: joined(otherwise, table) }
        }
        Stmt::Case { test, arms } => Stmt::Case {
            test,
            arms: arms.into_iter().map(|(label, block)| (label, joined(block, table))).collect(),
        },
        assign => assign,
    }
}

fn reads(statement: &Stmt, signal: usize) -> bool {
    let mut found = false;
    statement.reads(&mut |read| found |= read == signal);
    found
}

/// Ends the runs whose signal, or whose values' signals, the statement assigns.
fn disturb(runs: &mut BTreeMap<usize, Run>, out: &[Option<Stmt>], statement: &Stmt, is_part: bool) {
    statement.targets(&mut |written| {
        if !is_part {
            runs.remove(&written);
        }
        runs.retain(|_, run| {
            let reads_it = |part: &(usize, usize, usize)| {
                out[part.0].as_ref().is_some_and(|s| reads(s, written))
            };
            !run.parts.iter().any(reads_it)
        });
    });
}

/// Takes the parts out of `out` and makes them one assignment.
fn whole(target: usize, mut run: Run, out: &mut [Option<Stmt>], table: &Table) -> Stmt {
    run.parts.sort_by_key(|part| std::cmp::Reverse(part.1));
    let mut values = Vec::new();
    for (index, _, _) in &run.parts {
        if let Some(Stmt::Assign { value, .. }) = out[*index].take() {
            values.push(value);
        }
    }
    let width = table.signals[target].width;
    Stmt::Assign { target, low: 0, width, value: Expr::Concat(values, width) }
}
