"""How the project compiles its modules while it is built; nothing of it is installed.

`build_ext` lists the compiled modules and has the command of setuptools that compiles them. `shared_object` puts all of
them into one object and trains it. `return_codes` has Cython say by a code that a function raised.
"""
