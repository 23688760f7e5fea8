"""A pytest plugin: happybase's tests take the transport from the environment, and this the protocol."""

import inspect
import os

from happybase import Connection

parameters = inspect.signature(Connection.__init__).parameters
defaults = {name: it.default for name, it in parameters.items() if it.default is not inspect.Parameter.empty}
defaults["protocol"] = os.environ["HAPPYBASE_PROTOCOL"]
Connection.__init__.__defaults__ = tuple(defaults.values())
