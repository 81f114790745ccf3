"""HTTP routes of exports, imports, erasures, carried summaries and diagnoses."""
