"use strict";
// What a stream costs on a path: the sums of model/src/cost.rs, in the same order.

const PERS = ["byte", "packet", "segment", "ack", "message", "answer", "lost", "registration"];
const LIMITS = ["wire", "sender's thread", "receiver's thread", "thread beside it", "memory",
  "PCIe to the host", "PCIe to the card", "memory at the end"];
const NO_LIMIT = 1e6;

// What a row pays for each thing, summed once.
const SUMS = new Map();
function value(row, pays, per) {
  if (!SUMS.has(row)) {
    const sums = {};
    for (const cell of row.cells) {
      const of = sums[cell.pays] ??= {};
      of[cell.per] = (of[cell.per] ?? 0) + cell.value;
    }
    SUMS.set(row, sums);
  }
  return SUMS.get(row)[pays]?.[per] ?? 0;
}
const paid = (row, pays, counts) => PERS.reduce(
  (sum, per, place) => sum + value(row, pays, per) * counts[place], 0);
const find = (rows, id) => rows.find((row) => row.id === id);
const limit = (all, each) => each > 0 ? Math.min(8 * all / each, NO_LIMIT) : NO_LIMIT;
const writeBytes = (bytes) => bytes + Math.ceil(bytes / 256) * 24;
const completionBytes = (bytes) => bytes * (1 + 20 / 256);
const requestBytes = (bytes) => bytes / 512 * 24;

function lanesBytesPerNs(setup) {
  const encoded = setup.generation < 6 ? 128 / 130 : 242 / 256;
  return setup.lanes * 8 * 2 ** (setup.generation - 3) * (encoded * (1 - 0.025)) / 8;
}

function packetPayload(path, setup) {
  const room = setup.mtu - path.header_bytes;
  let payload = 256;
  while (payload * 2 <= Math.min(room, 4096)) payload *= 2;
  return path.fill === "power-of-two" ? payload : room;
}

function counts(path, load, setup) {
  const full = packetPayload(path, setup), message = setup.message;
  const beginsPacket = path.fill === "power-of-two" || load.is_answered;
  const wirePackets = beginsPacket ? Math.ceil(message / full) / message : 1 / full;
  const joined = Math.max(Math.floor(path.segment_bytes / full), 1);
  const answers = load.is_answered ? 1 / message : 0;
  const sent = Math.max(wirePackets / joined, answers);
  const segments = path.coalescing === "none" ? wirePackets : sent;
  const packets = path.coalescing === "hardware" ? segments : wirePackets;
  const call = path.has_whole_messages ? message : Math.min(message, load.call_bytes);
  const lost = wirePackets * setup.loss / (1 - setup.loss);
  const of = [1, packets, segments, segments * path.acks_per_segment, 1 / call, answers, lost,
    path.registrations / message];
  return { wirePackets, of, sender: [1, wirePackets, sent, ...of.slice(3)] };
}

function keptShare(transport, loss, inFlight) {
  if (transport.curve === "go-back-n") return (1 - loss) / (1 - loss + loss * inFlight);
  const step = value(transport, "step", "one") * loss / (loss + 1e-4);
  const power = Math.pow(loss / value(transport, "scale", "one"), value(transport, "power", "one"));
  return (1 - loss) * (1 - step) * Math.exp(-power);
}

function pcieBytes(path, count) {
  const beside = path.writes_whole_frame ? path.header_bytes + 14 : 0;
  let up = count.wirePackets * writeBytes(1 / count.wirePackets + beside), down = 0;
  for (const cell of path.cells) {
    const times = count.of[PERS.indexOf(cell.per)] ?? 0;
    if (cell.pays === "entry") up += times * writeBytes(cell.value);
    if (cell.pays === "fetch") up += times * requestBytes(cell.value);
    if (cell.pays === "fetch") down += times * completionBytes(cell.value);
    if (cell.pays === "register") down += times * cell.value * writeBytes(4);
  }
  return [up, down];
}

function evaluate(table, id, setup) {
  const path = find(table.path, id), transport = find(table.transport, path.transport);
  const load = find(table.load, setup.load), count = counts(path, load, setup);
  const wireBytes = 1 + count.wirePackets * (path.header_bytes + 38);
  const thread = (pays) => {
    const of = pays === "sender" ? count.sender : count.of;
    return (paid(path, pays, of) + paid(load, pays, of)) / setup.core;
  };
  const [sender, receiver, companion] = ["sender", "receiver", "companion"].map(thread);
  const always = value(path, "companion", "second");
  const memory = ["memory-write", "memory-read", "memory-allocate"]
    .map((pays) => paid(path, pays, count.of));
  const memoryBytes = (memory[0] + memory[1] + memory[2]) * (1 - value(path, "cached", "one"));
  const [up, down] = pcieBytes(path, count), lanes = lanesBytesPerNs(setup);
  const limits = [setup.rate / wireBytes * value(transport, "line-share", "one"),
    limit(1, sender), limit(1, receiver), limit(1 - always, companion),
    limit(setup.memory, memoryBytes), limit(lanes, up), limit(lanes, down), NO_LIMIT];
  const least = Math.min(...limits);
  const inFlight = setup.rate * setup.round_trip * 1000 / 8 / (wireBytes / count.wirePackets);
  const kept = keptShare(transport, setup.loss, inFlight);
  const moving = 8 * setup.message / Math.max(least * kept, 1e-9);
  const wait = value(load, "wait", "message"), goodput = 8 * setup.message / (wait + moving);
  const rate = goodput / 8;
  const latency = value(path, "latency", "message")
    + setup.message * (value(path, "latency", "byte") + wireBytes * 8 / setup.rate);
  const binds = wait > moving ? "time of a message"
    : kept < 0.99 * (1 - setup.loss) ? "recovery from loss" : LIMITS[limits.indexOf(least)];
  return { goodput, efficiency: 1 / wireBytes, sender: rate * sender, receiver: rate * receiver,
    companion: rate * companion + always, cpu: receiver + companion + always / rate,
    written: rate * memory[0], read: rate * memory[1], allocated: rate * memory[2],
    memory: rate * memoryBytes, up: rate * up, down: rate * down, latency: latency / 1000,
    limits, binds };
}

// All numbers, in the order of Cost::vector.
const vector = (cost) => [cost.goodput, cost.efficiency, cost.sender, cost.receiver, cost.companion,
  cost.cpu, cost.written, cost.read, cost.allocated, cost.memory, cost.up, cost.down, cost.latency,
  ...cost.limits];
