"""The report of a run: one HTML file that needs nothing else, no network either."""

from mixwood.report.about import About, Known
from mixwood.report.digest import Digest
from mixwood.report.page import render, write_page, write_report
from mixwood.report.verdict import Verdict, judge

__all__ = ["About", "Digest", "Known", "Verdict", "judge", "render", "write_page", "write_report"]
