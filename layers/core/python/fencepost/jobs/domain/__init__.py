"""Rules of background work: which jobs a stored change asks for, and how index and tables can disagree."""
