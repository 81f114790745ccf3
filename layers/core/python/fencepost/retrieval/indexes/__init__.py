"""Vector indexes behind one port."""
