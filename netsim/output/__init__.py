"""Pictures and words: plots, the diagram of a network, scenes and the page that shows them, summaries."""
