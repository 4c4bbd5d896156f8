//! One pair of communicators: a group of senders, one receiver.

use std::time::{Duration, Instant};

use anyhow::{bail, ensure, Result};
use nccl::abi::{GROUP_MAX, HANDLE_BYTES, OPTIONAL_COMPLETION};
use rand::rngs::StdRng;
use rand::Rng;

use super::buffers::Buffers;
use super::plan::{Plan, STEPS};
use super::report::{check, Report};
use crate::net::{Net, Pointer};

/// How long it is looked whether anything writes what was closed.
const AFTERMATH: Duration = Duration::from_millis(30);

/// A sender of the group.
#[derive(Clone, Debug, Default)]
struct Sender {
    sent: usize,
    done: usize,
    requests: [Pointer; STEPS],
}

/// The pair. See the head of this file.
pub struct Pair<'a> {
    net: &'a dyn Net,
    plan: &'a Plan,
    send: Pointer,
    receive: Pointer,
    from: Buffers,
    into: Buffers,
    senders: Vec<Sender>,
    posted: usize,
    received: usize,
    /// What the requests of the receiver's slots hold: stale ones stay.
    slots: [Pointer; STEPS],
    late_until: Option<Instant>,
    report: Report,
}

impl<'a> Pair<'a> {
    /// Connects: the other end accepts when it likes.
    pub fn open(
        net: &'a dyn Net,
        plan: &'a Plan,
        random: &mut StdRng,
        limit: Duration,
    ) -> Result<Self> {
        let mut handle = [0; HANDLE_BYTES];
        let [sends_on, receives_on] = plan.devices;
        let (code, listening) = net.listen(receives_on, &mut handle);
        check(code, "listen")?;
        let (mut send, mut receive) = (0, 0);
        let started = Instant::now();
        while send == 0 || receive == 0 {
            if send == 0 && random.random_bool(0.5) {
                let (code, comm) = net.connect(sends_on, &mut handle);
                check(code, "connect")?;
                send = comm;
            }
            if receive == 0 && random.random_bool(0.5) {
                let (code, comm) = net.accept(listening);
                check(code, "accept")?;
                receive = comm;
            }
            ensure!(started.elapsed() < limit, "not connected in {limit:?}");
            std::thread::yield_now();
        }
        check(net.close_listen(listening), "closeListen")?;
        let mut from = Buffers::new(plan.senders, STEPS, plan.bytes_max)?;
        let mut into = Buffers::new(plan.senders, STEPS, plan.bytes_max)?;
        from.register(net, send, plan.is_gpu)?;
        into.register(net, receive, plan.is_gpu)?;
        let senders = vec![Sender::default(); plan.senders];
        let (slots, report) = ([0; STEPS], Report::default());
        Ok(Self {
            net,
            plan,
            send,
            receive,
            from,
            into,
            senders,
            posted: 0,
            received: 0,
            slots,
            late_until: None,
            report,
        })
    }

    /// Whether everything was sent and received.
    pub fn is_over(&self) -> bool {
        let steps = self.plan.steps;
        self.received == steps && self.senders.iter().all(|sender| sender.done == steps)
    }

    /// Groups that were received.
    pub fn received(&self) -> usize {
        self.received
    }

    /// How far it is.
    pub fn state(&self) -> String {
        let sent: Vec<_> = self.senders.iter().map(|s| (s.sent, s.done)).collect();
        format!(
            "{:?}: posted {}, received {}, sent and done {sent:?}",
            self.plan, self.posted, self.received
        )
    }

    /// A few calls in random order. Returns whether anything moved.
    pub fn step(&mut self, random: &mut StdRng) -> Result<bool> {
        let mut moved = false;
        for _ in 0..4 {
            moved |= match random.random_range(0..4) {
                0 => self.post(random)?,
                1 => self.test_receive()?,
                2 => self.start_send(random)?,
                _ => self.test_sends()?,
            };
        }
        Ok(moved)
    }

    /// A registration of the same memory comes and goes while messages are in flight.
    pub fn register_meanwhile(&mut self) -> Result<()> {
        let handle = self.into.register_one(self.net, self.receive, self.plan.is_gpu, 0)?;
        check(self.net.dereg_mr(self.receive, handle), "deregMr")
    }

    fn start_send(&mut self, random: &mut StdRng) -> Result<bool> {
        let at = random.random_range(0..self.senders.len());
        let sender = &mut self.senders[at];
        if sender.sent == self.plan.steps || sender.sent == sender.done + STEPS {
            return Ok(false);
        }
        let step = sender.sent;
        let bytes = self.plan.length(at, step);
        let message: Vec<u8> = (0..bytes).map(|n| self.plan.byte(at, step, n)).collect();
        self.from.write(at, step, &message);
        let from = self.from.buffer(at, step, bytes, 100 + at as i32);
        let (code, request) = self.net.isend(self.send, from);
        check(code, "isend")?;
        if request == 0 {
            self.report.retries += 1;
            return Ok(false);
        }
        self.report.sends += 1;
        self.report.empty += u64::from(bytes == 0);
        sender.requests[step % STEPS] = request;
        sender.sent += 1;
        Ok(true)
    }

    fn test_sends(&mut self) -> Result<bool> {
        let mut moved = false;
        for (at, sender) in self.senders.iter_mut().enumerate() {
            if sender.done == sender.sent {
                continue;
            }
            let step = sender.done;
            let mut bytes = [-1; GROUP_MAX];
            let (code, done) = self.net.test(sender.requests[step % STEPS], &mut bytes);
            check(code, "test of a send")?;
            match done {
                0 => continue,
                1 => {}
                other => bail!("test of a send says done {other}"),
            }
            // A GPU fills the buffer again at once.
            self.from.spoil(at, step, 0xee);
            sender.done += 1;
            moved = true;
        }
        Ok(moved)
    }

    fn post(&mut self, random: &mut StdRng) -> Result<bool> {
        if self.posted == self.plan.steps || self.posted == self.received + STEPS {
            return Ok(false);
        }
        match self.late_until {
            Some(until) if Instant::now() < until => return Ok(false),
            Some(_) => self.late_until = None,
            None if self.plan.is_late && random.random_bool(0.02) => {
                self.late_until = Some(Instant::now() + Duration::from_millis(30));
            }
            None => {}
        }
        let step = self.posted;
        let buffers: Vec<_> = (0..self.plan.senders)
            .map(|at| {
                self.into.clear(at, step);
                self.into.buffer(at, step, self.plan.bytes_max, 100 + at as i32)
            })
            .collect();
        let held = match self.plan.is_optional {
            true => OPTIONAL_COMPLETION,
            false => self.slots[step % STEPS],
        };
        let (code, request) = self.net.irecv(self.receive, &buffers, held);
        check(code, "irecv")?;
        if request == 0 {
            self.report.retries += 1;
            return Ok(false);
        }
        self.report.receives += 1;
        self.slots[step % STEPS] = request;
        self.posted += 1;
        Ok(true)
    }

    fn test_receive(&mut self) -> Result<bool> {
        if self.received == self.posted {
            return Ok(false);
        }
        let step = self.received;
        let request = self.slots[step % STEPS];
        let mut bytes = [-1; GROUP_MAX];
        let (code, done) = self.net.test(request, &mut bytes);
        check(code, "test of a receive")?;
        match done {
            0 => return Ok(false),
            1 => {}
            other => bail!("test of a receive says done {other}"),
        }
        if self.plan.is_gpu {
            self.flush(step)?;
        }
        for (at, &found) in bytes.iter().enumerate().take(self.plan.senders) {
            self.judge(at, step, found)?;
        }
        let count = self.plan.senders as i32;
        check(self.net.consumed(self.receive, count, request), "irecvConsumed")?;
        self.received += 1;
        Ok(true)
    }

    fn flush(&self, step: usize) -> Result<()> {
        let buffers: Vec<_> = (0..self.plan.senders)
            .map(|at| self.into.buffer(at, step, self.plan.bytes_max, 0))
            .collect();
        let (code, request) = self.net.iflush(self.receive, &buffers);
        check(code, "iflush")?;
        let (mut done, started) = (i32::from(request == 0), Instant::now());
        while done == 0 {
            let code;
            (code, done) = self.net.test(request, &mut [0; GROUP_MAX]);
            check(code, "test of a flush")?;
            ensure!(started.elapsed() < Duration::from_secs(10), "a flush does not end");
        }
        Ok(())
    }

    fn judge(&mut self, at: usize, step: usize, found: i32) -> Result<()> {
        let bytes = self.plan.length(at, step);
        let name = || format!("sender {at}, step {step}, {bytes} bytes of {:?}", self.plan);
        ensure!(found == bytes as i32, "{}: test says {found}", name());
        let (message, is_clean) = self.into.received(at, step, bytes);
        let wrong = self.plan.first_wrong(at, step, &message);
        ensure!(wrong.is_none(), "{}: byte {wrong:?} is wrong", name());
        ensure!(is_clean, "{}: something was written behind it", name());
        self.report.bytes += bytes as u64;
        Ok(())
    }

    /// Closes both ends as NCCL does; what is in flight then harms nothing.
    pub fn close(mut self, is_aborted: bool) -> Result<Report> {
        let net = self.net;
        self.into.deregister(net, self.receive)?;
        check(net.close_recv(self.receive), "closeRecv")?;
        if is_aborted {
            self.into.fill_all(0x5a);
        }
        self.from.deregister(net, self.send)?;
        check(net.close_send(self.send), "closeSend")?;
        if is_aborted {
            std::thread::sleep(AFTERMATH);
            ensure!(self.into.is_all(0x5a), "memory was written after it was deregistered");
        }
        Ok(self.report)
    }
}
