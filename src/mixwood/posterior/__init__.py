"""What a run has drawn, and every question that can be asked of it."""
