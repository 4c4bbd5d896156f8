//! `nccl-cpu`: one rank of the real NCCL without a GPU, for `ci/nccl.sh`.
//!
//! ```text
//!   nccl-cpu --rank 0 --ranks 2 --id FILE --library libnccl.so.2 --op all-reduce --bytes 4,1048576
//! ```
//! Each operation is judged element by element; the last line has what was wrong.
#![allow(unsafe_code)]

use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{bail, ensure, Context, Result};
use clap::{Parser, ValueEnum};
use nccl_harness::cpu::{allocate, drain, install, Library};

/// `ncclInt8`, `ncclFloat`, `ncclSum`.
const BYTES: c_int = 0;
const FLOATS: c_int = 7;
const SUM: c_int = 0;

/// How long a rank waits for another one's file.
const LIMIT: Duration = Duration::from_secs(30);

/// An operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Operation {
    AllReduce,
    AllGather,
    ReduceScatter,
    /// Each rank sends to the next one.
    SendRecv,
    /// The same, in registered buffers.
    Registered,
}

/// One rank of the real NCCL on the CPU.
#[derive(Parser)]
struct Arguments {
    /// This rank.
    #[arg(long)]
    rank: usize,
    /// All ranks.
    #[arg(long)]
    ranks: usize,
    /// The file by which ranks find each other.
    #[arg(long)]
    id: PathBuf,
    /// NCCL's library.
    #[arg(long)]
    library: PathBuf,
    /// Operations.
    #[arg(long, value_delimiter = ',')]
    op: Vec<Operation>,
    /// Bytes of a rank's buffer, in each operation.
    #[arg(long, value_delimiter = ',')]
    bytes: Vec<usize>,
    /// How often each is done.
    #[arg(long, default_value_t = 1)]
    times: usize,
    /// How often each is done before, and not timed.
    #[arg(long, default_value_t = 0)]
    warm: usize,
}

/// `ncclUniqueId`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Id([u8; 128]);

type Comm = *mut c_void;
type Code = c_int;

/// NCCL's calls.
struct Nccl {
    group_start: unsafe extern "C" fn() -> Code,
    group_end: unsafe extern "C" fn() -> Code,
    send: unsafe extern "C" fn(*const u8, usize, c_int, c_int, Comm, usize) -> Code,
    recv: unsafe extern "C" fn(*mut u8, usize, c_int, c_int, Comm, usize) -> Code,
    all_reduce: unsafe extern "C" fn(*const u8, *mut u8, usize, c_int, c_int, Comm, usize) -> Code,
    all_gather: unsafe extern "C" fn(*const u8, *mut u8, usize, c_int, Comm, usize) -> Code,
    reduce_scatter:
        unsafe extern "C" fn(*const u8, *mut u8, usize, c_int, c_int, Comm, usize) -> Code,
    register: unsafe extern "C" fn(Comm, *mut u8, usize, *mut *mut c_void) -> Code,
    deregister: unsafe extern "C" fn(Comm, *mut c_void) -> Code,
    error: unsafe extern "C" fn(Comm, *mut Code) -> Code,
    destroy: unsafe extern "C" fn(Comm) -> Code,
}

impl Nccl {
    fn of(library: &Library) -> Result<Self> {
        // SAFETY: the types are those of `nccl.h`.
        unsafe {
            Ok(Self {
                group_start: library.get("ncclGroupStart")?,
                group_end: library.get("ncclGroupEnd")?,
                send: library.get("ncclSend")?,
                recv: library.get("ncclRecv")?,
                all_reduce: library.get("ncclAllReduce")?,
                all_gather: library.get("ncclAllGather")?,
                reduce_scatter: library.get("ncclReduceScatter")?,
                register: library.get("ncclCommRegister")?,
                deregister: library.get("ncclCommDeregister")?,
                error: library.get("ncclCommGetAsyncError")?,
                destroy: library.get("ncclCommDestroy")?,
            })
        }
    }
}

fn check(code: Code, call: &str) -> Result<()> {
    ensure!(code == 0, "{call} has returned {code}");
    Ok(())
}

fn connect(library: &Library, arguments: &Arguments) -> Result<Comm> {
    let mut id = Id([0; 128]);
    if arguments.rank == 0 {
        // SAFETY: `ncclResult_t ncclGetUniqueId(ncclUniqueId*)`.
        unsafe {
            let get: unsafe extern "C" fn(*mut Id) -> Code = library.get("ncclGetUniqueId")?;
            check(get(&mut id), "ncclGetUniqueId")?;
        }
        let part = arguments.id.with_extension("part");
        std::fs::write(&part, id.0)?;
        std::fs::rename(part, &arguments.id)?;
    } else {
        id = Id(wait_for(&arguments.id)?);
    }
    let mut comm = std::ptr::null_mut();
    let (ranks, rank) = (arguments.ranks as c_int, arguments.rank as c_int);
    // SAFETY: `ncclResult_t ncclCommInitRank(ncclComm_t*, int, ncclUniqueId, int)`.
    unsafe {
        let init: unsafe extern "C" fn(*mut Comm, c_int, Id, c_int) -> Code =
            library.get("ncclCommInitRank")?;
        check(init(&mut comm, ranks, id, rank), "ncclCommInitRank")?;
    }
    Ok(comm)
}

fn wait_for(path: &Path) -> Result<[u8; 128]> {
    let started = Instant::now();
    loop {
        if let Ok(bytes) = std::fs::read(path) {
            return bytes.try_into().ok().context("the file of the id is cut off");
        }
        if started.elapsed() > LIMIT {
            bail!("no {} in {LIMIT:?}", path.display());
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Buffers of "GPU memory", as this program writes and reads them.
struct Buffer {
    start: *mut u8,
    bytes: usize,
}

impl Buffer {
    fn new(bytes: usize) -> Result<Self> {
        let start = allocate(bytes);
        ensure!(start != 0, "no memory for {bytes} bytes");
        Ok(Self { start: std::ptr::with_exposed_provenance_mut(start), bytes })
    }

    fn fill<T>(&self, value: impl Fn(usize) -> T) {
        for at in 0..self.bytes / size_of::<T>() {
            // SAFETY: inside the buffer.
            unsafe { self.start.cast::<T>().add(at).write(value(at)) };
        }
    }

    fn wrong<T: Copy + PartialEq>(&self, right: impl Fn(usize) -> T) -> usize {
        // SAFETY: inside the buffer.
        let found = |at| unsafe { *self.start.cast::<T>().add(at) };
        (0..self.bytes / size_of::<T>()).filter(|at| found(*at) != right(*at)).count()
    }
}

/// What a rank's element is: whole numbers, so that every order of additions gives the same.
fn float_of(rank: usize, at: usize, turn: usize) -> f32 {
    (rank + at % 1000 + turn) as f32
}

fn byte_of(rank: usize, at: usize, turn: usize) -> u8 {
    (at.wrapping_mul(131) + rank * 17 + turn) as u8
}

/// Starts an operation of this rank, with its neighbours.
fn start(
    nccl: &Nccl,
    comm: Comm,
    (op, bytes): (Operation, usize),
    (from, into): (&Buffer, &Buffer),
    (next, before): (usize, usize),
) -> Result<Code> {
    let floats = bytes / size_of::<f32>();
    let (start, end) = (from.start, into.start);
    // SAFETY: as `nccl.h` says; the buffers have the lengths that the operation needs.
    Ok(unsafe {
        match op {
            Operation::AllReduce => (nccl.all_reduce)(start, end, floats, FLOATS, SUM, comm, 0),
            Operation::ReduceScatter => {
                (nccl.reduce_scatter)(start, end, floats, FLOATS, SUM, comm, 0)
            }
            Operation::AllGather => (nccl.all_gather)(start, end, bytes, BYTES, comm, 0),
            Operation::SendRecv | Operation::Registered => {
                check((nccl.group_start)(), "ncclGroupStart")?;
                let sent = (nccl.send)(start, bytes, BYTES, next as c_int, comm, 0);
                check(sent, "ncclSend")?;
                let received = (nccl.recv)(end, bytes, BYTES, before as c_int, comm, 0);
                check(received, "ncclRecv")?;
                (nccl.group_end)()
            }
        }
    })
}

/// An operation with its buffers, which every turn uses again: GPU memory is never freed here.
struct Repeated<'a> {
    nccl: &'a Nccl,
    comm: Comm,
    op: Operation,
    bytes: usize,
    rank: usize,
    ranks: usize,
    from: Buffer,
    into: Buffer,
}

impl Repeated<'_> {
    fn is_sum(&self) -> bool {
        matches!(self.op, Operation::AllReduce | Operation::ReduceScatter)
    }

    fn neighbours(&self) -> (usize, usize) {
        ((self.rank + 1) % self.ranks, (self.rank + self.ranks - 1) % self.ranks)
    }

    fn fill(&self, turn: usize) {
        let (rank, (_, before)) = (self.rank, self.neighbours());
        if self.is_sum() {
            self.from.fill(|at| float_of(rank, at, turn));
            self.into.fill(|_| -1f32);
        } else {
            self.from.fill(|at| byte_of(rank, at, turn));
            self.into.fill(|at| !byte_of(before, at, turn));
        }
    }

    fn count_wrong(&self, turn: usize) -> usize {
        let (bytes, (_, before)) = (self.bytes, self.neighbours());
        let sum = |at| (0..self.ranks).map(|rank| float_of(rank, at, turn)).sum::<f32>();
        match self.op {
            Operation::AllReduce => self.into.wrong(sum),
            Operation::ReduceScatter => self.into.wrong(|at| sum(self.rank * (bytes / 4) + at)),
            Operation::AllGather => self.into.wrong(|at| byte_of(at / bytes, at % bytes, turn)),
            _ => self.into.wrong(|at| byte_of(before, at, turn)),
        }
    }

    /// Waits until it is done: a kernel whose network has failed never is.
    fn finish(&self) -> Result<()> {
        let failure = Cell::new(0);
        let has_failed = || {
            let mut found = 0;
            // SAFETY: as `nccl.h` says.
            unsafe { (self.nccl.error)(self.comm, &mut found) };
            failure.set(found);
            found != 0
        };
        ensure!(drain(has_failed), "the communicator has failed with {}", failure.get());
        Ok(())
    }

    /// Runs it once. Returns the wrong elements, and how long it took.
    fn run(&self, turn: usize) -> Result<(usize, Duration)> {
        let (nccl, comm) = (self.nccl, self.comm);
        self.fill(turn);
        let mut registered = Vec::new();
        if self.op == Operation::Registered {
            for buffer in [&self.from, &self.into] {
                let mut handle = std::ptr::null_mut();
                // SAFETY: as `nccl.h` says.
                let code =
                    unsafe { (nccl.register)(comm, buffer.start, buffer.bytes, &mut handle) };
                check(code, "ncclCommRegister")?;
                registered.push(handle);
            }
        }
        let started = Instant::now();
        let ends = (&self.from, &self.into);
        check(start(nccl, comm, (self.op, self.bytes), ends, self.neighbours())?, "the operation")?;
        self.finish()?;
        let took = started.elapsed();
        let wrong = self.count_wrong(turn);
        for handle in registered {
            // SAFETY: as `nccl.h` says.
            check(unsafe { (nccl.deregister)(comm, handle) }, "ncclCommDeregister")?;
        }
        Ok((wrong, took))
    }
}

/// Repeats an operation, says how long it took, and returns the wrong elements of all turns.
fn repeat(
    (nccl, comm): (&Nccl, Comm),
    (op, bytes): (Operation, usize),
    arguments: &Arguments,
) -> Result<usize> {
    let &Arguments { rank, ranks, times, warm, .. } = arguments;
    let (in_bytes, out_bytes) = match op {
        Operation::AllGather => (bytes, bytes * ranks),
        Operation::ReduceScatter => (bytes * ranks, bytes),
        _ => (bytes, bytes),
    };
    let (from, into) = (Buffer::new(in_bytes)?, Buffer::new(out_bytes)?);
    let repeated = Repeated { nccl, comm, op, bytes, rank, ranks, from, into };
    let mut times_us = Vec::new();
    let mut wrong = 0;
    for turn in 0..warm + times {
        let (wrong_now, took) = repeated.run(turn)?;
        wrong += wrong_now;
        if turn >= warm {
            times_us.push(took.as_micros());
        }
    }
    times_us.sort_unstable();
    let median_us = times_us.get(times_us.len() / 2).copied().unwrap_or_default();
    println!(
        "rank {rank}: {op:?} of {bytes} bytes, {times} times: wrong {wrong}, median {median_us} us"
    );
    Ok(wrong)
}

fn drive(arguments: &Arguments) -> Result<usize> {
    let library = install(&arguments.library)?;
    let nccl = Nccl::of(&library)?;
    let comm = connect(&library, arguments)?;
    let mut all_wrong = 0;
    for &op in &arguments.op {
        for &bytes in &arguments.bytes {
            all_wrong += repeat((&nccl, comm), (op, bytes), arguments)?;
        }
    }
    // SAFETY: as `nccl.h` says.
    check(unsafe { (nccl.destroy)(comm) }, "ncclCommDestroy")?;
    Ok(all_wrong)
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        hook(panic);
        // A kernel that ends so would never be done.
        std::process::exit(101)
    }));
    let result = drive(&arguments);
    match &result {
        Ok(wrong) => println!("rank {}: wrong {wrong}", arguments.rank),
        Err(error) => eprintln!("nccl-cpu: rank {}: {error:#}", arguments.rank),
    }
    let code = if matches!(result, Ok(0)) { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    // NCCL's threads may still run: what is loaded is not unloaded.
    std::process::exit(i32::from(code != ExitCode::SUCCESS))
}
