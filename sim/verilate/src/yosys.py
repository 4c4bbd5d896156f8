"""Yosys as a program, out of its Python package.

    yosys [-q] [-s SCRIPT | -p COMMANDS]...     run scripts and commands in order on one design
    yosys -V                                    print the version

The log goes to standard output, an error to standard error with status 1. With `-q` the log is
reduced to its warnings.
"""

import subprocess
import sys


def quiet(arguments):
    """Runs the same in a child, whose log passes a filter: Yosys prints past Python's streams."""
    command = [sys.executable, __file__, *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, errors="replace") as child:
        is_warning = False
        for line in child.stdout:
            is_warning = line.startswith("Warning:") or (is_warning and line.startswith(" "))
            if is_warning:
                sys.stdout.write(line)
    return min(abs(child.returncode), 1)


def main(arguments):
    if arguments[:1] == ["-q"]:
        return quiet(arguments[1:])
    from pyosys import libyosys

    if arguments == ["-V"]:
        print(libyosys.yosys_maybe_version())
        return 0
    design = libyosys.Design()
    given = iter(arguments)
    for option in given:
        value = next(given, None)
        if option not in ("-s", "-p") or value is None:
            print(f"yosys: '{option}' is not known or lacks its value\n{__doc__}", file=sys.stderr)
            return 2
        libyosys.run_pass(f"script {value}" if option == "-s" else value, design)
    return 0


sys.exit(main(sys.argv[1:]))
