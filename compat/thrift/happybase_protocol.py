"""A pytest plugin: happybase's tests take the transport from the environment, and this the protocol and the port.

They still call `assert_raises` of nose, which nothing imports since they run in pytest: it is pytest's `raises`.
"""

import builtins
import inspect
import os

import pytest
from happybase import Connection, connection

connection.DEFAULT_PORT = int(os.environ["THRIFT_PORT"])
parameters = inspect.signature(Connection.__init__).parameters
defaults = {name: it.default for name, it in parameters.items() if it.default is not inspect.Parameter.empty}
defaults["protocol"] = os.environ["HAPPYBASE_PROTOCOL"]
Connection.__init__.__defaults__ = tuple(defaults.values())
builtins.assert_raises = pytest.raises
