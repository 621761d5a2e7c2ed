"""The version of this program, read from the installed distribution."""

from importlib import metadata

try:
    VERSION = metadata.version("ripplescope")
except metadata.PackageNotFoundError:  # run from a checkout that was not installed
    VERSION = "0.1.0.dev0"
