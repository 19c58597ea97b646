"""Mobula: an AMQP 1.0 message router."""

from routerd.compiled_form import use_compiled_modules

use_compiled_modules()
