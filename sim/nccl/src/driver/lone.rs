//! One end in a process of its own: how long it takes to connect, and what a rank sees when another
//! one dies.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{bail, ensure, Context, Result};
use nccl::abi::{GROUP_MAX, HANDLE_BYTES};

use super::buffers::Buffers;
use super::report::check;
use crate::net::{Net, Pointer};

const LIMIT: Duration = Duration::from_secs(60);
const BYTES: usize = 4096;

/// Connects so many communicators from one device to another and back, all at once. Returns how
/// long each way took.
pub fn connect_many(net: &dyn Net, count: usize) -> Result<[Duration; 2]> {
    // The cards are opened before.
    let warm = connect_way(net, 1, [0, 1])?.0;
    let (one, first) = connect_way(net, count, [0, 1])?;
    let (other, second) = connect_way(net, count, [1, 0])?;
    for (send, receive) in warm.into_iter().chain(one).chain(other) {
        check(net.close_recv(receive), "closeRecv")?;
        check(net.close_send(send), "closeSend")?;
    }
    Ok([first, second])
}

/// Does something with a pair of communicators, from device 0 to device 1, and closes them.
pub fn with_pair<T>(
    net: &dyn Net,
    use_it: impl FnOnce(Pointer, Pointer) -> Result<T>,
) -> Result<T> {
    let (ends, _) = connect_way(net, 1, [0, 1])?;
    let (send, receive) = *ends.first().context("no pair")?;
    let result = use_it(send, receive);
    check(net.close_recv(receive), "closeRecv")?;
    check(net.close_send(send), "closeSend")?;
    result
}

/// Ends of communicators that send, and of those that receive.
pub type Ends = Vec<(Pointer, Pointer)>;

/// Connects so many communicators from one device to another. Returns their ends and how long it
/// took.
pub fn connect_way(net: &dyn Net, count: usize, devices: [i32; 2]) -> Result<(Ends, Duration)> {
    let started = Instant::now();
    let mut open = Vec::new();
    for _ in 0..count {
        let mut handle = [0; HANDLE_BYTES];
        let (code, listening) = net.listen(devices[1], &mut handle);
        check(code, "listen")?;
        open.push((handle, listening, 0, 0));
    }
    while open.iter().any(|(_, _, send, receive)| *send == 0 || *receive == 0) {
        ensure!(started.elapsed() < LIMIT, "not connected in {LIMIT:?}");
        for (handle, listening, send, receive) in &mut open {
            if *send == 0 {
                let (code, comm) = net.connect(devices[0], handle);
                check(code, "connect")?;
                *send = comm;
            }
            if *receive == 0 {
                let (code, comm) = net.accept(*listening);
                check(code, "accept")?;
                *receive = comm;
            }
        }
        std::thread::yield_now();
    }
    let took = started.elapsed();
    for (_, listening, ..) in &open {
        check(net.close_listen(*listening), "closeListen")?;
    }
    Ok((open.into_iter().map(|(_, _, send, receive)| (send, receive)).collect(), took))
}

/// Listens, writes its handle to a file, posts a receive and never comes back.
pub fn hold(net: &dyn Net, file: &Path) -> Result<()> {
    let mut handle = [0; HANDLE_BYTES];
    let (code, listening) = net.listen(0, &mut handle);
    check(code, "listen")?;
    let part = file.with_extension("part");
    std::fs::write(&part, handle)?;
    std::fs::rename(part, file)?;
    let mut receive = 0;
    while receive == 0 {
        let code;
        (code, receive) = net.accept(listening);
        check(code, "accept")?;
    }
    let mut into = Buffers::new(1, 1, BYTES)?;
    into.register(net, receive, false)?;
    // A receive that is larger than what ever comes: it stays open.
    let (code, _) = net.irecv(receive, &[into.buffer(0, 0, BYTES, 1)], 0);
    check(code, "irecv")?;
    loop {
        std::thread::park();
    }
}

/// Connects to the handle of a file, and receives from nobody until the other one is gone. Returns
/// the code of the test that says so.
pub fn reach(net: &dyn Net, file: &Path) -> Result<i32> {
    let started = Instant::now();
    let mut handle = loop {
        if let Ok(handle) = std::fs::read(file) {
            break <[u8; HANDLE_BYTES]>::try_from(handle).ok().context("the handle is cut off")?;
        }
        ensure!(started.elapsed() < LIMIT, "no handle in {LIMIT:?}");
        std::thread::sleep(Duration::from_millis(2));
    };
    let mut send = 0;
    while send == 0 {
        let code;
        (code, send) = net.connect(0, &mut handle);
        check(code, "connect")?;
    }
    let mut from = Buffers::new(1, 1, BYTES)?;
    from.register(net, send, false)?;
    let mut request = 0;
    while request == 0 {
        let code;
        (code, request) = net.isend(send, from.buffer(0, 0, BYTES, 1));
        check(code, "isend")?;
    }
    let mut name = file.as_os_str().to_owned();
    name.push(".connected");
    std::fs::write(name, [])?;
    // The first one arrives; there is no buffer for another, so this rank waits for one.
    loop {
        let (code, done) = net.test(request, &mut [0; GROUP_MAX]);
        if code != 0 {
            return Ok(code);
        }
        if done == 1 {
            break;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    loop {
        let (code, _) = net.isend(send, from.buffer(0, 0, BYTES, 1));
        if code != 0 {
            // Its memory may be the card's still.
            std::mem::forget(from);
            return Ok(code);
        }
        if started.elapsed() > LIMIT {
            bail!("the other rank is not known to be gone");
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}
