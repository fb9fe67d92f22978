"""Formats of an export, one module each: from an `ExportSource` to a file's bytes."""
