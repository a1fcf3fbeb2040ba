"""`python -m collabtax COMMAND`: what is not a pytest session."""

from __future__ import annotations

import argparse
import sys
import zipfile
from pathlib import Path


def main(arguments: list[str] | None = None) -> int:
    """Run a command; returns the exit code, 2 with one line on stderr for bad input."""
    parser = argparse.ArgumentParser(prog="python -m collabtax", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    sim = commands.add_parser("sim", help="serve the simulated models as an OpenAI-compatible endpoint on loopback")
    sim.add_argument("--port", type=int, default=8123, metavar="P", help="port (default: 8123; 0: any free one)")
    sim.add_argument("--latency", type=float, default=0.0, metavar="S", help="seconds added to each reply")
    pack = commands.add_parser("pack", help="put the cassettes of each cell into one zip file")
    pack.add_argument("folder", type=Path, help="a folder of cassettes")
    given = parser.parse_args(arguments)
    if given.command == "pack":
        from collabtax.cassettes import pack as pack_cells

        if not given.folder.is_dir():
            print(f"{given.folder} is no folder; give the one that --cassettes names", file=sys.stderr)
            return 2
        try:
            for path in pack_cells(given.folder):
                print(path)
        except (OSError, zipfile.BadZipFile) as problem:
            print(f"{given.folder} cannot be packed: {problem}; move the file away", file=sys.stderr)
            return 2
        return 0
    if not 0 <= given.latency < 3600:
        print(f"--latency {given.latency:g} is no number of seconds from 0 to 3600", file=sys.stderr)
        return 2
    from collabtax.sim.endpoint import Server

    try:
        server = Server(given.port, given.latency)
    except (OSError, OverflowError) as problem:
        print(f"port {given.port}: {problem}; try another --port", file=sys.stderr)
        return 2
    print(f"simulated models at {server.url} (stop with Ctrl-C)", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        server.server_close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
