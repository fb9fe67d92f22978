"""What a session can be exported to, one module a format: each turns an `export.Material` into the bytes of a file."""
