//! Server and client with each other, over a real socket: registers, memory, interrupts, ends.

mod interrupts;
mod judges;
mod qemu;
mod toy;

use std::os::fd::AsFd;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use vfio_user::client::LINE_BYTES;
use vfio_user::codec::{Area, Command, DmaMap, Rights, SmallWrite};
use vfio_user::description::INTERRUPT_MSIX;
use vfio_user::{
    Client, ClientError, Device, Errno, Event, Server, ServerError, Session, SharedFile,
};

use self::toy::{serve, serve_device, socket, ServedToy, Toy, BAR_BYTES, ID, PAGE, VECTORS};

const LIMIT: Duration = Duration::from_secs(5);

fn word(client: &mut Client, offset: u64) -> u32 {
    let mut bytes = [0; 4];
    client.read(0, offset, &mut bytes).unwrap();
    u32::from_le_bytes(bytes)
}

fn put(client: &mut Client, offset: u64, value: u64) {
    client.write(0, offset, &value.to_le_bytes()).unwrap();
}

/// Has the toy copy from one bus address to another; returns the error number it met.
fn copy(client: &mut Client, from: u64, to: u64, bytes: u64) -> Option<Errno> {
    put(client, 0x08, from);
    put(client, 0x10, to);
    put(client, 0x18, bytes);
    client.write(0, 0x20, &[1, 0, 0, 0]).unwrap();
    match word(client, 0x20) {
        0 => None,
        number => Some(Errno::from_raw_os_error(number as i32)),
    }
}

fn open(name: &str) -> (ServedToy, Client) {
    let served = serve(name);
    let client = Client::connect(&served.socket).unwrap();
    (served, client)
}

#[test]
fn device_is_found_as_described() {
    let (_served, client) = open("described");
    assert!(client.device().is_pci && client.device().resets);
    assert_eq!((client.device().regions, client.device().interrupts), (9, 5));
    let bytes: Vec<u64> = (0..10).map(|index| client.region_bytes(index)).collect();
    assert_eq!(bytes, [BAR_BYTES, 16, 0, 0, 0, 0, 0, 256, 0, 0]);
    let counts: Vec<u32> = (0..6).map(|index| client.interrupt_count(index)).collect();
    assert_eq!(counts, [0, 0, VECTORS, 1, 0, 0]);
    assert_eq!(client.mappable(0), [Area { offset: PAGE, bytes: PAGE }]);
    assert_eq!(client.mappable(7), []);
    assert!(client.writes_many());
}

#[test]
fn registers_are_read_and_written() {
    let (_served, mut client) = open("registers");
    assert_eq!(word(&mut client, 0), ID);
    client.write(0, 4, &0x1234_5678_u32.to_le_bytes()).unwrap();
    assert_eq!(word(&mut client, 4), 0x1234_5678);
    client.write(7, 4, &[6, 0]).unwrap();
    let mut config = [0; 8];
    client.read(7, 0, &mut config).unwrap();
    assert_eq!(config, [0, 1, 2, 3, 6, 0, 6, 7]);
}

#[test]
fn long_transfers_are_cut_arrive_whole() {
    let (served, mut client) = open("long");
    let bytes: Vec<u8> = (0..0x8000_u32).map(|index| (index % 251) as u8).collect();
    client.write(0, 0x8000, &bytes).unwrap();
    let mut read = vec![0; bytes.len()];
    client.read(0, 0x8000, &mut read).unwrap();
    assert!(read == bytes);
    assert_eq!(served.seen.writes.lock().unwrap().len(), 1);
}

#[test]
fn posted_writes_arrive_before_later_read() {
    let (served, mut client) = open("posted");
    for value in 0..1000_u32 {
        client.post(0, 4, &value.to_le_bytes()).unwrap();
    }
    assert_eq!(word(&mut client, 4), 999);
    assert_eq!(word(&mut client, 0x28), 1000);
    let writes = served.seen.writes.lock().unwrap();
    for (value, write) in (0_u32..).zip(writes.iter()) {
        assert_eq!(*write, (0, 4, value.to_le_bytes().to_vec()));
    }
}

#[test]
fn line_arrives_as_one_write() {
    let (served, mut client) = open("line");
    let line: [u8; LINE_BYTES] = std::array::from_fn(|index| index as u8);
    client.post_line(0, 0x2080, &line).unwrap();
    assert_eq!(word(&mut client, 0x28), 1);
    assert_eq!(*served.seen.writes.lock().unwrap(), [(0, 0x2080, line.to_vec())]);
}

#[test]
fn several_writes_arrive_one_by_one() {
    let (served, mut client) = open("many");
    let writes = [
        SmallWrite::new(0, 4, &[1, 2, 3, 4]).unwrap(),
        SmallWrite::new(7, 16, &[9]).unwrap(),
        SmallWrite::new(0, 0x40, &[5; 8]).unwrap(),
    ];
    client.post_many(&writes).unwrap();
    assert_eq!(word(&mut client, 4), 0x0403_0201);
    let expected = [(0, 4, vec![1, 2, 3, 4]), (7, 16, vec![9]), (0, 0x40, vec![5; 8])];
    assert_eq!(*served.seen.writes.lock().unwrap(), expected);
}

#[test]
fn mapped_page_is_the_devices_own() {
    let (_served, mut client) = open("mapped");
    let page = client.map_region(0, PAGE, PAGE).unwrap();
    page.store(8, 0xfeed_beef);
    assert_eq!(word(&mut client, PAGE + 8), 0xfeed_beef);
    let half = client.map_region(0, PAGE, 16).unwrap();
    assert_eq!(half.load(8), 0xfeed_beef);
    for (region, offset, bytes) in [(0, 0, PAGE), (0, PAGE, 2 * PAGE), (7, 0, 256)] {
        let result = client.map_region(region, offset, bytes);
        assert!(matches!(result, Err(ClientError::NotMappable { .. })), "{region} {offset}");
    }
    let result = client.map_region(0, BAR_BYTES, PAGE);
    assert!(matches!(result, Err(ClientError::Outside { .. })));
}

#[test]
fn device_reaches_files_by_itself() {
    let (served, mut client) = open("files");
    let file = SharedFile::new(0x4000).unwrap();
    let mapping = file.map().unwrap();
    let bytes: Vec<u8> = (0..300).map(|index| index as u8).collect();
    mapping.write(0x1100, &bytes);
    client.map_memory(0x10_0000, 0x1000, file.as_fd(), 0x1000, Rights::BOTH).unwrap();
    client.map_memory(0x80_0000, 0x1000, file.as_fd(), 0x3000, Rights::BOTH).unwrap();
    assert_eq!(copy(&mut client, 0x10_0100, 0x80_0033, 300), None);
    let mut read = vec![0; 300];
    mapping.read(0x3033, &mut read);
    assert_eq!(read, bytes);
    assert_eq!(served.seen.maps.load(Ordering::SeqCst), 2);
}

#[test]
fn device_reaches_shrinkable_file_by_calls() {
    let (_served, mut client) = open("unsealed");
    let path = socket("file");
    let file = std::fs::File::create_new(&path).unwrap();
    file.set_len(0x2000).unwrap();
    let file = std::fs::File::options().read(true).write(true).open(&path).unwrap();
    client.map_memory(0, 0x2000, file.as_fd(), 0, Rights::BOTH).unwrap();
    std::os::unix::fs::FileExt::write_all_at(&file, b"over the file", 0x10).unwrap();
    assert_eq!(copy(&mut client, 0x10, 0x1000, 13), None);
    let mut read = [0; 13];
    std::os::unix::fs::FileExt::read_exact_at(&file, &mut read, 0x1000).unwrap();
    assert_eq!(&read, b"over the file");
    // A mapping of it would end the server here.
    file.set_len(0x800).unwrap();
    assert_eq!(copy(&mut client, 0x1000, 0, 4), Some(Errno::FAULT));
    assert_eq!(word(&mut client, 0), ID);
    std::fs::remove_file(path).unwrap();
}

#[test]
fn device_asks_for_memory_not_given() {
    let (_served, mut client) = open("messages");
    client.keep_memory(0x1000, 0x1000, Rights::BOTH).unwrap();
    client.keep_memory(0x20_0000, 3 << 20, Rights::BOTH).unwrap();
    client.kept_memory(0x1000).unwrap()[..5].copy_from_slice(b"hello");
    assert_eq!(copy(&mut client, 0x1000, 0x20_0007, 5), None);
    assert_eq!(&client.kept_memory(0x20_0000).unwrap()[7..12], b"hello");
    client.keep_memory(0x1000, 0x1000, Rights::BOTH).unwrap_err();
    assert_eq!(&client.kept_memory(0x1000).unwrap()[..5], b"hello");
    client.keep_memory(0x1800, 0x1000, Rights::BOTH).unwrap_err();
    assert!(client.kept_memory(0x1800).is_none());
    client.unmap_memory(0x1000, 0x1000).unwrap();
    assert!(client.kept_memory(0x1000).is_none());
    assert_eq!(copy(&mut client, 0x1000, 0x20_0007, 5), Some(Errno::FAULT));
    // More than one message carries.
    let half = 3 << 19;
    let bytes: Vec<u8> = (0..half).map(|index| (index % 253) as u8).collect();
    client.kept_memory(0x20_0000).unwrap()[..half].copy_from_slice(&bytes);
    assert_eq!(copy(&mut client, 0x20_0000, 0x20_0000 + half as u64, half as u64), None);
    assert!(client.kept_memory(0x20_0000).unwrap()[half..] == bytes);
}

/// More than one call of the server handles, kept while it waits for an answer: only its own
/// descriptor has it called again.
#[test]
fn meanwhile_commands_keep_their_order() {
    let (served, mut client) = open("meanwhile");
    client.keep_memory(0, 0x1000, Rights::BOTH).unwrap();
    put(&mut client, 0x18, 8);
    client.post(0, 0x20, &[1]).unwrap();
    for value in 0..8000_u32 {
        client.post(0, 4, &value.to_le_bytes()).unwrap();
        // So slow that the socket is never full: then the server would be answered anyhow.
        std::thread::sleep(Duration::from_micros(u64::from(value % 8 == 0)));
    }
    assert_eq!(word(&mut client, 4), 7999);
    let writes = served.seen.writes.lock().unwrap();
    let values: Vec<_> = writes.iter().filter(|(_, offset, _)| *offset == 4).collect();
    assert_eq!(values.len(), 8000);
    for (value, (_, _, bytes)) in (0..8000_u32).zip(values) {
        assert_eq!(*bytes, value.to_le_bytes());
    }
}

#[test]
fn access_crosses_neighbours_of_different_kinds() {
    let (_served, mut client) = open("neighbours");
    let file = SharedFile::new(0x1000).unwrap();
    client.keep_memory(0, 0x1000, Rights::BOTH).unwrap();
    client.map_memory(0x1000, 0x1000, file.as_fd(), 0, Rights::BOTH).unwrap();
    client.keep_memory(0x8000, 0x1000, Rights::BOTH).unwrap();
    client.kept_memory(0).unwrap()[0xffe..].copy_from_slice(&[1, 2]);
    file.map().unwrap().write(0, &[3, 4]);
    assert_eq!(copy(&mut client, 0xffe, 0x8000, 4), None);
    assert_eq!(client.kept_memory(0x8000).unwrap()[..4], [1, 2, 3, 4]);
}

#[test]
fn unpermitted_access_touches_nothing() {
    let (_served, mut client) = open("faults");
    let file = SharedFile::new(0x1000).unwrap();
    let (read, write) = (true, false);
    client.map_memory(0x1000, 0x1000, file.as_fd(), 0, Rights::BOTH).unwrap();
    client.keep_memory(0x4000, 0x1000, Rights { read, write }).unwrap();
    client.keep_memory(0x6000, 0x1000, Rights { read: write, write: read }).unwrap();
    for (from, to, bytes, expected) in [
        (0xfff, 0x1000, 2, Errno::FAULT),
        (0x1800, 0x1ff0, 17, Errno::FAULT),
        (0x1800, u64::MAX, 2, Errno::FAULT),
        (0x1800, 0x4000, 1, Errno::ACCESS),
        (0x6000, 0x1000, 1, Errno::ACCESS),
    ] {
        file.map().unwrap().write(0, &[0xaa; 0x1000]);
        assert_eq!(copy(&mut client, from, to, bytes), Some(expected), "{from:#x} {to:#x}");
        let mut after = [0; 0x1000];
        file.map().unwrap().read(0, &mut after);
        assert!(after == [0xaa; 0x1000]);
    }
    assert_eq!(copy(&mut client, 0x4000, 0x6000, 16), None);
}

#[test]
fn unmapped_memory_cannot_be_reached() {
    let (served, mut client) = open("unmapped");
    let file = SharedFile::new(0x3000).unwrap();
    for page in 0..3 {
        let at = page * 0x1000;
        client.map_memory(at, 0x1000, file.as_fd(), at, Rights::BOTH).unwrap();
    }
    let again = client.map_memory(0x800, 0x1000, file.as_fd(), 0, Rights::BOTH);
    let refused =
        |command, error| ClientError::Refused { socket: served.socket.clone(), command, error };
    assert_eq!(again, Err(refused(Command::DmaMap, Errno::EXIST)));
    client.unmap_memory(0x1000, 0x1000).unwrap();
    assert_eq!(copy(&mut client, 0x1000, 0, 1), Some(Errno::FAULT));
    assert_eq!(copy(&mut client, 0x2000, 0, 1), None);
    let cut = client.unmap_memory(0x2000, 0x800);
    assert_eq!(cut, Err(refused(Command::DmaUnmap, Errno::INVAL)));
    let (address, bytes) = (0x1000, 0x1000);
    let twice = client.unmap_memory(address, bytes);
    assert_eq!(twice, Err(ClientError::NotMapped { address, bytes }));
    client.unmap_memory(0, 0x3000).unwrap_err();
    assert_eq!(copy(&mut client, 0x2000, 0, 1), Some(Errno::FAULT));
    assert_eq!(served.seen.unmaps.load(Ordering::SeqCst), 3);
}

#[test]
fn reset_reaches_the_device() {
    let (_served, mut client) = open("reset");
    client.write(0, 4, &[1; 4]).unwrap();
    client.reset().unwrap();
    assert_eq!(word(&mut client, 4), 0);
    assert_eq!(word(&mut client, 0x2c), 1);
}

#[test]
fn access_outside_a_region_sends_nothing() {
    let (served, mut client) = open("outside");
    for (region, offset, bytes) in [(0, BAR_BYTES, 1), (2, 0, 4), (9, 0, 4), (0, u64::MAX, 4)] {
        let result = client.write(region, offset, &vec![0; bytes]);
        assert!(matches!(result, Err(ClientError::Outside { .. })), "{region} {offset:#x}");
    }
    assert!(served.seen.writes.lock().unwrap().is_empty());
    let (socket, command) = (served.socket.clone(), Command::RegionWrite);
    let expected = ClientError::Refused { socket, command, error: Errno::PERM };
    assert_eq!(client.write(1, 0, &[0; 4]), Err(expected), "region 1 is read only");
}

#[test]
fn second_client_learns_device_is_busy() {
    let (served, mut first) = open("busy");
    let second = Client::connect(&served.socket).unwrap_err();
    assert_eq!(second, ClientError::Busy(served.socket.clone()));
    assert!(second.to_string().contains("has a client already"), "{second}");
    assert_eq!(word(&mut first, 0), ID);
    drop(first);
    served.until("the first client has left", |seen| seen.left.load(Ordering::SeqCst) == 1);
    let mut third = Client::connect(&served.socket).unwrap();
    assert_eq!(word(&mut third, 0), ID);
}

#[test]
fn device_stays_when_client_goes() {
    let (served, mut client) = open("goes");
    let event = Event::new().unwrap();
    client.write(0, 4, &[7; 4]).unwrap();
    client.attach(INTERRUPT_MSIX, 0, &[event.as_fd()]).unwrap();
    client.keep_memory(0, 0x1000, Rights::BOTH).unwrap();
    drop(client);
    served.until("the client has left", |seen| seen.left.load(Ordering::SeqCst) == 1);
    assert_eq!(*served.seen.ends.lock().unwrap(), ["the other side has gone"]);
    let mut client = Client::connect(&served.socket).unwrap();
    assert_eq!(word(&mut client, 4), 0x0707_0707);
    assert_eq!(copy(&mut client, 0, 0, 1), Some(Errno::FAULT), "its memory has gone");
    assert_eq!(event.take(), 0, "and its interrupts");
}

#[test]
fn lost_server_is_noticed_at_once() {
    let (mut served, mut client) = open("gone");
    served.end();
    let start = Instant::now();
    let expected = ClientError::Vanished(served.socket.clone());
    assert_eq!(client.serve(), Err(expected.clone()));
    assert_eq!(client.read(0, 0, &mut [0; 4]), Err(expected.clone()));
    assert_eq!(client.post(0, 4, &[0; 4]), Err(expected.clone()));
    assert!(start.elapsed() < Duration::from_secs(1), "{:?}", start.elapsed());
    assert_eq!(expected.to_string().lines().count(), 1);
    let again = Client::connect(&served.socket).unwrap_err();
    assert_eq!(again, ClientError::NoSocket(served.socket.clone()));
}

#[test]
fn lost_server_is_noticed_within_second() {
    let (mut served, mut client) = open("goes-meanwhile");
    let socket = served.socket.clone();
    let thread = std::thread::spawn(move || {
        let error = loop {
            if let Err(error) = client.read(0, 0, &mut [0; 4]) {
                break error;
            }
        };
        (error, Instant::now())
    });
    std::thread::sleep(Duration::from_millis(20));
    served.end();
    let ended = Instant::now();
    let (error, found) = thread.join().unwrap();
    assert_eq!(error, ClientError::Vanished(socket));
    assert!(found.saturating_duration_since(ended) < Duration::from_secs(1));
}

#[test]
fn unlimited_time_limit_causes_no_panic() {
    let served = serve("for-ever");
    let mut client = Client::connect_within(&served.socket, Duration::MAX).unwrap();
    assert_eq!(word(&mut client, 0), ID);
}

#[test]
fn hung_server_is_noticed_within_limit() {
    let path = socket("hangs");
    let (_toy, description) = Toy::new(Default::default());
    let _server = Server::bind(&path, description).unwrap();
    let limit = Duration::from_millis(50);
    let error = Client::connect_within(&path, limit).unwrap_err();
    assert_eq!(error, ClientError::Silent { socket: path, limit });
}

/// Reads memory as soon as there is any.
struct Eager(Arc<Mutex<Vec<u8>>>);

impl Device for Eager {
    fn read(&mut self, _: u32, _: u64, _: &mut [u8], _: &mut Session) -> Result<(), Errno> {
        Ok(())
    }

    fn write(&mut self, _: u32, _: u64, _: &[u8], _: &mut Session) -> Result<(), Errno> {
        Ok(())
    }

    fn reset(&mut self, _: &mut Session) -> Result<(), Errno> {
        Ok(())
    }

    fn memory_mapped(&mut self, map: &DmaMap, client: &mut Session) {
        let mut bytes = vec![1; map.bytes as usize];
        client.read_memory(map.address, &mut bytes).unwrap();
        *self.0.lock().unwrap() = bytes;
    }
}

#[test]
fn memory_exists_before_device_says_so() {
    let (_, description) = Toy::new(Default::default());
    let seen = Arc::new(Mutex::new(Vec::new()));
    let eager = Eager(seen.clone());
    let served = serve_device("eager", Default::default(), eager, description);
    let mut client = Client::connect(&served.socket).unwrap();
    client.keep_memory(0, 0x1000, Rights::BOTH).unwrap();
    assert_eq!(*seen.lock().unwrap(), [0; 0x1000]);
}

#[test]
fn served_socket_stays_stale_one_is_replaced() {
    let served = serve("twice");
    let (_toy, description) = Toy::new(Default::default());
    let error = Server::bind(&served.socket, description).unwrap_err();
    assert!(matches!(&error, ServerError::Served(at) if *at == served.socket), "{error}");
    let left_over = socket("left-over");
    drop(std::os::unix::net::UnixListener::bind(&left_over).unwrap());
    let error = Client::connect(&left_over).unwrap_err();
    assert_eq!(error, ClientError::NoServer(left_over.clone()));
    let (_toy, description) = Toy::new(Default::default());
    drop(Server::bind(&left_over, description).unwrap());
    assert!(!left_over.exists(), "a server removes its socket");
}
