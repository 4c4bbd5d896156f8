//! What the provider counts: what it copied, withheld and dropped.

/// Counters of the control stack.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProviderCounters {
    /// Payload bytes copied into or out of application buffers by the CPU. Payload that the card
    /// could not place counts once, though it was read out of a slow buffer before, and was kept in
    /// a copy of its own where it came ahead of a hole.
    pub copied_payload_bytes: u64,
    /// Connections that were opened beyond the flow table: all their payload is copied.
    pub unplaced_connections: u64,
    /// Header entries taken.
    pub header_entries: u64,
    /// Of them, those that stand for a run of packets.
    pub run_entries: u64,
    /// Packets of those runs.
    pub run_packets: u64,
    /// Headers of the protocol sent.
    pub sent_headers: u64,
    /// Headers withheld from the protocol because their payload was not kept: the flow had used up
    /// its deferral budget, or the payload arrived before a window was offered or far beyond it.
    pub withheld_headers: u64,
    /// Packets withheld because their link address or VLAN was not that of their flow.
    pub withheld_foreign: u64,
    /// Packets with IPv6 extension headers withheld because their TCP checksum was wrong or they
    /// were truncated.
    pub withheld_broken: u64,
    /// Packets that the protocol refused to take: its parser and the card's disagree.
    pub refused_headers: u64,
    /// Headers of the protocol dropped because they announced payload of an unknown flow.
    pub orphan_headers: u64,
    /// Headers that were not sent: their send ring has stopped, or it or the region for payload
    /// beyond the flow table is full and does not move. The protocol repeats what is lost.
    pub unsent_headers: u64,
    /// Errors of the protocol that no connection and no caller was told
    /// ([`Provider::protocol_error`](super::Provider::protocol_error) has the last one).
    pub protocol_errors: u64,
    /// Descriptors that the send floor passed on their way: repetitions that crossed their
    /// acknowledgement.
    pub overtaken_sends: u64,
    /// The wire went up or down. What was lost is sent again when it is up.
    pub wire_changes: u64,
    /// Windows that were sent again because more was granted.
    pub window_updates: u64,
    /// IP fragments withheld, whose payload cannot be placed.
    pub withheld_fragments: u64,
    /// Bytes held at present for all connections: deferred payload, bookkeeping of what was placed.
    pub held_bytes: u64,
    /// Segment entries that flows have borrowed at present.
    pub borrowed_entries: u32,
    /// Times that a flow needed a longer segment list and the pool had none. The flow's requests
    /// wait.
    pub list_refusals: u64,
}
