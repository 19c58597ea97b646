"""The console: where its files are, and what browsers let its pages do."""

from pathlib import Path

CONSOLE_ROOT = str(Path(__file__).resolve().parents[2] / "console")
"""It is plain files, which are served as they are."""

CONSOLE_HEADERS = {
    # Nothing from elsewhere, nothing inline, and no requests but to this listener.
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Referrer-Policy": "no-referrer",
    "X-Frame-Options": "DENY",
}
