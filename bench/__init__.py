"""Benchmarks: each module measures one thing and returns rows; `python -m bench --list` names them."""
