"""An OpenSearch with its k-NN plugin for tests: a given address, a container, or a node started from Maven artefacts.

The container runs the whole distribution. The Maven artefacts hold the same classes without the k-NN plugin's native
libraries, so such a node supports only the `lucene` engine.
"""
