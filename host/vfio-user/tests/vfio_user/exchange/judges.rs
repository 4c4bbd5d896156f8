//! Programs of others at the other end of the socket: the samples of libvfio-user, built by whoever
//! has them.
//!
//! `ZERONIC_LIBVFIO_USER` names the folder of the samples: `build/samples` after `meson setup
//! build` and `ninja -C build`, repository github.com/nutanix/libvfio-user, at commit 7e7a0a6: one
//! later BARs must be powers of 2, and since then its own server does not start. Without it these
//! tests are skipped by name.

use std::io::Read;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use vfio_user::codec::{Area, Rights};
use vfio_user::description::INTERRUPT_PIN;
use vfio_user::{Client, ClientError, Errno, Event, SharedFile};

use crate::exchange::toy::{serve_as, socket, wait, Seen};

const SAMPLES: &str = "ZERONIC_LIBVFIO_USER";
const LIMIT: Duration = Duration::from_secs(10);

/// A sample that runs until this is dropped.
struct Sample(Child);

impl Drop for Sample {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn sample(name: &str) -> Option<PathBuf> {
    let Some(folder) = std::env::var_os(SAMPLES) else {
        let why = format!("{SAMPLES} is the folder of libvfio-user's samples: {name}");
        skip::skip(skip::Need::LongRuns, why);
        return None;
    };
    let path = Path::new(&folder).join(name);
    assert!(path.exists(), "{SAMPLES}: there is no {}", path.display());
    Some(path)
}

/// Starts a server of theirs and waits for its socket.
fn start(name: &str) -> Option<(Sample, PathBuf)> {
    let (program, socket) = (sample(name)?, socket(name));
    let child = Command::new(program).arg(&socket).stdout(Stdio::null()).spawn().unwrap();
    let sample = Sample(child);
    for _ in 0..2000 {
        match Client::connect(&socket) {
            Err(ClientError::NoSocket(_) | ClientError::NoServer(_)) => {}
            _ => return Some((sample, socket)),
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    panic!("{name} does not listen at {}", socket.display());
}

/// Connects; their servers need a moment to let a client go that has only looked.
fn connect(socket: &Path) -> Client {
    let mut left = 200;
    loop {
        match Client::connect_within(socket, Duration::from_millis(500)) {
            Ok(client) => return client,
            Err(error) if left == 0 => panic!("{error}"),
            Err(_) => left -= 1,
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn client_reads_pins_of_gpio_device() {
    let Some((sample, socket)) = start("gpio-pci-idio-16") else { return };
    let mut client = connect(&socket);
    let mut ids = [0; 4];
    client.read(7, 0, &mut ids).unwrap();
    assert_eq!(ids, [0x4f, 0x49, 0xc8, 0x0d]);
    assert_eq!(client.region_bytes(2), 0x100);
    // A pin reads 1 after 0, 3, 6, ... writes of a 1 to it.
    let mut pins = [0];
    for expected in [0b1111_1111, 0b1111_1010, 0b1111_1010, 0b1111_1111] {
        client.read(2, 1, &mut pins).unwrap();
        assert_eq!(pins, [expected], "{expected:#b}");
        client.post(2, 0, &[0b101]).unwrap();
    }
    let refused = client.read(2, 0xff, &mut [0; 2]).unwrap_err();
    assert!(matches!(refused, ClientError::Outside { .. }));
    // Killed, as by the system.
    drop(sample);
    let start = Instant::now();
    assert_eq!(client.post(2, 0, &[1]), Err(ClientError::Vanished(socket.clone())));
    assert!(start.elapsed() < Duration::from_secs(1));
    let again = Client::connect(&socket).unwrap_err();
    assert_eq!(again, ClientError::NoServer(socket.clone()));
    std::fs::remove_file(socket).unwrap();
}

/// A write of a moment to BAR 0 has the sample interrupt at that moment, and then write and read
/// the second range mapped by itself, and the first one by messages: it ends if it reads something
/// else than it has written.
#[test]
fn libvfio_user_server_reaches_our_memory() {
    let program = sample("server");
    let Some(program) = program else { return };
    let socket = socket("lvu-server");
    let mut child =
        Sample(Command::new(program).arg(&socket).stdout(Stdio::null()).spawn().unwrap());
    let mut client = connect(&socket);
    let mut ids = [0; 4];
    client.read(7, 0, &mut ids).unwrap();
    assert_eq!(ids, [0xad, 0xde, 0xef, 0xbe]);

    let areas = [Area { offset: 0, bytes: 0x1000 }, Area { offset: 0x2000, bytes: 0x1000 }];
    assert_eq!(client.mappable(1), areas);
    let page = client.map_region(1, 0x2000, 0x1000).unwrap();
    client.write(1, 0x2010, &0x1234_5678_u32.to_le_bytes()).unwrap();
    assert_eq!(page.load(0x10), 0x1234_5678);
    page.store(0, 77);

    client.reset().unwrap();
    let file = SharedFile::new(0x2000).unwrap();
    client.keep_memory(0x1000, 0x1000, Rights::BOTH).unwrap();
    client.map_memory(0x8000, 0x1000, file.as_fd(), 0x1000, Rights::BOTH).unwrap();
    let again = client.map_memory(0x8000, 0x1000, file.as_fd(), 0, Rights::BOTH).unwrap_err();
    assert!(matches!(again, ClientError::Refused { error: Errno::INVAL, .. }), "{again}");
    let event = Event::new().unwrap();
    client.attach(INTERRUPT_PIN, 0, &[event.as_fd()]).unwrap();

    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    client.write(0, 0, &(now + 1).to_ne_bytes()).unwrap();
    assert!(wait(&event, LIMIT), "no interrupt");
    assert_eq!(event.take(), 1);
    let expected: Vec<u8> = (0..0x1000_u32).map(|index| b'A' + (index / 1024) as u8).collect();
    let mapping = file.map().unwrap();
    let mut seen = vec![0; 0x1000];
    // While it asks for memory it takes a command of ours for the reply: wait until it is quiet.
    let mut quiet = 0;
    while quiet < 30 {
        quiet += 1;
        if wait(&client, Duration::from_millis(10)) {
            client.serve().unwrap();
            quiet = 0;
        }
    }
    mapping.read(0x1000, &mut seen);
    assert!(seen == expected, "what the server wrote by itself");
    assert!(client.kept_memory(0x1000).unwrap() == expected, "what it wrote by messages");
    let mut passed = [0; 8];
    client.read(0, 0, &mut passed).unwrap();
    client.unmap_memory(0x8000, 0x1000).unwrap();
    assert!(child.0.try_wait().unwrap().is_none(), "the sample has ended");
}

/// Their client asserts what it hears of ids, regions and areas, maps 2 ranges for each descriptor
/// that we take, attaches an interrupt, and gives up where it wants written pages to be logged.
#[test]
fn libvfio_user_client_reaches_dirty_log() {
    let Some(program) = sample("client") else { return };
    let seen = Arc::new(Seen::default());
    let served = serve_as("lvu-client", seen, |description, config| {
        // It wants mappable areas in BAR 1, and only there.
        description.regions.swap(0, 1);
        description.interrupts[INTERRUPT_PIN as usize].count = 1;
        config[..4].copy_from_slice(&[0xad, 0xde, 0xef, 0xbe]);
        config[0x2c..0x30].copy_from_slice(&[0xfe, 0xca, 0xbe, 0xba]);
    });
    let mut child = Command::new(program)
        .arg(&served.socket)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let (mut out, mut errors) = (String::new(), String::new());
    child.stdout.take().unwrap().read_to_string(&mut out).unwrap();
    child.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
    assert!(!child.wait().unwrap().success());
    assert!(errors.contains("failed to start dirty page logging"), "{errors}{out}");
    assert!(errors.contains("Operation not supported"), "{errors}");
    assert!(out.contains("area 0 offset 0x1000 size 4096"), "{out}");
    let maps = served.seen.maps.load(std::sync::atomic::Ordering::SeqCst);
    assert_eq!(maps, 32, "two for each descriptor");
}
