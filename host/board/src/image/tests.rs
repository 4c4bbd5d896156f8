//! Image files: what is written is read, and each damage is an error of its own.

use abi::image::{Slot, HEADER_BYTES, SYNC_WORD};

use super::*;

/// Data as a device takes them, for the VU9P.
fn data() -> Vec<u8> {
    let mut data = vec![0xff; 64];
    for word in [0x0000_00bb, 0x1122_0044, !0, SYNC_WORD, 0x2000_0000] {
        data.extend(u32::to_be_bytes(word));
    }
    for word in [0x3001_8001, 0x04b3_1093, 0x2000_0000] {
        data.extend(u32::to_be_bytes(word));
    }
    data
}

fn image() -> Image {
    let header = Header {
        board: "vcu118".to_owned(),
        part: "xcvu9p-flga2104-2L-e".to_owned(),
        config: "lab".to_owned(),
        slot: Slot::User,
        contract: (1, 9),
        git: "0123456789abcdef0123456789abcdef01234567".to_owned(),
        built: 1_700_000_000,
        bytes: 0,
        sha256: String::new(),
        forced: 0,
    };
    Image::new(header, data())
}

fn file() -> Vec<u8> {
    image().file().expect("a header")
}

/// The file with its header's text changed.
fn change_header(from: &str, to: &str) -> Vec<u8> {
    let file = file();
    let text = String::from_utf8(file[..HEADER_BYTES].to_vec()).expect("text");
    assert_eq!(text.matches(from).count(), 1, "{from}");
    let mut text = text.replacen(from, to, 1).into_bytes();
    text.resize(HEADER_BYTES, b'\n');
    [&text, &file[HEADER_BYTES..]].concat()
}

fn message(file: &[u8]) -> String {
    Image::parse(file).expect_err("damaged").to_string()
}

#[test]
fn what_is_written_is_read() {
    let read = Image::parse(&file()).expect("an image");
    assert_eq!(read, image());
    assert_eq!(read.header.bytes, data().len() as u64);
    assert_eq!(idcode(&read.data), Some(0x04b3_1093));
    let text = String::from_utf8(file()[..HEADER_BYTES].to_vec()).expect("text");
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("zeronic-image 1"));
    assert_eq!(lines.next(), Some("board vcu118"));
    assert_eq!(lines.nth(2), Some("slot user"));
    assert_eq!(lines.next(), Some("contract 1.9"));
}

/// An image that was forced says so behind its other lines; a program that knows no such line
/// refuses it as it refuses any other byte there.
#[test]
fn forced_image_is_marked() {
    let mut forced = image();
    forced.header.forced = 3;
    let file = forced.file().expect("a header");
    assert_eq!(Image::parse(&file).expect("an image"), forced);
    let text = String::from_utf8(file[..HEADER_BYTES].to_vec()).expect("text");
    assert_eq!(text.lines().nth(10), Some("forced 3"));
    assert!(!String::from_utf8_lossy(&self::file()).contains("forced"));
    for (value, said) in [("0", "'0' is no forced"), ("-1", "'-1' is no forced"), ("", "''")] {
        let changed = text.replacen("forced 3\n", &format!("forced {value}\n"), 1);
        let mut changed = changed.into_bytes();
        changed.resize(HEADER_BYTES, b'\n');
        let text = message(&[&changed, &file[HEADER_BYTES..]].concat());
        assert!(text.contains(said), "{value}: {text}");
    }
    // Twice is once too often.
    let twice = text.replacen("forced 3\n", "forced 3\nforced 3\n", 1);
    let twice = &twice.as_bytes()[..HEADER_BYTES];
    let text = message(&[twice, &file[HEADER_BYTES..]].concat());
    assert!(text.contains("behind the last line"), "{text}");
}

/// A part of the first word may be all that there is of a file, but not the first line of a header.
#[test]
fn cut_first_line_is_no_header() {
    let file = change_header("zeronic-image 1\n", "zeronic-im\n");
    for bytes in [HEADER_BYTES, file.len()] {
        let text = message(&file[..bytes]);
        assert!(text.contains("zeronic-im"), "{bytes} bytes: {text}");
    }
}

#[test]
fn file_cut_anywhere_is_short() {
    let whole = file();
    for bytes in 0..whole.len() {
        let error = Image::parse(&whole[..bytes]).expect_err("short");
        let text = error.to_string();
        assert!(text.starts_with("short: "), "{bytes} bytes: {text}");
    }
    let text = message(&[&whole[..], &[0]].concat());
    let (more, said) = (data().len() + 1, data().len());
    assert_eq!(text, format!("{more} bytes of data, the header says {said}"));
}

#[test]
fn a_bit_changed_anywhere_is_seen() {
    let whole = file();
    for at in 0..whole.len() {
        let mut damaged = whole.clone();
        damaged[at] ^= 1;
        // Another word in a name, number or hash is one that is as good; who compares it sees it.
        let is_value = at < HEADER_BYTES && whole[at] != b'\n' && whole[at] != b' ';
        match Image::parse(&damaged) {
            Ok(image) => {
                assert!(is_value, "byte {at}");
                assert!(image.header != self::image().header, "byte {at}");
            }
            Err(error) => assert!(!error.to_string().is_empty()),
        }
        if at >= HEADER_BYTES {
            assert!(message(&damaged).starts_with("damaged: SHA-256"), "byte {at}");
        }
    }
}

#[test]
fn each_header_fault_has_message() {
    let git = "git 0123456789abcdef0123456789abcdef01234567";
    for (from, to, said) in [
        ("zeronic-image 1", "zeronic-image 2", "format 'zeronic-image 2'"),
        ("zeronic-image 1", "PK\u{3}\u{4}", "begins with 'PK\\u{3}\\u{4}'"),
        ("board vcu118\n", "", "line 2 of the header is 'part xcvu9p"),
        ("slot user", "slot factory", "'factory' is no slot"),
        ("contract 1.9", "contract 1", "'1' is no contract"),
        ("contract 1.9", "contract 1.x", "'1.x' is no contract"),
        (git, "git 0123", "'0123' is no git"),
        ("built 17", "built -17", "'-1700000000' is no built"),
        ("config lab", "config a b", "'a b' is no config"),
        ("config lab", "config ", "'' is no config"),
    ] {
        let text = message(&change_header(from, to));
        assert!(text.contains(said), "{to}: {text}");
    }
    let mut rest = file();
    rest[HEADER_BYTES - 1] = b'x';
    assert_eq!(message(&rest), "header: byte 511 behind the last line is 0x78");
    let mut long = image();
    long.header.config = "x".repeat(400);
    let error = long.file().expect_err("too long");
    assert!(error.to_string().contains("512 is the most"), "{error}");
}

#[test]
fn data_without_sync_word_are_refused() {
    let mut image = image();
    image = Image::new(image.header, vec![0xff; 5000]);
    let text = message(&image.file().expect("a header"));
    assert_eq!(text, "no sync word in the first 4096 bytes of the data");
}

/// A `.bit` file as Vivado writes it.
fn bit(part: &str, data: &[u8]) -> Vec<u8> {
    let mut file = vec![0, 9, 0x0f, 0xf0, 0x0f, 0xf0, 0x0f, 0xf0, 0x0f, 0xf0, 0, 0, 1];
    let texts = ["top;UserID=0X01234567;Version=2024.1", part, "2026/11/26", "07:00:00"];
    for (letter, text) in "abcd".bytes().zip(texts) {
        file.push(letter);
        file.extend((text.len() as u16 + 1).to_be_bytes());
        file.extend(text.as_bytes());
        file.push(0);
    }
    file.push(b'e');
    file.extend((data.len() as u32).to_be_bytes());
    file.extend(data);
    file
}

#[test]
fn bit_file_is_read_as_no_image() {
    let whole = bit("xcvu9p-flga2104-2L-e", &data());
    let read = BitFile::parse(&whole).expect("a .bit file");
    assert_eq!(read.part, "xcvu9p-flga2104-2L-e");
    assert_eq!((read.date.as_str(), read.time.as_str()), ("2026/11/26", "07:00:00"));
    assert_eq!(read.data, data());
    let text = message(&whole);
    assert!(text.contains("for xcvu9p-flga2104-2L-e, without a header"), "{text}");
    for bytes in 0..whole.len() {
        assert!(BitFile::parse(&whole[..bytes]).is_err(), "{bytes} bytes");
    }
    let more = [&whole[..], &[0]].concat();
    assert_eq!(BitFile::parse(&more), Err(BitError::Long { bytes: 1 }));
    let mut other = whole.clone();
    other[13] = b'z';
    let error = BitFile::parse(&other).expect_err("another field");
    assert_eq!(error.to_string(), ".bit file: byte 13 is 0x7a, to be the letter 'a'");
}

#[test]
fn parts_differ_by_device_and_package() {
    assert!(same_device("xcvu9p-flga2104-2L-e", "xcvu9p-flga2104-2-i"));
    assert!(!same_device("xcvu9p-flga2104-2L-e", "xcvu9p-fsgd2104-2L-e"));
    assert!(!same_device("xcu200-fsgd2104-2-e", "xcvu9p-fsgd2104-2-e"));
}

/// A file is as large as its size says, to the byte; a larger one than any flash is not even read.
#[test]
fn file_is_read_unless_beyond_any_flash() {
    let path = std::env::temp_dir().join(format!("zeronic_image_{}", std::process::id()));
    std::fs::write(&path, file()).expect("a file");
    assert_eq!(Image::read(&path).expect("an image"), image());
    // A file of holes: it takes no room.
    let holes = |bytes: u64| {
        let file = std::fs::File::create(&path).expect("a file");
        file.set_len(bytes).expect("a length");
        Image::read(&path)
    };
    let error = holes(IMAGE_BYTES_MAX + 1).expect_err("too large");
    assert!(matches!(error, ImageError::Large { bytes } if bytes == IMAGE_BYTES_MAX + 1));
    std::fs::remove_file(&path).expect("it goes");
    let error = Image::read(&path).expect_err("no file");
    assert!(matches!(error, ImageError::File { .. }), "{error}");
}
