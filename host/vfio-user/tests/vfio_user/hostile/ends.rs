//! A server whose client sends anything, and a client whose server does.

use std::io::{Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::Arc;
use std::time::Duration;

use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use rustix::event::{poll, PollFd, PollFlags, Timespec};
use vfio_user::codec::{
    DeviceInfo, DmaMap, Header, InterruptInfo, Kind, RegionAccess, RegionInfo, Request, Rights,
    Version, HEADER_BYTES,
};
use vfio_user::{Client, ClientError, Description, Device, Errno, Region, Server, Session};

use crate::hostile::requests::{mutate, request};

/// Keeps what is written, reaches memory where it is told to, and interrupts.
struct Echo(Vec<u8>);

impl Device for Echo {
    fn read(
        &mut self,
        _: u32,
        offset: u64,
        into: &mut [u8],
        client: &mut Session,
    ) -> Result<(), Errno> {
        let _ = client.read_memory(offset, into);
        into.fill(self.0[0]);
        Ok(())
    }

    fn write(
        &mut self,
        region: u32,
        offset: u64,
        from: &[u8],
        client: &mut Session,
    ) -> Result<(), Errno> {
        self.0[0] = from[0];
        let _ = client.raise(region, offset as u32);
        Ok(())
    }

    fn reset(&mut self, _: &mut Session) -> Result<(), Errno> {
        Ok(())
    }

    fn memory_mapped(&mut self, map: &DmaMap, _: &mut Session) {
        assert!(map.bytes > 0 && map.address.checked_add(map.bytes - 1).is_some());
    }
}

pub fn socket() -> PathBuf {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let count = COUNT.fetch_add(1, Ordering::SeqCst);
    std::env::temp_dir().join(format!("vfu-hostile-{}-{count}", std::process::id()))
}

/// Steps a server until a flag is set.
pub fn serve(socket: &Path, stop: Arc<AtomicBool>) -> std::thread::JoinHandle<()> {
    serve_within(socket, stop, Duration::from_millis(5))
}

/// The same, with another limit for the client's answers.
fn serve_within(
    socket: &Path,
    stop: Arc<AtomicBool>,
    limit: Duration,
) -> std::thread::JoinHandle<()> {
    let mut description = Description::pci(256, 8);
    description.regions[0] = Region::by_messages(0x1000);
    let mut server = Server::bind(socket, description).unwrap();
    server.set_reply_limit(limit);
    std::thread::spawn(move || {
        let mut device = Echo(vec![0]);
        while !stop.load(Ordering::SeqCst) {
            if server.serve(&mut device).unwrap().messages == 0 {
                std::thread::yield_now();
            }
        }
    })
}

pub fn message(header: Header, payload: &[u8]) -> Vec<u8> {
    [&header.encode()[..], payload].concat()
}

/// Greets, and returns a stream that has the device.
fn greet(socket: &Path) -> UnixStream {
    loop {
        let mut stream = UnixStream::connect(socket).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
        let payload = Version::own().encode();
        let kind = Kind::Command { no_reply: false };
        let header = Header { id: 1, command: 1, kind, payload_bytes: payload.len() };
        stream.write_all(&message(header, &payload)).unwrap();
        let (header, _) = receive(&mut stream).unwrap();
        // The client before may not have left yet.
        match header.kind {
            Kind::Reply { error: None } => return stream,
            Kind::Reply { error: Some(Errno::BUSY) } => {}
            other => panic!("{other:?}"),
        }
    }
}

pub fn receive(stream: &mut UnixStream) -> std::io::Result<(Header, Vec<u8>)> {
    let mut bytes = [0; HEADER_BYTES];
    stream.read_exact(&mut bytes)?;
    let header = Header::decode(&bytes).expect("a server's header is right");
    let mut payload = vec![0; header.payload_bytes];
    stream.read_exact(&mut payload)?;
    Ok((header, payload))
}

/// Writes in pieces of any length, as a stream may.
fn write_in_pieces(random: &mut SmallRng, stream: &mut UnixStream, bytes: &[u8]) {
    let mut left = bytes;
    while !left.is_empty() {
        let (piece, rest) = left.split_at(random.random_range(1..=left.len()));
        if stream.write_all(piece).is_err() {
            return;
        }
        left = rest;
    }
}

#[test]
fn server_answers_each_framed_message_once() {
    let mut random = SmallRng::seed_from_u64(seed::seed());
    let (socket, stop) = (socket(), Arc::new(AtomicBool::new(false)));
    let thread = serve(&socket, stop.clone());
    let data: Vec<u8> = (0..80).collect();
    let (mut done, mut refused, mut ended) = (0, 0, 0);
    let mut stream = greet(&socket);
    for id in 0..3000_u16 {
        let request = request(&mut random, &data);
        let mut payload = request.encode();
        if random.random_range(0..3) == 0 {
            mutate(&mut random, &mut payload);
        }
        let command = match random.random_range(0..20) {
            0 => random.random(),
            _ => request.command().number(),
        };
        let no_reply = random.random_range(0..5) == 0;
        let payload_bytes = payload.len();
        let header = Header { id, command, kind: Kind::Command { no_reply }, payload_bytes };
        write_in_pieces(&mut random, &mut stream, &message(header, &payload));
        if no_reply {
            continue;
        }
        match await_reply(&mut stream, header) {
            Some(true) => done += 1,
            Some(false) => refused += 1,
            // It has asked for memory, and nobody has answered it.
            None => {
                ended += 1;
                stream = greet(&socket);
            }
        }
    }
    drop(stream);
    stop.store(true, Ordering::SeqCst);
    thread.join().unwrap();
    seed::enough("messages that were carried out", done, 300);
    seed::enough("messages that were refused", refused, 300);
    println!("{ended} clients lost the device");
}

/// Whether a command was carried out; `None` if the connection is at its end.
fn await_reply(stream: &mut UnixStream, to: Header) -> Option<bool> {
    loop {
        let (header, payload) = receive(stream).ok()?;
        let Kind::Reply { error } = header.kind else {
            assert!([11, 12].contains(&header.command), "{header:?}");
            continue;
        };
        assert_eq!((header.id, header.command), (to.id, to.command));
        assert!(error.is_none() || payload.is_empty(), "an error is a header alone");
        return Some(error.is_none());
    }
}

#[test]
fn server_outlives_any_bytes() {
    let mut random = SmallRng::seed_from_u64(seed::seed());
    let (socket, stop) = (socket(), Arc::new(AtomicBool::new(false)));
    let thread = serve(&socket, stop.clone());
    let data: Vec<u8> = (0..80).collect();
    for round in 0..300 {
        let mut stream = match round % 3 {
            0 => UnixStream::connect(&socket).unwrap(),
            _ => greet(&socket),
        };
        let mut bytes = Vec::new();
        for id in 0..random.random_range(1..8) {
            let request = request(&mut random, &data);
            let payload = request.encode();
            let (kind, payload_bytes) = (Kind::Command { no_reply: false }, payload.len());
            let command = request.command().number();
            bytes.extend(message(Header { id, command, kind, payload_bytes }, &payload));
        }
        for _ in 0..random.random_range(1..6) {
            mutate(&mut random, &mut bytes);
        }
        write_in_pieces(&mut random, &mut stream, &bytes);
    }
    let stream = greet(&socket);
    drop(stream);
    stop.store(true, Ordering::SeqCst);
    thread.join().unwrap();
}

/// A client that asks for more than the socket holds and reads nothing: the server waits with it,
/// and with nobody else.
#[test]
fn slow_reader_is_waited_for_without_loss() {
    const COMMANDS: u16 = 2000;
    let (socket, stop) = (socket(), Arc::new(AtomicBool::new(false)));
    let thread = serve(&socket, stop.clone());
    let mut stream = greet(&socket);
    let mut writer = stream.try_clone().unwrap();
    let writing = std::thread::spawn(move || {
        for id in 0..COMMANDS {
            let access = RegionAccess { offset: 0, region: 0, count: 0x1000 };
            let payload = Request::RegionRead(access).encode();
            let kind = Kind::Command { no_reply: false };
            let header = Header { id, command: 9, kind, payload_bytes: payload.len() };
            writer.write_all(&message(header, &payload)).unwrap();
        }
    });
    std::thread::sleep(Duration::from_millis(50));
    assert!(!writing.is_finished(), "8 MiB of replies fit into a socket");
    let busy = Client::connect(&socket).unwrap_err();
    assert_eq!(busy, ClientError::Busy(socket.clone()));
    for id in 0..COMMANDS {
        let (header, payload) = receive(&mut stream).unwrap();
        assert_eq!((header.id, payload.len()), (id, 16 + 0x1000));
    }
    writing.join().unwrap();
    stop.store(true, Ordering::SeqCst);
    thread.join().unwrap();
}

/// More commands than one call of the server handles, while it waits for an answer: nothing but
/// its own descriptor says that they are still there.
#[test]
fn meanwhile_commands_are_all_executed() {
    const COMMANDS: u16 = 700;
    let (socket, stop) = (socket(), Arc::new(AtomicBool::new(false)));
    let thread = serve_within(&socket, stop.clone(), Duration::from_secs(5));
    let mut stream = greet(&socket);
    let send = |id, request: Request<'_>, stream: &mut UnixStream| {
        let payload = request.encode();
        let (kind, payload_bytes) = (Kind::Command { no_reply: false }, payload.len());
        let header = Header { id, command: request.command().number(), kind, payload_bytes };
        stream.write_all(&message(header, &payload)).unwrap();
    };
    let map = DmaMap { rights: Rights::BOTH, offset: 0, address: 0, bytes: 0x1000 };
    send(0, Request::DmaMap(map), &mut stream);
    assert_eq!(receive(&mut stream).unwrap().0.kind, Kind::Reply { error: None });
    let access = RegionAccess { offset: 0, region: 0, count: 4 };
    send(1, Request::RegionRead(access), &mut stream);
    let (question, payload) = receive(&mut stream).unwrap();
    assert_eq!(question.command, 11);
    for id in 2..COMMANDS {
        send(id, Request::RegionWrite(access, &[1; 4]), &mut stream);
    }
    let data = [&payload[..], &[5; 4]].concat();
    let answer = Header { kind: Kind::Reply { error: None }, payload_bytes: 20, ..question };
    stream.write_all(&message(answer, &data)).unwrap();
    for id in 1..COMMANDS {
        let (header, _) = receive(&mut stream).unwrap();
        assert_eq!((header.id, header.kind), (id, Kind::Reply { error: None }));
    }
    drop(stream);
    stop.store(true, Ordering::SeqCst);
    thread.join().unwrap();
}

/// Wants the same byte again and again.
struct Insistent;

impl Device for Insistent {
    fn read(&mut self, _: u32, _: u64, _: &mut [u8], client: &mut Session) -> Result<(), Errno> {
        for _ in 0..20 {
            assert_eq!(client.read_memory(0, &mut [0]), Err(Errno::IO));
            assert_eq!(client.write_memory(0, &[0]), Err(Errno::IO));
        }
        Ok(())
    }

    fn write(&mut self, _: u32, _: u64, _: &[u8], _: &mut Session) -> Result<(), Errno> {
        Ok(())
    }

    fn reset(&mut self, _: &mut Session) -> Result<(), Errno> {
        Ok(())
    }
}

#[test]
fn silent_client_is_asked_once_then_lost() {
    let socket = socket();
    let mut description = Description::pci(256, 8);
    description.regions[0] = Region::by_messages(0x1000);
    let mut server = Server::bind(&socket, description).unwrap();
    server.set_reply_limit(Duration::from_millis(30));
    let thread = std::thread::spawn(move || loop {
        let served = server.serve(&mut Insistent).unwrap();
        if let Some(end) = served.left {
            return end.to_string();
        }
    });
    let mut stream = greet(&socket);
    let map = DmaMap { rights: Rights::BOTH, offset: 0, address: 0, bytes: 0x1000 };
    let access = RegionAccess { offset: 0, region: 0, count: 4 };
    for (id, request) in [(0, Request::DmaMap(map)), (1, Request::RegionRead(access))] {
        let payload = request.encode();
        let (kind, payload_bytes) = (Kind::Command { no_reply: false }, payload.len());
        let header = Header { id, command: request.command().number(), kind, payload_bytes };
        stream.write_all(&message(header, &payload)).unwrap();
    }
    assert_eq!(receive(&mut stream).unwrap().0.kind, Kind::Reply { error: None });
    assert_eq!(receive(&mut stream).unwrap().0.command, 11);
    assert_eq!(stream.read(&mut [0]).unwrap(), 0, "nothing more, and the end");
    let end = thread.join().unwrap();
    assert!(end.contains("timed out"), "{end}");
}

/// Without a thread: the descriptor of the server rests while there is nothing to do but to wait
/// for the client, whatever this one has sent.
#[test]
fn server_rests_while_client_takes_nothing() {
    let socket = socket();
    let mut description = Description::pci(256, 8);
    description.regions[0] = Region::by_messages(0x1_0000);
    let mut server = Server::bind(&socket, description).unwrap();
    let mut device = Echo(vec![0]);
    let mut stream = UnixStream::connect(&socket).unwrap();
    let kind = Kind::Command { no_reply: false };
    let payload = Version::own().encode();
    let header = Header { id: 1, command: 1, kind, payload_bytes: payload.len() };
    stream.write_all(&message(header, &payload)).unwrap();
    assert!(server.serve(&mut device).unwrap().has_joined);
    receive(&mut stream).unwrap();
    assert!(!is_readable(&server), "nothing has been asked for");
    const COMMANDS: u16 = 20;
    for id in 0..COMMANDS {
        let access = RegionAccess { offset: 0, region: 0, count: 0x1_0000 };
        let payload = Request::RegionRead(access).encode();
        let header = Header { id, command: 9, kind, payload_bytes: payload.len() };
        stream.write_all(&message(header, &payload)).unwrap();
    }
    assert!(is_readable(&server));
    let first = server.serve(&mut device).unwrap().messages;
    assert!((1..20).contains(&first), "{first} replies of 64 KiB fit into the socket");
    assert!(!is_readable(&server), "the client takes nothing");
    assert_eq!(server.serve(&mut device).unwrap().messages, 0);
    let mut all = first;
    for id in 0..COMMANDS {
        stream.set_nonblocking(true).unwrap();
        let (mut bytes, mut filled) = (vec![0; 32 + 0x1_0000], 0);
        while filled < bytes.len() {
            filled += stream.read(&mut bytes[filled..]).unwrap_or(0);
            if is_readable(&server) {
                all += server.serve(&mut device).unwrap().messages;
            }
        }
        assert_eq!(bytes[..2], id.to_ne_bytes());
    }
    assert_eq!(all, usize::from(COMMANDS));
    assert!(!is_readable(&server));
    drop(stream);
    assert!(is_readable(&server));
    assert!(server.serve(&mut device).unwrap().left.is_some());
}

fn is_readable(server: &Server) -> bool {
    let mut list = [PollFd::new(server, PollFlags::IN)];
    poll(&mut list, Some(&Timespec::default())).unwrap() > 0
}

/// The right reply to a command of a client.
pub fn right_reply(command: u16, payload: &[u8]) -> Vec<u8> {
    match Request::decode(command, payload) {
        Ok(Request::Version(_)) => Version::own().encode(),
        Ok(Request::DeviceInfo) => {
            DeviceInfo { resets: true, is_pci: true, regions: 3, interrupts: 1 }.encode()
        }
        Ok(Request::RegionInfo(question)) => {
            let index = question.index;
            let info =
                RegionInfo { index, bytes: 64, read: true, write: true, ..Default::default() };
            info.encode(question.argsz).0
        }
        Ok(Request::InterruptInfo(question)) => {
            InterruptInfo { index: question.index, flags: 1, count: 4 }.encode()
        }
        Ok(Request::RegionRead(access)) => access.encode(&vec![7; access.count as usize]),
        Ok(Request::RegionWrite(access, _)) => access.encode(&[]),
        Ok(Request::DmaUnmap(unmap)) => unmap.encode(),
        _ => Vec::new(),
    }
}

/// Answers one client, with mistakes in one of so many replies.
fn answer(random: &mut SmallRng, mut stream: UnixStream, one_of: u32) {
    while let Ok((header, payload)) = receive(&mut stream) {
        let reply = right_reply(header.command, &payload);
        let kind = Kind::Reply { error: None };
        let mut bytes = message(Header { kind, payload_bytes: reply.len(), ..header }, &reply);
        if random.random_range(0..one_of) == 0 {
            mutate(random, &mut bytes);
        }
        if header.kind == (Kind::Command { no_reply: false }) && stream.write_all(&bytes).is_err() {
            return;
        }
    }
}

#[test]
fn client_outlives_any_server() {
    let seed = seed::seed();
    let socket = socket();
    let listener = UnixListener::bind(&socket).unwrap();
    const CLIENTS: u64 = 300;
    let thread = std::thread::spawn(move || {
        let mut random = SmallRng::seed_from_u64(seed);
        for _ in 0..CLIENTS {
            let (stream, _) = listener.accept().unwrap();
            answer(&mut random, stream, 8);
        }
    });
    let (mut opened, mut nonsense) = (0, 0);
    for _ in 0..CLIENTS {
        let limit = Duration::from_millis(10);
        let result = Client::connect_within(&socket, limit).and_then(|mut client| {
            opened += 1;
            client.read(0, 4, &mut [0; 4])?;
            client.write(1, 8, &[1; 8])?;
            client.post(0, 0, &[1; 4])?;
            client.keep_memory(0, 4096, Rights::BOTH)?;
            client.unmap_memory(0, 4096)?;
            client.reset()?;
            client.serve()
        });
        if let Err(error) = result {
            assert_eq!(error.to_string().lines().count(), 1, "{error}");
            nonsense += u64::from(matches!(error, ClientError::Nonsense { .. }));
        }
    }
    thread.join().unwrap();
    std::fs::remove_file(socket).unwrap();
    seed::enough("devices that were opened", opened, 20);
    seed::enough("servers that talked nonsense", nonsense, 20);
}
