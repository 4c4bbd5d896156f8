//! QEMU at the other end of the socket: its own VFIO code uses the device, without a guest.
//!
//! ```text
//!   test ── qtest: config cycles, loads, stores, RAM ──► QEMU ── vfio-user ──► endpoint
//! ```
//! `ZERONIC_QEMU` names a program with `vfio-user-pci` (10.1 or later), or a script that starts it
//! with the arguments that it is given. Without it these tests are skipped by name.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::Ordering;
use std::sync::mpsc::{self, Receiver};
use std::sync::Arc;
use std::time::Duration;

use vfio_user::pci::{Bar, ConfigSpace, Identity, Link, Msix};
use vfio_user::{Device, Errno, Session};

use crate::exchange::toy::{serve_device, Seen, ServedToy, Toy, BAR_BYTES, ID, PAGE, VECTORS};

const QEMU: &str = "ZERONIC_QEMU";
const SLOT: u64 = 5;
/// In the hole that q35 leaves for BARs.
const BAR: u64 = 0xd000_0000;
const TABLE: u64 = 0xe000;

/// The toy with a real configuration space.
struct Endpoint {
    config: ConfigSpace,
    toy: Toy,
}

impl Endpoint {
    fn new(toy: Toy) -> Self {
        let identity = Identity {
            vendor: 0x10ee,
            device: 0x5a4e,
            subsystem_vendor: 0x10ee,
            subsystem: 1,
            revision: 1,
            class: 0x02_0000,
            serial: Some(7),
        };
        let (is_64_bit, is_prefetchable) = (true, false);
        let bar = Bar { index: 0, bytes: BAR_BYTES, is_64_bit, is_prefetchable };
        let vectors = VECTORS as u16;
        let msix = Msix { vectors, bar: 0, table: TABLE as u32, pending: 0xf000 };
        let link = Link { generation: 3, lanes: 16, payload: 1 };
        let config = ConfigSpace::new(&identity, &[bar], link, Some(msix)).unwrap();
        Self { config, toy }
    }
}

impl Device for Endpoint {
    fn read(
        &mut self,
        region: u32,
        offset: u64,
        into: &mut [u8],
        client: &mut Session,
    ) -> Result<(), Errno> {
        match region {
            7 => {
                self.config.read(offset, into);
                Ok(())
            }
            _ => self.toy.read(region, offset, into, client),
        }
    }

    fn write(
        &mut self,
        region: u32,
        offset: u64,
        from: &[u8],
        client: &mut Session,
    ) -> Result<(), Errno> {
        if region != 7 {
            return self.toy.write(region, offset, from, client);
        }
        if self.config.write(offset, from).function_reset {
            client.clear_pending();
            self.toy.reset(client)?;
        }
        Ok(())
    }

    fn reset(&mut self, client: &mut Session) -> Result<(), Errno> {
        self.config.reset();
        self.toy.reset(client)
    }

    fn client_left(&mut self) {
        self.toy.client_left();
    }
}

/// How long an answer may take on a busy machine.
const ANSWER_TIME: Duration = Duration::from_secs(300);

/// QEMU without a processor: what one would do is asked for line by line.
struct Qemu {
    child: Child,
    input: ChildStdin,
    answers: Receiver<String>,
}

impl Drop for Qemu {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Qemu {
    fn start(program: &std::ffi::OsStr, served: &ServedToy, option: &str) -> Self {
        let socket = served.socket.display();
        let device = format!(
            "{{\"driver\":\"vfio-user-pci\",\"bus\":\"pcie.0\",\"addr\":\"{SLOT}\"{option},\
             \"socket\":{{\"type\":\"unix\",\"path\":\"{socket}\"}}}}"
        );
        let mut child = Command::new(program)
            .args(["-M", "q35,memory-backend=ram", "-m", "64", "-accel", "qtest", "-nodefaults"])
            .args(["-object", "memory-backend-memfd,id=ram,size=64M,share=on"])
            .args(["-display", "none", "-qtest", "stdio", "-qtest-log", "none"])
            .args(["-device", &device])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let input = child.stdin.take().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let (answered, answers) = mpsc::channel();
        std::thread::spawn(move || {
            output.lines().map_while(Result::ok).try_for_each(|line| answered.send(line))
        });
        Self { child, input, answers }
    }

    /// One line to it, and what it answers.
    fn ask(&mut self, line: &str) -> String {
        writeln!(self.input, "{line}").unwrap();
        let answer = self.answers.recv_timeout(ANSWER_TIME);
        let answer = answer.unwrap_or_else(|error| panic!("no answer to '{line}': {error}"));
        let value = answer.trim_end().strip_prefix("OK");
        value.unwrap_or_else(|| panic!("{line}: {answer}")).trim().to_owned()
    }

    fn number(&mut self, line: &str) -> u64 {
        let answer = self.ask(line);
        u64::from_str_radix(answer.trim_start_matches("0x"), 16).unwrap()
    }

    fn config(&mut self, offset: u64) -> u32 {
        self.ask(&format!("outl 0xcf8 {:#x}", 0x8000_0000 | SLOT << 11 | offset));
        self.number("inl 0xcfc") as u32
    }

    fn set_config(&mut self, offset: u64, value: u32) {
        self.ask(&format!("outl 0xcf8 {:#x}", 0x8000_0000 | SLOT << 11 | offset));
        self.ask(&format!("outl 0xcfc {value:#x}"));
    }

    fn load(&mut self, address: u64) -> u32 {
        self.number(&format!("readl {address:#x}")) as u32
    }

    fn store(&mut self, address: u64, value: u32) {
        self.ask(&format!("writel {address:#x} {value:#x}"));
    }

    fn store_wide(&mut self, address: u64, value: u64) {
        self.ask(&format!("writeq {address:#x} {value:#x}"));
    }
}

fn start(name: &str, option: &str) -> Option<(ServedToy, Qemu)> {
    let Some(program) = std::env::var_os(QEMU) else {
        let why = format!("{QEMU} is a QEMU with vfio-user-pci");
        skip::skip(skip::Need::LongRuns, why);
        return None;
    };
    let seen = Arc::new(Seen::default());
    let (toy, description) = Toy::new(seen.clone());
    let mut description = description;
    description.regions[7].bytes = vfio_user::pci::CONFIG_BYTES;
    description.regions[1].bytes = 0;
    let served = serve_device(name, seen, Endpoint::new(toy), description);
    let mut qemu = Qemu::start(&program, &served, option);
    assert_eq!(qemu.config(0), 0x5a4e_10ee);
    qemu.set_config(0x10, u32::MAX);
    assert_eq!(qemu.config(0x10), 0xffff_0004, "64 KiB, 64 bit");
    qemu.set_config(0x10, BAR as u32);
    qemu.set_config(0x14, 0);
    qemu.set_config(4, 6);
    Some((served, qemu))
}

/// The driver's part of QEMU's own life, with its writes as they come.
fn use_device(served: &ServedToy, qemu: &mut Qemu) {
    assert_eq!(qemu.load(BAR), ID);
    qemu.store(BAR + 4, 0x1234_5678);
    assert_eq!(qemu.load(BAR + 4), 0x1234_5678);
    // DMA in the guest's memory, which QEMU passes as a file.
    qemu.ask("write 0x100000 16 0x000102030405060708090a0b0c0d0e0f");
    qemu.store_wide(BAR + 0x08, 0x10_0000);
    qemu.store_wide(BAR + 0x10, 0x20_0003);
    qemu.store_wide(BAR + 0x18, 16);
    // MSI-X of vector 0, as a write to memory where it can be seen.
    let entry = BAR + TABLE;
    for (offset, value) in [(0, 0x30_0000), (4, 0), (8, 0x1234_abcd), (12, 0)] {
        qemu.store(entry + offset, value);
    }
    let control = qemu.config(0x80);
    assert_eq!(control >> 16, VECTORS - 1);
    qemu.set_config(0x80, control | 0x8000_0000);
    qemu.store(BAR + 0x20, 1);
    assert_eq!(qemu.load(BAR + 0x20), 0, "the error number of the copy");
    assert_eq!(qemu.ask("read 0x200003 16"), "0x000102030405060708090a0b0c0d0e0f");
    for _ in 0..1000 {
        if qemu.load(0x30_0000) == 0x1234_abcd {
            break;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    assert_eq!(qemu.load(0x30_0000), 0x1234_abcd, "no interrupt");
    // A store to the page that is shared is no message.
    qemu.store(BAR + PAGE + 8, 0xfeed_beef);
    assert_eq!(served.seen.pages.get().unwrap().load(PAGE as usize + 8), 0xfeed_beef);
    let messages = served.seen.writes.lock().unwrap().clone();
    assert!(messages.iter().all(|(_, offset, _)| *offset != PAGE + 8), "{messages:?}");
}

#[test]
fn qemu_uses_the_device() {
    let Some((served, mut qemu)) = start("qemu", "") else { return };
    use_device(&served, &mut qemu);
    // What is not mapped cannot be reached.
    qemu.store_wide(BAR + 0x10, 0x40_0000_0000);
    qemu.store(BAR + 0x20, 1);
    assert_eq!(qemu.load(BAR + 0x20), Errno::FAULT.raw_os_error() as u32);
    let resets = served.seen.resets.load(Ordering::SeqCst);
    let control = qemu.config(0x48);
    qemu.set_config(0x48, control & 0xffff | 0x8000);
    assert_eq!(qemu.load(BAR + 4), 0, "after a reset of the function");
    assert!(served.seen.resets.load(Ordering::SeqCst) > resets);
    drop(qemu);
    served.until("QEMU has left", |seen| seen.left.load(Ordering::SeqCst) == 1);
}

#[test]
fn qemu_uses_device_with_grouped_writes() {
    let Some((served, mut qemu)) = start("qemu-many", ",\"x-send-queued\":true") else { return };
    use_device(&served, &mut qemu);
}
