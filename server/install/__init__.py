"""Entering this server into the MCP clients of this machine."""
