//! Why a packet was dropped, deferred or placed, and why a command or a send failed.

macro_rules! codes {
    ($(#[$doc:meta])* $name:ident: $bits:literal bits {
        $($(#[doc = $meaning:literal])+ $variant:ident = $value:literal, $text:literal;)+
    }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum $name { $($(#[doc = $meaning])+ $variant = $value,)+ }

        impl $name {
            /// Every code, in order of its number.
            pub const ALL: &'static [$name] = &[$($name::$variant,)+];

            /// Width of a code in the card, in its counters' index and in entries, bits.
            pub const CODE_BITS: usize = $bits;

            /// The name used in tables, counters and messages.
            pub const fn name(self) -> &'static str {
                match self { $($name::$variant => $text,)+ }
            }

            /// What it means, in a sentence.
            pub fn meaning(self) -> &'static str {
                match self { $($name::$variant => concat!($($meaning),+).trim(),)+ }
            }

            /// The code with this number, if there is one.
            pub const fn from_code(code: u8) -> Option<$name> {
                match code { $($value => Some($name::$variant),)+ _ => None }
            }
        }

        const _: () = assert!(
            $name::ALL.len() <= 1 << $name::CODE_BITS,
            concat!(stringify!($name), ": more codes than ", $bits, " bits hold")
        );
    };
}

codes! {
    /// Why a received frame was dropped. None of its bytes reached memory; exactly one counter
    /// moved.
    DropReason: 4 bits {
        /// The packet buffer had no free space for the frame.
        RxFifoFull = 0, "rx_fifo_full";
        /// The MAC marked the frame bad.
        BadFcs = 1, "bad_fcs";
        /// Shorter than an Ethernet frame.
        Runt = 2, "runt";
        /// Longer than the largest frame that the card takes.
        Giant = 3, "giant";
        /// IP header inconsistent: version, header length, total length.
        MalformedIp = 4, "malformed_ip";
        /// IPv4 header checksum wrong.
        IpChecksum = 5, "ip_checksum";
        /// TCP or UDP header inconsistent: lengths, data offset, options.
        MalformedL4 = 6, "malformed_l4";
        /// TCP or UDP checksum wrong.
        L4Checksum = 7, "l4_checksum";
        /// The owner's header queue has too few free slots for the entry, or is not enabled.
        HeaderQueueFull = 8, "header_queue_full";
        /// The owner has no free slow buffer for the payload.
        SlowBufferFull = 9, "slow_buffer_full";
        /// The receive direction is stopped.
        Stopped = 10, "stopped";
        /// The owner's packets have used up the owner's share of the packet buffer.
        BufferShareFull = 11, "buffer_share_full";
        /// A reset of the MAC cut the frame off.
        MacReset = 12, "mac_reset";
    }
}

codes! {
    /// What became of the payload of a packet whose header was delivered to the host.
    Disposition: 4 bits {
        /// Written at the cursor; the cursor advanced.
        PlacedInOrder = 0, "placed_in_order";
        /// Written beyond the cursor.
        PlacedAhead = 1, "placed_ahead";
        /// The packet carries no payload.
        NoPayload = 2, "no_payload";
        /// All payload lies below the floor; not written.
        Old = 3, "old";
        /// Overlaps bytes between floor and cursor; deferred.
        Duplicate = 4, "duplicate";
        /// No flow entry; deferred.
        NoFlow = 5, "no_flow";
        /// No posted segment covers the payload; deferred.
        NoSegment = 6, "no_segment";
        /// Beyond the resident list or the reach of the flow; deferred.
        AheadOfWindow = 7, "ahead_of_window";
        /// A flag other than ACK, PSH, FIN, ECE and CWR is set, or ACK is not; deferred.
        Flags = 8, "flags";
        /// ACK number outside the range that software set; deferred.
        AckOutOfRange = 9, "ack_out_of_range";
        /// Timestamp older than its floor, or missing where the flow requires one; deferred.
        TimestampOld = 10, "timestamp_old";
        /// A segment's region is removed, or has another key, domain, right or bounds; deferred.
        RegionRefused = 11, "region_refused";
        /// More pieces than one packet may have; deferred.
        TooManyPieces = 12, "too_many_pieces";
        /// A fragment, or UDP without checksum, which cannot be verified; deferred.
        Unverified = 13, "unverified";
        /// Neither IPv4 nor IPv6, or no transport that the parser knows; deferred.
        NotTransport = 14, "not_transport";
        /// The flow entry selects another header profile; deferred.
        Profile = 15, "profile";
    }
}

impl Disposition {
    /// Whether the payload was written to its segments.
    pub const fn is_placed(self) -> bool {
        matches!(self, Self::PlacedInOrder | Self::PlacedAhead)
    }
}

codes! {
    /// How a command ended.
    CommandStatus: 8 bits {
        /// Took effect, and its fence has passed.
        Ok = 0, "ok";
        /// No such opcode.
        BadOpcode = 1, "bad_opcode";
        /// An index beyond the configuration's size.
        BadIndex = 2, "bad_index";
        /// This owner may not change that object.
        NotOwner = 3, "not_owner";
        /// The flow is not installed, or has another generation.
        BadFlow = 4, "bad_flow";
        /// The segment's index is not the tail, or not below head + capacity: the list is full.
        ListFull = 5, "list_full";
        /// A length, position or reach outside its limit.
        BadRange = 6, "bad_range";
    }
}

codes! {
    /// Why a send descriptor produced no frame, or why the flow's owner gets an event.
    SendError: 3 bits {
        /// All of its range lies below the send floor.
        StaleSend = 0, "stale_send";
        /// No segment of the send list holds the range.
        SendNoSegment = 1, "send_no_segment";
        /// The region refused the access.
        SendRegionRefused = 2, "send_region_refused";
        /// The flow is not installed, or has another generation or owner.
        SendBadFlow = 3, "send_bad_flow";
        /// The descriptor contradicts itself or a limit.
        SendMalformed = 4, "send_malformed";
        /// A PCIe read failed: error completion, poisoned data or timeout.
        ReadFailed = 5, "read_failed";
        /// The wire is down, and software asked for an error. An event of flow 0xffff with this
        /// reason tells owner 0 that the wire went up or down.
        LinkDown = 6, "link_down";
    }
}
