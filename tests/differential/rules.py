"""What goes wrong in T-SQL, and what each error ends.

Numbers and texts: "Database engine events and errors" (sys.messages) in Microsoft's
reference; severities and states as the released product sends them.

What an error ends is not tabulated in the reference. The pages say:

* SET XACT_ABORT: OFF — "in some cases only the statement that raised the error is
  rolled back"; depending on severity the whole transaction may go. ON — the
  transaction is rolled back and the batch ends. Compile errors are not affected;
  RAISERROR is not, THROW is.
* TRY...CATCH: errors above severity 10 go to CATCH; an error "that ordinarily ends a
  transaction outside a TRY block" dooms it inside one. Name resolution at run time
  (208) is not caught at its own level, but by the caller's TRY.
* THROW: without TRY the batch ends. ROLLBACK TRANSACTION: 266 "does not affect
  subsequent processing".

Hence five kinds, :class:`Ends`. Which number is of which kind is observation, common
knowledge among those who wrote about it, and the same in every release since 2005.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Ends(Enum):
    """How much an uncaught error ends while XACT_ABORT is OFF."""

    STATEMENT = "its statement; XACT_ABORT ON makes it ROLLBACK"
    SCOPE = "its procedure, EXEC string or batch; unaffected by XACT_ABORT"
    BATCH = "the batch, not the transaction; XACT_ABORT ON makes it ROLLBACK"
    ROLLBACK = "the batch and the transaction; inside TRY the transaction is doomed"
    NOTHING = "its statement, whatever XACT_ABORT says (RAISERROR, 266)"


@dataclass(frozen=True)
class Fault:
    """An error as its statement raises it: not yet with a place."""

    number: int
    severity: int
    state: int
    message: str
    ends: Ends = Ends.STATEMENT


@dataclass(frozen=True)
class Error:
    """An error with its place, as ERROR_NUMBER() and its family tell it."""

    number: int
    severity: int
    state: int
    message: str
    ends: Ends
    procedure: str | None
    line: int


class Raised(Exception):
    """A statement raised ``fault``.

    ``elsewhere``: inside a function that it called. ``placed``: inside a trigger that it
    fired, where the error has got its place already.
    """

    def __init__(self, fault: Fault, elsewhere: bool = False, placed: Error | None = None) -> None:
        super().__init__(fault)
        self.fault = fault
        self.elsewhere = elsewhere
        self.placed = placed


class Doubtful(Exception):
    """The reference does not say what happens now: the case decides nothing."""


class Limit(Doubtful):
    """T-SQL is clear, and the product says in docs/dialect.md that it differs here."""

    def __init__(self, what: str) -> None:
        super().__init__(f"documented difference: {what}")


def divide_by_zero() -> Fault:
    return Fault(8134, 16, 1, "Divide by zero error encountered.")


def overflow() -> Fault:
    return Fault(8115, 16, 2, "Arithmetic overflow error converting expression to data type int.")


def conversion(value: str) -> Fault:
    return Fault(
        245,
        16,
        1,
        f"Conversion failed when converting the nvarchar value '{value}' to data type int.",
        Ends.ROLLBACK,
    )


def duplicate_key(constraint: str, table: str, value: object) -> Fault:
    return Fault(
        2627,
        14,
        1,
        f"Violation of PRIMARY KEY constraint '{constraint}'. Cannot insert duplicate "
        f"key in object '{table}'. The duplicate key value is ({value}).",
    )


def check_violated(statement: str, table: str, column: str) -> Fault:
    return Fault(
        547,
        16,
        0,
        f"The {statement} statement conflicted with a CHECK constraint of table "
        f"'{table}', column '{column}'.",
    )


def null_refused(statement: str, table: str, column: str) -> Fault:
    return Fault(
        515,
        16,
        2,
        f"Cannot insert the value NULL into column '{column}', table '{table}'; "
        f"column does not allow nulls. {statement} fails.",
    )


def truncated(table: str, column: str) -> Fault:
    return Fault(
        2628, 16, 1, f"String or binary data would be truncated in table '{table}', column '{column}'."
    )


def no_such_object(name: str) -> Fault:
    state = 0 if name.startswith("#") else 1
    return Fault(208, 16, state, f"Invalid object name '{name}'.", Ends.SCOPE)


def no_such_procedure(name: str) -> Fault:
    return Fault(2812, 16, 62, f"Could not find stored procedure '{name}'.")


def parameter_missing(procedure: str, parameter: str) -> Fault:
    return Fault(
        201,
        16,
        4,
        f"Procedure or function '{procedure}' expects parameter '{parameter}', which was not supplied.",
    )


def too_many_arguments(procedure: str, parameters: int) -> Fault:
    if not parameters:
        return Fault(8146, 16, 2, f"Procedure {procedure} has no parameters and arguments were supplied.")
    return Fault(8144, 16, 2, f"Procedure or function {procedure} has too many arguments specified.")


def commit_without_begin() -> Fault:
    return Fault(3902, 16, 1, "The COMMIT TRANSACTION request has no corresponding BEGIN TRANSACTION.")


def rollback_without_begin() -> Fault:
    return Fault(3903, 16, 1, "The ROLLBACK TRANSACTION request has no corresponding BEGIN TRANSACTION.")


def no_such_savepoint(name: str) -> Fault:
    return Fault(6401, 16, 1, f"Cannot roll back {name}. No transaction or savepoint of that name was found.")


def save_without_begin() -> Fault:
    return Fault(
        628, 16, 0, "Cannot issue SAVE TRANSACTION when there is no active transaction.", Ends.ROLLBACK
    )


def doomed() -> Fault:
    return Fault(
        3930,
        16,
        1,
        "The current transaction cannot be committed and cannot support operations "
        "that write to the log file. Roll back the transaction.",
    )


def doomed_savepoint() -> Fault:
    return Fault(
        3931,
        16,
        1,
        "The current transaction cannot be committed and cannot be rolled back to a "
        "savepoint. Roll back the entire transaction.",
    )


def doomed_at_end() -> Fault:
    return Fault(
        3998,
        16,
        1,
        "Uncommittable transaction is detected at the end of the batch. The transaction is rolled back.",
    )


def count_differs(before: int, after: int) -> Fault:
    return Fault(
        266,
        16,
        2,
        "Transaction count after EXECUTE indicates a mismatching number of BEGIN and "
        f"COMMIT statements. Previous count = {before}, current count = {after}.",
        Ends.NOTHING,
    )


def object_exists(name: str) -> Fault:
    return Fault(2714, 16, 6, f"There is already an object named '{name}' in the database.", Ends.ROLLBACK)


def no_table_to_drop(name: str) -> Fault:
    return Fault(
        3701,
        11,
        5,
        f"Cannot drop the table '{name}', because it does not exist or you do not have permission.",
    )


def cursor_exists(name: str) -> Fault:
    return Fault(16915, 16, 1, f"A cursor with the name '{name}' already exists.")


def no_such_cursor(name: str) -> Fault:
    return Fault(16916, 16, 1, f"A cursor with the name '{name}' does not exist.")


def cursor_closed() -> Fault:
    return Fault(16917, 16, 1, "Cursor is not open.")


def cursor_open() -> Fault:
    return Fault(16905, 16, 1, "The cursor is already open.")


def no_such_conversation() -> Fault:
    return Fault(8426, 16, 1, "The conversation handle is not found.")


def wrong_state_for_send() -> Fault:
    return Fault(8429, 16, 1, "The conversation endpoint is not in a valid state for SEND.")


def nested_too_deep() -> Fault:
    return Fault(
        217,
        16,
        1,
        "Maximum stored procedure, function, trigger, or view nesting level exceeded (limit 32).",
        Ends.ROLLBACK,
    )


# The texts that are ours to decide: constraint violations name constraints and
# databases whose spelling belongs to the server below.
EXACT_TEXT = frozenset(
    {
        217,
        245,
        266,
        628,
        2714,
        2812,
        3701,
        3902,
        3903,
        3930,
        3931,
        3998,
        6401,
        8134,
        16905,
        16915,
        16916,
        16917,
        50000,
    }
)
