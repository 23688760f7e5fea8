"""A rowhouse server for tests: an HBase on free ports, over a temporary directory."""

from .server import Server

__all__ = ["Server"]
