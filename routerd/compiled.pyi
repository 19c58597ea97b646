"""The shared object with the compiled modules (`compiling/shared_object.py`); the uncompiled form has none."""

MODULES: str
"""The names of the modules in it, with spaces between them."""
IS_TRAINED: int
WHY_UNTRAINED: str
"""The reason, where they are not trained; else nothing."""
