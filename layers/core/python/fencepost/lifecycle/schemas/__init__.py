"""Request and response models: bundles (exports and imports), erasures, carried summaries, diagnoses."""
