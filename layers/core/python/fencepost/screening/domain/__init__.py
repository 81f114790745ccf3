"""Screening without I/O: views of a text (`views`), the rules (`rules`), and the search for them (`screen`)."""
