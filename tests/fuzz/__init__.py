"""The fuzzer of routerd/wire: `python -m tests.fuzz`; README.md tells what it checks and how to read what it finds."""
