"""From a model and data to draws: one description of a run, its chains, where draws go."""
