"""A rank of ci/gpu/nccl.sh: collectives that are judged, or 20 steps of training."""

import os
import sys

import torch
import torch.distributed as dist

RANK = int(os.environ["RANK"])
SIZES = [8, 1024, 65536, 1 << 20, 64 << 20]


def whole(count, rank):
    """Whole numbers, so that every order of additions gives the same."""
    return ((torch.arange(count, device="cuda") % 1000) + rank).float()


def all_reduce(count):
    found = whole(count, RANK)
    dist.all_reduce(found)
    return torch.equal(found, whole(count, 0) + whole(count, 1))


def all_gather(count):
    found = torch.empty(2 * count, device="cuda")
    dist.all_gather_into_tensor(found, whole(count, RANK))
    return torch.equal(found, torch.cat([whole(count, 0), whole(count, 1)]))


def reduce_scatter(count):
    found = torch.empty(count, device="cuda")
    dist.reduce_scatter_tensor(found, whole(2 * count, RANK))
    right = whole(2 * count, 0) + whole(2 * count, 1)
    return torch.equal(found, right[RANK * count : (RANK + 1) * count])


def all_to_all(count):
    found = torch.empty(2 * count, device="cuda")
    dist.all_to_all_single(found, whole(2 * count, RANK))
    part = slice(RANK * count, (RANK + 1) * count)
    return torch.equal(found, torch.cat([whole(2 * count, rank)[part] for rank in range(2)]))


def collectives(kinds):
    wrong = [
        (kind.__name__, size)
        for kind in kinds
        for size in SIZES
        if not kind(max(size // 4, 1))
    ]
    print("wrong:" if wrong else "wrong 0", *wrong)
    return not wrong


def training():
    torch.manual_seed(1)
    torch.use_deterministic_algorithms(True)
    layers = [torch.nn.Linear(256, 1024), torch.nn.ReLU(), torch.nn.Linear(1024, 16)]
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Sequential(*layers).cuda())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    torch.manual_seed(2 + RANK)
    for _ in range(20):
        loss = model(torch.randn(64, 256, device="cuda")).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(loss.item().hex())
    return True


torch.cuda.set_device(0)
dist.init_process_group("nccl")
ALL = [all_reduce, all_gather, reduce_scatter, all_to_all]
WORK = {
    "collectives": lambda: collectives(ALL),
    "all-reduce": lambda: collectives([all_reduce]),
    "training": training,
}
is_right = WORK[sys.argv[1]]()
dist.destroy_process_group()
sys.exit(0 if is_right else 1)
