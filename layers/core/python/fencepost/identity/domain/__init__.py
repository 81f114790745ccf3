"""Permissions, organisations and sites: rules without I/O."""
