"""Request and response models of the stateless chat and of turns."""
