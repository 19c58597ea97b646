"""What `build_object.py` makes: the shared object with the compiled modules; it is not there in the uncompiled form."""

MODULES: str
"""The names of the modules in it, with spaces between them."""
IS_TRAINED: int
WHY_UNTRAINED: str
"""The reason, where they are not trained; else nothing."""
