"""Mobula: an AMQP 1.0 message router."""

from routerd.compiled_form import use_compiled_modules
from routerd.generated_code import use_kept_code

use_compiled_modules()
use_kept_code()
