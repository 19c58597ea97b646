"""How compiled functions without a result say that they raised: by a code, as those that return a number do.

Left alone, Cython asks Python after each call of such a function whether there is an exception. A message makes some
thirty of these calls, and the asking took a sixth of its time. Nothing of this is seen from Python, where these
functions return None as ever.
"""

from typing import Any


def return_codes() -> None:
    """Have Cython make C functions that return 0, or -1 when they raise, of those that return nothing."""
    from Cython.Compiler import Nodes, PyrexTypes
    from Cython.Compiler.ExprNodes import ConstNode

    analyse = Nodes.CFuncDeclaratorNode.analyse

    def analyse_with_code(self: Any, return_type: Any, env: Any, *arguments: Any, **options: Any) -> Any:
        # "+" is for exceptions of C++. A function with `noexcept`, or with a declared exception value, needs no code.
        may_raise = self.exception_check and self.exception_check != "+" and self.exception_value is None
        if return_type.is_void and may_raise and options.get("visibility") != "extern":
            return_type = PyrexTypes.c_returncode_type
            self.exception_check = False
            self.exception_value = ConstNode.for_type(
                self.pos, value="-1", type=PyrexTypes.c_int_type, constant_result=-1
            )
        return analyse(self, return_type, env, *arguments, **options)

    Nodes.CFuncDeclaratorNode.analyse = analyse_with_code
