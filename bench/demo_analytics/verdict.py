"""What the report has to say: which consumer is slow, and which trunk was lost."""

import html
import re
import subprocess
import sys
from pathlib import Path

from bench.demo_analytics.layout import ADDRESS, CUT

ANALYZE_S = 900.0


class ReportFailed(Exception):
    """There is no report; the message has what `routeranalyze` said."""


def make_report(records: Path, report: Path) -> None:
    """Have `routeranalyze` write it; raises ReportFailed."""
    program = "import sys; from analytics.cli import main; sys.exit(main())"
    where = ("--records", str(records), "--out", str(report), "--spark", "local[2]", "--memory", "1g")
    done = subprocess.run(
        [sys.executable, "-c", program, "report", *where], stdout=subprocess.DEVNULL, timeout=ANALYZE_S
    )
    if done.returncode != 0:
        raise ReportFailed(f"routeranalyze ended with status {done.returncode}")


def findings(report: Path, slow: str, router: str) -> dict[str, str | None]:
    """Return by fault the sentence of the report that names it, None if none does."""
    text = " ".join(html.unescape(re.sub(r"<[^>]*>", " ", report.read_text())).split())
    one, other = CUT
    sought = {
        "slow consumer": rf"Consumer {slow}/\S+ of {ADDRESS} at {router} is slow.*?of them",
        "trunk cut": rf"Trunk {one} - {other} (?:was lost|flaps).*? and [^.]*",
    }
    found = {fault: re.search(pattern, text) for fault, pattern in sought.items()}
    return {fault: None if match is None else match[0] for fault, match in found.items()}
