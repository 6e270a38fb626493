"""Whether the model fits: data against replicates of them, draw by draw."""
