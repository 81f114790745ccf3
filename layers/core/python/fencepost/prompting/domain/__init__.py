"""Values and rules of prompts, without I/O."""
