//! From the 64 bytes of a command to the updates that it may cause.
//!
//! Every update is decoded from every command. [`crate::command`] decides which of them counts, and
//! whether. The bit positions are those of `abi::command`, checked when this crate is built.
//!
//! Timing: combinational.
//!
//! Source: `abi::command`.

use crate::command::command_kind::CommandKind;
use crate::messages::{
    FlowFloor, FlowInstalled, FlowUpdate, KeyUpdate, ListOperation, ListUpdate, PageUpdate,
    RegionEntry, RegionUpdate, SegmentEntry,
};
use abi::field::Field;
use stream::prelude::*;

/// The build fails when the kernels below read a field elsewhere than the contract has it.
const fn lies_at(field: &Field, offset: usize, bits: usize) {
    assert!(field.offset == offset && field.bits == bits);
}

const _: () = {
    use abi::command::*;
    lies_at(&OPCODE, 0, 8);
    lies_at(&GENERATION, 8, 8);
    lies_at(&FLOW, 16, 16);
    lies_at(&OWNER, 32, 8);
    lies_at(&PROFILE, 40, 2);
    lies_at(&TIMESTAMP_CHECK, 42, 1);
    lies_at(&DOMAIN, 48, 16);
    lies_at(&INSTALL_FLOOR, 64, 32);
    lies_at(&INSTALL_ACK_LOW, 96, 32);
    lies_at(&INSTALL_ACK_HIGH, 128, 32);
    lies_at(&INSTALL_TIMESTAMP_FLOOR, 160, 32);
    lies_at(&INSTALL_SEND_FLOOR, 192, 32);
    lies_at(&RX_LIST_BASE, 224, 24);
    lies_at(&RX_LIST_BITS, 248, 4);
    lies_at(&TX_LIST_BASE, 256, 24);
    lies_at(&TX_LIST_BITS, 280, 4);
    lies_at(&KEY_BUCKET, 32, 16);
    lies_at(&KEY_WAY, 48, 2);
    lies_at(&KEY_BANK, 50, 1);
    assert!(KEY_AT_BYTES == 16);
    lies_at(&FLOOR, 32, 32);
    lies_at(&ACK_LOW, 64, 32);
    lies_at(&ACK_HIGH, 96, 32);
    lies_at(&TIMESTAMP_FLOOR, 128, 32);
    lies_at(&HEAD, 160, 16);
    lies_at(&APPENDS, 176, 1);
    lies_at(&APPEND_DIRECTION, 177, 1);
    lies_at(&SEND_FLOOR, 192, 32);
    lies_at(&SEND_HEAD, 224, 16);
    lies_at(&APPEND_INDEX, 240, 16);
    lies_at(&APPEND_POSITION, 256, 32);
    lies_at(&APPEND_BYTES, 288, 31);
    lies_at(&APPEND_REGION, 320, 16);
    lies_at(&APPEND_REGION_KEY, 336, 16);
    lies_at(&APPEND_OFFSET, 352, 48);
    lies_at(&DIRECTION, 32, 1);
    lies_at(&SEGMENT_INDEX, 48, 16);
    lies_at(&SEGMENT_POSITION, 64, 32);
    lies_at(&SEGMENT_BYTES, 96, 31);
    lies_at(&SEGMENT_REGION, 128, 16);
    lies_at(&SEGMENT_REGION_KEY, 144, 16);
    lies_at(&SEGMENT_OFFSET, 160, 48);
    lies_at(&LIST_BASE, 64, 24);
    lies_at(&LIST_BITS, 88, 4);
    lies_at(&REGION, 32, 16);
    lies_at(&REGION_KEY, 48, 16);
    lies_at(&REGION_DOMAIN, 64, 16);
    lies_at(&REGION_WRITE, 80, 1);
    lies_at(&REGION_READ, 81, 1);
    lies_at(&REGION_MEMORY, 82, 2);
    lies_at(&REGION_PAGE_BITS, 88, 5);
    lies_at(&REGION_FIRST_PAGE, 96, 16);
    lies_at(&REGION_BYTES, 128, 48);
    lies_at(&PAGE, 32, 16);
    lies_at(&PAGE_ADDRESS, 64, 64);
};

/// Decodes what is written to the flow table.
#[derive(LogicBlock, Default)]
pub struct FlowDecode {
    /// The 64 bytes of the command.
    pub data: Signal<In, Bits<512>>,
    /// Kind of the command.
    pub kind: Signal<In, CommandKind>,
    /// Epoch that is written into new entries.
    pub epoch: Signal<In, Bits<16>>,
    /// Key slot to write.
    pub key: Signal<Out, KeyUpdate>,
    /// Flow state to write; a floor that may have to lift the cursor sets `write_cursor`.
    pub flow: Signal<Out, FlowUpdate>,

    installed: Signal<Local, FlowInstalled>,
    floor: Signal<Local, FlowFloor>,
}

impl Logic for FlowDecode {
    #[hdl_gen]
    fn update(&mut self) {
        self.key.next.bucket = self.data.val().get_bits::<16>(32);
        self.key.next.slot = self.data.val().get_bits::<3>(48);
        self.key.next.epoch = 0.into();
        if self.kind.val() == CommandKind::KeySet {
            self.key.next.epoch = self.epoch.val();
        }
        self.key.next.flow = self.data.val().get_bits::<16>(16);
        self.key.next.key = self.data.val().get_bits::<384>(128);

        self.installed.next.generation = self.data.val().get_bits::<8>(8);
        self.installed.next.owner = self.data.val().get_bits::<8>(32);
        self.installed.next.profile = self.data.val().get_bits::<2>(40);
        self.installed.next.timestamp_check = self.data.val().get_bit(42);
        self.installed.next.domain = self.data.val().get_bits::<16>(48);
        self.floor.next.floor = self.data.val().get_bits::<32>(32);
        self.floor.next.ack_low = self.data.val().get_bits::<32>(64);
        self.floor.next.ack_high = self.data.val().get_bits::<32>(96);
        self.floor.next.timestamp_floor = self.data.val().get_bits::<32>(128);

        self.flow.next.flow = self.data.val().get_bits::<16>(16);
        self.flow.next.write_installed = false;
        self.flow.next.write_floor = false;
        self.flow.next.write_send_floor = false;
        self.flow.next.write_cursor = false;
        self.flow.next.epoch = 0.into();
        self.flow.next.send_floor = self.data.val().get_bits::<32>(32);
        match self.kind.val() {
            CommandKind::FlowInstall => {
                self.flow.next.write_installed = true;
                self.flow.next.write_floor = true;
                self.flow.next.write_send_floor = true;
                self.flow.next.write_cursor = true;
                self.flow.next.epoch = self.epoch.val();
                self.flow.next.send_floor = self.data.val().get_bits::<32>(192);
                self.floor.next.floor = self.data.val().get_bits::<32>(64);
                self.floor.next.ack_low = self.data.val().get_bits::<32>(96);
                self.floor.next.ack_high = self.data.val().get_bits::<32>(128);
                self.floor.next.timestamp_floor = self.data.val().get_bits::<32>(160);
            }
            CommandKind::FlowRemove => {
                self.flow.next.write_installed = true;
            }
            CommandKind::FloorSet => {
                self.flow.next.write_floor = true;
                self.flow.next.write_cursor = true;
            }
            CommandKind::SendFloorSet => {
                self.flow.next.write_send_floor = true;
            }
            CommandKind::FlowAdvance => {
                self.flow.next.write_floor = true;
                self.flow.next.write_cursor = true;
                self.flow.next.write_send_floor = true;
                self.flow.next.send_floor = self.data.val().get_bits::<32>(192);
            }
            _ => {}
        }
        self.flow.next.installed = self.installed.val();
        self.flow.next.floor = self.floor.val();
    }
}

/// The change of each list, of what a command asks of either.
#[derive(LogicBlock, BlockDefault)]
pub struct ListSides {
    /// The 64 bytes of the command.
    pub data: Signal<In, Bits<512>>,
    /// Kind of the command.
    pub kind: Signal<In, CommandKind>,
    /// Change of the list that the command names, without its place.
    pub update: Signal<In, ListUpdate>,
    /// The list that the command names is the send list.
    pub send: Signal<In, Bit>,
    /// Change of the receive list.
    pub rx_list: Signal<Out, ListUpdate>,
    /// Change of the send list.
    pub tx_list: Signal<Out, ListUpdate>,

    advances: Signal<Local, Bit>,
    appends: Signal<Local, Bit>,
    rx_base: Signal<Local, Bits<24>>,
    tx_base: Signal<Local, Bits<24>>,
    rx_bits: Signal<Local, Bits<4>>,
    tx_bits: Signal<Local, Bits<4>>,
    #[value(1)]
    one: Constant<Bits<16>>,
}

impl Logic for ListSides {
    #[hdl_gen]
    fn update(&mut self) {
        self.advances.next = self.kind.val() == CommandKind::FlowAdvance;
        self.appends.next = self.data.val().get_bit(176);
        self.rx_base.next = self.data.val().get_bits::<24>(64);
        self.rx_bits.next = self.data.val().get_bits::<4>(88);
        self.tx_base.next = self.data.val().get_bits::<24>(64);
        self.tx_bits.next = self.data.val().get_bits::<4>(88);
        if self.kind.val() == CommandKind::FlowInstall {
            self.rx_base.next = self.data.val().get_bits::<24>(224);
            self.rx_bits.next = self.data.val().get_bits::<4>(248);
            self.tx_base.next = self.data.val().get_bits::<24>(256);
            self.tx_bits.next = self.data.val().get_bits::<4>(280);
        }
        self.rx_list.next = self.update.val();
        self.rx_list.next.base = self.rx_base.val();
        self.rx_list.next.mask =
            (self.one.val() << bit_cast::<16, 4>(self.rx_bits.val())) - self.one.val();
        // The list to which nothing is appended moves its head alone.
        if self.advances.val() & (self.send.val() | !self.appends.val()) {
            self.rx_list.next.operation = ListOperation::SetHead;
            self.rx_list.next.index = self.data.val().get_bits::<16>(160);
        }
        self.tx_list.next = self.update.val();
        self.tx_list.next.base = self.tx_base.val();
        self.tx_list.next.mask =
            (self.one.val() << bit_cast::<16, 4>(self.tx_bits.val())) - self.one.val();
        self.tx_list.next.head = self.data.val().get_bits::<16>(224);
        if self.advances.val() & !(self.send.val() & self.appends.val()) {
            self.tx_list.next.operation = ListOperation::SetHead;
            self.tx_list.next.index = self.data.val().get_bits::<16>(224);
        }
    }
}

/// Decodes what changes in the segment lists.
#[derive(LogicBlock, Default)]
pub struct ListDecode {
    /// The 64 bytes of the command.
    pub data: Signal<In, Bits<512>>,
    /// Kind of the command.
    pub kind: Signal<In, CommandKind>,
    /// The list that the command names is the send list.
    pub tx: Signal<Out, Bit>,
    /// The command changes the receive list.
    pub rx_changes: Signal<Out, Bit>,
    /// Change of the receive list.
    pub rx_list: Signal<Out, ListUpdate>,
    /// The command changes the send list.
    pub tx_changes: Signal<Out, Bit>,
    /// Change of the send list.
    pub tx_list: Signal<Out, ListUpdate>,

    sides: ListSides,

    segment: Signal<Local, Bits<144>>,
    entry: Signal<Local, SegmentEntry>,
    update: Signal<Local, ListUpdate>,
    send: Signal<Local, Bit>,
    both: Signal<Local, Bit>,
    one_of_them: Signal<Local, Bit>,
}

impl Logic for ListDecode {
    #[hdl_gen]
    fn update(&mut self) {
        self.segment.next = self.data.val().get_bits::<144>(64);
        self.send.next = self.data.val().get_bit(32);
        self.both.next = false;
        self.one_of_them.next = true;
        self.update.next.operation = ListOperation::Post;
        self.update.next.flow = self.data.val().get_bits::<16>(16);
        self.update.next.index = self.data.val().get_bits::<16>(48);
        self.update.next.head = self.data.val().get_bits::<16>(160);
        self.update.next.base = 0.into();
        self.update.next.mask = 0.into();
        match self.kind.val() {
            CommandKind::FlowInstall => {
                self.both.next = true;
                self.update.next.operation = ListOperation::Install;
            }
            CommandKind::FloorSet => {
                self.send.next = false;
                self.update.next.operation = ListOperation::SetHead;
                self.update.next.index = self.data.val().get_bits::<16>(160);
            }
            CommandKind::SendFloorSet => {
                self.send.next = true;
                self.update.next.operation = ListOperation::SetHead;
                self.update.next.index = self.data.val().get_bits::<16>(160);
            }
            CommandKind::FlowAdvance => {
                self.both.next = true;
                self.send.next = self.data.val().get_bit(177);
                self.update.next.operation = ListOperation::Advance;
                self.update.next.index = self.data.val().get_bits::<16>(240);
                self.segment.next = self.data.val().get_bits::<144>(256);
            }
            CommandKind::SegmentPost => {}
            CommandKind::SegmentTruncate => {
                self.update.next.operation = ListOperation::Truncate;
            }
            CommandKind::ListMove => {
                self.update.next.operation = ListOperation::Move;
            }
            _ => self.one_of_them.next = false,
        }
        self.entry.next.position = self.segment.val().get_bits::<32>(0);
        self.entry.next.bytes = bit_cast::<32, 31>(self.segment.val().get_bits::<31>(32));
        self.entry.next.region = self.segment.val().get_bits::<16>(64);
        self.entry.next.region_key = self.segment.val().get_bits::<16>(80);
        self.entry.next.offset = self.segment.val().get_bits::<48>(96);
        self.update.next.entry = self.entry.val();
        self.tx.next = self.send.val();
        self.rx_changes.next = self.both.val() | (self.one_of_them.val() & !self.send.val());
        self.tx_changes.next = self.both.val() | (self.one_of_them.val() & self.send.val());
        self.sides.data.next = self.data.val();
        self.sides.kind.next = self.kind.val();
        self.sides.update.next = self.update.val();
        self.sides.send.next = self.send.val();
        self.rx_list.next = self.sides.rx_list.val();
        self.tx_list.next = self.sides.tx_list.val();
    }
}

/// Decodes what is written to the region table.
#[derive(LogicBlock, Default)]
pub struct RegionDecode {
    /// The 64 bytes of the command.
    pub data: Signal<In, Bits<512>>,
    /// Kind of the command.
    pub kind: Signal<In, CommandKind>,
    /// Epoch that is written into new entries.
    pub epoch: Signal<In, Bits<16>>,
    /// Region to write.
    pub region: Signal<Out, RegionUpdate>,
    /// Page entry to write.
    pub page: Signal<Out, PageUpdate>,

    entry: Signal<Local, RegionEntry>,
}

impl Logic for RegionDecode {
    #[hdl_gen]
    fn update(&mut self) {
        self.entry.next.key = self.data.val().get_bits::<16>(48);
        self.entry.next.domain = self.data.val().get_bits::<16>(64);
        self.entry.next.write = self.data.val().get_bit(80);
        self.entry.next.read = self.data.val().get_bit(81);
        self.entry.next.memory = self.data.val().get_bits::<2>(82);
        self.entry.next.page_bits = self.data.val().get_bits::<5>(88);
        self.entry.next.first_page = self.data.val().get_bits::<16>(96);
        self.entry.next.bytes = self.data.val().get_bits::<48>(128);

        self.region.next.region = self.data.val().get_bits::<16>(32);
        self.region.next.epoch = 0.into();
        self.region.next.by_key = true;
        if self.kind.val() == CommandKind::RegionInstall {
            self.region.next.epoch = self.epoch.val();
            self.region.next.by_key = false;
        }
        self.region.next.entry = self.entry.val();

        self.page.next.page = self.data.val().get_bits::<16>(32);
        self.page.next.epoch = self.epoch.val();
        self.page.next.address = self.data.val().get_bits::<64>(64);
    }
}
