"""Loaded by every Python process below a guarded run: writes down each attempt to reach the network."""

import os
import sys


def _hook(event: str, args: tuple) -> None:
    if event in ("socket.connect", "socket.getaddrinfo", "socket.sendto"):
        target = args[1:] if event != "socket.getaddrinfo" else args
        with open(os.environ["GUARD_LOG"], "a") as log:
            log.write(f"{event} {target}\n")


if os.environ.get("GUARD_LOG"):
    sys.addaudithook(_hook)
