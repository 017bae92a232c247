"""Properties of the built-ins, checked on random values against plain Python."""

import datetime as dt
import fnmatch
import hashlib
import struct
import uuid
from collections.abc import Callable, Iterator
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Any

import psycopg
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from support import Connection, Database

few = settings(max_examples=40, deadline=None)

printable = st.text(st.characters(blacklist_characters="\0", blacklist_categories=("Cs",)), max_size=20)
short = st.text("ab1-[%_", max_size=6)
moments = st.datetimes(dt.datetime(1753, 1, 1), dt.datetime(9998, 12, 31))


@pytest.fixture(scope="module")
def shared(new_database: Callable[[], Database]) -> Iterator[Connection]:
    """One connection for all examples."""
    with psycopg.connect(new_database().dsn, autocommit=True) as connection:
        connection.execute("SET TimeZone = 'UTC'")
        yield connection


def row(connection: Connection, expressions: str, *parameters: object) -> tuple[Any, ...]:
    found = connection.execute(f"SELECT {expressions}".encode(), parameters).fetchone()
    assert found is not None
    return tuple(found)


def ticks(moment: dt.datetime) -> dt.datetime:
    """The datetime value nearest to a moment: three-hundredths of a second, shown in milliseconds."""
    count = (Decimal(moment.microsecond) * 3 / 10000).quantize(Decimal(1), ROUND_HALF_UP)
    milliseconds = (count * 10 / 3).quantize(Decimal(1), ROUND_HALF_UP)
    return moment.replace(microsecond=0) + dt.timedelta(milliseconds=int(milliseconds))


@few
@given(
    st.integers(-(2**31), 2**31 - 1),
    st.integers(-(2**63), 2**63 - 1),
    st.integers(-(2**15), 2**15 - 1),
    st.uuids(),
)
def test_numbers_and_identifiers_survive_varbinary(
    shared: Connection, small: int, large: int, tiny: int, key: uuid.UUID
) -> None:
    as_bytes = row(
        shared,
        "sys.convert_varbinary(%s::integer), sys.convert_varbinary(%s::bigint), "
        "sys.convert_varbinary(%s::smallint), sys.convert_varbinary(%s::uuid)",
        small,
        large,
        tiny,
        key,
    )
    assert as_bytes == (
        struct.pack(">i", small),
        struct.pack(">q", large),
        struct.pack(">h", tiny),
        key.bytes_le,
    )
    assert row(
        shared,
        "sys.convert_int(%s::bytea), sys.convert_bigint(%s::bytea), sys.convert_smallint(%s::bytea), "
        "sys.convert_uniqueidentifier(%s::bytea)",
        *as_bytes,
    ) == (small, large, tiny, key)


@few
@given(moments)
def test_a_datetime_survives_varbinary_and_its_lossless_styles(
    shared: Connection, moment: dt.datetime
) -> None:
    (rounded,) = row(shared, "sys.convert_datetime(%s::timestamp)", moment)
    assert rounded == ticks(moment)
    (as_bytes,) = row(shared, "sys.convert_varbinary(%s::timestamp)", rounded)
    days, count = struct.unpack(">ii", as_bytes)
    midnight = dt.datetime(1900, 1, 1) + dt.timedelta(days=days)
    assert abs((rounded - midnight) - dt.timedelta(seconds=1) * count / 300) < dt.timedelta(milliseconds=0.6)
    assert row(shared, "sys.convert_datetime(%s::bytea)", as_bytes) == (rounded,)
    for style in (9, 13, 21, 25, 109, 113, 121, 126, 127):
        assert row(
            shared,
            "sys.convert_datetime(sys.convert_varchar(%s::timestamp, NULL, %s), %s)",
            rounded,
            style,
            style,
        ) == (rounded,)
    for style in (101, 102, 103, 104, 105, 106, 107, 110, 111, 112, 23):
        assert row(
            shared,
            "sys.convert_datetime(sys.convert_varchar(%s::timestamp, NULL, %s), %s)",
            rounded,
            style,
            style,
        ) == (rounded.replace(hour=0, minute=0, second=0, microsecond=0),)


@few
@given(printable, st.binary(max_size=20))
def test_text_and_hexadecimal_survive_varbinary(shared: Connection, text: str, body: bytes) -> None:
    # A byte order mark in front is no part of a text.
    kept = text.removeprefix("\ufeff")
    assert row(
        shared,
        "sys.text_of(sys.convert_varbinary(%s::text)), sys.text_of(%s::bytea), "
        "sys.convert_varbinary(sys.convert_varchar(%s::bytea, NULL, 1), NULL, 1), "
        "sys.convert_varbinary(sys.convert_varchar(%s::bytea, NULL, 2), NULL, 2)",
        text,
        b"\xff\xfe" + text.encode("utf-16-le"),
        body,
        body,
    ) == (kept, text, body, body)


@few
@given(st.binary(max_size=40))
def test_every_body_can_be_read_as_text(shared: Connection, body: bytes) -> None:
    (text,) = row(shared, "sys.text_of(%s::bytea)", body)
    try:
        wanted = body.decode()
    except UnicodeDecodeError:
        wanted = None
    if wanted is not None and "\0" not in wanted:
        assert text == wanted.removeprefix("\ufeff")
    else:
        assert "\0" not in text


@few
@given(st.floats(allow_nan=False, allow_infinity=False))
@example(100000000000000.625)
def test_a_float_survives_style_3(shared: Connection, number: float) -> None:
    text, back, sixteen = row(
        shared,
        "sys.convert_varchar(%s::float8, NULL, 3), "
        "sys.convert_float(sys.convert_varchar(%s::float8, NULL, 3)), "
        "sys.convert_varchar(%s::float8, NULL, 2)",
        number,
        number,
        number,
    )
    assert back == number
    mantissa, exponent = f"{abs(_rounded(number, 17)):.16e}".split("e")
    sign = "-" if number < 0 else ""
    assert text == f"{sign}{mantissa}e{exponent[0]}{exponent[1:].rjust(3, '0')}"
    assert Decimal(sixteen) == _rounded(number, 16)


def _rounded(number: float, digits: int) -> Decimal:
    """Return a number with so many digits; one half way between two goes away from zero."""
    exact = Decimal(number)
    last_place = Decimal(1).scaleb(exact.adjusted() - digits + 1)
    return exact.quantize(last_place, ROUND_HALF_UP, Context(prec=400)) if number else Decimal("0E-16")


@few
@given(st.decimals(allow_nan=False, allow_infinity=False, places=4, min_value=-(10**14), max_value=10**14))
def test_a_decimal_survives_varbinary_and_money(shared: Connection, number: Decimal) -> None:
    assert row(
        shared,
        "sys.convert_decimal(sys.convert_varbinary(%s::numeric), 38, 4), "
        "sys.convert_money(sys.money_to_varchar(%s, NULL, 2)), "
        "sys.convert_money(sys.money_to_varchar(%s, NULL, 1)), sys.convert_decimal(%s::numeric::text, 19, 4)",
        number,
        number,
        number,
        number,
    ) == (number, number, number.quantize(Decimal("0.01"), ROUND_HALF_UP), number)


def like_model(text: str, pattern: str) -> bool:
    """LIKE for patterns without sets."""
    return fnmatch.fnmatchcase(text, pattern.replace("%", "*").replace("_", "?"))


@few
@given(st.text("ab1-", max_size=6), st.text("ab1%_", max_size=5))
def test_like_agrees_with_shell_patterns(shared: Connection, text: str, pattern: str) -> None:
    wanted = like_model(text, pattern)
    like, native, at = row(
        shared,
        "sys.like(%s, %s), %s LIKE %s, sys.patindex(%s, %s)",
        text,
        pattern,
        text,
        pattern,
        pattern,
        text,
    )
    assert like == native == wanted
    # PATINDEX looks for the first place from which the pattern, its leading % left out, matches.
    starts = range(len(text)) if pattern.startswith("%") else [0]
    rest = pattern.lstrip("%") if pattern.startswith("%") else pattern
    found = next((n + 1 for n in starts if like_model(text[n:], rest)), 0)
    if text and (rest or not pattern.startswith("%")):
        assert at == found


@few
@given(short, short, st.integers(-2, 8), st.integers(0, 8))
def test_string_surgery_agrees_with_slices(
    shared: Connection, text: str, other: str, start: int, count: int
) -> None:
    begin, end = max(start, 1), max(start + count, 1)
    inside = 1 <= start <= len(text)
    search_from = max(start, 1) - 1
    assert row(
        shared,
        "sys.substring(%s, %s, %s), sys.left(%s, %s), sys.right(%s, %s), sys.stuff(%s, %s, %s, %s), "
        "sys.charindex(%s, %s, %s), sys.len(%s), sys.replicate(%s, %s), sys.quotename(%s)",
        *(text, start, count, text, count, text, count, text, start, count, other),
        *(other, text, start, text, text, count, text),
    ) == (
        text[begin - 1 : end - 1],
        text[:count],
        text[len(text) - count :] if count <= len(text) else text,
        text[: start - 1] + other + text[start - 1 + count :] if inside else None,
        text.find(other, search_from) + 1 if other else 0,
        len(text.rstrip(" ")),
        text * count,
        "[" + text.replace("]", "]]") + "]",
    )


PART_SECONDS = {"second": 1, "minute": 60, "hour": 3600, "day": 86400}


@few
@given(moments, st.sampled_from(list(PART_SECONDS)), st.integers(-50000, 50000))
def test_what_dateadd_adds_datediff_counts(
    shared: Connection, moment: dt.datetime, part: str, count: int
) -> None:
    low, high = dt.datetime(1753, 1, 1), dt.datetime(9999, 12, 31)
    try:
        wanted = moment + dt.timedelta(seconds=PART_SECONDS[part]) * count
    except OverflowError:
        return
    if low <= wanted <= high:
        assert row(shared, "sys.dateadd(%s, %s, %s::timestamp)", part, count, moment) == (wanted,)
        assert row(
            shared,
            "sys.datediff(%s, %s::timestamp, sys.dateadd(%s, %s, %s::timestamp))",
            part,
            moment,
            part,
            count,
            moment,
        ) == (count,)


@few
@given(moments, moments)
def test_datediff_counts_boundaries(shared: Connection, a: dt.datetime, b: dt.datetime) -> None:
    def hours(moment: dt.datetime) -> int:
        return moment.toordinal() * 24 + moment.hour

    assert row(
        shared,
        "sys.datediff('year', %(a)s, %(b)s), sys.datediff('quarter', %(a)s, %(b)s), "
        "sys.datediff('month', %(a)s, %(b)s), sys.datediff('week', %(a)s, %(b)s), "
        "sys.datediff('day', %(a)s, %(b)s), sys.datediff('hour', %(a)s, %(b)s), "
        "sys.datediff_big('second', %(a)s, %(b)s)".replace("%(a)s", f"timestamp '{a}'").replace(
            "%(b)s", f"timestamp '{b}'"
        ),
    ) == (
        b.year - a.year,
        (b.year * 4 + (b.month - 1) // 3) - (a.year * 4 + (a.month - 1) // 3),
        (b.year * 12 + b.month) - (a.year * 12 + a.month),
        b.toordinal() // 7 - a.toordinal() // 7,
        b.toordinal() - a.toordinal(),
        hours(b) - hours(a),
        (b.replace(microsecond=0) - a.replace(microsecond=0)) // dt.timedelta(seconds=1),
    )


@few
@given(st.binary(max_size=200))
def test_sha1_is_that_of_the_standard(shared: Connection, body: bytes) -> None:
    assert row(shared, "sys.hashbytes('SHA1', %s::bytea)", body) == (hashlib.sha1(body).digest(),)


@few
@given(
    st.sampled_from(["d", "i", "u", "x", "X", "o", "s"]),
    st.text("-+ #0", max_size=2),
    st.integers(0, 12),
    st.one_of(st.none(), st.integers(0, 6)),
    st.integers(0, 2**31 - 1),
)
def test_formatmessage_agrees_with_printf(
    shared: Connection, kind: str, flags: str, width: int, precision: int | None, number: int
) -> None:
    if kind == "s":
        flags = flags.replace("#", "").replace("+", "").replace("0", "").replace(" ", "")
    if kind in "uxXo":
        flags = flags.replace("+", "").replace(" ", "")
    if kind == "o":
        flags = flags.replace("#", "")  # Python writes 0o
    if precision is not None:
        flags = flags.replace("0", "")  # C ignores the flag then, Python does not
    specification = f"%{flags}{width or ''}{'' if precision is None else f'.{precision}'}{kind}"
    wanted = specification % (number if kind != "s" else str(number))
    if "#" in flags and kind in "xX" and number == 0:
        return  # C leaves 0x out for zero
    assert row(shared, "sys.formatmessage(%s, %s)", f"[{specification}]", str(number)) == (f"[{wanted}]",)


@few
@given(st.integers(-(10**12), 10**12), st.integers(0, 4), st.integers(-6, 6))
def test_numbers_are_grouped_and_rounded_half_away_from_zero(
    shared: Connection, scaled: int, digits: int, length: int
) -> None:
    number = Decimal(scaled) / 10000
    unit = Decimal(1).scaleb(-digits)
    text = f"{number.quantize(unit, ROUND_HALF_UP):,f}"
    formatted, rounded = row(
        shared,
        "sys.format(%s::numeric, %s), sys.round(%s::numeric, %s)",
        number,
        f"N{digits}",
        number,
        length,
    )
    assert formatted == (text.removeprefix("-") if not Decimal(text.replace(",", "")) else text)
    assert rounded == (number.scaleb(length).quantize(Decimal(1), ROUND_HALF_UP)).scaleb(-length)
