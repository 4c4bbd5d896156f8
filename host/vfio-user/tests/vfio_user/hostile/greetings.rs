//! The first message each way: who gets the device, and what the others hear.

use std::io::{Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use vfio_user::codec::{Capabilities, CodecError, Command, Header, Kind, Request, Version};
use vfio_user::{Client, ClientError, Errno};

use crate::hostile::ends::{message, receive, right_reply, serve, socket};

const LIMIT: Duration = Duration::from_secs(5);

/// A server that answers the first message with these bytes, and says no more.
fn answer_with(bytes: Vec<u8>) -> (PathBuf, JoinHandle<()>) {
    let socket = socket();
    let listener = UnixListener::bind(&socket).unwrap();
    let thread = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        receive(&mut stream).unwrap();
        stream.write_all(&bytes).unwrap();
        let _ = stream.read(&mut [0; 64]);
    });
    (socket, thread)
}

fn reply(id: u16, payload: &[u8]) -> Vec<u8> {
    let kind = Kind::Reply { error: None };
    message(Header { id, command: 1, kind, payload_bytes: payload.len() }, payload)
}

fn hear(bytes: Vec<u8>) -> (PathBuf, ClientError) {
    let (socket, thread) = answer_with(bytes);
    let error = Client::connect_within(&socket, LIMIT).unwrap_err();
    thread.join().unwrap();
    std::fs::remove_file(&socket).unwrap();
    (socket, error)
}

#[test]
fn other_version_is_named_with_numbers() {
    for (major, minor) in [(1, 0), (0, 2), (7, 9)] {
        let payload = Version { major, minor, ..Version::own() }.encode();
        let (socket, error) = hear(reply(1, &payload));
        assert_eq!(error, ClientError::OtherVersion { socket, major, minor });
        let text = error.to_string();
        assert!(text.contains(&format!("{major}.{minor}")) && text.contains("0.1"), "{text}");
    }
}

#[test]
fn nonsense_is_called_so() {
    let version = Version::own().encode();
    let mut unended = version.clone();
    unended.pop();
    for (bytes, what) in [
        (b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec(), CodecError::AboveLimit(0x312e_312f)),
        (vec![0; 16], CodecError::BelowHeader(0)),
        (reply(2, &version), CodecError::Command(1)),
        (reply(1, &[0]), CodecError::TooShort { bytes: 1, needed: 2 }),
        (reply(1, &unended), CodecError::Capabilities("the text does not end with 0".to_owned())),
    ] {
        let (socket, error) = hear(bytes);
        assert_eq!(error, ClientError::Nonsense { socket, what });
        assert!(error.to_string().contains("is it the socket of a vfio-user device?"));
    }
}

#[test]
fn server_closing_at_once_is_gone() {
    let socket = socket();
    let listener = UnixListener::bind(&socket).unwrap();
    let thread = std::thread::spawn(move || drop(listener.accept().unwrap()));
    let error = Client::connect_within(&socket, LIMIT).unwrap_err();
    thread.join().unwrap();
    std::fs::remove_file(&socket).unwrap();
    assert_eq!(error, ClientError::Vanished(socket));
}

/// A server that takes no connections, and has no room for one more, is tried until the limit.
#[test]
fn server_accepting_nobody_is_silent() {
    let socket = socket();
    let listener = UnixListener::bind(&socket).unwrap();
    rustix::net::listen(&listener, 0).unwrap();
    let first = UnixStream::connect(&socket).unwrap();
    let (limit, start) = (Duration::from_millis(40), Instant::now());
    let error = Client::connect_within(&socket, limit).unwrap_err();
    assert_eq!(error, ClientError::Silent { socket: socket.clone(), limit });
    assert!(start.elapsed() >= limit);
    let thread = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(10));
        let taken = [listener.accept().unwrap(), listener.accept().unwrap()];
        drop(taken);
    });
    let error = Client::connect_within(&socket, LIMIT).unwrap_err();
    assert_eq!(error, ClientError::Vanished(socket.clone()));
    thread.join().unwrap();
    drop(first);
    std::fs::remove_file(socket).unwrap();
}

/// A region that needs more room than its server ever fills.
#[test]
fn incomplete_region_description_is_malformed() {
    for needed in [33_u32, 1 << 16, (1 << 16) + 1, u32::MAX] {
        let socket = socket();
        let listener = UnixListener::bind(&socket).unwrap();
        let thread = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            while let Ok((header, payload)) = receive(&mut stream) {
                let mut reply = right_reply(header.command, &payload);
                if header.command == Command::RegionInfo.number() {
                    reply[..4].copy_from_slice(&needed.to_ne_bytes());
                }
                let kind = Kind::Reply { error: None };
                let header = Header { kind, payload_bytes: reply.len(), ..header };
                stream.write_all(&message(header, &reply)).unwrap();
            }
        });
        let error = Client::connect_within(&socket, LIMIT).unwrap_err();
        thread.join().unwrap();
        std::fs::remove_file(&socket).unwrap();
        let what = CodecError::TooShort { bytes: 32, needed: needed as usize };
        assert_eq!(error, ClientError::Nonsense { socket, what });
    }
}

/// What our server says to a first message, and whether it stays.
fn greet_with(socket: &PathBuf, command: u16, payload: &[u8]) -> (Kind, Vec<u8>, bool) {
    let mut stream = UnixStream::connect(socket).unwrap();
    stream.set_read_timeout(Some(LIMIT)).unwrap();
    let kind = Kind::Command { no_reply: false };
    let header = Header { id: 9, command, kind, payload_bytes: payload.len() };
    stream.write_all(&message(header, payload)).unwrap();
    let (header, payload) = receive(&mut stream).unwrap();
    assert_eq!((header.id, header.command), (9, command));
    let is_open = header.kind == (Kind::Reply { error: None });
    if !is_open {
        assert_eq!(stream.read(&mut [0]).unwrap(), 0, "a refused client is let go");
    }
    (header.kind, payload, is_open)
}

#[test]
fn server_agrees_on_smaller_minor_only() {
    let (socket, stop) = (socket(), Arc::new(AtomicBool::new(false)));
    let thread = serve(&socket, stop.clone());
    let own = Version::own();
    let starved = Capabilities { transfer_bytes: 0, ..own.capabilities };
    for (command, version, error) in [
        (1, Version { major: 1, ..own }, Errno::PROTONOSUPPORT),
        (1, Version { capabilities: starved, ..own }, Errno::INVAL),
        (Command::Reset.number(), own, Errno::INVAL),
    ] {
        let payload = version.encode();
        let (kind, _, _) = greet_with(&socket, command, &payload);
        assert_eq!(kind, Kind::Reply { error: Some(error) }, "{command} {version:?}");
    }
    let quiet = Capabilities { writes_many: false, ..own.capabilities };
    for (minor, agreed) in [(0, 0), (1, 1), (5, 1)] {
        let payload = Version { major: 0, minor, capabilities: quiet }.encode();
        let version = greet_until_free(&socket, &payload);
        assert_eq!(version, Version { minor: agreed, capabilities: quiet, ..own });
    }
    stop.store(true, Ordering::SeqCst);
    thread.join().unwrap();
}

/// Greets until the client before has left.
fn greet_until_free(socket: &PathBuf, payload: &[u8]) -> Version {
    loop {
        match greet_with(socket, 1, payload) {
            (_, reply, true) => return Version::decode(&reply).unwrap(),
            (kind, _, _) => assert_eq!(kind, Kind::Reply { error: Some(Errno::BUSY) }),
        }
    }
}

/// Connections that say nothing keep nobody from the device.
#[test]
fn silent_connections_keep_nobody_out() {
    let (socket, stop) = (socket(), Arc::new(AtomicBool::new(false)));
    let thread = serve(&socket, stop.clone());
    let silent: Vec<UnixStream> = (0..20).map(|_| UnixStream::connect(&socket).unwrap()).collect();
    let mut client = Client::connect_within(&socket, LIMIT).unwrap();
    client.read(7, 0, &mut [0; 4]).unwrap();
    drop(silent);
    client.read(7, 0, &mut [0; 4]).unwrap();
    drop(client);
    stop.store(true, Ordering::SeqCst);
    thread.join().unwrap();
}

/// Two versions in one connection: the second one is a mistake, and costs nothing else.
#[test]
fn a_second_version_is_refused() {
    let (socket, stop) = (socket(), Arc::new(AtomicBool::new(false)));
    let thread = serve(&socket, stop.clone());
    let mut stream = UnixStream::connect(&socket).unwrap();
    stream.set_read_timeout(Some(LIMIT)).unwrap();
    let kind = Kind::Command { no_reply: false };
    let payload = Version::own().encode();
    let version =
        message(Header { id: 1, command: 1, kind, payload_bytes: payload.len() }, &payload);
    let request = Request::DeviceInfo;
    let (command, payload) = (request.command().number(), request.encode());
    let question = message(Header { id: 3, command, kind, payload_bytes: 16 }, &payload);
    stream.write_all(&[version.clone(), version, question].concat()).unwrap();
    let kinds: Vec<Kind> = (0..3).map(|_| receive(&mut stream).unwrap().0.kind).collect();
    let good = Kind::Reply { error: None };
    assert_eq!(kinds, [good, Kind::Reply { error: Some(Errno::INVAL) }, good]);
    drop(stream);
    stop.store(true, Ordering::SeqCst);
    thread.join().unwrap();
}
