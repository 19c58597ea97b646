"""Hands the compiled modules to setuptools; everything else is in pyproject.toml."""

import sys
from pathlib import Path

from setuptools import setup

# A PEP 517 front end does not put the project's folder on the import path.
sys.path.insert(0, str(Path(__file__).resolve().parent))

from compiling.build_ext import BuildCompiled, extensions

setup(ext_modules=extensions(), cmdclass={"build_ext": BuildCompiled})
