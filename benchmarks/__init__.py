"""What the package costs and what it gains, measured: ratios within one run."""
