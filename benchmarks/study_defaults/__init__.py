"""What the defaults find: a table over real and simulated sets, and the bars they have to clear."""
