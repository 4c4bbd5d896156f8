//! Statements made ready for processes: clocks apart, unassigned bits zero, holds dropped.

use std::collections::BTreeMap;

use crate::error::{Found, Reason};
use crate::expr::Expr;
use crate::kernel::Stmt;
use crate::table::{Kind, Table};

/// Takes the clock of each register out of the statements.
pub(crate) fn clocks(statements: Vec<Stmt>, table: &Table) -> Found<(Vec<usize>, Vec<Stmt>)> {
    let mut clocks = vec![None; table.registers.len()];
    let mut rest = Vec::new();
    for statement in statements {
        match statement {
            Stmt::Assign { target, value: Expr::Signal(clock), .. }
                if matches!(table.signals[target].kind, Kind::RegisterClock(_)) =>
            {
                if let Kind::RegisterClock(register) = table.signals[target].kind {
                    clocks[register] = Some(clock);
                }
            }
            other => rest.push(other),
        }
    }
    let mut found = Vec::new();
    for (register, clock) in table.registers.iter().zip(clocks) {
        let field = || register.field.replace('$', ".");
        let mut assigned_elsewhere = false;
        for statement in &rest {
            statement.targets(&mut |target| assigned_elsewhere |= target == register.clock);
        }
        if assigned_elsewhere {
            return Err((field(), Reason::ClockExpression));
        }
        found.push(clock.ok_or_else(|| (field(), Reason::ClockExpression))?);
    }
    Ok((found, rest))
}

/// Puts zeros into the bits that no statement assigns: rust-hdl leaves them so.
pub(crate) fn with_unwritten(statements: Vec<Stmt>, table: &Table) -> Vec<Stmt> {
    let mut written: BTreeMap<usize, Vec<bool>> = BTreeMap::new();
    let mut stack: Vec<&Stmt> = statements.iter().collect();
    while let Some(statement) = stack.pop() {
        match statement {
            Stmt::Assign { target, low, width, .. } => {
                let bits = written
                    .entry(*target)
                    .or_insert_with(|| vec![false; table.signals[*target].width]);
                bits[*low..low + width].fill(true);
            }
            Stmt::If { then, otherwise, .. } => stack.extend(then.iter().chain(otherwise)),
            Stmt::Case { arms, .. } => stack.extend(arms.iter().flat_map(|(_, block)| block)),
        }
    }
    let mut all = Vec::new();
    for (target, bits) in written {
        let mut low = 0;
        while low < bits.len() {
            let width = bits[low..].iter().take_while(|bit| !**bit).count();
            if width > 0 {
                let value = table.signals[target].value.part(low, width);
                all.push(Stmt::Assign { target, low, width, value: Expr::Const(value, width) });
            }
            low += width.max(1);
        }
    }
    all.extend(statements);
    all
}

/// Drops `d = q` where it is the first assignment: a register holds by itself.
pub(crate) fn drop_hold(statements: &mut Vec<Stmt>, d: usize, q: usize) {
    let first = statements.iter().position(|statement| {
        let mut assigns = false;
        statement.targets(&mut |target| assigns |= target == d);
        assigns
    });
    if let Some(index) = first {
        let is_hold = matches!(
            &statements[index],
            Stmt::Assign { value: Expr::Signal(from), .. } if *from == q
        );
        if is_hold {
            statements.remove(index);
        }
    }
}
