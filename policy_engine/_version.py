"""The version of the project, which the build and every report read from here."""

__version__ = "0.1.0"
