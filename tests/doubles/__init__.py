"""Stand-ins for services, and what is held against them."""
