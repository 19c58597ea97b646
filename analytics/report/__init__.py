"""The report: one HTML file with the answers to all questions, and what needs attention first."""

from analytics.report.answers import ANSWERS, Answer, collect_answers
from analytics.report.building import build_report, write_report
from analytics.report.findings import Finding, findings
from analytics.report.page import Report, page

__all__ = [
    "ANSWERS",
    "Answer",
    "Finding",
    "Report",
    "build_report",
    "collect_answers",
    "findings",
    "page",
    "write_report",
]
