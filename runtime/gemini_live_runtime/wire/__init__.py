"""What travels: messages, codec, endpoints and credentials, transport, connection."""
