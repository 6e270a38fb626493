"""What the package costs and what it gains, measured: ratios within one run.

All but `study_defaults` and the defaults in `peers` pin the base measure (``scale="data"``), the
default when their first records were made: numbers stay comparable.
"""
