"""Ranking: terms and fields by which entries are found, fusion of several lists, selection of passages."""
