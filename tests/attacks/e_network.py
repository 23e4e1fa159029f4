"""Attacks over a network: there is none, and no socket to start from."""

from __future__ import annotations

from attacks.lab import Lab, attack


@attack(65, "TCP, UDP, DNS, the cloud's metadata service")
def _(lab: Lab) -> None:
    for family in ("AF_INET", "AF_INET6"):
        for kind in ("SOCK_STREAM", "SOCK_DGRAM", "SOCK_RAW"):
            assert lab.errno(f"socket.socket(socket.{family}, socket.{kind})") == "EPERM"
    assert lab.errno("socket.create_connection(('169.254.169.254', 80), 1)") == "EPERM"
    code = "import socket\ntry: socket.getaddrinfo('example.com', 80)\nexcept OSError: print('none')"
    assert lab.says(code) == "none"


@attack(66, "listening on localhost")
def _(lab: Lab) -> None:
    assert lab.errno("socket.create_server(('127.0.0.1', 0))") == "EPERM"


@attack(67, "abstract unix sockets between runs")
def _(lab: Lab) -> None:
    assert lab.errno("socket.socket(socket.AF_UNIX).bind('\\0name')") == "EPERM"


@attack(68, "vsock, netlink, packet, crypto, bluetooth sockets")
def _(lab: Lab) -> None:
    for family in (40, 16, 17, 38, 31, 29, 44):
        assert lab.errno(f"kernel(41, {family}, 1, 0)") == "EPERM", family


@attack(69, "descriptors of whoever started it")
def _(lab: Lab) -> None:
    code = "import os\ndef ok(fd):\n    try: os.fstat(fd); return True\n    except OSError: return False\n"
    assert lab.says(f"{code}print([fd for fd in range(4096) if ok(fd)])") == "[0, 1, 2]"
    assert lab.call(f"{code}def f(): return [fd for fd in range(4096) if ok(fd)]").value == [0, 1, 2, 3]


@attack(70, "passing descriptors, io_uring")
def _(lab: Lab) -> None:
    code = """
import socket, os, asyncio
a, b = socket.socketpair()
socket.send_fds(a, [b"x"], [1]); print(len(socket.recv_fds(b, 1, 1)[1]))
async def main(): return 5
print(asyncio.run(main()))
"""
    assert lab.says(code).split() == ["1", "5"]
    assert lab.errno("socket.socketpair(socket.AF_INET)") == "EPERM"
    for number in (425, 426, 427):
        assert lab.errno(f"kernel({number}, 1, 0, 0, 0, 0, 0)") == "EPERM"
