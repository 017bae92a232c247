"""Published scripts parse as they are printed; how they run is tests/end_to_end/test_seeds.py.

The documents are not part of the project. They are looked for in PGSB_SEEDS or in
../shared/seeds beside the checkout; without them these tests are skipped.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pgsb.compiler import nodes
from pgsb.compiler.builder.batches import parse_script
from pgsb.grammar.problems import Problems
from pgsb.grammar.source import Source

SEEDS = Path(os.environ.get("PGSB_SEEDS") or Path(__file__).parents[3] / "shared" / "seeds")

pytestmark = pytest.mark.skipif(not SEEDS.is_dir(), reason=f"the published scripts are not at {SEEDS}")

# (document, how the first line begins, how the last line begins, statements expected)
SCRIPTS = [
    ("001", "CREATE TABLE [SessionConversations]", "-- SEND procedure", 1),
    ("001", "CREATE PROCEDURE [usp_Send]", "CREATE PROCEDURE usp_SenderActivation", 1),
    ("001", "CREATE PROCEDURE usp_SenderActivation", "-- attach the uspSenderActivation", 1),
    ("002", "ALTER QUEUE OrderRequests WITH", "That is, I first define", 6),
    ("002", "CREATE PROCEDURE ProcessOrders1 AS", "The procedure has the standard WHILE loop", 1),
    ("002", "CREATE PROCEDURE ProcessOrders2 AS", "The key difference is the table variable", 1),
    ("003", "CREATE MESSAGE TYPE [//MySSB.com", "Service Broker Endpoint", 6),
    ("003", "CREATE ENDPOINT [Endpoint_SRPerf_1]", "The Service Broker endpoint users", 1),
    ("003", "declare @service_broker_guid", "Receive Activation Procedure", 3),
    ("003", "create procedure [dbo].[SRPerf_Queue_LabTest]", "Tech-Tip: Receive Activation", 1),
    ("003", "declare @dh uniqueidentifier, @i bigint", "Test Results", 10),
]


def _lines(document: str, first: str, last: str) -> str:
    (path,) = SEEDS.glob(f"{document}_*.txt")
    lines = path.read_text(encoding="utf-8").splitlines()
    start = next(index for index, line in enumerate(lines) if line.startswith(first))
    end = next(index for index, line in enumerate(lines) if index > start and line.startswith(last))
    return "\n".join(lines[start:end])


@pytest.mark.parametrize(
    ("document", "first", "last", "count"), SCRIPTS, ids=[f"{s[0]} {s[1]}" for s in SCRIPTS]
)
def test_script(document: str, first: str, last: str, count: int) -> None:
    problems = Problems()
    script = parse_script(Source(document, _lines(document, first, last)), problems)
    assert not problems.report()
    assert sum(len(batch.statements) for batch in script.batches) == count


def test_a_service_program_is_read_whole() -> None:
    text = _lines("002", "CREATE PROCEDURE ProcessOrders1 AS", "The procedure has the standard WHILE loop")
    (batch,) = parse_script(Source("002", text), Problems()).batches
    (procedure,) = batch.statements
    assert isinstance(procedure, nodes.CreateProcedure)
    assert [type(statement).__name__ for statement in procedure.body] == ["SetOption", "Declare", "While"]
    loop = procedure.body[2]
    assert isinstance(loop, nodes.While)
    assert isinstance(loop.body, nodes.TryCatch)
    kinds = [type(statement).__name__ for statement in loop.body.body]
    assert "WaitForMessage" in kinds
    assert "TryCatch" in {
        type(statement.then).__name__ for statement in loop.body.body if isinstance(statement, nodes.If)
    }
