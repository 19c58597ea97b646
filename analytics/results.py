"""Writes the table of an answer: as Parquet, CSV or JSON, or as text to look at."""

import os
import shutil
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from analytics.errors import AnalyticsError


def write_table(rows: DataFrame, path: Path, form: str) -> None:
    """Write an answer as one file, which appears when it is complete."""
    aside = path.with_name(f".{path.name}.part")
    single = (_flat(rows) if form == "csv" else rows).coalesce(1)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        writer = single.write.mode("overwrite").option("header", True)
        writer.format(form).save(str(aside))
        part = next(one for one in aside.iterdir() if one.name.startswith("part-"))
        os.replace(part, path)
    except OSError as error:
        raise AnalyticsError(f"{path} can not be written: {error.strerror or error}") from error
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def _flat(rows: DataFrame) -> DataFrame:
    """Have lists as JSON, which CSV has no other form for."""
    nested = (T.ArrayType, T.MapType, T.StructType)
    return rows.select(
        *(
            F.to_json(field.name).alias(field.name) if isinstance(field.dataType, nested) else F.col(field.name)
            for field in rows.schema.fields
        )
    )


def as_text(names: list[str], rows: Iterable[Any]) -> str:
    """Return rows as aligned columns."""
    cells = [names, *([text_of(value) for value in row] for row in rows)]
    widths = [max(len(line[at]) for line in cells) for at in range(len(names))]
    return "\n".join(
        "  ".join(f"{cell:{width}}" for cell, width in zip(line, widths, strict=True)).rstrip() for line in cells
    )


def text_of(value: Any) -> str:
    """Return a value as people read it."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, datetime):
        return f"{value:%F %T}"
    if isinstance(value, list):
        return "; ".join(map(text_of, value))
    if hasattr(value, "asDict"):
        return " ".join(f"{name}={text_of(one)}" for name, one in value.asDict().items())
    return str(value)
