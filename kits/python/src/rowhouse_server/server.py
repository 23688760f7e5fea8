"""The server as a process."""

import json
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

from . import binary

START_SECONDS = 60
STOP_SECONDS = 30
LOG_BYTES = 64 << 10
ANY_PORT = "127.0.0.1:0"


class Server:
    """A server on free ports of loopback, over a temporary directory unless `data` names one.

    It ends with `close`, at the end of a `with` block, and when this process ends, however that happens.
    """

    def __init__(self, *options, data=None, program=None):
        """Starts the server with more `options` of `rowhouse serve`, and waits until it serves.

        Raises RuntimeError with the server's message if it ends instead.
        """
        self._program = program or binary.find()
        place = ["--data", str(data)] if data else ["--temporary"]
        command = [self._program, "serve", "--json", "--until-stdin-closes", "--allow-reset", "--allow-faults", "--no-web"]
        command += ["--listen", ANY_PORT, "--zookeeper", ANY_PORT, *place, *options]
        # The server ends when its input does, and the input ends with this process.
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        self._ready = self._ready_line()
        threading.Thread(target=self._drain, daemon=True).start()

    def _ready_line(self):
        late = threading.Timer(START_SECONDS, self._process.kill)
        late.start()
        message = []
        for line in self._process.stdout:
            if line.startswith("{"):
                late.cancel()
                return json.loads(line)
            message.append(line)
        is_late = not late.is_alive()
        late.cancel()
        self._process.wait()
        self._close_pipes()
        why = f"does not serve after {START_SECONDS} s" if is_late else "ended before it served"
        raise RuntimeError(f"the server {why}: {''.join(message).strip()}")

    def _drain(self):
        for line in self._process.stdout:
            print("rowhouse:", line, end="", file=sys.stderr)

    @property
    def rpc(self):
        """(host, port) of HBase's protocol."""
        return _address(self._ready["rpc"])

    @property
    def zookeeper(self):
        """(host, port) of ZooKeeper's protocol, as far as HBase's clients use it."""
        return _address(self._ready["zookeeper"])

    @property
    def data(self):
        """The data directory."""
        return Path(self._ready["data"])

    @property
    def is_running(self):
        """True until the server has ended."""
        return self._process.poll() is None

    def reset(self):
        """Drops all tables, namespaces and snapshots. States that were saved stay."""
        self.run("admin", "reset")

    def snapshot(self, state):
        """Saves all tables and their rows as a state."""
        self.run("admin", "save-state", state)

    def restore(self, state):
        """Replaces all tables by those of a state."""
        self.run("admin", "restore-state", state)

    def delete_state(self, state):
        """Deletes a state. Tables stay as they are."""
        self.run("admin", "delete-state", state)

    def load(self, table, file, *options, key=None, columns=None):
        """Writes the rows of a CSV or JSON lines file to a table, as `rowhouse import` does with these options.

        A table that does not exist yet needs `key`, its template, and `columns`, their declarations.
        """
        declared = [] if key is None else ["--key", key]
        declared += [] if columns is None else ["--columns", columns]
        with tempfile.TemporaryDirectory(prefix="rowhouse-import-") as work:
            reports = ["--rejects", work, "--rejects-max", "0", "--progress", f"{work}/progress"]
            self.run("import", table, str(file), *reports, *declared, *options)

    def fault(self, answer, **options):
        """Makes calls fail until the Fault is removed, which the end of a `with` block does.

        The options are those of `rowhouse admin fault add`:
        `fault("RegionTooBusy", table="mail", call="Mutate", rate=0.1, seed=7)`.
        """
        arguments = []
        for name, value in options.items():
            arguments += [f"--{name}", str(value)]
        return Fault(self, self.run("admin", "fault", "add", "--answer", answer, *arguments))

    def remove_faults(self):
        """Removes all faults."""
        self.run("admin", "fault", "remove")

    def shell(self, commands):
        """Runs shell commands, or the script in a Path, up to the first error, which is raised. Returns the output."""
        script = [str(commands)] if isinstance(commands, Path) else ["--execute", commands]
        return self.run("shell", "--non-interactive", *script)

    def run(self, *arguments):
        """Runs a command of `rowhouse` on this server; returns its output.

        Raises RuntimeError with the output for an error status.
        """
        host, port = self.rpc
        command = [self._program, *arguments, "--connect", f"hbase://{host}:{port}"]
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        if done.returncode != 0:
            raise RuntimeError(f"rowhouse {' '.join(arguments)}: {done.stdout.strip()}")
        return done.stdout

    def log(self):
        """Returns the end of the server's log, at most 64 KiB."""
        try:
            with open(self._ready["log"], "rb") as file:
                file.seek(max(0, file.seek(0, 2) - LOG_BYTES))
                return file.read().decode(errors="replace")
        except OSError as error:
            return f"the log cannot be read: {error}"

    def close(self):
        """Stops the server; its temporary directory is removed."""
        self._process.stdin.close()
        try:
            self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _close_pipes(self):
        self._process.stdin.close()
        self._process.stdout.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class Fault:
    """A rule by which calls fail."""

    def __init__(self, server, added):
        self._server = server
        self._id = _counts(added)["fault"]

    def await_hits(self, hits, timeout_ms=30_000):
        """Waits until the rule has hit so many calls; raises RuntimeError after the time."""
        command = ["admin", "fault", "wait", self._id, "--hits", str(hits), "--timeout", str(timeout_ms)]
        self._server.run(*command)

    @property
    def hits(self):
        """How many calls the rule has hit."""
        return int(_counts(self._server.run("admin", "fault", "wait", self._id, "--hits", "0"))["hits"])

    def remove(self):
        """Removes the rule."""
        self._server.run("admin", "fault", "remove", self._id)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.remove()


def _counts(line):
    """Returns the number and the counts of a rule: the words before its options."""
    return dict(word.split("=") for word in line.split()[:3])


def _address(text):
    host, _, port = text.rpartition(":")
    return host, int(port)
