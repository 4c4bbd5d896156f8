//! Which assignments share a process, and of which form, so that every read sees what Rust reads.
//!
//! ```text
//!   statements ──> accesses in program order ──> groups: assign | always @* | always @(posedge)
//! ```
//!
//! Rust runs a kernel from top to bottom until nothing changes. A read of a local or an output
//! sees the assignment above it; a read of a child's or a register's input sees the settled value.
//! 1. A read below the last assignment (on its path) sees the final value: any process will do.
//! 2. A read between two assignments sees an intermediate value: it must be in the same process,
//!    which is combinational, with the assignments in the kernel's order.
//! 3. A read above the first assignment, or above the last one of a settled signal, sees the final
//!    value too: it must stand in another process.
//! 4. A register whose input is read gets a net for it, assigned by a combinational process.
//! 5. Beyond that, signals that one statement assigns stay together, as in the kernel.

use std::collections::{BTreeMap, BTreeSet};

use crate::error::{Found, Reason};
use crate::kernel::{project_all, Stmt};
use crate::table::{Kind, Table};

/// Signals assigned by one process.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    pub(crate) targets: BTreeSet<usize>,
    pub(crate) statements: Vec<Stmt>,
    /// Clocked: the targets are registers' inputs, the process assigns the registers.
    pub(crate) clock: Option<usize>,
}

impl Group {
    /// The only statement if it assigns all of one signal.
    pub(crate) fn single(&self, table: &Table) -> Option<(usize, &crate::expr::Expr)> {
        match &self.statements[..] {
            [Stmt::Assign { target, width, value, .. }]
                if *width == table.signals[*target].width =>
            {
                Some((*target, value))
            }
            _ => None,
        }
    }
}

/// Splits a kernel; `clocks` gives each register's clock.
pub(crate) fn groups(statements: &[Stmt], table: &Table, clocks: &[usize]) -> Found<Vec<Group>> {
    let accesses = Accesses::of(statements);
    let mut apart = Vec::new();
    let mut together = Vec::new();
    let mut combinational = BTreeSet::new();
    for read in &accesses.reads {
        let kind = table.signals[read.signal].kind;
        if let Kind::D(_) = kind {
            combinational.insert(read.signal);
        }
        let settled = kind.reads_settled();
        let writes = accesses.writes.get(&read.signal);
        let on_path = |write: &&Place| !exclusive(&write.path, &read.place.path);
        let mut writes = writes.into_iter().flatten().filter(on_path).peekable();
        let earlier = writes.peek().is_some_and(|w| w.at < read.place.at);
        let later = writes.any(|w| w.at > read.place.at);
        if !later {
            continue;
        }
        if settled || !earlier {
            apart.push(read);
        } else {
            together.push(read);
            combinational.extend(read.targets.iter().copied());
        }
    }
    let clock_of = |target: usize| match table.signals[target].kind {
        Kind::D(register) if !combinational.contains(&target) => Some(clocks[register]),
        _ => None,
    };
    let mut sets = Sets::default();
    for statement in statements {
        let mut first: BTreeMap<Option<usize>, usize> = BTreeMap::new();
        statement.targets(&mut |target| {
            let with = *first.entry(clock_of(target)).or_insert(target);
            sets.join(with, target);
        });
    }
    for read in together {
        for target in &read.targets {
            sets.join(read.signal, *target);
        }
    }
    for read in apart {
        for target in &read.targets {
            if clock_of(*target).is_none() && sets.find(read.signal) == sets.find(*target) {
                let name = table.signals[read.signal].field.replace('$', ".");
                return Err((name, Reason::ReadTooEarly));
            }
        }
    }
    Ok(collect(statements, sets, clock_of))
}

fn collect(
    statements: &[Stmt],
    mut sets: Sets,
    clock_of: impl Fn(usize) -> Option<usize>,
) -> Vec<Group> {
    let mut order = Vec::new();
    let mut members: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    for statement in statements {
        statement.targets(&mut |target| {
            let root = sets.find(target);
            if !order.contains(&root) {
                order.push(root);
            }
            members.entry(root).or_default().insert(target);
        });
    }
    order
        .into_iter()
        .map(|root| {
            let targets = members.remove(&root).unwrap_or_default();
            Group {
                statements: project_all(statements, &|target| targets.contains(&target)),
                clock: targets.first().and_then(|target| clock_of(*target)),
                targets,
            }
        })
        .collect()
}

/// Drops assignments that a later one replaces before anyone reads them.
pub(crate) fn without_dead(statements: Vec<Stmt>, table: &Table) -> Vec<Stmt> {
    let is_dead = |index: usize| {
        let Some(target) = whole_target(&statements[index], table) else {
            return false;
        };
        for later in &statements[index + 1..] {
            let mut read = false;
            later.reads(&mut |signal| read |= signal == target);
            if read && !table.signals[target].kind.reads_settled() {
                return false;
            }
            if whole_target(later, table) == Some(target) {
                return true;
            }
        }
        false
    };
    let dead: Vec<bool> = (0..statements.len()).map(is_dead).collect();
    let alive = statements.iter().zip(dead).filter(|(_, dead)| !dead);
    alive.map(|(statement, _)| statement.clone()).collect()
}

fn whole_target(statement: &Stmt, table: &Table) -> Option<usize> {
    match statement {
        Stmt::Assign { target, width, .. } => {
            (*width == table.signals[*target].width).then_some(*target)
        }
        _ => None,
    }
}

/// Place of an access: its number in program order and the branches that contain it.
#[derive(Clone, Debug)]
struct Place {
    at: usize,
    path: Vec<(usize, usize)>,
}

struct Read {
    signal: usize,
    /// What the value read decides.
    targets: BTreeSet<usize>,
    place: Place,
}

#[derive(Default)]
struct Accesses {
    reads: Vec<Read>,
    writes: BTreeMap<usize, Vec<Place>>,
    count: usize,
    branches: usize,
    path: Vec<(usize, usize)>,
}

impl Accesses {
    fn of(statements: &[Stmt]) -> Accesses {
        let mut accesses = Accesses::default();
        accesses.block(statements);
        let written: BTreeSet<usize> = accesses.writes.keys().copied().collect();
        accesses.reads.retain(|read| written.contains(&read.signal));
        accesses
    }

    fn place(&mut self) -> Place {
        self.count += 1;
        Place { at: self.count, path: self.path.clone() }
    }

    fn read(&mut self, expression: &crate::expr::Expr, targets: &BTreeSet<usize>) {
        let place = self.place();
        expression.reads(&mut |signal| {
            self.reads.push(Read { signal, targets: targets.clone(), place: place.clone() });
        });
    }

    fn block(&mut self, statements: &[Stmt]) {
        for statement in statements {
            let mut targets = BTreeSet::new();
            statement.targets(&mut |target| {
                targets.insert(target);
            });
            match statement {
                Stmt::Assign { target, value, .. } => {
                    self.read(value, &targets);
                    let place = self.place();
                    self.writes.entry(*target).or_default().push(place);
                }
                Stmt::If { test, then, otherwise } => {
                    self.read(test, &targets);
                    self.arms(&mut [then, otherwise].into_iter());
                }
                Stmt::Case { test, arms } => {
                    self.read(test, &targets);
                    self.arms(&mut arms.iter().map(|(_, block)| block));
                }
            }
        }
    }

    fn arms(&mut self, arms: &mut dyn Iterator<Item = &Vec<Stmt>>) {
        self.branches += 1;
        let branch = self.branches;
        for (index, arm) in arms.enumerate() {
            self.path.push((branch, index));
            self.block(arm);
            self.path.pop();
        }
    }
}

/// True if no run passes both places.
fn exclusive(left: &[(usize, usize)], right: &[(usize, usize)]) -> bool {
    left.iter().zip(right).take_while(|(l, r)| l.0 == r.0).any(|(l, r)| l.1 != r.1)
}

/// Disjoint sets of signals.
#[derive(Default)]
struct Sets(BTreeMap<usize, usize>);

impl Sets {
    fn find(&mut self, signal: usize) -> usize {
        let mut at = signal;
        while let Some(&up) = self.0.get(&at) {
            at = up;
        }
        at
    }

    fn join(&mut self, left: usize, right: usize) {
        let (left, right) = (self.find(left), self.find(right));
        if left != right {
            self.0.insert(left.max(right), left.min(right));
        }
    }
}
