"""A rowhouse server for tests: an HBase on free ports, over a temporary directory."""

from .server import Fault, Server

__all__ = ["Fault", "Server"]
