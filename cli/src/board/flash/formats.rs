//! Files as Vivado takes them.
//!
//! ```text
//!   .mcs   records of 16 bytes, each with its address: Intel's hexadecimal format
//!   .bit   fields of a letter, a length and a text, then the data: as Vivado writes it
//! ```

use board::description::Board;

/// Bytes of a record of an .mcs file.
const RECORD_BYTES: usize = 16;

/// Bytes at an address as Intel's hexadecimal records.
pub fn mcs_file(address: u32, bytes: &[u8]) -> String {
    let record = |offset: u16, kind: u8, data: &[u8]| {
        let mut fields = vec![data.len() as u8];
        fields.extend(offset.to_be_bytes());
        fields.push(kind);
        fields.extend(data);
        let sum = fields.iter().fold(0u8, |sum, byte| sum.wrapping_add(*byte));
        fields.push(sum.wrapping_neg());
        let digits: String = fields.iter().map(|byte| format!("{byte:02X}")).collect();
        format!(":{digits}\n")
    };
    let mut text = String::new();
    let mut upper = None;
    for (number, data) in bytes.chunks(RECORD_BYTES).enumerate() {
        let at = address + (number * RECORD_BYTES) as u32;
        // The upper half of the address holds until it changes.
        if upper != Some(at >> 16) {
            upper = Some(at >> 16);
            text += &record(0, 4, &((at >> 16) as u16).to_be_bytes());
        }
        text += &record(at as u16, 0, data);
    }
    text + &record(0, 1, &[])
}

/// Data with the header of a .bit file: fields of a letter, a length and a text.
pub fn bit_file(board: &Board, data: &[u8]) -> Vec<u8> {
    let mut file =
        vec![0x00, 0x09, 0x0f, 0xf0, 0x0f, 0xf0, 0x0f, 0xf0, 0x0f, 0xf0, 0x00, 0x00, 0x01];
    for (letter, text) in [
        (b'a', board.top()),
        (b'b', board.part.to_owned()),
        (b'c', "2000/01/01".to_owned()),
        (b'd', "00:00:00".to_owned()),
    ] {
        file.push(letter);
        file.extend((text.len() as u16 + 1).to_be_bytes());
        file.extend(text.bytes());
        file.push(0);
    }
    file.push(b'e');
    file.extend((data.len() as u32).to_be_bytes());
    file.extend(data);
    file
}

#[cfg(test)]
mod tests {
    use super::*;
    use board::boards::find;
    use host_board::image::{same_device, BitFile};

    #[test]
    fn upper_half_changes_have_records() {
        let text = mcs_file(0x0400_fff0, &[0x11; 20]);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], ":020000040400F6");
        assert!(lines[1].starts_with(":10FFF00011111111") && lines[1].len() == 43);
        assert_eq!(lines[2], ":020000040401F5");
        assert_eq!(lines[3], ":0400000011111111B8");
        assert_eq!(lines[4], ":00000001FF");
        assert_eq!(lines.len(), 5);
    }

    #[test]
    fn bit_file_is_recognised() {
        let board = find("u250").expect("a board");
        let file = bit_file(board, &[1, 2, 3]);
        let read = BitFile::parse(&file).expect("a .bit file");
        assert_eq!(read.data, [1, 2, 3]);
        assert!(same_device(&read.part, board.part), "{}", read.part);
    }
}
