"""Text: normalisation, languages, links and Markdown lines."""
