"""Write runtime_sql/functions/conversion/derived.sql: conversions that are the same text for every type.

    python scripts/derive_conversions.py

CHAR, NCHAR and BINARY are VARCHAR, NVARCHAR and VARBINARY filled up, and TRY_CONVERT is CONVERT where the
value fits. What a type does in a way of its own stands here. `make golden` runs this, and
tests/architecture/test_derived.py compares.
"""

from pathlib import Path

TARGET = Path(__file__).parents[1] / "runtime_sql" / "functions" / "conversion" / "derived.sql"
HEAD = """\
-- Made by scripts/derive_conversions.py: change that, and run it.
--
-- CHAR, NCHAR: as varchar and nvarchar, filled with blanks. BINARY: as varbinary, filled with zeros, in front
-- of numbers and behind everything else. TRY_CONVERT: only a number or a uniqueidentifier can be too long,
-- only text and bytes can be wrong.
"""

TEXTS = (
    ("text", "IMMUTABLE", 0),
    ("smallint", "IMMUTABLE", 0),
    ("integer", "IMMUTABLE", 0),
    ("bigint", "IMMUTABLE", 0),
    ("numeric", "IMMUTABLE", 0),
    ("double precision", "IMMUTABLE", 0),
    ("timestamp", "IMMUTABLE", 0),
    ("date", "IMMUTABLE", 121),
    ("time", "IMMUTABLE", 121),
    ("timestamptz", "STABLE", 121),
    ("uuid", "IMMUTABLE", 0),
    ("bytea", "IMMUTABLE", 0),
    ("sys.xml", "STABLE", 0),
)
"""What becomes text: its type, how much the result depends on settings, its style where none is given."""

NUMBERS = {
    "sys.bit": "substr(int2send(value), 2)",
    "smallint": "int2send(value)",
    "integer": "int4send(value)",
    "bigint": "int8send(value)",
    "numeric": "sys.bytes_of_decimal(value)",
    "real": "float4send(value)",
    "double precision": "float8send(value)",
    "timestamp": "sys.bytes_of_datetime(value)",
}
"""Of what keeps its last bytes where there is no room, the bytes."""
OTHERS = {
    "date": "sys.bytes_of_date(value)",
    "uuid": "sys.swap_uuid_bytes(uuid_send(value))",
    "bytea": "value",
    "text": "sys.read_hex(value, style)",
    "sys.xml": "ssb_internal.xml_bytes(value::text)",
}
"""Of what keeps its first bytes, the bytes, NULL where there are none."""


def function(
    name: str, type_: str, body: str, *, length: str, style: int = 0, volatility: str = "", returns: str
) -> str:
    """One conversion."""
    written = volatility or ("STABLE" if type_ == "sys.xml" else "IMMUTABLE")
    return (
        f"CREATE OR REPLACE FUNCTION sys.{name}(\n"
        f"    value {type_}, length integer DEFAULT {length}, style integer DEFAULT {style})"
        f" RETURNS {returns}\n"
        f"LANGUAGE sql {written} PARALLEL SAFE\n"
        f"RETURN {body};\n"
    )


def measured(type_: str, target: str) -> str | None:
    """The text whose length decides whether the value fits; None where a too long one is cut."""
    if type_ in ("numeric", "uuid", "bigint", "sys.xml"):
        return "value::text"
    if type_ in ("smallint", "integer") and target.startswith("n"):
        return "value::text"
    return "sys.float_text(value, style)" if type_ == "double precision" else None


def texts() -> list[str]:
    """CHAR, NCHAR, and what tries to become a text."""
    made = []
    for filled, plain in (("char", "varchar"), ("nchar", "nvarchar")):
        for type_, volatility, style in TEXTS:
            body = f"rpad(sys.convert_{plain}(value, length, style), length)"
            made.append(
                function(
                    f"convert_{filled}",
                    type_,
                    body,
                    length="30",
                    style=style,
                    volatility=volatility,
                    returns="text",
                )
            )
    for target in ("varchar", "nvarchar", "char", "nchar"):
        for type_, volatility, style in TEXTS:
            body = f"sys.convert_{target}(value, length, style)"
            text = measured(type_, target)
            if text is not None:
                body = f"CASE WHEN length IS NULL OR length({text}) <= length THEN {body} END"
            elif (type_, target) == ("bytea", "nvarchar"):
                body = (
                    "CASE WHEN style IN (1, 2) THEN sys.hex_text(value, length, style)\n"
                    "            ELSE left(sys.try_text_of(value), coalesce(length, 2147483647)) END"
                )
            elif (type_, target) == ("bytea", "nchar"):
                body = "rpad(sys.try_convert_nvarchar(value, length, style), length)"
            made.append(
                function(
                    f"try_convert_{target}",
                    type_,
                    body,
                    length="30" if target.endswith("char") and "var" not in target else "NULL",
                    style=style,
                    volatility=volatility,
                    returns="text",
                )
            )
    return made


def filled(prefix: str) -> list[str]:
    """BINARY from VARBINARY."""
    made = []
    for types, cut, order in (
        (NUMBERS, "last_bytes", "sys.zeros(length) || {}"),
        (OTHERS, "first_bytes", "{} || sys.zeros(length)"),
    ):
        for type_ in types:
            inner = order.format(f"sys.{prefix}convert_varbinary(value, NULL, style)")
            body = f"sys.{cut}({inner}, length)"
            made.append(function(f"{prefix}convert_binary", type_, body, length="30", returns="bytea"))
    return made


def bytes_() -> list[str]:
    """BINARY, and what tries to become bytes."""
    made = filled("")
    for types, cut in ((NUMBERS, "last_bytes"), (OTHERS, "first_bytes")):
        for type_, value in types.items():
            body = f"sys.{cut}({value}, length)"
            made.append(function("try_convert_varbinary", type_, body, length="NULL", returns="bytea"))
    return made + filled("try_")


def derived() -> str:
    """The file."""
    return "\n".join((HEAD, *texts(), *bytes_()))


if __name__ == "__main__":
    TARGET.write_text(derived(), encoding="utf-8")
