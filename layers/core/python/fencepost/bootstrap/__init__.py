"""The only place where adapters meet services, one module for each function. A process builds what it serves once."""
