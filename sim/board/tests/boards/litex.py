"""Prints the pins of platform files of litex-boards: name, pins joined by a comma, IO standard.

What the files build on is not installed: these classes stand in for it.
"""

import pathlib
import sys
import types


class Subsignal:
    def __init__(self, name, *rest):
        self.name, self.rest = name, rest


class Pins:
    def __init__(self, *names):
        self.names = " ".join(names).split()


class IOStandard:
    def __init__(self, name):
        self.name = name


class Misc:
    def __init__(self, name):
        self.name = name


def stand_in(name, **members):
    module = types.ModuleType(name)
    module.__dict__.update(members)
    module.__all__ = list(members)
    sys.modules[name] = module


platforms = ("XilinxUSPlatform", "XilinxUSPPlatform", "XilinxPlatform", "Xilinx7SeriesPlatform")
programmers = ("VivadoProgrammer", "OpenFPGALoader", "OpenOCD")
classes = {name: type(name, (), {}) for name in platforms + programmers}
stand_in("litex")
stand_in("litex.build")
stand_in("litex.build.generic_platform", Subsignal=Subsignal, Pins=Pins,
         IOStandard=IOStandard, Misc=Misc)
for part in ("xilinx", "openfpgaloader", "openocd"):
    stand_in("litex.build." + part, **classes)


def show(name, parts):
    pins = [part.names for part in parts if isinstance(part, Pins)]
    standards = [part.name for part in parts if isinstance(part, IOStandard)]
    if pins:
        print(name, ",".join(pins[0]), *standards)


(folder,) = pathlib.Path(sys.prefix).glob("lib/python3*/site-packages/litex_boards/platforms")
names = {}
exec((folder / (sys.argv[1] + ".py")).read_text(), names)
for resource, number, *parts in names["_io"]:
    name = f"{resource}:{number}"
    show(name, parts)
    for part in parts:
        if isinstance(part, Subsignal):
            show(f"{name}.{part.name}", part.rest)
