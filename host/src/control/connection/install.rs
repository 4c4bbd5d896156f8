//! The install of a flow, on the card or beside it.
//!
//! ```text
//!   open ─► two sides, with the requests made before ─► flow_install, key commands ─► Installing
//! ```

use super::{acceptance, Connection, Phase};
use crate::control::flow::deferred::DEFERRED_BYTES_MAX;
use crate::control::flow::receive::ReceiveSide;
use crate::control::flow::send::SendSide;
use crate::control::lists::FlowList;
use crate::protocol::{Guards, Install};
use crate::records::commands::{flow_install, Entry, FlowInstall, List};
use crate::records::queue::CommandQueue;

impl Connection {
    /// Installs the flow, on the card or beside it. `keys` are the commands that place its key.
    pub fn install(
        &mut self,
        commands: &mut dyn CommandQueue,
        install: &Install,
        guards: &Guards,
        keys: Vec<Entry>,
    ) {
        let flow = self.name.flow;
        let mut receive = ReceiveSide::new(install.receive_first, flow);
        let mut send = SendSide::new(install.send_first, flow);
        if !self.on_card {
            *receive.queue.list_mut() = FlowList::off_card();
            *send.queue.list_mut() = FlowList::off_card();
        }
        for buffer in self.early_receives.drain(..) {
            receive.queue.add(buffer);
        }
        for buffer in self.early_sends.drain(..) {
            send.queue.add(buffer);
        }
        for (position, payload) in &install.early {
            if let Some(offset) = receive.offset(*position) {
                receive.defer(offset, payload, DEFERRED_BYTES_MAX);
            }
        }
        let list = List::committed(flow);
        let mut entry = flow_install(&FlowInstall {
            name: self.name,
            owner: self.owner,
            domain: self.domain,
            acceptance: acceptance(&receive, &send, guards),
            send_floor: send.queue.position(0),
            lists: [(list.base, list.bits); 2],
        });
        abi::command::PROFILE.set(&mut entry, install.profile.into());
        let mut ticket = commands.command(entry);
        for entry in keys {
            ticket = commands.command(entry);
        }
        self.receive = Some(receive);
        self.send = Some(send);
        self.phase = Phase::Installing(ticket);
    }
}
