"""The experiments of the paper: `mixwood reproduce toy`, `10k` and `nips`.

One file per experiment: `protocol` says what a run is, `cache` keeps it, `table` and `pictures`
show what came out next to the paper's figures, `command` is what the command line calls.
"""
