"""The report of a run: one HTML file that needs nothing else, no network either."""

from mixwood.posterior.verdict import Verdict, judge
from mixwood.report.about import About, Known
from mixwood.report.digest import Digest
from mixwood.report.labels import is_labels_csv, labels_csv
from mixwood.report.page import render, write_page, write_report

__all__ = [
    "About",
    "Digest",
    "Known",
    "Verdict",
    "is_labels_csv",
    "judge",
    "labels_csv",
    "render",
    "write_page",
    "write_report",
]
