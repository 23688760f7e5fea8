#!/usr/bin/env python3
"""A TCP proxy that writes every connection to a fixture file (format: README.md).

usage: proxy.py OUT_DIR SCENARIO ROLE=LISTEN_HOST:PORT=TARGET_HOST:PORT...

Prints "ready" once it listens; on SIGTERM it writes OUT_DIR/NN-ROLE.conv for every connection it saw and exits.
"""
import pathlib
import signal
import socket
import sys
import threading

HEADER = "# rowhouse conversation 1"
LINE_BYTES = 64


class Conversation:
    """The bytes of one connection in the order in which they passed."""

    def __init__(self, role):
        self.role = role
        self.runs = []  # [direction, bytearray]; neighbours differ in direction
        self.closed_by = "nobody"
        self.lock = threading.Lock()

    def add(self, direction, data):
        with self.lock:
            if not self.runs or self.runs[-1][0] != direction:
                self.runs.append([direction, bytearray()])
            self.runs[-1][1].extend(data)

    def closed(self, direction):
        with self.lock:
            if self.closed_by == "nobody":
                self.closed_by = {">": "client", "<": "server"}[direction]

    def text(self, scenario, number):
        lines = [HEADER, f"# scenario {scenario}", f"# connection {number}", f"# role {self.role}",
                 f"# closed-by {self.closed_by}"]
        for direction, data in self.runs:
            for at in range(0, len(data), LINE_BYTES):
                lines.append(f"{direction} {data[at:at + LINE_BYTES].hex()}")
        return "\n".join(lines) + "\n"


def pump(source, target, direction, conversation):
    try:
        while data := source.recv(1 << 16):
            # Recorded before it is passed on: an answer can then never stand before its question.
            conversation.add(direction, data)
            target.sendall(data)
    except OSError:
        pass
    conversation.closed(direction)
    for end in (source, target):
        try:
            end.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


def serve(listener, target, role, conversations):
    while True:
        client, _ = listener.accept()
        try:
            server = socket.create_connection(target)
        except OSError:
            client.close()
            continue
        for end in (client, server):
            end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        conversation = Conversation(role)
        conversations.append(conversation)
        threading.Thread(target=pump, args=(client, server, ">", conversation), daemon=True).start()
        threading.Thread(target=pump, args=(server, client, "<", conversation), daemon=True).start()


def endpoint(text):
    host, _, port = text.rpartition(":")
    return host, int(port)


def main():
    out, scenario = pathlib.Path(sys.argv[1]), sys.argv[2]
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    conversations = []
    for route in sys.argv[3:]:
        role, listen, target = route.split("=")
        listener = socket.create_server(endpoint(listen))
        threading.Thread(target=serve, args=(listener, endpoint(target), role, conversations), daemon=True).start()
    print("ready", flush=True)
    stop.wait()
    out.mkdir(parents=True, exist_ok=True)
    for number, conversation in enumerate(list(conversations), 1):
        if conversation.runs:
            path = out / f"{number:02}-{conversation.role}.conv"
            path.write_text(conversation.text(scenario, number))


if __name__ == "__main__":
    main()
