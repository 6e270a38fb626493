"""mixwood and what a user would pick instead, on the same data in one run.

    python -m benchmarks.peers [--seeds 3] [--data toy,tenk,...] [--peers mixwood,hdbscan,...]
        [--limit 60]

One file per peer: each makes a `Peer` of `interface`. A peer that is not installed is reported as
missing; one that needs more CPU seconds than the limit is reported as over it.
"""
