"""What every folder may use: checks of arguments, seeds, threads, memory, labels, types."""
