"""A real OpenSearch with its k-NN plugin, for the tests that need one: a given one, a container, or a node of our own.

A container holds the whole distribution. A node of our own is put together from the artefacts that OpenSearch
publishes for Maven, which are the same classes without the k-NN plugin's native libraries: of the engines it has
`lucene` alone.
"""
