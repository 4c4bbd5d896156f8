//! Carries out one command of the client.
//!
//! Invariants
//! 1. A command is carried out in full, or is answered with an error number and changes nothing
//!    that a client can see; of several writes in one message those before the wrong one stand.
//! 2. Every command but one that wants no reply gets exactly one.

use std::os::fd::{AsFd, OwnedFd};

use rustix::io::Errno;

use crate::channel::{ChannelError, Message};
use crate::codec::{
    CodecError, DeviceInfo, DmaUnmap, InterruptInfo, Kind, Question, RegionAccess, RegionInfo,
    RegionSignals, Request, SmallWrite, TRANSFER_BYTES,
};
use crate::description::Description;
use crate::device::Device;
use crate::session::Session;

/// What goes back.
struct Answer {
    payload: Vec<u8>,
    descriptors: Vec<OwnedFd>,
}

impl From<Vec<u8>> for Answer {
    fn from(payload: Vec<u8>) -> Self {
        Self { payload, descriptors: Vec::new() }
    }
}

/// Carries out a command and sends its reply.
pub(super) fn answer(
    description: &Description,
    device: &mut dyn Device,
    session: &mut Session,
    message: Message,
) -> Result<(), ChannelError> {
    let header = message.header;
    let Kind::Command { no_reply } = header.kind else {
        // A reply that nobody waits for: the client has lost count.
        return Err(CodecError::Kind(1).into());
    };
    let result = match Request::decode(header.command, &message.payload) {
        Ok(request) => {
            let mut answering = Answering { description, device, session };
            answering.carry_out(request, message.descriptors)
        }
        Err(error) => Err(error.errno()),
    };
    if let Some(end) = session.end() {
        return Err(end.clone());
    }
    if no_reply {
        return Ok(());
    }
    let (result, descriptors) = match result {
        Ok(answer) => (Ok(answer.payload), answer.descriptors),
        Err(error) => (Err(error), Vec::new()),
    };
    let mut reply = Message::reply(&header, result);
    reply.descriptors = descriptors;
    session.channel.send(reply)
}

struct Answering<'a> {
    description: &'a Description,
    device: &'a mut dyn Device,
    session: &'a mut Session,
}

impl Answering<'_> {
    fn carry_out(
        &mut self,
        request: Request<'_>,
        mut descriptors: Vec<OwnedFd>,
    ) -> Result<Answer, Errno> {
        let takes_descriptors = matches!(request, Request::DmaMap(_) | Request::SetInterrupts(_));
        if !takes_descriptors && !descriptors.is_empty() {
            return Err(Errno::INVAL);
        }
        let payload = match request {
            Request::DmaMap(map) => {
                let file = descriptors.pop();
                if !descriptors.is_empty() {
                    return Err(Errno::INVAL);
                }
                self.session.map(&map, file)?;
                self.device.memory_mapped(&map, self.session);
                Vec::new()
            }
            Request::DmaUnmap(unmap) => self.unmap(&unmap)?,
            Request::DeviceInfo => self.device_info().encode(),
            Request::RegionInfo(question) => return self.region_info(question),
            Request::RegionSignals(question) => self.region_signals(question)?,
            Request::InterruptInfo(question) => self.interrupt_info(question)?.encode(),
            Request::SetInterrupts(order) => {
                self.session.set_interrupts(&order, descriptors)?;
                Vec::new()
            }
            Request::RegionRead(access) => self.read(access)?,
            Request::RegionWrite(access, data) => {
                self.write(access, data)?;
                access.encode(&[])
            }
            Request::WriteMany(writes) => self.write_many(&writes)?,
            Request::Reset => {
                self.device.reset(self.session)?;
                self.session.clear_pending();
                Vec::new()
            }
            // The version is agreed upon once, and these two are the server's.
            Request::Version(_) | Request::DmaRead(_) | Request::DmaWrite(..) => {
                return Err(Errno::INVAL);
            }
        };
        Ok(payload.into())
    }

    fn unmap(&mut self, unmap: &DmaUnmap) -> Result<Vec<u8>, Errno> {
        let removed = self.session.unmap(unmap)?;
        for (address, bytes) in &removed {
            self.device.memory_unmapped(*address, *bytes);
        }
        match *unmap {
            DmaUnmap::All => Ok(unmap.encode()),
            DmaUnmap::Range { address, .. } => {
                let bytes =
                    removed.iter().fold(0, |sum: u64, (_, bytes)| sum.saturating_add(*bytes));
                Ok(DmaUnmap::Range { address, bytes }.encode())
            }
        }
    }

    fn device_info(&self) -> DeviceInfo {
        let regions = self.description.regions.len() as u32;
        let interrupts = self.description.interrupts.len() as u32;
        DeviceInfo { resets: true, is_pci: true, regions, interrupts }
    }

    fn region_info(&self, question: Question) -> Result<Answer, Errno> {
        let region = self.description.regions.get(question.index as usize).ok_or(Errno::INVAL)?;
        let shared = region.shared.as_ref();
        let info = RegionInfo {
            index: question.index,
            bytes: region.bytes,
            read: region.read,
            write: region.write,
            file_offset: shared.map(|shared| shared.file_offset),
            areas: shared.map(|shared| shared.areas.clone()).unwrap_or_default(),
        };
        let (payload, has_file) = info.encode(question.argsz);
        let mut descriptors = Vec::new();
        if let (true, Some(shared)) = (has_file, shared) {
            let file = shared.file.as_fd().try_clone_to_owned();
            descriptors.push(file.map_err(|_| Errno::MFILE)?);
        }
        Ok(Answer { payload, descriptors })
    }

    /// No descriptor stands for writes to a region of ours: the answer is an empty list.
    fn region_signals(&self, question: RegionSignals) -> Result<Vec<u8>, Errno> {
        let region = self.description.regions.get(question.region as usize);
        region.filter(|region| region.bytes > 0).ok_or(Errno::INVAL)?;
        Ok(RegionSignals { region: question.region, count: 0 }.encode())
    }

    fn interrupt_info(&self, question: Question) -> Result<InterruptInfo, Errno> {
        let it = self.description.interrupts.get(question.index as usize).ok_or(Errno::INVAL)?;
        Ok(InterruptInfo { index: question.index, flags: it.flags, count: it.count })
    }

    /// Checks an access against the region.
    fn check(&self, access: RegionAccess, writes: bool) -> Result<(), Errno> {
        let region = self.description.regions.get(access.region as usize).ok_or(Errno::INVAL)?;
        let end = access.offset.checked_add(access.count.into()).ok_or(Errno::INVAL)?;
        let may = if writes { region.write } else { region.read };
        match () {
            () if end > region.bytes => Err(Errno::INVAL),
            () if !may => Err(Errno::PERM),
            () if u64::from(access.count) > TRANSFER_BYTES => Err(Errno::MSGSIZE),
            () => Ok(()),
        }
    }

    fn read(&mut self, access: RegionAccess) -> Result<Vec<u8>, Errno> {
        self.check(access, false)?;
        let mut data = vec![0; access.count as usize];
        if !data.is_empty() {
            self.device.read(access.region, access.offset, &mut data, self.session)?;
        }
        Ok(access.encode(&data))
    }

    fn write(&mut self, access: RegionAccess, data: &[u8]) -> Result<(), Errno> {
        self.check(access, true)?;
        match data {
            [] => Ok(()),
            data => self.device.write(access.region, access.offset, data, self.session),
        }
    }

    /// The number of writes that were carried out, unless the first one already fails.
    fn write_many(&mut self, writes: &[SmallWrite]) -> Result<Vec<u8>, Errno> {
        for (index, write) in writes.iter().enumerate() {
            match self.write(write.access, write.bytes()) {
                Err(error) if index == 0 => return Err(error),
                Err(_) => return Ok(SmallWrite::encode_done(index as u64)),
                Ok(()) => {}
            }
        }
        Ok(SmallWrite::encode_done(writes.len() as u64))
    }
}
