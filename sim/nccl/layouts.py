"""Prints where the fields that the kernels on the CPU use lie in NCCL's structures.

Run by gdb, which reads the library's own debug information:
    gdb -nx -batch -x sim/nccl/layouts.py LIBRARY
Each line is a structure of this release: its length in bytes, and of each field first bit and bits.
A structure or a field that the release does not have is left out. The lines of the releases that
are known are src/cpu/layouts.txt.
"""

import ctypes

import gdb

COMM = ["rank", "nRanks", "buffSizes", "abortFlag"]
STRUCTURES = {
    "ncclConnFifo": ["mode", "offset", "size"],
    "ncclConnInfo": ["buffs", "tail", "head", "stepSize", "connFifo", "step"],
    "ncclDevChannelPeer": ["send", "recv"],
    "ncclRing": ["prev", "next", "userRanks", "index"],
    "ncclDevChannel": ["peers", "ring"],
    "ncclKernelComm": COMM,
    "ncclKernelCommAndChannels": ["channels"],
    # The names of both before 2.28, when the names meant no interface yet.
    "ncclDevComm": COMM,
    "ncclDevCommAndChannels": ["channels"],
    "ncclDevWorkP2p": [
        "sendAddr", "recvAddr", "sendBytes", "recvBytes", "sendRank", "recvRank", "nP2pChannels",
        "channelBase", "nSendChannels", "nRecvChannels", "sendChunkSize_u32fp8",
        "recvChunkSize_u32fp8", "sendProtoLL", "recvProtoLL", "sendNetReg", "recvNetReg",
    ],
    "ncclDevWorkColl": [
        "channelLo", "channelHi", "recvbuff", "sendbuff", "countLo", "countMid", "countHi",
        "chunkGrainsLo", "chunkGrainsMid", "chunkGrainsHi",
    ],
    "ncclDevWorkBatch": ["nextJump", "workType", "func", "offsetBase", "offsetBitset"],
    "ncclDevKernelArgs": ["comm", "channelMask", "workStorageType", "workMask", "workBuf"],
}


def places(kind, base=0):
    """Yields name, first bit and bits of each field; those of a field without a name, or of a union's
    part, too."""
    for field in kind.fields():
        inner = field.type.strip_typedefs()
        first = base + field.bitpos
        yield field.name, first, field.bitsize or inner.sizeof * 8
        if inner.code in (gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_UNION) and (
            not field.name or field.name == "cbd"
        ):
            yield from places(inner, first)


def main():
    version = ctypes.c_int()
    ctypes.CDLL(gdb.objfiles()[0].filename).ncclGetVersion(ctypes.byref(version))
    is_new = True
    for name, wanted in STRUCTURES.items():
        if is_new and name.startswith("ncclDevComm"):
            continue
        try:
            kind = gdb.lookup_type("struct " + name)
        except gdb.error:
            is_new = is_new and name != "ncclKernelComm"
            continue
        found = {field: (first, bits) for field, first, bits in places(kind) if field in wanted}
        fields = [f"{field}={found[field][0]}:{found[field][1]}" for field in wanted if field in found]
        print(version.value, name, kind.sizeof, *fields)


main()
