"""Which addresses exist, how they are treated, and who wants them: here, at siblings, at other routers."""
